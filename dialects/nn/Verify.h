//===- Verify.h - Checks that several operations share ---------------------===//
#ifndef KILN_DIALECTS_NN_VERIFY_H
#define KILN_DIALECTS_NN_VERIFY_H

#include "mlir/IR/Operation.h"

namespace kiln::nn {

/// All operands and the result of an element-wise operation have provably the same dimensions.
llvm::LogicalResult verifyElementwise(mlir::Operation *op);

/// `axis` is a dimension of `type`.
llvm::LogicalResult verifyAxis(mlir::Operation *op, int64_t axis, mlir::Type type);

/// `type` has the given dimensions; `what` names the value in the message.
llvm::LogicalResult verifyDims(mlir::Operation *op, mlir::Type type, llvm::ArrayRef<mlir::AffineExpr> expected, llvm::StringRef what);

/// The one region of an operation takes its operands and yields its results.
llvm::LogicalResult verifyBody(mlir::Operation *op);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_VERIFY_H
