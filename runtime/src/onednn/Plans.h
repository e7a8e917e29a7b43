// One operation in oneDNN, on the calling thread alone.
#ifndef KILN_ONEDNN_PLANS_H
#define KILN_ONEDNN_PLANS_H

#include "Descriptions.h"

namespace kiln_onednn {

enum class Kind { Matmul, Conv, Softmax, LayerNorm };

// What tells one operation from another; its numbers are the caller's.
struct Operation {
  Kind kind;
  float epsilon;
  // Tells constants of one state from each other: the first element of this one.
  int64_t constantAt;
  const int64_t *numbers;
  int64_t count;
};

// Runs it with what the state has for it; makes that when it is not there yet. `data` has the function's buffers in order.
kiln_status call(void *state, const Operation &operation, void *const *data);

} // namespace kiln_onednn

#endif // KILN_ONEDNN_PLANS_H
