//===- VerifyCompute.cpp - Verifiers of reductions, contractions, rows -----===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNRecurrentOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/Verify.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

LogicalResult ReduceOp::verify() {
  DimExprs expected = getDims(getInput().getType());
  int64_t previous = -1;
  for (int64_t axis : getAxes()) {
    if (failed(verifyAxis(*this, axis, getInput().getType())))
      return failure();
    if (axis <= previous)
      return emitOpError("expected sorted axes without duplicates");
    previous = axis;
    expected[axis] = getAffineConstantExpr(1, getContext());
  }
  return verifyDims(*this, getType(), expected, "the result");
}

static LogicalResult verifyMaxOrMin(Operation *op, ReduceKind kind) {
  return kind == ReduceKind::Max || kind == ReduceKind::Min ? success() : op->emitOpError("expected kind max or min");
}

LogicalResult ArgReduceOp::verify() {
  if (failed(verifyMaxOrMin(*this, getKind())) || failed(verifyAxis(*this, getAxis(), getInput().getType())))
    return failure();
  DimExprs expected = getDims(getInput().getType());
  expected[getAxis()] = getAffineConstantExpr(1, getContext());
  return verifyDims(*this, getType(), expected, "the result");
}

LogicalResult TopKOp::verify() {
  if (failed(verifyAxis(*this, getAxis(), getInput().getType())))
    return failure();
  DimExprs expected = getDims(getInput().getType()), values = getDims(getValues().getType());
  if (values.size() != expected.size())
    return emitOpError() << "the values have rank " << values.size() << ", expected " << expected.size();
  auto count = getConstantDim(values[getAxis()]), size = getConstantDim(expected[getAxis()]);
  if (count && size && *count > *size)
    return emitOpError() << "asks for " << *count << " of " << *size << " elements";
  expected[getAxis()] = values[getAxis()];
  if (failed(verifyDims(*this, getValues().getType(), expected, "the values")))
    return failure();
  return verifyDims(*this, getIndices().getType(), expected, "the indices");
}

LogicalResult CumulativeOp::verify() {
  if (getKind() != ReduceKind::Sum && getKind() != ReduceKind::Prod)
    return emitOpError("expected kind sum or prod");
  return verifyAxis(*this, getAxis(), getInput().getType());
}

/// The dimensions of a matrix product.
template <typename ProductOp> static LogicalResult verifyProduct(ProductOp op) {
  DimExprs lhs = getDims(op.getLhs().getType()), rhs = getDims(op.getRhs().getType());
  if (lhs.size() < 2 || (rhs.size() != 2 && rhs.size() != lhs.size()))
    return op.emitOpError() << "expected operands of one rank >= 2, or a right side of rank 2; got ranks " << lhs.size() << " and " << rhs.size();
  AffineExpr depth = rhs[rhs.size() - 2];
  if (!provablyEqual(lhs.back(), depth))
    return op.emitOpError() << "the left side has " << formatDim(lhs.back()) << " columns, but the right side has " << formatDim(depth) << " rows";
  DimExprs batched(lhs.begin(), lhs.end() - 2), expected = lhs;
  batched.append({depth, rhs.back()});
  if (rhs.size() > 2 && failed(verifyDims(op, op.getRhs().getType(), batched, "the right side")))
    return failure();
  expected.back() = rhs.back();
  return verifyDims(op, op.getType(), expected, "the result");
}

LogicalResult MatmulOp::verify() { return verifyProduct(*this); }

static LogicalResult verifyBytes(Operation *op, Value value, StringRef what) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isInteger(8) ? success() : op->emitOpError() << what << " has elements of " << element << ", expected i8 or ui8";
}

LogicalResult QuantizedMatmulOp::verify() {
  bool areBytes = succeeded(verifyBytes(*this, getLhs(), "the left side")) && succeeded(verifyBytes(*this, getRhs(), "the right side"));
  return areBytes ? verifyProduct(*this) : failure();
}

