//===- Normalization.cpp - Normalizations ------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// A parameter [C] as [1, C, 1, ...] for an input [N, C, ...].
static Value perChannel(Node &node, Value parameter, Value x, StringRef what) {
  DimExprs dims = node.dims(x), shape(dims.size(), node.number(1));
  if (!node.expectRank(parameter, 1, what))
    return parameter;
  shape[1] = node.dims(parameter)[0];
  (void)node.unify(shape[1], dims[1], Twine(what) + " and the input have different numbers of channels");
  return node.reshape(parameter, shape);
}

/// Training mode: the statistics are those of the input, and the running ones move towards them.
static LogicalResult trainBatchNorm(Node &node, Value x, double epsilon, double momentum) {
  Value scale = node.input(1), bias = node.input(2);
  // Statistics may be wider than the input, and those of halves are computed as f32, which the standard asks for.
  Type wide = node.wideType(node.input(3));
  SmallVector<int64_t> axes = {0};
  for (int64_t axis = 2; axis < node.rank(x); ++axis)
    axes.push_back(axis);
  Value real = node.cast(x, wide), mean = node.reduce(ReduceKind::Mean, real, axes, /*keep=*/true);
  Value centred = node.binary<SubOp>(real, mean);
  Value variance = node.reduce(ReduceKind::Mean, node.binary<MulOp>(centred, centred), axes, /*keep=*/true);
  Value normal = node.binary<DivOp>(centred, node.unary<SqrtOp>(node.binary<AddOp>(variance, epsilon)));
  Value scaled = node.binary<MulOp>(normal, perChannel(node, node.cast(scale, wide), x, "the scale"));
  Value shifted = node.binary<AddOp>(scaled, perChannel(node, node.cast(bias, wide), x, "the bias"));
  for (unsigned i = 0; i < 2 && !node.failed(); ++i) {
    Value running = node.input(3 + i);
    if (!node.expectRank(running, 1, "a running statistic") || !node.unify(node.dims(running)[0], node.dims(x)[1], "statistics and channels differ"))
      return failure();
    Value current = node.reshape(i == 0 ? mean : variance, node.dims(running)), old = node.cast(running, wide);
    Value moved = node.binary<AddOp>(node.binary<MulOp>(old, momentum), node.binary<MulOp>(current, 1 - momentum));
    (void)node.result(1 + i, node.cast(moved, node.elementType(running)));
    // Before opset 14 those of the input are results, too.
    if (node.opset < 14)
      (void)node.result(3 + i, node.cast(current, node.elementType(running)));
  }
  return node.failed() ? failure() : node.result(node.cast(shifted, node.elementType(x)));
}

/// The widest of the input's type and those of the parameters, which may differ from it: a variance of f32 need not fit f16.
static Type widestType(Node &node, Value x) {
  Type widest = node.elementType(x);
  for (int i = 1; i <= 4; ++i) {
    Type own = node.elementType(node.input(i));
    if (own.getIntOrFloatBitWidth() > widest.getIntOrFloatBitWidth())
      widest = own;
    else if (own != widest && own.getIntOrFloatBitWidth() == 16)
      widest = node.builder().getF32Type();
  }
  return widest;
}

static LogicalResult batchNorm(Node &node) {
  Value x = node.input(0);
  double epsilon = node.getFloat("epsilon", 1e-5f), momentum = node.getFloat("momentum", 0.9f);
  // Before opset 14 more than one result makes it training, unless it is said to be a test.
  bool isTest = node.opset < 7 && node.getFlag("is_test");
  if (node.opset >= 7)
    node.ignore("is_test");
  bool isTraining = node.opset >= 14 ? node.getFlag("training_mode") : node.numOutputs() > 1 && !isTest;
  if (node.numOutputs() > 1 && !isTraining)
    return node.error("has running statistics as results, but is not in training mode");
  if (node.rank(x) < 2)
    return node.error("the input has rank " + Twine(node.rank(x)) + ", expected at least 2");
  // Before opset 9, all elements of an image may have parameters of their own: they are the channels then.
  bool isSpatial = node.opset >= 9 || node.getFlag("spatial", true);
  if (isTraining)
    return isSpatial ? trainBatchNorm(node, x, epsilon, momentum) : node.unsupported("training with spatial=0", "export the model for inference");
  static const char *const names[] = {"the scale", "the bias", "the mean", "the variance"};
  DimExprs whole = node.dims(x), own(whole.begin() + 1, isSpatial ? whole.begin() + 2 : whole.end());
  AffineExpr channels = nn::getNumElements(own, node.context());
  Value parameters[4], wide = node.cast(x, widestType(node, x));
  for (int i = 0; i < 4; ++i) {
    Value parameter = node.input(i + 1);
    if (!node.expectRank(parameter, static_cast<int64_t>(own.size()), names[i]))
      return failure();
    for (auto [have, want] : llvm::zip_equal(node.dims(parameter), own))
      if (!node.unify(have, want, Twine(names[i]) + " and the input have different numbers of channels"))
        return failure();
    parameters[i] = node.reshape(node.broadcastTo(node.cast(parameter, node.elementType(wide)), own), {channels});
  }
  if (!isSpatial)
    wide = node.reshape(wide, {whole[0], channels});
  if (node.failed())
    return failure();
  auto [scale, bias, mean, variance] = parameters;
  FloatAttr small = node.builder().getF64FloatAttr(epsilon);
  Value result = node.make<BatchNormOp>(wide.getType(), wide, scale, bias, mean, variance, small);
  return node.result(node.cast(node.reshape(result, whole), node.elementType(x)));
}

