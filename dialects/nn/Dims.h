//===- Dims.h - Symbolic dimensions of tensor types ------------------------===//
#ifndef KILN_DIALECTS_NN_DIMS_H
#define KILN_DIALECTS_NN_DIMS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace kiln::nn {

/// One expression of the module's symbols (affine symbol expressions) per dimension; constants for static dimensions.
using DimExprs = llvm::SmallVector<mlir::AffineExpr>;

/// The dimensions of a ranked tensor type. Every `?` must be covered by the `#nn.dims` encoding.
DimExprs getDims(mlir::Type type);

/// Whether every dynamic dimension of a ranked tensor type has its expression.
bool hasDims(mlir::Type type);

/// Dimension `i` of a ranked tensor type.
mlir::AffineExpr getDim(mlir::Type type, unsigned i);

/// A tensor type with these dimensions: static ones in the shape, the rest in a canonical `#nn.dims` encoding.
mlir::RankedTensorType makeTensorType(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::Type elementType);

/// The same type with another element type.
mlir::RankedTensorType withElementType(mlir::Type type, mlir::Type elementType);

/// One more than the highest symbol used: the canonical symbol count of an encoding.
unsigned countSymbols(llvm::ArrayRef<mlir::AffineExpr> exprs);

/// An affine map of these expressions of symbols, with the canonical symbol count.
mlir::AffineMap makeSymbolMap(llvm::ArrayRef<mlir::AffineExpr> exprs, mlir::MLIRContext *context);

/// Simplifies an expression over symbols only.
mlir::AffineExpr simplifyDim(mlir::AffineExpr expr);

/// Whether the two are equal for all values of the symbols. False means not proven.
bool provablyEqual(mlir::AffineExpr a, mlir::AffineExpr b);

/// The value if it is a constant.
std::optional<int64_t> getConstantDim(mlir::AffineExpr expr);

/// Broadcasts that are decided at run time: of two sizes that are not known to be equal, either may be 1.
/// @{
/// Whether a dimension of size `from` may be 1 or `to`.
bool mayBroadcast(mlir::AffineExpr from, mlir::AffineExpr to);
/// The other size where `a` is 1, else `a`. 1 becomes also 0.
mlir::AffineExpr getBroadcastSize(mlir::AffineExpr a, mlir::AffineExpr b);
/// Zero if a dimension of size `from` can be broadcast to a result of size `to`.
mlir::AffineExpr getBroadcastConstraint(mlir::AffineExpr from, mlir::AffineExpr to);
/// The factor of an index: 0 for size 1, otherwise 1.
mlir::AffineExpr getBroadcastFactor(mlir::AffineExpr size);
/// Whether getBroadcastFactor made the expression.
bool isBroadcastFactor(mlir::AffineExpr expr);
/// @}

/// Numbers that depend on the sign of another number, whose magnitude is at most 2^32.
/// @{
/// 1 if `expr` is positive, otherwise 0.
mlir::AffineExpr getSign(mlir::AffineExpr expr);
/// `expr` if it is positive, otherwise 0. Those of x and -x are built from the same product, so their sums cancel.
mlir::AffineExpr getPositivePart(mlir::AffineExpr expr);
/// The argument of the getSign that made this expression, or another number of the same sign; null if it is not a sign.
mlir::AffineExpr matchSign(mlir::AffineExpr expr);
/// The same for the product that getPositivePart makes.
mlir::AffineExpr matchPositivePart(mlir::AffineExpr expr);
/// @}

/// The expression as printed in messages, for example `s0 + 1`; `batch + 1` when the names of the symbols are given.
std::string formatDim(mlir::AffineExpr expr, mlir::ArrayAttr symbols = {});

/// The product of all dimensions.
mlir::AffineExpr getNumElements(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::MLIRContext *context);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_DIMS_H
