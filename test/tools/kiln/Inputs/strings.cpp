// Calls a model of strings: results point into the bytes that the caller gives room for, and into the inputs.
#include "m.h"

#include <cstdio>
#include <vector>

int main() {
  const kiln_string x[] = {{"b a", 3}, {"c", 1}};
  m_dims dims = {};
  std::vector<kiln_string> y(2), parts(M_S_MOST_ELEMENTS);
  std::vector<uint8_t> bytes(M_Y_BYTES_MOST_ELEMENTS);
  std::vector<unsigned char> workspace(m_workspace_size(&dims) + KILN_ALIGNMENT);
  auto *aligned = reinterpret_cast<unsigned char *>((reinterpret_cast<uintptr_t>(workspace.data()) + KILN_ALIGNMENT - 1) / KILN_ALIGNMENT * KILN_ALIGNMENT);
  m_inputs in = {x};
  m_outputs out = {y.data(), parts.data(), bytes.data()};
  if (kiln_status status = m_run(&dims, &in, &out, aligned, nullptr))
    return status;
  std::printf("%.*s|%.*s\n", int(y[0].size), y[0].data, int(y[1].size), y[1].data);
  for (int64_t i = 0; i < 2 * dims.s_parts; ++i)
    std::printf("%.*s|", int(parts[i].size), parts[i].data);
  std::printf("\n");
  return 0;
}
