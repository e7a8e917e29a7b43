//===- Lists.h - Sequences of tensors, and optionals ---------------------------===//
//
// A sequence is a compile-time thing: a cast of its elements to a tuple, which the next list operator looks through and nothing else takes. An
// optional is its value, or a cast of nothing to `none`.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_LISTS_H
#define KILN_COMPILER_IMPORT_LISTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace kiln::import {

mlir::Value makeSequence(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::Value> elements);
/// The elements of a sequence; nullopt when the value is something else.
std::optional<llvm::SmallVector<mlir::Value>> getElements(mlir::Value value);

mlir::Value makeAbsent(mlir::OpBuilder &builder, mlir::Location loc);
bool isAbsent(mlir::Value value);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_LISTS_H