/// Layer normalization over the trailing dimensions of [rows, group] without scale and bias of its own.
static Value normalizeRows(Node &node, Value rows, double epsilon) {
  DimExprs trailing = {node.dims(rows).back()};
  Type element = node.elementType(rows);
  Value one = node.splat(trailing, element, 1);
  OpBuilder &b = node.builder();
  return node.make<LayerNormOp>(rows.getType(), rows, one, Value(), b.getI64IntegerAttr(node.rank(rows) - 1), b.getF64FloatAttr(epsilon));
}

/// InstanceNormalization (a group a channel) and GroupNormalization, whose scale is per group before opset 21.
static LogicalResult groupedNorm(Node &node, Value x, AffineExpr groups, Value scale, Value bias, double epsilon) {
  DimExprs dims = node.dims(x);
  AffineExpr size = nn::getNumElements(ArrayRef(dims).drop_front(2), node.context());
  AffineExpr channels = nn::simplifyDim(dims[1].floorDiv(groups));
  Value normal = node.reshape(normalizeRows(node, node.reshape(x, {dims[0], groups, channels * size}), epsilon), dims);
  Value result = node.binary<MulOp>(normal, perChannel(node, scale, x, "the scale"));
  return node.result(node.binary<AddOp>(result, perChannel(node, bias, x, "the bias")));
}

static LogicalResult instanceNorm(Node &node) {
  Value x = node.input(0);
  double epsilon = node.getFloat("epsilon", 1e-5f);
  if (node.rank(x) < 3)
    return node.error("the input has rank " + Twine(node.rank(x)) + ", expected at least 3");
  return groupedNorm(node, x, node.dims(x)[1], node.input(1), node.input(2), epsilon);
}

static LogicalResult groupNorm(Node &node) {
  Value x = node.input(0), scale = node.input(1), bias = node.input(2);
  double epsilon = node.getFloat("epsilon", 1e-5f);
  int64_t groups = node.requireInt("num_groups");
  node.ignore("stash_type");
  if (node.failed() || node.rank(x) < 2 || groups < 1)
    return node.error("expected an input of rank 2 or more and a positive number of groups");
  AffineExpr channels = node.dims(x)[1];
  if (auto known = nn::getConstantDim(channels); known && *known % groups)
    return node.error(Twine(*known) + " channels are not a multiple of " + Twine(groups) + " groups");
  auto widen = [&](Value parameter) {
    if (node.opset >= 21 || !node.expectRank(parameter, 1, "a parameter"))
      return parameter;
    AffineExpr each = nn::simplifyDim(channels.floorDiv(groups)), g = node.number(groups);
    if (!node.unify(node.dims(parameter)[0], g, "a parameter does not have one number per group"))
      return parameter;
    return node.reshape(node.broadcastTo(node.reshape(parameter, {g, node.number(1)}), {g, each}), {channels});
  };
  return groupedNorm(node, x, node.number(groups), widen(scale), widen(bias), epsilon);
}

static LogicalResult layerNorm(Node &node) {
  Value x = node.input(0), scale = node.input(1), bias = node.optionalInput(2);
  int64_t axis = node.axis(node.getInt("axis", -1), node.rank(x));
  FloatAttr epsilon = node.builder().getF64FloatAttr(node.getFloat("epsilon", 1e-5f));
  node.ignore("stash_type");
  if (node.failed())
    return failure();
  for (Value parameter : {scale, bias})
    if (parameter && node.elementType(parameter) != node.elementType(x))
      return node.error("the input, the scale and the bias have different element types");
  DimExprs dims = node.dims(x), trailing(dims.begin() + axis, dims.end());
  scale = node.broadcastTo(scale, trailing);
  bias = bias ? node.broadcastTo(bias, trailing) : Value();
  if (node.failed())
    return failure();
  (void)node.result(0, node.make<LayerNormOp>(x.getType(), x, scale, bias, node.builder().getI64IntegerAttr(axis), epsilon));
  if (!node.hasOutput(1) && !node.hasOutput(2))
    return success(!node.failed());
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axis, node.rank(x)));
  Value wide = node.cast(x, node.wideType(x)), mean = node.reduce(ReduceKind::Mean, wide, axes, true);
  Value centred = node.binary<SubOp>(wide, mean);
  Value variance = node.reduce(ReduceKind::Mean, node.binary<MulOp>(centred, centred), axes, true);
  (void)node.result(1, mean);
  return node.result(2, node.unary<ReciprocalOp>(node.unary<SqrtOp>(node.binary<AddOp>(variance, epsilon.getValueAsDouble()))));
}

