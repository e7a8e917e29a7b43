//===- ContribLayouts.cpp - Layouts, groups and positions --------------------===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md): operators of ONNX with their channels last, normalizations of groups of channels
// as diffusion models have them, biases of relative positions, and what only moves elements.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/ops/Attention.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Pooling.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNNormalizationOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static FloatAttr f64(Node &node, double value) { return node.builder().getF64FloatAttr(value); }

//===- Channels last ---------------------------------------------------------===//

static LogicalResult nhwcConv(Node &node) {
  Value x = toChannelsFirst(node, node.input(0));
  Value result = buildConvolution(node, x, node.input(1));
  return result ? node.result(toChannelsLast(node, addChannelBias(node, result, node.optionalInput(2)))) : failure();
}

static LogicalResult nhwcFusedConv(Node &node) {
  Value x = toChannelsFirst(node, node.input(0)), z = node.optionalInput(3);
  Value result = buildFusedConvolution(node, x, node.input(1), node.optionalInput(2), z ? toChannelsFirst(node, z) : Value());
  return node.failed() ? failure() : node.result(toChannelsLast(node, result));
}

static LogicalResult nhwcMaxPool(Node &node) {
  Value pooled = buildMaxPool(node, toChannelsFirst(node, node.input(0)));
  return pooled ? node.result(toChannelsLast(node, pooled)) : failure();
}

//===- Normalizations --------------------------------------------------------===//

/// gamma * (x - mean) / deviation + beta for each group of channels of x, whose sums are those of f32, and perhaps x * sigmoid(x) of that.
static LogicalResult groupNorm(Node &node, Value x) {
  Value gamma = node.input(1), beta = node.input(2);
  bool isLast = node.getFlag("channels_last", true), isSilu = node.getFlag("activation");
  double epsilon = node.getFloat("epsilon", 1e-5f);
  int64_t groups = node.requireInt("groups");
  if (node.failed() || node.rank(x) < 3)
    return node.error("the input has rank " + Twine(node.rank(x)) + ", expected a batch, channels and spatial dimensions");
  Type element = node.elementType(x), wide = node.wideType(x);
  Value first = node.cast(isLast ? toChannelsFirst(node, x) : x, wide);
  DimExprs dims = node.dims(first), perChannel(dims.size(), node.number(1));
  AffineExpr each = nn::simplifyDim(dims[1].floorDiv(groups)), size = nn::getNumElements(ArrayRef(dims).drop_front(2), node.context());
  perChannel[1] = dims[1];
  if (!node.unify(dims[1], each * groups, "the channels are not a multiple of the groups"))
    return failure();
  auto spread = [&](Value parameter, StringRef what) {
    return node.reshape(node.cast(alignDims(node, parameter, {dims[1]}, what + " does not have one number for each channel"), wide), perChannel);
  };
  DimExprs rows = {dims[0], node.number(groups), nn::simplifyDim(each * size)};
  Value scaling = node.splat({rows[2]}, wide, 1), normal = normalizeRows(node, node.reshape(first, rows), scaling, Value(), epsilon, /*rms=*/false);
  if (node.failed())
    return failure();
  Value result = node.binary<MulOp>(node.reshape(normal, dims), spread(gamma, "gamma"));
  result = node.binary<AddOp>(result, spread(beta, "beta"));
  if (isSilu)
    result = node.unary<SwishOp>(result, f64(node, 1));
  result = node.cast(result, element);
  return node.failed() ? failure() : node.result(isLast ? toChannelsLast(node, result) : result);
}

static LogicalResult plainGroupNorm(Node &node) { return groupNorm(node, node.input(0)); }

/// The same of x + skip + bias, which is output 1. The skip may have one row for each batch entry.
static LogicalResult skipGroupNorm(Node &node) {
  Value x = node.input(0), skip = node.input(3), bias = node.optionalInput(4);
  int64_t rank = node.rank(x), axis = node.getFlag("channels_last", true) ? rank - 1 : 1;
  if (rank < 3)
    return node.error("the input has rank " + Twine(rank) + ", expected a batch, channels and spatial dimensions");
  DimExprs dims = node.dims(x), perChannel(rank, node.number(1));
  perChannel[axis] = dims[axis];
  if (bias)
    bias = node.reshape(alignDims(node, bias, {dims[axis]}, "the bias does not have one number for each channel"), perChannel);
  if (node.rank(skip) == 2) {
    perChannel[0] = dims[0];
    skip = node.reshape(alignDims(node, skip, {dims[0], dims[axis]}, "the skip does not fit the input"), perChannel);
  }
  if (node.failed())
    return failure();
  Value sum = node.binary<AddOp>(x, node.broadcastTo(skip, dims));
  if (bias && !node.failed())
    sum = node.binary<AddOp>(sum, node.broadcastTo(bias, dims));
  if (node.failed())
    return failure();
  if (node.hasOutput(1))
    (void)node.result(1, sum);
  return groupNorm(node, sum);
}

