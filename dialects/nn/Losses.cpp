//===- Losses.cpp - Losses and their parts ----------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNLossOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Verify.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace {

/// -weight[target] * x[.., target, ..] for x [N, C, ...] and target [N, ...], reduced. The steps are those of ONNX's own function body.
class LossBuilder {
public:
  template <typename LossOp>
  LossBuilder(OpBuilder &b, LossOp op, Value input)
      : b(b), loc(op.getLoc()), reduction(op.getReduction()), input(input), target(op.getTarget()), weight(op.getWeight()), ignored(op.getIgnoreIndex()) {}
  Value build();

private:
  Type element() const { return cast<RankedTensorType>(input.getType()).getElementType(); }
  RankedTensorType type(ArrayRef<AffineExpr> dims, Type of) const { return makeTensorType(dims, of); }
  Value splat(RankedTensorType like, double value) const {
    Type of = like.getElementType();
    TypedAttr number = isa<FloatType>(of) ? TypedAttr(b.getFloatAttr(of, value)) : TypedAttr(b.getIntegerAttr(of, static_cast<int64_t>(value)));
    return SplatOp::create(b, loc, like, number);
  }
  void pickClasses();
  /// What was picked, zero where the class is ignored, without the dimension of classes.
  Value values(Value picked) const;
  Value reduceAll(ReduceKind kind, Value x) const;
  /// Halves as f32: a sum of many losses or weights does not fit them.
  Value widen(Value x) const;
  Value narrow(Value x) const { return getElementTypeOrSelf(x) == element() ? x : Value(CastOp::create(b, loc, withElementType(x.getType(), element()), x)); }

  OpBuilder &b;
  Location loc;
  LossReduction reduction;
  Value input, target, weight;
  std::optional<uint64_t> ignored;
  /// [N, 1, ...]: the classes, and which of them count for nothing.
  Value at, isIgnored;
};

} // namespace

/// [N, C, ...] without C, or with one in its place.
static DimExprs lossDims(Type input, bool keep) {
  DimExprs dims = getDims(input);
  if (keep)
    dims[1] = getAffineConstantExpr(1, input.getContext());
  else
    dims.erase(dims.begin() + 1);
  return dims;
}

void LossBuilder::pickClasses() {
  RankedTensorType places = type(lossDims(input.getType(), true), b.getI64Type());
  Value wide = target;
  if (!cast<RankedTensorType>(target.getType()).getElementType().isInteger(64))
    wide = CastOp::create(b, loc, withElementType(target.getType(), b.getI64Type()), target);
  at = ReshapeOp::create(b, loc, places, wide);
  if (!ignored)
    return;
  Value number = SplatOp::create(b, loc, places, b.getI64IntegerAttr(static_cast<int64_t>(*ignored)));
  isIgnored = EqualOp::create(b, loc, withElementType(places, b.getI1Type()), at, number);
  // What is ignored may lie outside the classes.
  at = SelectOp::create(b, loc, places, isIgnored, splat(places, 0), at);
}

Value LossBuilder::values(Value picked) const {
  auto wide = cast<RankedTensorType>(picked.getType());
  if (isIgnored)
    picked = SelectOp::create(b, loc, wide, isIgnored, splat(wide, 0), picked);
  return ReshapeOp::create(b, loc, type(lossDims(input.getType(), false), element()), picked);
}

Value LossBuilder::reduceAll(ReduceKind kind, Value x) const {
  auto from = cast<RankedTensorType>(x.getType());
  SmallVector<AffineExpr> ones(from.getRank(), getAffineConstantExpr(1, b.getContext()));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, from.getRank()));
  Value kept = ReduceOp::create(b, loc, type(ones, from.getElementType()), kind, x, axes);
  return ReshapeOp::create(b, loc, type({}, from.getElementType()), kept);
}

Value LossBuilder::widen(Value x) const {
  bool isHalf = element().isF16() || element().isBF16();
  return isHalf ? Value(CastOp::create(b, loc, withElementType(x.getType(), b.getF32Type()), x)) : x;
}

Value LossBuilder::build() {
  pickClasses();
  RankedTensorType picked = type(lossDims(input.getType(), true), element());
  Value loss = widen(values(GatherElementsOp::create(b, loc, picked, input, at, 1))), weights;
  loss = NegOp::create(b, loc, loss.getType(), loss);
  if (weight)
    weights = widen(values(GatherOp::create(b, loc, picked, weight, at, 0)));
  else if (isIgnored)
    weights = widen(values(splat(picked, 1)));
  if (weights)
    loss = MulOp::create(b, loc, loss.getType(), loss, weights);
  if (reduction == LossReduction::None)
    return narrow(loss);
  if (reduction == LossReduction::Mean && !weights)
    return narrow(reduceAll(ReduceKind::Mean, loss));
  Value sum = reduceAll(ReduceKind::Sum, loss);
  return narrow(reduction == LossReduction::Sum ? sum : Value(DivOp::create(b, loc, sum.getType(), sum, reduceAll(ReduceKind::Sum, weights))));
}

FailureOr<SmallVector<Value>> NegativeLogLikelihoodOp::decompose(OpBuilder &builder) {
  return SmallVector<Value>{LossBuilder(builder, *this, getInput()).build()};
}

FailureOr<SmallVector<Value>> SoftmaxCrossEntropyOp::decompose(OpBuilder &builder) {
  Value logs = LogSoftmaxOp::create(builder, getLoc(), getInput().getType(), getInput(), /*axis=*/1, getAccuracy());
  Value loss = LossBuilder(builder, *this, logs).build();
  return SmallVector<Value>{loss, logs};
}

//===- Verifiers -------------------------------------------------------------===//

template <typename LossOp> static LogicalResult verifyLoss(LossOp op) {
  auto input = op.getInput().getType();
  if (input.getRank() < 2)
    return op.emitOpError() << "expected an input of rank 2 or more, got " << input;
  DimExprs places = lossDims(input, false);
  if (failed(verifyDims(op, op.getTarget().getType(), places, "the target")))
    return failure();
  if (op.getWeight() && failed(verifyDims(op, op.getWeight().getType(), {getDim(input, 1)}, "the weight")))
    return failure();
  if (op.getReduction() != LossReduction::None)
    places.clear();
  if (failed(verifyDims(op, op.getLoss().getType(), places, "the loss")))
    return failure();
  for (Value value : {op.getWeight() ? Value(op.getWeight()) : Value(op.getLoss()), Value(op.getLoss())})
    if (cast<RankedTensorType>(value.getType()).getElementType() != input.getElementType())
      return op.emitOpError() << "has operands or results of other element types than the input's, " << input.getElementType();
  return success();
}

LogicalResult NegativeLogLikelihoodOp::verify() { return verifyLoss(*this); }

LogicalResult SoftmaxCrossEntropyOp::verify() { return verifyLoss(*this); }
