//===- DataDims.h - Dimensions that the data of a run decide ---------------===//
#ifndef KILN_COMPILER_IMPORT_DATADIMS_H
#define KILN_COMPILER_IMPORT_DATADIMS_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// An upper bound of all elements of a tensor: from clamps, minima and the like, the type, and the sizes of what is counted. Null: none is known.
AffineExpr findUpperBound(Node &node, Value value);

/// A scalar that the run computes as a dimension from 0 to `bound`, which the number does not exceed; without one, the caller gives a bound. A negative number
/// is 0.
AffineExpr makeDataDim(Node &node, Value number, AffineExpr bound, const llvm::Twine &name);

/// The elements of a vector of integers as dimensions, each with its bound, which the run checks: a larger one ends it.
DimExprs makeDataDims(Node &node, Value numbers, llvm::ArrayRef<AffineExpr> bounds, llvm::StringRef what);

/// The elements of an input that is a vector of sizes: expressions, or dimensions that the run computes. A negative number ends the run.
std::optional<DimExprs> readSizes(Node &node, unsigned input, llvm::StringRef what);

/// Amounts that may be negative are read as differences of two such dimensions each; `mostBelow` bounds the second ones.
std::optional<DimExprs> readAmounts(Node &node, unsigned input, llvm::ArrayRef<AffineExpr> mostBelow, llvm::StringRef what);

/// x[start : end : step] along an axis, with bounds that data decide (scalars of int64) and a step above zero. As ONNX says, negative bounds count from the
/// end, and all are cut to what there is.
Value sliceByData(Node &node, Value x, int64_t axis, Value start, Value end, int64_t step);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_DATADIMS_H