/// The checks that convolutions and pools share: attribute lengths against the rank.
static LogicalResult verifyWindow(Operation *op, Type input, ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads) {
  size_t spatial = cast<RankedTensorType>(input).getRank() - 2;
  if (cast<RankedTensorType>(input).getRank() < 3 || spatial > 3)
    return op->emitOpError() << "expected 1 to 3 spatial dimensions, the input has rank " << cast<RankedTensorType>(input).getRank();
  if (strides.size() != spatial || dilations.size() != spatial || pads.size() != 2 * spatial)
    return op->emitOpError() << "expected " << spatial << " strides and dilations and " << 2 * spatial << " pads";
  for (auto [stride, dilation] : llvm::zip(strides, dilations))
    if (stride < 1 || dilation < 1)
      return op->emitOpError("strides and dilations must be positive");
  return success();
}

static AffineExpr channels(Type type, Layout layout) {
  DimExprs dims = getDims(type);
  return layout == Layout::ChannelsLast ? dims.back() : dims[1];
}

static LogicalResult verifyExtents(Operation *op, Type input, Type result, Layout layout, ArrayRef<AffineExpr> kernel, ArrayRef<int64_t> strides,
                                   ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads, bool mayCut);

template <typename OpTy> static LogicalResult verifyConvolution(OpTy op) {
  if (failed(verifyWindow(op, op.getInput().getType(), op.getStrides(), op.getDilations(), op.getPads())))
    return failure();
  DimExprs weight = getDims(op.getWeight().getType());
  int64_t groups = op.getGroups();
  if (weight.size() != getDims(op.getInput().getType()).size())
    return op.emitOpError("weight and input have different ranks");
  if (groups < 1)
    return op.emitOpError("expected at least one group");
  AffineExpr have = channels(op.getInput().getType(), op.getLayout()), want = weight[1] * groups;
  if (!provablyEqual(have, want))
    return op.emitOpError() << "weight has " << formatDim(want) << " input channels, but the input has " << formatDim(have);
  if (auto out = getConstantDim(weight[0]); out && *out % groups)
    return op.emitOpError() << *out << " output channels are not a multiple of " << groups << " groups";
  if (op.getType().getRank() != op.getInput().getType().getRank() || !provablyEqual(channels(op.getType(), op.getLayout()), weight[0]))
    return op.emitOpError() << "the result " << op.getType() << " does not have the weight's " << formatDim(weight[0]) << " channels";
  return verifyExtents(op, op.getInput().getType(), op.getType(), op.getLayout(), ArrayRef(weight).drop_front(2), op.getStrides(), op.getDilations(),
                       op.getPads(), false);
}

LogicalResult ConvOp::verify() { return verifyConvolution(*this); }

LogicalResult QuantizedConvOp::verify() {
  bool areBytes = succeeded(verifyBytes(*this, getInput(), "the input")) && succeeded(verifyBytes(*this, getWeight(), "the weight"));
  return areBytes ? verifyConvolution(*this) : failure();
}

static LogicalResult verifyTile(Operation *op, int64_t tile) {
  return tile == 2 || tile == 4 ? success() : op->emitOpError() << "expected tile 2 or 4, got " << tile;
}

/// Of a 3x3 convolution, and what nn.winograd_filter makes of it if that is given.
static LogicalResult verifyFilters(Operation *op, RankedTensorType weight, RankedTensorType transformed, int64_t tile) {
  if (failed(verifyTile(op, tile)))
    return failure();
  ArrayRef<int64_t> shape = weight.getShape();
  if (shape.size() != 4 || shape[2] != 3 || shape[3] != 3)
    return op->emitOpError() << "expected a weight of out x in x 3 x 3, got " << weight;
  if (!transformed)
    return success();
  ArrayRef<int64_t> panels = transformed.getShape();
  bool fits = panels.size() == 4 && panels[0] == (tile + 2) * (tile + 2) && panels[2] >= shape[1] && panels[3] > 0 &&
              panels[1] == llvm::divideCeilSigned(shape[0], panels[3]);
  return fits ? success() : op->emitOpError() << transformed << " does not hold the filters in panels";
}

LogicalResult WinogradFilterOp::verify() { return verifyFilters(*this, getWeight().getType(), getType(), getTile()); }

LogicalResult WinogradConvOp::verify() {
  auto transformed = getTransformed() ? cast<RankedTensorType>(getTransformed().getType()) : RankedTensorType();
  if (failed(verifyFilters(*this, getWeight().getType(), transformed, getTile())))
    return failure();
  DimExprs expected = getDims(getInput().getType());
  ArrayRef<int64_t> weight = getWeight().getType().getShape();
  if (expected.size() != 4 || getType().getRank() != 4)
    return emitOpError("expected an input and a result of rank 4");
  auto in = getConstantDim(expected[3]), out = getConstantDim(getDims(getType())[3]);
  if (!in || !out || weight[0] != *out || weight[1] != *in)
    return emitOpError() << "the weight " << getWeight().getType() << " does not fit the channels of input and result";
  expected = {expected[0], expected[1] - 2, expected[2] - 2, getDims(getType())[3]};
  return verifyDims(*this, getType(), expected, "the result");
}

