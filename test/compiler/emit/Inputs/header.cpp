// Uses the model of header.mlir from C++: named arguments, checked sizes.
#include "model.h"
#include <array>
#include <vector>

extern "C" int run_from_c(void);

int main() {
  std::vector<float> a = {1, 2, 3, 4};
  const std::array<int64_t, 4> b = {10, 20, 30, 40};
  float out[4] = {};
  kiln::span<unsigned char> none;
  auto call = model_call().batch(2).batch1(2).run1(a).int_(b).run2(out);
  if (call.run(none) != KILN_STATUS_OK || out[0] != 11)
    return 10;
  a.push_back(5);
  if (call.run1(a).run(none) != KILN_STATUS_INVALID_ARGUMENT)
    return 11;
  if (call.batch(100).run(none) != KILN_STATUS_DIMENSION_OUT_OF_BOUNDS)
    return 12;
  return run_from_c();
}
