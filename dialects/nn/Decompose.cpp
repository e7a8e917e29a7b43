//===- Decompose.cpp - Composites as graphs of simpler operations ----------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Shortcuts.h"

#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace {

/// Builds nn operations over one tensor type, reductions along axes included.
struct RowBuilder {
  OpBuilder &builder;
  Location loc;
  RankedTensorType type;
  SmallVector<int64_t> axes;

  RankedTensorType reducedType() const {
    DimExprs dims = getDims(type);
    for (int64_t axis : axes)
      dims[axis] = getAffineConstantExpr(1, type.getContext());
    return makeTensorType(dims, type.getElementType());
  }
  Value reduce(ReduceKind kind, Value x) const { return ReduceOp::create(builder, loc, reducedType(), kind, x, axes); }
  Value spread(Value x) const { return BroadcastToOp::create(builder, loc, type, x); }
  Value reduceAndSpread(ReduceKind kind, Value x) const { return spread(reduce(kind, x)); }
  template <typename OpTy> Value make(Value x) const { return OpTy::create(builder, loc, x.getType(), x); }
  Value exp(Value x, kernel::Accuracy accuracy) const { return ExpOp::create(builder, loc, x.getType(), x, accuracy); }
  template <typename OpTy> Value make(Value x, Value y) const { return OpTy::create(builder, loc, x.getType(), x, y); }
  Value number(Type like, double value) const {
    return SplatOp::create(builder, loc, like, FloatAttr::get(type.getElementType(), value));
  }
};

using Results = FailureOr<SmallVector<Value>>;

} // namespace

static RowBuilder rowBuilder(OpBuilder &builder, Operation *op, ArrayRef<int64_t> axes) {
  return {builder, op->getLoc(), cast<RankedTensorType>(op->getResult(0).getType()), SmallVector<int64_t>(axes)};
}

static SmallVector<int64_t> trailingAxes(int64_t axis, Type type) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, cast<RankedTensorType>(type).getRank()));
}

/// f16 and bf16 as f32: the sum of a long row of exponentials does not fit them.
static Value widen(OpBuilder &builder, Location loc, Value x) {
  Type element = getElementTypeOrSelf(x.getType());
  if (!element.isF16() && !element.isBF16())
    return x;
  return CastOp::create(builder, loc, withElementType(x.getType(), builder.getF32Type()), x);
}

/// A value of that computation as the result's type.
static Value narrow(OpBuilder &builder, Location loc, Type type, Value x) {
  return x.getType() == type ? x : Value(CastOp::create(builder, loc, type, x));
}

Results SoftmaxOp::decompose(OpBuilder &builder) {
  auto shift = getProvenShift(*this);
  Value x = widen(builder, getLoc(), getInput());
  RowBuilder b{builder, getLoc(), cast<RankedTensorType>(x.getType()), {static_cast<int64_t>(getAxis())}};
  Value shifted = x;
  if (!shift)
    shifted = b.make<SubOp>(x, b.reduceAndSpread(ReduceKind::Max, x));
  else if (*shift != 0)
    shifted = b.make<SubOp>(x, b.number(x.getType(), *shift));
  Value exponential = b.exp(shifted, getAccuracy());
  Value quotient = b.make<DivOp>(exponential, b.reduceAndSpread(ReduceKind::Sum, exponential));
  return SmallVector<Value>{narrow(builder, getLoc(), getType(), quotient)};
}

Results LogSoftmaxOp::decompose(OpBuilder &builder) {
  Value x = widen(builder, getLoc(), getInput());
  RowBuilder b{builder, getLoc(), cast<RankedTensorType>(x.getType()), {static_cast<int64_t>(getAxis())}};
  Value shifted = b.make<SubOp>(x, b.reduceAndSpread(ReduceKind::Max, x));
  Value sum = b.reduce(ReduceKind::Sum, b.exp(shifted, getAccuracy()));
  return SmallVector<Value>{narrow(builder, getLoc(), getType(), b.make<SubOp>(shifted, b.spread(b.make<LogOp>(sum))))};
}

Results HardmaxOp::decompose(OpBuilder &builder) {
  RowBuilder b = rowBuilder(builder, *this, {static_cast<int64_t>(getAxis())});
  Type index = builder.getI64Type();
  auto reduced = withElementType(b.reducedType(), index);
  Value best = ArgReduceOp::create(builder, getLoc(), reduced, ReduceKind::Max, getInput(), getAxis(), false);
  auto wide = withElementType(getType(), index);
  Value spread = BroadcastToOp::create(builder, getLoc(), wide, best);
  Value position = IotaOp::create(builder, getLoc(), wide, getAxis());
  Value hit = EqualOp::create(builder, getLoc(), withElementType(getType(), builder.getI1Type()), position, spread);
  return SmallVector<Value>{SelectOp::create(builder, getLoc(), getType(), hit, b.number(getType(), 1.0), b.number(getType(), 0.0))};
}

Results LayerNormOp::decompose(OpBuilder &builder) {
  Value x = widen(builder, getLoc(), getInput()), scale = widen(builder, getLoc(), getScale());
  RowBuilder b{builder, getLoc(), cast<RankedTensorType>(x.getType()), trailingAxes(getAxis(), getType())};
  Value centered = b.make<SubOp>(x, b.reduceAndSpread(ReduceKind::Mean, x));
  Value variance = b.reduce(ReduceKind::Mean, b.make<MulOp>(centered, centered));
  Value deviation = b.make<SqrtOp>(b.make<AddOp>(variance, b.number(variance.getType(), getEpsilon().convertToDouble())));
  Value result = b.make<MulOp>(b.make<DivOp>(centered, b.spread(deviation)), b.spread(scale));
  if (getBias())
    result = b.make<AddOp>(result, b.spread(widen(builder, getLoc(), getBias())));
  return SmallVector<Value>{narrow(builder, getLoc(), getType(), result)};
}

