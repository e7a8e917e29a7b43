// Runs the model on one thread and on three, and says how many results are subnormal, zero and normal, and whether the caller's arithmetic is as it was.
#include "kiln/runtime.h"
#include "m.h"

#include <cmath>
#include <cstdio>
#include <vector>

static void count(const std::vector<float> &values) {
  int kinds[3] = {};
  for (float value : values)
    ++kinds[value == 0 ? 1 : std::fpclassify(value) == FP_SUBNORMAL ? 0 : 2];
  std::printf("%d subnormal, %d zero, %d normal\n", kinds[0], kinds[1], kinds[2]);
}

int main() {
  const size_t size = 1024 * 1024;
  std::vector<float> x(size), product(size), sum(size);
  // 2e-36 * 1e-4 is subnormal, and 1e-39 is so as it comes.
  for (size_t i = 0; i < size; ++i)
    x[i] = i % 2 ? 2e-36f : 1e-39f;
  void *workspace = nullptr;
  if (kiln_workspace_create(m_workspace_size(), &workspace) != KILN_STATUS_OK)
    return 1;
  kiln_pool *pool = nullptr;
  if (kiln_pool_create(3, &pool) != KILN_STATUS_OK)
    return 1;
  kiln_context context;
  kiln_pool_context(pool, &context);
  const m_inputs inputs = {x.data()};
  const m_outputs outputs = {product.data(), sum.data()};
  for (const kiln_context *how : {static_cast<const kiln_context *>(nullptr), static_cast<const kiln_context *>(&context)}) {
    if (m_run(&inputs, &outputs, workspace, how) != KILN_STATUS_OK)
      return 1;
    count(product);
    count(sum);
    volatile float small = 2e-36f;
    std::printf("the caller's %s\n", small * 1e-4f == 0 ? "is flushed" : "is not flushed");
  }
  kiln_pool_destroy(pool);
  kiln_workspace_destroy(workspace, m_workspace_size());
  return 0;
}
