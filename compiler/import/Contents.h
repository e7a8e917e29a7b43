//===- Contents.h - Elements of small tensors known at compile time ---------===//
#ifndef KILN_COMPILER_IMPORT_CONTENTS_H
#define KILN_COMPILER_IMPORT_CONTENTS_H

#include "dialects/nn/DimFacts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace kiln::import {

/// One element of a tensor that shape arithmetic works on: a real number, or an expression of the module's symbols. In tensors of floating-point numbers, the
/// expression may have a divisor. The element is the quotient exactly if the divisor is a power of two, and the quotient rounded once otherwise.
struct Number {
  mlir::AffineExpr expr;
  double real = 0;
  int64_t divisor = 1;
};
using Contents = llvm::SmallVector<Number>;

/// The elements of a small tensor: of constants, of nn.dim_values, and of reshapes and casts of those. Floating-point numbers that are not constants are known
/// only with `facts`, which prove them exact.
std::optional<Contents> getContents(mlir::Value value, const nn::DimFacts *facts = nullptr);

/// The same when all elements are expressions.
std::optional<nn::DimExprs> getIntegerContents(mlir::Value value);

/// The result of an operation on tensors with known contents, as a constant or operations on nn.dim_values made at the builder's insertion point; null when
/// that is not known. Only operations of which shape arithmetic is made. `compute` gives the elements of an operand that constants decide, or null.
mlir::Value foldContents(mlir::OpBuilder &builder, mlir::Operation *op, const nn::DimFacts &facts,
                         llvm::function_ref<mlir::ElementsAttr(mlir::Value)> compute);

/// A tensor of these elements. Integers have no divisors; real numbers beside expressions must be rational (toRational).
mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, llvm::ArrayRef<Number> contents);

/// Whether a <= b for all values of the symbols, of which nothing is known but that they are not negative. False means: not proven.
bool provablyAtMost(mlir::AffineExpr a, mlir::AffineExpr b);

/// a / b where the division is known to leave no remainder; factors that both have are cancelled.
mlir::AffineExpr divideExactly(llvm::ArrayRef<mlir::AffineExpr> numerators, llvm::ArrayRef<mlir::AffineExpr> denominators, mlir::MLIRContext *context);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_CONTENTS_H