/// softmax(data + bias) over all dimensions from the axis on. That the bias is broadcast to the data says all that attribute is_inner_broadcast does.
static LogicalResult biasSoftmax(Node &node) {
  Value x = node.input(0), bias = node.input(1);
  node.ignore("is_inner_broadcast");
  int64_t axis = node.axis(node.getInt("axis", 1), node.rank(x));
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(x);
  x = node.binary<AddOp>(x, node.broadcastTo(bias, dims));
  AffineExpr rows = nn::getNumElements(ArrayRef(dims).take_front(axis), node.context());
  Value flat = node.reshape(x, {rows, nn::getNumElements(ArrayRef(dims).drop_front(axis), node.context())});
  return node.failed() ? failure() : node.result(node.reshape(node.unary<SoftmaxOp>(flat, node.builder().getI64IntegerAttr(1)), dims));
}

//===- Positions -------------------------------------------------------------===//

/// The buckets of distances 0 to `most` of T5: the first half of them one each, the others over ranges that grow with the logarithm.
static SmallVector<int64_t> bucketsOf(int64_t most, int64_t buckets) {
  SmallVector<int64_t> result;
  int64_t exact = buckets / 2;
  for (int64_t distance = 0; distance <= most; ++distance) {
    int64_t bucket = distance;
    if (distance >= exact) {
      // In float, as the models were trained.
      float ratio = std::log(static_cast<float>(distance) / static_cast<float>(std::max<int64_t>(exact, 1))) /
                    std::log(static_cast<float>(most) / static_cast<float>(std::max<int64_t>(exact, 1)));
      float place = ratio * static_cast<float>(buckets - exact);
      bucket = std::isfinite(place) ? std::min(exact + static_cast<int64_t>(place), buckets - 1) : buckets - 1;
    }
    result.push_back(bucket);
  }
  return result;
}

/// [1, heads, queries, keys]: the number of each head's bucket for how far a key is from the query. The table's memory has a row for each head, whatever
/// its shape says.
static LogicalResult relativePositionBias(Node &node) {
  Value table = node.input(0);
  auto queries = node.knownIntegers(1, "query_length"), keys = node.knownIntegers(2, "key_length");
  int64_t most = node.requireInt("max_distance");
  bool isBoth = node.getFlag("is_bidirectional");
  if (!queries || !keys || node.failed())
    return failure();
  DimExprs dims = node.dims(table);
  auto buckets = nn::getConstantDim(dims[0]);
  constexpr int64_t largest = 1 << 20;
  if (!buckets || most > largest)
    return node.unsupported("a symbolic number of buckets, or distances above " + Twine(largest), "make the dimension static with --dim");
  if (*buckets < (isBoth ? 4 : 2))
    return node.error("the table has " + Twine(*buckets) + " buckets, expected at least " + Twine(isBoth ? 4 : 2));
  int64_t each = isBoth ? *buckets / 2 : *buckets;
  AffineExpr rows = queries->front(), columns = keys->front(), one = node.number(1);
  Type i64 = node.builder().getI64Type();
  // How far the key lies before the query.
  Value row = node.broadcastTo(node.iota({rows, one}, 0, i64), {rows, columns}), column = node.broadcastTo(node.iota({one, columns}, 1, i64), {rows, columns});
  Value before = node.binary<SubOp>(row, column), distance = isBoth ? node.unary<AbsOp>(before) : node.binary<MaximumOp>(before, 0.0);
  Value bucket = buildGather(node, node.constantInts(bucketsOf(most, each)), node.binary<MinimumOp>(distance, static_cast<double>(most)), 0);
  if (isBoth && !node.failed())
    bucket = node.binary<AddOp>(bucket, node.binary<MulOp>(node.cast(node.compare<LessOp>(before, node.splatLike(before, 0)), i64), static_cast<double>(each)));
  Value picked = node.failed() ? table : buildGather(node, node.reshape(table, {dims[1], dims[0]}), bucket, 1);
  return node.failed() ? failure() : node.result(node.reshape(picked, {one, dims[1], rows, columns}));
}

