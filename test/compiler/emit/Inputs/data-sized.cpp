// What the C part does not: the class of the header, and the tables.
#include "found.h"
#include <cstdio>
#include <vector>

extern "C" int show(const char *what, int64_t rows, const float *x, const int64_t *ids);

int main() {
  const float none[3] = {}, some[6] = {0, 0, 0, 1, 0, -2}, all[6] = {1, 2, 3, 4, 5, 6};
  const int64_t same[4] = {3, 3, 3, 3}, several[4] = {9, 5, 7, 5}, different[4] = {4, 3, 2, 1};
  if (show("none", 1, none, same) || show("some", 2, some, several) || show("all", 2, all, different))
    return 1;
  found_call call;
  call.rows(2);
  std::vector<unsigned char> memory(call.workspace_size() + KILN_ALIGNMENT);
  size_t shift = -reinterpret_cast<uintptr_t>(memory.data()) % KILN_ALIGNMENT;
  kiln::span<unsigned char> workspace(memory.data() + shift, call.workspace_size());
  std::vector<int64_t> at(12), words(4);
  float total[1];
  if (call.x(some).ids(several).at(at).words(words).total(total).run(workspace))
    return 1;
  std::printf("class: %d at\n", int(call.at_count()));
  if (call.at(kiln::span<int64_t>(at.data(), 11)).run(workspace) == KILN_STATUS_INVALID_ARGUMENT)
    std::printf("too small: a value that the function does not allow\n");
  std::printf("bounds: %s, %s, %s; %s, %s\n", found_info.output_bounds[0], found_info.output_bounds[1], found_info.output_bounds[2],
              found_info.symbol_bounds[0], found_info.symbol_bounds[1]);
  return found_info.num_computed != 2 || found_info.num_symbols != 3 || found_info.outputs[0].dim_symbols[1] != 1;
}
