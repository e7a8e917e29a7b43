// Runs one model compiled three ways and compares: status 0 when all agree.
#include "own_compiler.h"
#include "softmax_batched.h"
#include "softmax_single.h"

#include "kiln/runtime.h"
#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  const float x[8] = {1, 2, 3, 4, -1, 0, 1, 100};
  float single[4] = {}, own[4] = {}, batched[8] = {};
  alignas(64) unsigned char workspace[1 << 12];

  softmax_single_inputs singleIn = {x};
  softmax_single_outputs singleOut = {single};
  own_compiler_inputs ownIn = {x};
  own_compiler_outputs ownOut = {own};
  softmax_batched_inputs batchedIn = {x};
  softmax_batched_outputs batchedOut = {batched};
  softmax_batched_dims dims = {2};
  if (softmax_single_workspace_size() > sizeof(workspace) || own_compiler_workspace_size() > sizeof(workspace) ||
      softmax_batched_workspace_size(&dims) > sizeof(workspace))
    return 2;

  kiln_pool *pool = nullptr;
  kiln_context context;
  kiln_status status = kiln_pool_create(2, &pool);
  kiln_pool_context(pool, &context);
  if (!status)
    status = softmax_single_run(&singleIn, &singleOut, workspace, nullptr);
  if (!status)
    status = own_compiler_run(&ownIn, &ownOut, workspace, nullptr);
  if (!status)
    status = softmax_batched_run(&dims, &batchedIn, &batchedOut, workspace, &context);
  kiln_pool_destroy(pool);
  if (status) {
    std::printf("%s\n", kiln_status_string(status));
    return 1;
  }
  float sum = 0, largest = 0;
  for (int i = 0; i < 4; ++i) {
    sum += single[i];
    largest = std::fmax(largest, std::fmax(std::fabs(single[i] - own[i]), std::fabs(single[i] - batched[i])));
  }
  std::printf("sum %.4f, largest difference %g\n", sum, largest);
  return std::fabs(sum - 1) < 1e-5f && largest < 1e-6f ? 0 : 1;
}
