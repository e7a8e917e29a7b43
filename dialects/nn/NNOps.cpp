//===- NNOps.cpp - Folds and index maps of the nn dialect   --------------===//
#include "dialects/nn/NN.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/DimFacts.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "dialects/nn/Verify.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

//===- ConstantOp ----------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseAttribute(value, "value", result.attributes))
    return failure();
  result.addTypes(value.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ';
  printer.printAttribute(getValue());
}

//===- Folds ---------------------------------------------------------------===//

OpFoldResult CastOp::fold(FoldAdaptor) { return getX().getType() == getType() ? getX() : OpFoldResult(); }

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    setOperand(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  SmallVector<int64_t> permutation(getPermutation());
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    for (int64_t &dim : permutation)
      dim = inner.getPermutation()[dim];
    setOperand(inner.getInput());
    setPermutation(permutation);
    return getResult();
  }
  return llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())) ? getInput() : Value();
}

OpFoldResult BroadcastToOp::fold(FoldAdaptor) { return getInput().getType() == getType() ? getInput() : Value(); }

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool forward = llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  return forward && getInput().getType() == getType() ? getInput() : Value();
}

OpFoldResult ChooseOp::fold(FoldAdaptor adaptor) {
  if (getThen() == getOtherwise())
    return getThen();
  auto known = dyn_cast_or_null<ElementsAttr>(adaptor.getCondition());
  if (!known)
    return {};
  return ConstantData(known).asInt(0) ? getThen() : getOtherwise();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) { return getInputs().size() == 1 ? getInputs().front() : Value(); }

//===- Index maps ----------------------------------------------------------===//

AffineMap TransposeOp::getIndexMap() {
  SmallVector<AffineExpr> exprs(getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    exprs[dim] = getAffineDimExpr(i, getContext());
  return AffineMap::get(exprs.size(), 0, exprs, getContext());
}

AffineMap BroadcastToOp::getIndexMap() {
  DimExprs from = getDims(getInput().getType()), to = getDims(getType());
  size_t added = to.size() - from.size();
  SmallVector<AffineExpr> exprs;
  unsigned numSymbols = 0;
  for (auto [i, dim] : llvm::enumerate(from)) {
    AffineExpr want = to[added + i], index = getAffineDimExpr(added + i, getContext());
    if (DimFacts().areOrdered(dim, getAffineConstantExpr(1, getContext())))
      index = getAffineConstantExpr(0, getContext());
    else if (mayBroadcast(dim, want))
      index = index * getBroadcastFactor(dim);
    exprs.push_back(index);
    index.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        numSymbols = std::max(numSymbols, symbol.getPosition() + 1);
    });
  }
  return AffineMap::get(to.size(), numSymbols, exprs, getContext());
}

AffineMap SliceOp::getIndexMap() {
  SmallVector<AffineExpr> exprs;
  for (auto [i, step] : llvm::enumerate(getSteps()))
    exprs.push_back(getStarts().getResult(i) + getAffineDimExpr(i, getContext()) * step);
  return AffineMap::get(exprs.size(), getStarts().getNumSymbols(), exprs, getContext());
}
