// The sizes of dimensions that a model's table has as expressions of its symbols: "2*sequence+1".
#ifndef KILN_RUNTIME_PIPELINE_DIMTEXT_H
#define KILN_RUNTIME_PIPELINE_DIMTEXT_H

#include "kiln/abi.h"

namespace kiln {

// The size of a dimension for these values of the symbols; -1 if there is none.
int64_t evaluateDim(const kiln_model_info &info, const kiln_tensor_info &tensor, int32_t axis, const int64_t *dims);

// The bytes of a tensor; -1 if it has none, as strings, or too many.
int64_t countBytes(const kiln_model_info &info, const kiln_tensor_info &tensor, const int64_t *dims);

} // namespace kiln

#endif // KILN_RUNTIME_PIPELINE_DIMTEXT_H
