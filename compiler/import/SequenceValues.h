//===- SequenceValues.h - Sequences of tensors, and optionals -----------------===//
//
// Sequences exist only at compile time: a cast of the elements to a tuple, which only the next sequence operator uses. An optional is its value, or a
// cast of nothing to `none`.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_SEQUENCEVALUES_H
#define KILN_COMPILER_IMPORT_SEQUENCEVALUES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace kiln::import {

mlir::Value makeSequence(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::Value> elements);
/// The elements of a sequence; nullopt for other values.
std::optional<llvm::SmallVector<mlir::Value>> getElements(mlir::Value value);

mlir::Value makeAbsent(mlir::OpBuilder &builder, mlir::Location loc);
bool isAbsent(mlir::Value value);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_SEQUENCEVALUES_H
