// The functions that the model of external.mlir calls, and a program that runs it.
#include "external.h"
#include "ext.h"
#include <cstdio>
#include <cstring>

extern "C" kiln_status scale(const float *x, float *y, const int64_t *shape, float factor) {
  if (shape[0] > 3 || shape[1] != 2)
    return KILN_STATUS_LIBRARY_FAILURE;
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i)
    y[i] = factor * x[i];
  return KILN_STATUS_OK;
}

static int64_t threadsSeen, runs;

extern "C" void note(int64_t threads, float two, int8_t *state) {
  threadsSeen = two == 2.0f ? threads : -1;
  std::memcpy(&runs, state, sizeof runs);
  ++runs;
  std::memcpy(state, &runs, sizeof runs);
}

static void serially(void *, int64_t tasks, kiln_task task, void *argument) { task(argument, 0, tasks); }

static int expect(bool holds, const char *what) {
  if (!holds)
    std::printf("failed: %s\n", what);
  return holds ? 0 : 1;
}

int main() {
  alignas(KILN_ALIGNMENT) static unsigned char workspace[EXT_WORKSPACE_SIZE];
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {};
  ext_inputs in = {x};
  ext_outputs out = {y};
  ext_dims dims = {3};
  int failures = expect(ext_run(&dims, &in, &out, workspace, nullptr) == KILN_STATUS_OK, "a run");
  failures += expect(y[0] == 0.5f && y[5] == 3.0f && y[6] == 0.0f, "the numbers");
  failures += expect(threadsSeen == 1 && runs == 1, "one thread without a context, and state that is zero at first");
  dims.rows = 4;
  kiln_context context = KILN_CONTEXT_INIT;
  context.num_threads = 3;
  failures += expect(ext_run(&dims, &in, &out, workspace, &context) == KILN_STATUS_LIBRARY_FAILURE, "the function's status");
  failures += expect(threadsSeen == 1 && runs == 2, "one thread without a parallel_for, and state that is kept");
  context.parallel_for = serially;
  dims.rows = 1;
  failures += expect(ext_run(&dims, &in, &out, workspace, &context) == KILN_STATUS_OK, "a run after one that failed");
  failures += expect(threadsSeen == 3 && runs == 3, "the threads of the context");
  return failures;
}