LogicalResult ConvTransposeOp::verify() {
  if (failed(verifyWindow(*this, getInput().getType(), getStrides(), getDilations(), getPads())))
    return failure();
  DimExprs weight = getDims(getWeight().getType());
  if (weight.size() != getDims(getInput().getType()).size() || weight.size() != getDims(getType()).size())
    return emitOpError("weight, input and result have different ranks");
  if (static_cast<int64_t>(getGroups()) < 1)
    return emitOpError("expected at least one group");
  AffineExpr have = channels(getInput().getType(), getLayout());
  if (!provablyEqual(have, weight[0]))
    return emitOpError() << "weight has " << formatDim(weight[0]) << " input channels, but the input has " << formatDim(have);
  if (!provablyEqual(channels(getType(), getLayout()), weight[1] * static_cast<int64_t>(getGroups())))
    return emitOpError("the result's channels differ from the weight's");
  return success();
}

/// The static spatial extents of a result against window, stride and padding. A pool's last window may be cut, so it may have one more.
static LogicalResult verifyExtents(Operation *op, Type input, Type result, Layout layout, ArrayRef<AffineExpr> kernel, ArrayRef<int64_t> strides,
                                   ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads, bool mayCut) {
  DimExprs from = getDims(input), to = getDims(result);
  if (from.size() != to.size() || !provablyEqual(from[0], to[0]))
    return op->emitOpError("the result has another rank or batch than the input");
  size_t first = layout == Layout::ChannelsLast ? 1 : 2, spatial = strides.size();
  for (size_t i = 0; i < spatial; ++i) {
    auto size = getConstantDim(from[first + i]), have = getConstantDim(to[first + i]), window = getConstantDim(kernel[i]);
    if (!size || !have || !window)
      continue;
    int64_t room = *size + pads[i] + pads[spatial + i] - dilations[i] * (*window - 1) - 1;
    int64_t want = room < 0 ? 0 : room / strides[i] + 1;
    if (*have != want && !(mayCut && *have == want + 1 && room % strides[i] != 0))
      return op->emitOpError() << "the result has " << *have << " places in spatial dimension " << i << ", expected " << want;
  }
  return success();
}

template <typename PoolOp> static LogicalResult verifyPool(PoolOp op) {
  if (failed(verifyWindow(op, op.getInput().getType(), op.getStrides(), op.getDilations(), op.getPads())))
    return failure();
  if (op.getKernel().size() != op.getStrides().size() || llvm::any_of(op.getKernel(), [](int64_t size) { return size < 1; }))
    return op.emitOpError() << "expected " << op.getStrides().size() << " positive kernel sizes";
  if (op.getType().getRank() != op.getInput().getType().getRank() ||
      !provablyEqual(channels(op.getInput().getType(), op.getLayout()), channels(op.getType(), op.getLayout())))
    return op.emitOpError("the result has other channels than the input");
  DimExprs kernel = llvm::map_to_vector(op.getKernel(), [&](int64_t size) { return getAffineConstantExpr(size, op.getContext()); });
  return verifyExtents(op, op.getInput().getType(), op.getType(), op.getLayout(), kernel, op.getStrides(), op.getDilations(), op.getPads(), true);
}

LogicalResult MaxPoolOp::verify() { return verifyPool(*this); }
LogicalResult AvgPoolOp::verify() { return verifyPool(*this); }

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this, getAxis(), getType()); }
LogicalResult LogSoftmaxOp::verify() { return verifyAxis(*this, getAxis(), getType()); }
LogicalResult HardmaxOp::verify() { return verifyAxis(*this, getAxis(), getType()); }

static LogicalResult verifyNormalized(Operation *op, Type input, int64_t axis, Type parameter, StringRef what) {
  if (failed(verifyAxis(op, axis, input)))
    return failure();
  DimExprs dims = getDims(input);
  return verifyDims(op, parameter, ArrayRef(dims).drop_front(axis), what);
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyNormalized(*this, getInput().getType(), getAxis(), getScale().getType(), "the scale")))
    return failure();
  return getBias() ? verifyNormalized(*this, getInput().getType(), getAxis(), getBias().getType(), "the bias") : success();
}

