//===- VerifyCompute.cpp - Verifiers of reductions, contractions, rows -----===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/Verify.h"

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

LogicalResult CumulativeOp::verify() {
  if (getKind() != ReduceKind::Sum && getKind() != ReduceKind::Prod)
    return emitOpError("expected kind sum or prod");
  return verifyAxis(*this, getAxis(), getInput().getType());
}

LogicalResult MatmulOp::verify() {
  DimExprs lhs = getDims(getLhs().getType()), rhs = getDims(getRhs().getType());
  if (lhs.size() < 2 || (rhs.size() != 2 && rhs.size() != lhs.size()))
    return emitOpError() << "expected operands of one rank >= 2, or a right side of rank 2; got ranks " << lhs.size() << " and " << rhs.size();
  if (!provablyEqual(lhs.back(), rhs[rhs.size() - 2]))
    return emitOpError() << "the left side has " << formatDim(lhs.back()) << " columns, but the right side has " << formatDim(rhs[rhs.size() - 2]) << " rows";
  if (rhs.size() > 2 && failed(verifyDims(*this, getRhs().getType(),
                                          [&] { DimExprs e(lhs.begin(), lhs.end() - 2); e.append({rhs[rhs.size() - 2], rhs.back()}); return e; }(),
                                          "the right side")))
    return failure();
  DimExprs expected = lhs;
  expected.back() = rhs.back();
  return verifyDims(*this, getType(), expected, "the result");
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

LogicalResult ConvOp::verify() {
  if (failed(verifyWindow(*this, getInput().getType(), getStrides(), getDilations(), getPads())))
    return failure();
  DimExprs weight = getDims(getWeight().getType());
  if (weight.size() != getDims(getInput().getType()).size())
    return emitOpError("weight and input have different ranks");
  AffineExpr have = channels(getInput().getType(), getLayout()), want = weight[1] * static_cast<int64_t>(getGroups());
  if (!provablyEqual(have, want))
    return emitOpError() << "weight has " << formatDim(want) << " input channels, but the input has " << formatDim(have);
  if (auto out = getConstantDim(weight[0]); out && *out % static_cast<int64_t>(getGroups()))
    return emitOpError() << *out << " output channels are not a multiple of " << getGroups() << " groups";
  if (!provablyEqual(channels(getType(), getLayout()), weight[0]))
    return emitOpError() << "the result has " << formatDim(channels(getType(), getLayout())) << " channels, the weight " << formatDim(weight[0]);
  return success();
}

LogicalResult ConvTransposeOp::verify() {
  if (failed(verifyWindow(*this, getInput().getType(), getStrides(), getDilations(), getPads())))
    return failure();
  DimExprs weight = getDims(getWeight().getType());
  AffineExpr have = channels(getInput().getType(), getLayout());
  if (!provablyEqual(have, weight[0]))
    return emitOpError() << "weight has " << formatDim(weight[0]) << " input channels, but the input has " << formatDim(have);
  if (!provablyEqual(channels(getType(), getLayout()), weight[1] * static_cast<int64_t>(getGroups())))
    return emitOpError("the result's channels differ from the weight's");
  return success();
}

LogicalResult MaxPoolOp::verify() { return verifyWindow(*this, getInput().getType(), getStrides(), getDilations(), getPads()); }
LogicalResult AvgPoolOp::verify() { return verifyWindow(*this, getInput().getType(), getStrides(), getDilations(), getPads()); }

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

LogicalResult RmsNormOp::verify() { return verifyNormalized(*this, getInput().getType(), getAxis(), getScale().getType(), "the scale"); }

static LogicalResult verifyRecurrent(Operation *op, Type gates, Type recurrence, Type hidden, int64_t gateCount) {
  DimExprs g = getDims(gates), r = getDims(recurrence), h = getDims(hidden);
  if (g.size() != 3 || r.size() != 2 || h.size() != 2)
    return op->emitOpError("expected gates [T, B, G*H], recurrence [G*H, H] and hidden [B, H]");
  if (!provablyEqual(g[2], h[1] * gateCount) || !provablyEqual(r[0], g[2]) || !provablyEqual(r[1], h[1]) || !provablyEqual(g[1], h[0]))
    return op->emitOpError() << "sizes disagree: gates " << gates << ", recurrence " << recurrence << ", hidden " << hidden;
  return success();
}

LogicalResult LstmOp::verify() {
  if (getActivations().size() != 3)
    return emitOpError("expected three activations");
  return verifyRecurrent(*this, getGates().getType(), getRecurrence().getType(), getHidden().getType(), 4);
}

LogicalResult GruOp::verify() {
  if (getActivations().size() != 2)
    return emitOpError("expected two activations");
  return verifyRecurrent(*this, getGates().getType(), getRecurrence().getType(), getHidden().getType(), 3);
}
