// Reductions of arrays in a fixed order.
#ifndef KILN_RUNTIME_RANKS_REDUCE_H
#define KILN_RUNTIME_RANKS_REDUCE_H

#include "kiln/communicator.h"

namespace kiln {

// Bytes of an element; 0 for types that cannot be reduced in this way.
int64_t findReducedSize(int32_t elementType, int32_t reduction);

// result[i] = ((sources[0][i] + sources[1][i]) + sources[2][i]) ..., for each i; f16 and bf16 in f32, rounded once. `result` may be one of the sources.
void reduceInOrder(const void *const *sources, int32_t sourceCount, void *result, int64_t count, int32_t elementType, int32_t reduction);

} // namespace kiln

#endif // KILN_RUNTIME_RANKS_REDUCE_H