LogicalResult LpNormOp::verify() {
  if (getP() != 1 && getP() != 2)
    return emitOpError() << "expected p 1 or 2, got " << static_cast<int64_t>(getP());
  return verifyAxis(*this, getAxis(), getType());
}

LogicalResult MeanVarianceNormOp::verify() {
  int64_t previous = -1;
  for (int64_t axis : getAxes()) {
    if (failed(verifyAxis(*this, axis, getType())))
      return failure();
    if (axis <= previous)
      return emitOpError("expected sorted axes without duplicates");
    previous = axis;
  }
  return success();
}

LogicalResult BatchNormOp::verify() {
  DimExprs dims = getDims(getType());
  if (dims.size() < 2)
    return emitOpError() << "expected an input of rank 2 or more, got rank " << dims.size();
  if (getElementTypeOrSelf(getScale().getType()) != getType().getElementType())
    return emitOpError("expected parameters of the input's element type");
  return verifyDims(*this, getScale().getType(), {dims[1]}, "a parameter");
}

LogicalResult RmsNormOp::verify() { return verifyNormalized(*this, getInput().getType(), getAxis(), getScale().getType(), "the scale"); }

/// Checks a recurrent layer: gates [T, B, D*G*H], recurrence [D, H, G*H], hidden [D, B, H]; the states and all that are like `hidden`.
template <typename Op>
static LogicalResult verifyRecurrent(Op op, int64_t gateCount, size_t activations, ArrayRef<Value> likeHidden) {
  DimExprs g = getDims(op.getGates().getType()), r = getDims(op.getRecurrence().getType()), h = getDims(op.getHidden().getType());
  if (op.getActivations().size() != activations)
    return op.emitOpError() << "expected " << activations << " activations";
  if (g.size() != 3 || r.size() != 3 || h.size() != 3)
    return op.emitOpError("expected gates [T, B, D*G*H], recurrence [D, H, G*H] and hidden [D, B, H]");
  auto directions = getConstantDim(h[0]);
  if (directions != 1 && directions != 2)
    return op.emitOpError("expected one or two directions");
  if (*directions == 2 && op.getReverse())
    return op.emitOpError("expected no 'reverse' on two directions: the second is the reverse one");
  if (!provablyEqual(g[2], h[2] * (gateCount * *directions)) || !provablyEqual(r[0], h[0]) || !provablyEqual(r[1], h[2]) ||
      !provablyEqual(r[2], h[2] * gateCount) || !provablyEqual(g[1], h[1]))
    return op.emitOpError() << "sizes disagree: gates " << op.getGates().getType() << ", recurrence " << op.getRecurrence().getType() << ", hidden "
                            << op.getHidden().getType();
  if (failed(verifyDims(op, op.getStates().getType(), {g[0], h[0], h[1], h[2]}, "the states")))
    return failure();
  for (Value value : likeHidden)
    if (failed(verifyDims(op, value.getType(), h, "a state")))
      return failure();
  if (!op.getLengths())
    return success();
  if (!getElementTypeOrSelf(op.getLengths()).isInteger(32))
    return op.emitOpError("expected lengths of i32");
  return verifyDims(op, op.getLengths().getType(), {h[1]}, "the lengths");
}

LogicalResult RnnOp::verify() { return verifyRecurrent(*this, 1, 1, {getLastHidden()}); }

LogicalResult LstmOp::verify() {
  if (failed(verifyRecurrent(*this, 4, 3, {getCell(), getLastHidden(), getLastCell()})))
    return failure();
  DimExprs hidden = getDims(getHidden().getType());
  return getPeephole() ? verifyDims(*this, getPeephole().getType(), {hidden[0], hidden[2] * 3}, "the peephole") : success();
}

LogicalResult GruOp::verify() {
  if (failed(verifyRecurrent(*this, 3, 2, {getLastHidden()})))
    return failure();
  DimExprs hidden = getDims(getHidden().getType());
  return getRecurrenceBias() ? verifyDims(*this, getRecurrenceBias().getType(), {hidden[0], hidden[2]}, "the recurrence bias") : success();
}
