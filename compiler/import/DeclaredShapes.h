//===- DeclaredShapes.h - Declared shapes in place of data -------------------===//
//
// Where only the data tell a size, the shape that the model declares for the result is taken (Node::declaredDims). A run whose data give another one ends with
// KILN_STATUS_DIMENSION_MISMATCH: an importer says here which numbers it has taken for which dimensions.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_DECLAREDSHAPES_H
#define KILN_COMPILER_IMPORT_DECLAREDSHAPES_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// These dimensions as a vector of i64.
Value makeDimVector(Node &node, llvm::ArrayRef<AffineExpr> dims);

/// Ends a run in which one of these truth values is false. The run's message has `what` behind the name of the node's result, and names the node that
/// `demands` it, which is this one if that is empty.
void expectInRun(Node &node, Value isRight, llvm::StringRef what = "not_as_declared", llvm::StringRef demands = "");
/// Ends a run in which the integers, which have any shape, are not these in their order.
void expectInRun(Node &node, Value integers, llvm::ArrayRef<AffineExpr> dims);
/// Ends a run in which these axes, put into `inner` with size 1 each, do not make `outer`.
void expectAxesInRun(Node &node, Value axes, llvm::ArrayRef<AffineExpr> inner, llvm::ArrayRef<AffineExpr> outer);
/// A vector of as many integers as there are dimensions: 1 for those that the axes name, which may count from the end, and 0 for others.
Value markAxes(Node &node, Value axes, int64_t rank);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_DECLAREDSHAPES_H