/// rel_pos times (u * (r * eco_a - 1) + 2), where u and r are the sigmoids of sums of halves of a projection of the query.
static LogicalResult gatedRelativePositionBias(Node &node) {
  Value query = node.input(0), positions = node.input(2), weight = node.input(3), bias = node.input(4), factor = node.input(5);
  int64_t heads = node.requireInt("num_heads");
  if (node.hasInput(6))
    return node.unsupported("tokens without their padding", "export the model with padding");
  if (node.failed() || !node.expectRank(query, 3, "query_layer"))
    return failure();
  query = splitHeads(node, addToRows(node, query, node.input(1), "query_bias"), heads, "query_layer");
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(query), of = node.dims(weight);
  AffineExpr half = nn::simplifyDim(of[1].floorDiv(2));
  if (!node.unify(of[1], half * 2, "the weight has an odd number of columns") || !node.unify(of[0], dims[3], "the weight does not fit the heads"))
    return failure();
  Value rows = node.reshape(query, {nn::simplifyDim(dims[0] * dims[1] * dims[2]), dims[3]});
  Value projected = node.reshape(addToRows(node, node.matmul(rows, weight), bias), {dims[0], dims[1], dims[2], node.number(2), half});
  Value gates = node.unary<SigmoidOp>(node.reduce(ReduceKind::Sum, projected, {4}, /*keep=*/false));
  Value u = node.slice(gates, 3, node.number(0), node.number(1)), r = node.slice(gates, 3, node.number(1), node.number(1));
  Value gate = node.binary<MulOp>(u, node.binary<AddOp>(node.binary<MulOp>(r, factor), -1.0));
  return node.failed() ? failure() : node.result(node.binary<MulOp>(node.binary<AddOp>(gate, 2.0), positions));
}

//===- Moved elements --------------------------------------------------------===//

static LogicalResult expandDims(Node &node) {
  Value x = node.input(0);
  auto axis = node.constantIntegers(1, "the axis");
  if (!axis || axis->size() != 1)
    return node.error("the axis is not one number");
  DimExprs dims = node.dims(x);
  int64_t at = node.axis(axis->front(), static_cast<int64_t>(dims.size()) + 1);
  dims.insert(dims.begin() + at, node.number(1));
  return node.failed() ? failure() : node.result(node.reshape(x, dims));
}

/// All slices of a size along a dimension, each some steps behind the one before, as a dimension of their own at the end.
static LogicalResult unfoldTensor(Node &node) {
  Value x = node.input(0);
  int64_t rank = node.rank(x), size = node.requireInt("size"), step = node.getInt("step", 1), axis = rank ? node.axis(node.getInt("dim", -1), rank, "dim") : 0;
  if (node.failed() || rank == 0)
    return node.error("expected an input of rank 1 or more");
  AffineExpr length = node.dims(x)[axis], one = node.number(1);
  node.requireNotNegative(length - size, "a slice is longer than the dimension");
  AffineExpr count = nn::simplifyDim((length - size).floorDiv(step) + 1);
  Type i64 = node.builder().getI64Type();
  DimExprs places = {count, node.number(size)};
  Value start = node.binary<MulOp>(node.iota({count, one}, 0, i64), static_cast<double>(step));
  Value at = node.binary<AddOp>(node.broadcastTo(start, places), node.broadcastTo(node.iota({one, node.number(size)}, 1, i64), places));
  Value taken = buildGather(node, x, at, axis);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank + 1));
  std::rotate(order.begin() + axis + 1, order.begin() + axis + 2, order.end());
  return node.failed() ? failure() : node.result(node.transpose(taken, order));
}

/// What its other inputs say is of use in training only.
static LogicalResult torchEmbedding(Node &node) {
  (void)node.optionalInput(2);
  (void)node.optionalInput(3);
  return node.result(buildGather(node, node.input(0), node.input(1), 0));
}

ArrayRef<Operator> getContribLayoutOperators() {
  static const Operator rows[] = {
      {"BiasSoftmax", 1, Elements::Float, biasSoftmax, INT64_MAX, "com.microsoft"},
      {"ExpandDims", 1, Elements::Data, expandDims, INT64_MAX, "com.microsoft"},
      {"GatedRelativePositionBias", 1, Elements::Float, gatedRelativePositionBias, INT64_MAX, "com.microsoft"},
      asComposite({"GroupNorm", 1, Elements::Float, plainGroupNorm, INT64_MAX, "com.microsoft"}),
      {"NhwcConv", 1, Elements::Float, nhwcConv, INT64_MAX, "com.microsoft"},
      {"NhwcFusedConv", 1, Elements::Float, nhwcFusedConv, INT64_MAX, "com.microsoft"},
      {"NhwcMaxPool", 1, Elements::Integer, nhwcMaxPool, INT64_MAX, "com.microsoft"},
      {"RelativePositionBias", 1, Elements::Float, relativePositionBias, INT64_MAX, "com.microsoft"},
      asComposite({"SkipGroupNorm", 1, Elements::Float, skipGroupNorm, INT64_MAX, "com.microsoft"}),
      {"TorchEmbedding", 1, Elements::Number, torchEmbedding, INT64_MAX, "com.microsoft"},
      {"SampleOp", 1, Elements::Number, [](Node &node) { return node.result(node.input(0)); }, INT64_MAX, "com.microsoft"},
      {"UnfoldTensor", 1, Elements::Data, unfoldTensor, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
