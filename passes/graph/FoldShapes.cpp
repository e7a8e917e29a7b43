//===- FoldShapes.cpp - Arithmetic on shapes, done symbolically ------------===//
//
//   %s = nn.dim_values affine_map<()[s0] -> (s0, 768)> : tensor<2xi64>
//   %d = nn.gather %s, %zero axis 0 : tensor<2xi64>, tensor<i64> -> tensor<i64>
//   %r = nn.mul %d, %two : tensor<i64>
//
// becomes
//
//   %r = nn.dim_values affine_map<()[s0] -> (s0 * 2)> : tensor<i64>
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/DimFacts.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_FOLDSHAPES
#include "passes/Passes.h.inc"
} // namespace kiln

/// Tensors of more elements are taken to be data and not shapes.
static constexpr int64_t maxElements = 64;

/// Longer expressions are not folded further.
static constexpr unsigned mostParts = 400;

using Exprs = FailureOr<SmallVector<AffineExpr>>;

/// The elements of a small integer tensor as expressions.
static Exprs expressionsOf(Value value) {
  if (auto dims = value.getDefiningOp<DimValuesOp>())
    return SmallVector<AffineExpr>(dims.getMap().getResults());
  ElementsAttr constant = getConstant(value);
  if (!constant || !constant.getElementType().isSignlessInteger() || constant.getNumElements() > maxElements)
    return failure();
  ConstantData data(constant);
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < data.numElements(); ++i)
    exprs.push_back(getAffineConstantExpr(data.asInt(i), value.getContext()));
  return exprs;
}

static Exprs concatenated(ConcatOp op) {
  SmallVector<AffineExpr> all;
  for (Value input : op.getInputs()) {
    Exprs part = expressionsOf(input);
    if (failed(part))
      return failure();
    all.append(*part);
  }
  return all;
}

static Exprs gathered(GatherOp op) {
  Exprs from = expressionsOf(op.getInput());
  ElementsAttr indices = getConstant(op.getIndices());
  if (failed(from) || !indices)
    return failure();
  ConstantData data(indices);
  int64_t size = from->size();
  SmallVector<AffineExpr> picked;
  for (int64_t i = 0; i < data.numElements(); ++i) {
    int64_t at = data.asInt(i) + (data.asInt(i) < 0 ? size : 0);
    if (at < 0 || at >= size)
      return failure();
    picked.push_back((*from)[at]);
  }
  return picked;
}

static Exprs sliced(SliceOp op) {
  Exprs from = expressionsOf(op.getInput());
  auto start = op.getType().getRank() == 1 ? getConstantDim(op.getStarts().getResult(0)) : std::nullopt;
  if (failed(from) || !start)
    return failure();
  SmallVector<AffineExpr> picked;
  for (int64_t i = 0; i < op.getType().getNumElements(); ++i)
    picked.push_back((*from)[*start + i * op.getSteps()[0]]);
  return picked;
}

/// Sums, differences and products; a product of two symbols is no affine expression but a semi-affine one, which dimensions may be.
/// Arithmetic in 32 bits may wrap.
static Exprs computed(Operation *op) {
  if (!isa<AddOp, SubOp, MulOp>(op) || !getElementTypeOrSelf(op->getResult(0).getType()).isInteger(64))
    return failure();
  Exprs x = expressionsOf(op->getOperand(0)), y = expressionsOf(op->getOperand(1));
  if (failed(x) || failed(y))
    return failure();
  SmallVector<AffineExpr> results;
  for (auto [a, b] : llvm::zip(*x, *y)) {
    if (hasMoreParts(a, mostParts) || hasMoreParts(b, mostParts))
      return failure();
    results.push_back(isa<AddOp>(op) ? a + b : isa<SubOp>(op) ? a - b : a * b);
  }
  return results;
}

static Exprs evaluate(Operation *op) {
  if (auto concat = dyn_cast<ConcatOp>(op))
    return concatenated(concat);
  if (auto gather = dyn_cast<GatherOp>(op))
    return gathered(gather);
  if (auto slice = dyn_cast<SliceOp>(op))
    return sliced(slice);
  if (isa<ReshapeOp, CastOp>(op))
    return expressionsOf(op->getOperand(0));
  return computed(op);
}

static void foldShape(Operation *op) {
  bool reads = llvm::any_of(op->getOperands(), [](Value operand) { return operand.getDefiningOp<DimValuesOp>(); });
  if (!reads || op->getNumResults() != 1)
    return;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.hasStaticShape() || type.getRank() > 1 || !(type.getElementType().isInteger(64) || type.getElementType().isInteger(32)))
    return;
  Exprs exprs = evaluate(op);
  if (failed(exprs))
    return;
  unsigned symbols = 0;
  for (AffineExpr &expr : *exprs) {
    expr = simplifyDim(expr);
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        symbols = std::max(symbols, symbol.getPosition() + 1);
    });
  }
  OpBuilder builder(op);
  AffineMap map = AffineMap::get(0, symbols, *exprs, op->getContext());
  op->replaceAllUsesWith(DimValuesOp::create(builder, op->getLoc(), type, map));
}

namespace {
struct FoldShapesPass : kiln::impl::FoldShapesBase<FoldShapesPass> {
  void runOnOperation() override { getOperation().walk(foldShape); }
};
} // namespace
