//===- IndexArithmetic.h - Index expressions as arithmetic -----------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_INDEXARITHMETIC_H
#define KILN_PASSES_LOWERING_BUILDER_INDEXARITHMETIC_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace kiln {

/// What index expressions mean at one place. Kernels and the entry differ in their variables, and in what they know of divisors.
struct IndexTerms {
  /// The value of a dimension or symbol.
  llvm::function_ref<mlir::Value(mlir::AffineExpr)> variable;
  /// A floordiv, ceildiv or mod of these values.
  llvm::function_ref<mlir::Value(mlir::AffineBinaryOpExpr, mlir::Value lhs, mlir::Value rhs)> quotient;
  /// Told of each part of the expression before it is computed; may be empty.
  llvm::function_ref<void(mlir::AffineExpr)> visit = {};
  /// Whether x + -3 is written x - 3.
  bool subtracts = false;
};

/// The value of an index expression.
mlir::Value emitIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::AffineExpr expr, const IndexTerms &terms);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_INDEXARITHMETIC_H