Results RmsNormOp::decompose(OpBuilder &builder) {
  Value x = widen(builder, getLoc(), getInput()), scale = widen(builder, getLoc(), getScale());
  RowBuilder b{builder, getLoc(), cast<RankedTensorType>(x.getType()), trailingAxes(getAxis(), getType())};
  Value square = b.reduce(ReduceKind::Mean, b.make<MulOp>(x, x));
  Value root = b.make<SqrtOp>(b.make<AddOp>(square, b.number(square.getType(), getEpsilon().convertToDouble())));
  return SmallVector<Value>{narrow(builder, getLoc(), getType(), b.make<MulOp>(b.make<DivOp>(x, b.spread(root)), b.spread(scale)))};
}

Results LpNormOp::decompose(OpBuilder &builder) {
  Value x = widen(builder, getLoc(), getInput());
  RowBuilder b{builder, getLoc(), cast<RankedTensorType>(x.getType()), {static_cast<int64_t>(getAxis())}};
  Value powers = getP() == 1 ? b.make<AbsOp>(x) : b.make<MulOp>(x, x);
  Value sum = b.reduce(ReduceKind::Sum, powers), norm = getP() == 1 ? sum : b.make<SqrtOp>(sum);
  Value isZero = EqualOp::create(builder, getLoc(), withElementType(norm.getType(), builder.getI1Type()), norm, b.number(norm.getType(), 0));
  Value divisor = SelectOp::create(builder, getLoc(), norm.getType(), isZero, b.number(norm.getType(), 1), norm);
  return SmallVector<Value>{narrow(builder, getLoc(), getType(), b.make<DivOp>(x, b.spread(divisor)))};
}

Results MeanVarianceNormOp::decompose(OpBuilder &builder) {
  Value x = widen(builder, getLoc(), getInput());
  RowBuilder b{builder, getLoc(), cast<RankedTensorType>(x.getType()), SmallVector<int64_t>(getAxes())};
  Value centered = b.make<SubOp>(x, b.reduceAndSpread(ReduceKind::Mean, x));
  Value deviation = b.make<SqrtOp>(b.reduce(ReduceKind::Mean, b.make<MulOp>(centered, centered)));
  Value quotient = b.make<DivOp>(centered, b.spread(b.make<AddOp>(deviation, b.number(deviation.getType(), 1e-9))));
  return SmallVector<Value>{narrow(builder, getLoc(), getType(), quotient)};
}

/// Whether scale / sqrt(variance + epsilon) overflows in a channel, or loses bits because it is small.
static bool hasExtremeFactor(BatchNormOp op) {
  ElementsAttr scale = getConstant(op.getScale()), variance = getConstant(op.getVariance());
  if (!scale || !variance)
    return false;
  ConstantData scales(scale), variances(variance);
  const llvm::fltSemantics &type = cast<FloatType>(op.getType().getElementType()).getFloatSemantics();
  double least = APFloat::getSmallestNormalized(type).convertToDouble(), largest = APFloat::getLargest(type).convertToDouble();
  double epsilon = op.getEpsilon().convertToDouble();
  return llvm::any_of(llvm::seq<int64_t>(0, scales.numElements()), [&](int64_t i) {
    double factor = std::fabs(scales.asDouble(i) / std::sqrt(variances.asDouble(i) + epsilon));
    return factor != 0 && !(factor >= least && factor <= largest);
  });
}

/// x * (scale / sqrt(variance + epsilon)) + (bias - mean * that): the two factors are small, and fold when they are constant. Where the first one is too small
/// or too large, the operations as the specification has them.
Results BatchNormOp::decompose(OpBuilder &builder) {
  DimExprs shape = getDims(getType());
  for (auto [axis, dim] : llvm::enumerate(shape))
    dim = axis == 1 ? dim : getAffineConstantExpr(1, getContext());
  RowBuilder b = rowBuilder(builder, *this, {});
  RankedTensorType narrow = makeTensorType(shape, getType().getElementType());
  auto perChannel = [&](Value parameter) { return ReshapeOp::create(builder, getLoc(), narrow, parameter); };
  Value deviation = b.make<SqrtOp>(b.make<AddOp>(perChannel(getVariance()), b.number(narrow, getEpsilon().convertToDouble())));
  if (hasExtremeFactor(*this)) {
    Value centered = b.make<SubOp>(getInput(), b.spread(perChannel(getMean())));
    Value scaled = b.make<MulOp>(b.make<DivOp>(centered, b.spread(deviation)), b.spread(perChannel(getScale())));
    return SmallVector<Value>{b.make<AddOp>(scaled, b.spread(perChannel(getBias())))};
  }
  Value factor = b.make<DivOp>(perChannel(getScale()), deviation);
  Value offset = b.make<SubOp>(perChannel(getBias()), b.make<MulOp>(perChannel(getMean()), factor));
  return SmallVector<Value>{b.make<AddOp>(b.make<MulOp>(getInput(), b.spread(factor)), b.spread(offset))};
}

bool SoftmaxOp::hasFusedKernel(kernel::TargetAttr) { return true; }
bool LogSoftmaxOp::hasFusedKernel(kernel::TargetAttr) { return true; }
bool HardmaxOp::hasFusedKernel(kernel::TargetAttr) { return false; }
bool LayerNormOp::hasFusedKernel(kernel::TargetAttr) { return true; }
bool RmsNormOp::hasFusedKernel(kernel::TargetAttr) { return true; }
