//===- DeclaredShapes.cpp - Declared shapes in place of data -----------------===//
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/Choices.h"
#include "compiler/import/SymbolicSizes.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static Type i64Of(Node &node) { return node.builder().getI64Type(); }

Value makeDimVector(Node &node, ArrayRef<AffineExpr> dims) {
  Contents contents;
  for (AffineExpr dim : dims)
    contents.push_back({nn::simplifyDim(dim)});
  return materialize(node.builder(), node.loc, RankedTensorType::get({static_cast<int64_t>(dims.size())}, i64Of(node)), contents);
}

void expectInRun(Node &node, Value isRight, StringRef what, StringRef demands) {
  if (node.failed())
    return;
  if (node.rank(isRight) == 0)
    isRight = node.reshape(isRight, {node.number(1)});
  Value wrong = node.cast(node.make<NotOp>(isRight.getType(), isRight), i64Of(node));
  Value any = node.reduce(ReduceKind::Max, wrong, llvm::to_vector(llvm::seq<int64_t>(0, node.rank(wrong))), /*keep=*/false);
  AffineExpr isWrong = node.failed() ? node.number(0) : node.choices().computeDim(node, any, node.number(1), node.outputName(0) + "_" + what);
  if (!node.failed())
    node.sizes().addConstraint(isWrong, demands.empty() ? node.describe() : demands.str());
}

void expectInRun(Node &node, Value integers, ArrayRef<AffineExpr> dims) {
  AffineExpr count = node.failed() ? node.number(0) : nn::getNumElements(node.dims(integers), node.context());
  if (node.failed() || !node.unify(count, node.number(static_cast<int64_t>(dims.size())), "the model declares another rank: numbers of sizes") || dims.empty())
    return;
  Value given = node.cast(node.reshape(integers, {node.number(static_cast<int64_t>(dims.size()))}), i64Of(node));
  expectInRun(node, node.compare<EqualOp>(given, makeDimVector(node, dims)));
}

Value markAxes(Node &node, Value axes, int64_t rank) {
  AffineExpr count = nn::getNumElements(node.dims(axes), node.context()), one = node.number(1), all = node.number(rank);
  axes = node.cast(node.reshape(axes, {one, count}), i64Of(node));
  axes = node.failed() ? axes
                       : node.make<SelectOp>(axes.getType(), node.compare<LessOp>(axes, node.splatLike(axes, 0)),
                                             node.binary<AddOp>(axes, node.splatLike(axes, static_cast<double>(rank))), axes);
  Value places = node.reshape(node.iota({all}, 0, i64Of(node)), {all, one});
  Value named = node.failed() ? places : node.cast(node.compare<EqualOp>(places, axes), i64Of(node));
  return node.failed() ? places : node.binary<MaximumOp>(node.reduce(ReduceKind::Max, named, {1}, /*keep=*/false), node.splat({all}, i64Of(node), 0));
}

void expectAxesInRun(Node &node, Value axes, ArrayRef<AffineExpr> inner, ArrayRef<AffineExpr> outer) {
  int64_t rank = static_cast<int64_t>(outer.size()), more = rank - static_cast<int64_t>(inner.size());
  AffineExpr count = node.failed() ? node.number(0) : nn::getNumElements(node.dims(axes), node.context());
  if (node.failed() || !node.unify(count, node.number(more), "the model declares another rank: numbers of axes") || rank == 0)
    return;
  Value marks = markAxes(node, axes, rank), ones = node.splatLike(marks, 1);
  Value kept = node.binary<SubOp>(ones, marks);
  Value places = node.failed() ? kept : node.make<CumulativeOp>(kept.getType(), ReduceKind::Sum, kept, 0, /*exclusive=*/true, /*reverse=*/false);
  // Behind the last one is what no place that is kept has.
  DimExprs sizes(inner);
  sizes.push_back(node.number(-1));
  places = node.failed() ? places : node.binary<MinimumOp>(places, node.splatLike(places, static_cast<double>(inner.size())));
  Value taken = node.failed() ? places : node.make<GatherOp>(node.type(node.number(rank), i64Of(node)), makeDimVector(node, sizes), places, 0);
  Value made = node.failed() ? taken : node.make<SelectOp>(taken.getType(), node.compare<EqualOp>(kept, ones), taken, ones);
  expectInRun(node, node.failed() ? made : node.compare<EqualOp>(made, makeDimVector(node, outer)));
}

} // namespace kiln::import
