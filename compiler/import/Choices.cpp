//===- Choices.cpp - Values that a condition chooses -----------------------===//
#include "compiler/import/Choices.h"
#include "compiler/files/Printable.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/SequenceValues.h"
#include "compiler/import/SymbolicSizes.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataSizedOps.h"
#include "dialects/nn/NNStructureOps.h"

using namespace mlir;

namespace kiln::import {

std::string describeShape(const DimExprs &dims) {
  std::string text = "[";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(dims, stream, [&](AffineExpr dim) { stream << nn::formatDim(dim); });
  return text + "]";
}

AffineExpr Choices::computeDim(Node &node, Value number, AffineExpr bound, const Twine &name) {
  constexpr unsigned mostParts = 400;
  AffineExpr most = bound ? sizes.computed().getUpperBound(nn::simplifyDim(bound)) : AffineExpr();
  if (!most || nn::hasMoreParts(most, mostParts) || sizes.isLoosened(printable(name.str())))
    most = {};
  AffineExpr dim = node.computedDim(most, name);
  if (node.failed())
    return node.number(0);
  unsigned symbol = mlir::cast<AffineSymbolExpr>(dim).getPosition();
  nn::ComputedDimOp::create(builder, node.loc, RankedTensorType::get({1}, builder.getI64Type()), number, symbol);
  // The option --dim may fix the bound that the caller would give. Larger numbers end the run.
  if (auto fixedMost = most ? std::nullopt : nn::getConstantDim(sizes.computed().getBound(symbol)))
    expectInRun(node, node.compare<nn::LessEqualOp>(number, node.splatLike(number, static_cast<double>(*fixedMost))), "within_most");
  return dim;
}

/// A dimension that is one of two numbers. The same condition and numbers always give the same symbol.
AffineExpr Choices::chooseDim(Node &node, Value condition, AffineExpr then, AffineExpr otherwise, const Twine &name) {
  if (nn::provablyEqual(then, otherwise) || node.failed())
    return then;
  if (AffineExpr known = chosen.lookup({condition, then, otherwise}))
    return known;
  AffineExpr most = sizes.computed().getUpperBound(then), other = sizes.computed().getUpperBound(otherwise);
  auto type = RankedTensorType::get({}, builder.getI64Type());
  Value first = materialize(builder, node.loc, type, Number{then}), second = materialize(builder, node.loc, type, Number{otherwise});
  // A size that a branch computes exists only if the branch is taken.
  bool isComputed = sizes.computed().isIn(then) || sizes.computed().isIn(otherwise);
  Value picked = isComputed ? node.make<nn::ChooseOp>(type, condition, first, second) : node.make<nn::SelectOp>(type, condition, first, second);
  AffineExpr dim = computeDim(node, picked, most && other ? sizes.getFacts().getLarger(most, other) : AffineExpr(), name);
  chosen[{condition, then, otherwise}] = dim;
  return dim;
}

Value Choices::joinValues(Node &node, Value condition, Value then, Value otherwise, StringRef what, StringRef name) {
  static constexpr StringLiteral wayOut = "fix the input that it depends on with --bind input=value";
  if (auto elements = getElements(then), others = getElements(otherwise); elements && others && elements->size() == others->size()) {
    for (auto [element, other] : llvm::zip_equal(*elements, *others))
      if (!(element = joinValues(node, condition, element, other, what, name)))
        return {};
    return makeSequence(node.builder(), node.loc, *elements);
  }
  if (!isa<RankedTensorType>(then.getType()) || !isa<RankedTensorType>(otherwise.getType())) {
    (void)node.unsupported("the length of a sequence, or whether an optional has a value, depends on a condition that is known only at run time", wayOut);
    return {};
  }
  if (node.elementType(then) != node.elementType(otherwise)) {
    (void)node.error("the two values for one output have different element types");
    return {};
  }
  DimExprs dims = node.dims(then), others = node.dims(otherwise);
  if (dims.size() != others.size()) {
    (void)node.unsupported(what + ", " + describeShape(dims) + " and " + describeShape(others) + ", and the condition is known only at run time", wayOut);
    return {};
  }
  for (auto [i, dim, other] : llvm::enumerate(dims, others))
    dim = chooseDim(node, condition, dim, other, name + "_dim" + Twine(i));
  RankedTensorType type = node.type(dims, node.elementType(then));
  if (node.failed())
    return {};
  return node.make<nn::ChooseOp>(type, condition, node.reshape(then, dims), node.reshape(otherwise, dims));
}

} // namespace kiln::import