static LogicalResult rmsNorm(Node &node) {
  Value x = node.input(0), scale = node.input(1);
  int64_t axis = node.axis(node.getInt("axis", -1), node.rank(x));
  FloatAttr epsilon = node.builder().getF64FloatAttr(node.getFloat("epsilon", 1e-5f));
  node.ignore("stash_type");
  if (node.failed())
    return failure();
  if (node.elementType(scale) != node.elementType(x))
    return node.error("the input and the scale have different element types");
  DimExprs dims = node.dims(x), trailing(dims.begin() + axis, dims.end());
  scale = node.broadcastTo(scale, trailing);
  return node.failed() ? failure() : node.result(node.make<RmsNormOp>(x.getType(), x, scale, node.builder().getI64IntegerAttr(axis), epsilon));
}

/// ONNX Runtime's name for RMSNormalization in the domain of ONNX, with the reciprocal of the root as a second result.
static LogicalResult simplifiedLayerNorm(Node &node) {
  if (failed(rmsNorm(node)) || !node.hasOutput(1))
    return success(!node.failed());
  Value x = node.input(0), wide = node.cast(x, node.wideType(x));
  int64_t rank = node.rank(x), axis = node.axis(node.getInt("axis", -1), rank);
  Value squares = node.reduce(ReduceKind::Mean, node.binary<MulOp>(wide, wide), llvm::to_vector(llvm::seq<int64_t>(axis, rank)), /*keep=*/true);
  Value inverse = node.unary<ReciprocalOp>(node.unary<SqrtOp>(node.binary<AddOp>(squares, node.getFloat("epsilon", 1e-5f))));
  return node.result(1, node.cast(inverse, node.builder().getF32Type()));
}

static LogicalResult lpNorm(Node &node) {
  Value x = node.input(0);
  int64_t p = node.getInt("p", 2), axis = node.axis(node.getInt("axis", -1), node.rank(x));
  if (node.failed() || (p != 1 && p != 2))
    return node.error("attribute 'p' is " + Twine(p) + ", expected 1 or 2");
  OpBuilder &b = node.builder();
  return node.result(node.unary<LpNormOp>(x, b.getI64IntegerAttr(axis), b.getI64IntegerAttr(p)));
}

static LogicalResult meanVarianceNorm(Node &node) {
  Value x = node.input(0);
  SmallVector<int64_t> axes = node.axes(node.findInts("axes").value_or(SmallVector<int64_t>{0, 2, 3}), node.rank(x));
  if (node.failed())
    return failure();
  llvm::sort(axes);
  return node.result(node.unary<MeanVarianceNormOp>(x, node.builder().getDenseI64ArrayAttr(axes)));
}

/// x / (bias + alpha / size * sum of squares over neighbouring channels) ^ beta; the sum is a pool over the channels.
static LogicalResult localResponseNorm(Node &node) {
  Value x = node.input(0);
  double alpha = node.getFloat("alpha", 1e-4f), beta = node.getFloat("beta", 0.75), bias = node.getFloat("bias", 1);
  int64_t size = node.requireInt("size");
  if (node.failed() || node.rank(x) < 3 || size < 1 || size > 65536)
    return node.error("expected an input [N, C, spatial...] and a positive size");
  DimExprs dims = node.dims(x);
  AffineExpr place = nn::getNumElements(ArrayRef(dims).drop_front(2), node.context());
  // Halves are widened: the square of 256 does not fit f16.
  Value wide = node.cast(x, node.wideType(x));
  Value squares = node.reshape(node.binary<MulOp>(wide, wide), {dims[0], node.number(1), dims[1], place});
  int64_t before = (size - 1) / 2, after = size - 1 - before;
  int64_t kernel[] = {size, 1}, ones[] = {1, 1}, pads[] = {before, 0, after, 0};
  Value mean = node.make<AvgPoolOp>(squares.getType(), squares, kernel, ones, ones, pads, Layout::ChannelsFirst, /*count_include_pad=*/true);
  Value base = node.binary<AddOp>(node.binary<MulOp>(node.reshape(mean, dims), alpha), bias);
  return node.result(node.cast(node.binary<DivOp>(wide, node.binary<PowOp>(base, beta)), node.elementType(x)));
}

ArrayRef<Operator> getNormalizationOperators() {
  static const Operator rows[] = {
      {"BatchNormalization", 1, Elements::Float, batchNorm},
      asComposite({"GroupNormalization", 18, Elements::Float, groupNorm}),
      asComposite({"InstanceNormalization", 1, Elements::Float, instanceNorm}),
      {"LRN", 1, Elements::Float, localResponseNorm},
      // Exporters wrote it before opset 17 had it.
      {"LayerNormalization", 1, Elements::Float, layerNorm},
      {"LpNormalization", 1, Elements::Float, lpNorm},
      {"MeanVarianceNormalization", 9, Elements::Float, meanVarianceNorm},
      {"RMSNormalization", 23, Elements::Float, rmsNorm},
      {"SimplifiedLayerNormalization", 1, Elements::Float, simplifiedLayerNorm},
  };
  return rows;
}

} // namespace kiln::import
