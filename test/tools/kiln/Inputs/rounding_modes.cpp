// Runs the model in each rounding mode, on one thread and on three that were started in that mode, and compares its results with those of rounding to nearest.
#include "kiln/runtime.h"
#include "m.h"

#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <vector>

static constexpr size_t size = 512 * 512;

struct Results {
  std::vector<float> floats[5];
  std::vector<uint8_t> bytes[2];
  std::vector<uint16_t> half;
  Results() : half(size) {
    for (std::vector<float> &values : floats)
      values.resize(size);
    for (std::vector<uint8_t> &values : bytes)
      values.resize(size);
  }
  bool operator==(const Results &other) const {
    for (int i = 0; i < 5; ++i)
      if (floats[i] != other.floats[i])
        return false;
    return bytes[0] == other.bytes[0] && bytes[1] == other.bytes[1] && half == other.half;
  }
};

int main() {
  std::vector<float> x(size), w(size);
  // Halves, and numbers that are not.
  for (size_t i = 0; i < size; ++i) {
    x[i] = float(int(i % 97) - 48) / 8 + (i % 3 ? float(i % 1009) / 8192 : 0.0f);
    w[i] = float(int(i % 89) - 44) / 30;
  }
  void *workspace = nullptr;
  if (kiln_workspace_create(m_workspace_size(), &workspace) != KILN_STATUS_OK)
    return 1;
  auto run = [&](const kiln_context *context) {
    Results r;
    const m_inputs inputs = {x.data(), w.data()};
    const m_outputs outputs = {r.floats[0].data(), r.floats[1].data(), r.floats[2].data(), r.bytes[0].data(), r.bytes[1].data(), r.half.data(),
                               r.floats[3].data(), r.floats[4].data()};
    if (m_run(&inputs, &outputs, workspace, context) != KILN_STATUS_OK)
      std::puts("the run failed");
    return r;
  };
  const Results nearest = run(nullptr);
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    kiln_pool *pool = nullptr;
    if (kiln_pool_create(3, &pool) != KILN_STATUS_OK)
      return 1;
    kiln_context context;
    kiln_pool_context(pool, &context);
    const bool one = run(nullptr) == nearest, three = run(&context) == nearest, own = std::fegetround() == mode;
    kiln_pool_destroy(pool);
    std::fesetround(FE_TONEAREST);
    std::printf("%s on 1 thread, %s on 3, the caller's mode is %s\n", one ? "the same" : "another", three ? "the same" : "another", own ? "its own" : "lost");
  }
  kiln_workspace_destroy(workspace, m_workspace_size());
  return 0;
}
