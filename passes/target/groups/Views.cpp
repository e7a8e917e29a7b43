//===- Views.cpp - Values seen through views ------------------------------===//
#include "passes/target/groups/Views.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Permute.h"
#include "passes/target/groups/Places.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool isConstant(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto group = argument ? dyn_cast<GroupOp>(argument.getOwner()->getParentOp()) : GroupOp();
  return group ? group.isConstantInput(argument.getArgNumber()) : value.getDefiningOp<ConstantOp>() != nullptr;
}

AffineExpr linearCoefficient(AffineExpr expr, unsigned dim) {
  AffineExpr zero = getAffineConstantExpr(0, expr.getContext());
  if (auto d = dyn_cast<AffineDimExpr>(expr))
    return getAffineConstantExpr(d.getPosition() == dim, expr.getContext());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return zero;
  AffineExpr lhs = linearCoefficient(binary.getLHS(), dim), rhs = linearCoefficient(binary.getRHS(), dim);
  if (!lhs || !rhs)
    return nullptr;
  if (lhs == zero && rhs == zero)
    return zero;
  if (expr.getKind() == AffineExprKind::Add)
    return simplifyDim(lhs + rhs);
  if (expr.getKind() != AffineExprKind::Mul)
    return nullptr;
  if (rhs == zero)
    return simplifyDim(lhs * binary.getRHS());
  return lhs == zero ? simplifyDim(rhs * binary.getLHS()) : nullptr;
}

std::optional<int64_t> coefficientOf(AffineExpr expr, unsigned dim) {
  AffineExpr coefficient = linearCoefficient(expr, dim);
  auto constant = dyn_cast_or_null<AffineConstantExpr>(coefficient);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

std::optional<TracedView> traceViews(Value tensor, ArrayRef<AffineExpr> at) {
  IndexExprs index(at);
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && onlyRenamesSizes(reshape)) {
      tensor = reshape.getInput();
      continue;
    }
    auto view = dyn_cast<IndexMap>(op);
    AffineMap map = view ? view.getIndexMap() : AffineMap();
    if (!map)
      return std::nullopt;
    IndexExprs source;
    for (AffineExpr expr : map.getResults())
      source.push_back(expr.replaceDims(index));
    index = source;
    tensor = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(tensor);
  return TracedView{argument.getArgNumber(), index, getElementOffset(argument, index)};
}

std::optional<TracedView> traceLinearView(Value tensor) {
  IndexExprs at;
  unsigned rank = cast<RankedTensorType>(tensor.getType()).getRank();
  for (unsigned i = 0; i < rank; ++i)
    at.push_back(getAffineDimExpr(i, tensor.getContext()));
  std::optional<TracedView> view = traceViews(tensor, at);
  if (view)
    view->offset = simplifyDim(view->offset);
  for (unsigned i = 0; view && i < rank; ++i)
    if (!linearCoefficient(view->offset, i))
      return std::nullopt;
  return view;
}

bool areOrderedFilters(Value filters) {
  auto view = filters.getDefiningOp<TransposeOp>();
  return view && view.getPermutation().front() + 1 == view.getType().getRank();
}

Value seeThroughReshapes(Value tensor) {
  while (auto reshape = tensor.getDefiningOp<ReshapeOp>())
    tensor = reshape.getInput();
  return tensor;
}

} // namespace kiln
