//===- WaitingSums.h - Sums that wait in memory for what follows -----------===//
//
//   sum0 = ...; ...; sum7 = ...                  sums[0] = sum0; ...; sums[7] = sum7
//   out[0] = f(sum0)                             for i = 0, 2, 4, 6:
//   ...                              becomes       out[i] = f(sums[i])
//   out[7] = f(sum7)                               out[i + 1] = f(sums[i + 1])
//
// Where f is long, as an exponential function is, LLVM interleaves it for all sums on 64-bit Arm, and most values go to the stack and back. The loop is also a
// smaller program. The target's `waiting_sums` says where it pays.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_WAITINGSUMS_H
#define KILN_PASSES_LOWERING_BUILDER_WAITINGSUMS_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// Whether the group computes an exponential function or the like.
bool hasLongFunction(nn::GroupOp group);

/// Calls store(step, sums) for each `together` of the sums of type `element` with so many lanes, in a loop if `waits` and if sums wait on the target. The last
/// step may have fewer.
void storeSums(KernelBuilder &k, mlir::Type element, llvm::ArrayRef<mlir::Value> sums, unsigned lanes, int64_t together, bool waits,
               llvm::function_ref<void(mlir::AffineExpr step, llvm::ArrayRef<mlir::Value> sums)> store);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_WAITINGSUMS_H
