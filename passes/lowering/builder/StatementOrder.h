//===- StatementOrder.h - Values that are written where they are computed --===//
//
//   sum = a * b + sum;              and not     sum = e * f + (c * d + (a * b + sum));
//   sum1 = a * c + sum1;                        sum1 = ...
//   ...
//
// Emitted C++ takes a value with one use into the expression that uses it. Of many chains, one would follow the other, and compilers that schedule from such an
// order load all operands first. GCC spills then, and Clang where registers are many and small.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_STATEMENTORDER_H
#define KILN_PASSES_LOWERING_BUILDER_STATEMENTORDER_H

#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/RegisterBudget.h"

namespace kiln {

/// A value that becomes a statement of its own, by that name.
inline mlir::Value writeStatement(const KernelBuilder &k, mlir::Value value, llvm::StringRef name = "sum") {
  mlir::Operation *op = value ? value.getDefiningOp() : nullptr;
  if (op && op->getLoc() == k.loc())
    op->setLoc(mlir::NameLoc::get(mlir::StringAttr::get(op->getContext(), name), k.loc()));
  return value;
}

/// The same on targets for which Clang spills otherwise, too.
inline mlir::Value writeHere(const KernelBuilder &k, mlir::Value value, llvm::StringRef name = "sum") {
  return loadsOperands(k.target()) ? writeStatement(k, value, name) : value;
}

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_STATEMENTORDER_H
