//===- Weights.h - The constant arrays of a model --------------------------===//
#ifndef KILN_COMPILER_EMIT_WEIGHTS_H
#define KILN_COMPILER_EMIT_WEIGHTS_H

#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace kiln {

/// The alignment of weights in bytes.
inline constexpr int64_t weightAlignment = 64;

/// The limit of embedded weights in bytes: code can address 2 GiB, which must also include the rest of the program.
inline constexpr int64_t maxEmbeddedBytes = (int64_t(2) << 30) - (int64_t(128) << 20);

/// Gives every kernel.weight its offset. Weights with the same bytes in the same order share one, also across modules (one model
/// for several targets). Returns the total size.
mlir::FailureOr<int64_t> placeWeights(llvm::ArrayRef<mlir::ModuleOp> modules);

/// The same for several forms of the modules, which have the same weights with other values: the ranks that share code. Two weights share an offset if
/// they have the same bytes in each form.
mlir::FailureOr<int64_t> placeWeights(const std::vector<std::vector<mlir::ModuleOp>> &forms);

/// The bytes that a weight takes in its stored order, without what aligns the next one.
int64_t getStoredBytes(kernel::WeightOp weight);

/// Writes all weights in the order of their offsets, each in the order that its `pack` says, with zeros between them. Never holds more than
/// a megabyte of them.
void writeWeights(llvm::ArrayRef<mlir::ModuleOp> modules, llvm::raw_ostream &out);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_WEIGHTS_H
