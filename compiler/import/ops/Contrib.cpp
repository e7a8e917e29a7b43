//===- Contrib.cpp - Operators that ONNX Runtime fuses -----------------------===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md): what its graph optimizer and its exporters make of several operators of
// ONNX. Each becomes the operations that it stands for, so that everything downstream works on it as on the original.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Convolution.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Matmul.h"
#include "compiler/import/ops/Quantization.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNElementwiseOps.h"
#include "dialects/nn/NNNormalizationOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static FloatAttr number(Node &node, double value) { return node.builder().getF64FloatAttr(value); }

Value addToRows(Node &node, Value x, Value bias, StringRef what) {
  if (!bias || node.failed() || !node.expectRank(bias, 1, what))
    return x;
  DimExprs dims = node.dims(x);
  if (dims.empty() || !node.unify(node.dims(bias)[0], dims.back(), what + " does not fit the last dimension"))
    return x;
  return node.binary<AddOp>(x, node.broadcastTo(node.reshape(bias, {dims.back()}), dims));
}

//===- Activations ---------------------------------------------------------===//

static LogicalResult contribGelu(Node &node) { return node.result(node.unary<GeluOp>(node.input(0))); }
static LogicalResult biasGelu(Node &node) { return node.result(node.unary<GeluOp>(addToRows(node, node.input(0), node.input(1), "B"))); }
static LogicalResult fastGelu(Node &node) { return node.result(node.unary<GeluTanhOp>(addToRows(node, node.input(0), node.optionalInput(1)))); }

/// x * sigmoid(alpha * x)
static LogicalResult quickGelu(Node &node) { return node.result(node.unary<SwishOp>(node.input(0), number(node, node.getFloat("alpha", 1.702f)))); }

/// The left half of the columns times gelu of the right half.
static LogicalResult biasSplitGelu(Node &node) {
  Value x = addToRows(node, node.input(0), node.input(1));
  int64_t last = node.rank(x) - 1;
  if (node.failed() || last < 0)
    return node.error("the input has rank 0, so it has no columns to split");
  AffineExpr half = nn::simplifyDim(node.dims(x)[last].floorDiv(2));
  if (!node.unify(node.dims(x)[last], half * 2, "the number of columns is odd"))
    return failure();
  return node.result(node.binary<MulOp>(node.slice(x, last, node.number(0), half), node.unary<GeluOp>(node.slice(x, last, half, half))));
}

static LogicalResult biasAdd(Node &node) {
  Value x = addToRows(node, node.input(0), node.input(1)), skip = node.input(2);
  return node.result(node.binary<AddOp>(x, node.failed() ? skip : node.broadcastTo(skip, node.dims(x))));
}

Value buildActivation(Node &node, Value x, StringRef name, ArrayRef<double> given) {
  auto at = [&](unsigned i, double fallback) { return number(node, i < given.size() ? given[i] : fallback); };
  if (node.failed())
    return x;
  if (name == "Relu")
    return node.unary<ReluOp>(x);
  if (name == "Sigmoid")
    return node.unary<SigmoidOp>(x);
  if (name == "Tanh")
    return node.unary<TanhOp>(x);
  if (name == "LeakyRelu")
    return node.unary<LeakyReluOp>(x, at(0, 0.01f));
  if (name == "Clip") {
    if (given.size() != 2)
      (void)node.error("activation Clip needs its two bounds in attribute 'activation_params'");
    return node.unary<ClampOp>(x, at(0, 0), at(1, 0));
  }
  if (name == "HardSigmoid")
    return node.unary<HardSigmoidOp>(x, at(0, 0.2f), at(1, 0.5));
  if (name == "Elu")
    return node.unary<EluOp>(x, at(0, 1));
  if (name == "Celu")
    return node.unary<CeluOp>(x, at(0, 1));
  if (name == "Selu")
    return node.unary<SeluOp>(x, at(0, 1.67326319217681884765625), at(1, 1.05070102214813232421875));
  if (name == "Softplus")
    return node.unary<SoftplusOp>(x);
  if (name == "Softsign")
    return node.unary<SoftsignOp>(x);
  if (name == "ThresholdedRelu")
    return node.unary<ThresholdedReluOp>(x, at(0, 1));
  (void)node.error("attribute 'activation' is '" + name + "', which cannot be fused");
  return x;
}

/// The activation of FusedGemm and FusedMatMulActivation, whose numbers are attributes of their own.
static Value activateByAttributes(Node &node, Value x, StringRef name) {
  SmallVector<double> numbers;
  if (node.hasAttribute("activation_alpha"))
    numbers.push_back(node.getFloat("activation_alpha", 0));
  // Selu's second number is called gamma.
  StringRef second = name == "Selu" ? "activation_gamma" : "activation_beta";
  if (!numbers.empty() && node.hasAttribute(second))
    numbers.push_back(node.getFloat(second, 0));
  for (StringRef attribute : {"activation_alpha", "activation_beta", "activation_gamma", "activation_axis"})
    node.ignore(attribute);
  return buildActivation(node, x, name, numbers);
}

//===- Products ------------------------------------------------------------===//

/// The operand as it enters the product. With `batch` its first dimension stands behind the others but the last, where the rows belong.
static Value transposed(Node &node, Value x, bool matrix, bool batch) {
  int64_t rank = node.rank(x);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (rank < 2)
    return x;
  if (batch)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (matrix)
    std::swap(order[rank - 2], order[rank - 1]);
  return node.transpose(x, order);
}

/// alpha * A' * B'
static Value buildFusedMatmul(Node &node) {
  double alpha = node.getFloat("alpha", 1);
  bool batchA = node.getFlag("transBatchA"), batchB = node.getFlag("transBatchB");
  Value a = transposed(node, node.input(0), node.getFlag("transA"), batchA), b = transposed(node, node.input(1), node.getFlag("transB"), batchB);
  Value product = buildMatmul(node, a, b);
  return node.failed() || alpha == 1 ? product : node.binary<MulOp>(product, alpha);
}

static LogicalResult fusedMatmul(Node &node) { return node.result(buildFusedMatmul(node)); }

static LogicalResult fusedMatmulActivation(Node &node) {
  std::string name = node.getString("activation", "");
  return node.result(activateByAttributes(node, buildFusedMatmul(node), name));
}

static LogicalResult fusedGemm(Node &node) {
  std::string name = node.getString("activation", "");
  Value product = buildGemm(node);
  return node.result(name.empty() ? product : activateByAttributes(node, product, name));
}

static LogicalResult gemmFastGelu(Node &node) {
  return node.result(node.unary<GeluTanhOp>(addToRows(node, buildMatmul(node, node.input(0), node.input(1)), node.optionalInput(2))));
}

Value buildFusedConvolution(Node &node, Value x, Value weight, Value bias, Value z) {
  std::string name = node.getString("activation", "");
  SmallVector<double> numbers = node.findFloats("activation_params").value_or(SmallVector<double>());
  Value sum = buildConvolution(node, x, weight);
  if (!sum)
    return x;
  sum = addChannelBias(node, sum, bias);
  if (z && !node.failed())
    sum = node.binary<AddOp>(sum, node.broadcastTo(z, node.dims(sum)));
  return name.empty() ? sum : buildActivation(node, sum, name, numbers);
}

static LogicalResult fusedConv(Node &node) {
  return node.result(buildFusedConvolution(node, node.input(0), node.input(1), node.optionalInput(2), node.optionalInput(3)));
}

//===- Normalizations ------------------------------------------------------===//

Value normalizeRows(Node &node, Value x, Value scale, Value bias, double epsilon, bool rms) {
  if (node.failed() || node.rank(x) < 1) {
    (void)node.error("the input has rank 0, so it has no rows");
    return x;
  }
  DimExprs row = {node.dims(x).back()};
  for (Value *parameter : {&scale, &bias})
    if (*parameter) {
      if (!node.expectRank(*parameter, 1, "a parameter") || !node.unify(node.dims(*parameter)[0], row[0], "a parameter does not fit the last dimension"))
        return x;
      *parameter = node.reshape(*parameter, row);
    }
  IntegerAttr axis = node.builder().getI64IntegerAttr(node.rank(x) - 1);
  if (rms)
    return node.make<RmsNormOp>(x.getType(), x, scale, axis, number(node, epsilon));
  return node.make<LayerNormOp>(x.getType(), x, scale, bias, axis, number(node, epsilon));
}

/// Normalizes input + skip + bias, which is output 3. Outputs 1 and 2 are the mean of each row, and one over its deviation.
static LogicalResult skipNorm(Node &node, bool rms) {
  Value x = node.input(0), skip = node.input(1), gamma = node.input(2), beta = rms ? Value() : node.optionalInput(3);
  double epsilon = node.getFloat("epsilon", 1e-12f);
  // The rows of `skip` may be those of one batch entry for all.
  Value sum = node.binary<AddOp>(x, node.failed() ? skip : node.broadcastTo(skip, node.dims(x)));
  sum = addToRows(node, sum, node.optionalInput(rms ? 3 : 4));
  if (node.hasOutput(3))
    (void)node.result(3, sum);
  if ((node.hasOutput(1) || node.hasOutput(2)) && !node.failed() && node.rank(sum) > 0) {
    Value wide = node.cast(sum, node.wideType(sum));
    SmallVector<int64_t> axes = {node.rank(sum) - 1};
    Value mean = node.reduce(ReduceKind::Mean, wide, axes, true), centred = rms ? wide : node.binary<SubOp>(wide, mean);
    Value variance = node.reduce(ReduceKind::Mean, node.binary<MulOp>(centred, centred), axes, true);
    if (node.hasOutput(1))
      (void)node.result(1, mean);
    if (node.hasOutput(2))
      (void)node.result(2, node.unary<ReciprocalOp>(node.unary<SqrtOp>(node.binary<AddOp>(variance, epsilon))));
  }
  return node.result(normalizeRows(node, sum, gamma, beta, epsilon, rms));
}

static LogicalResult skipLayerNorm(Node &node) { return skipNorm(node, /*rms=*/false); }
static LogicalResult skipSimplifiedLayerNorm(Node &node) { return skipNorm(node, /*rms=*/true); }

/// x / rms(x) * scale * silu(gate), where each group of as many columns as `scale` has is a row; all in f32.
static LogicalResult gatedRmsNorm(Node &node) {
  Value x = node.input(0), scale = node.input(1), gate = node.input(2);
  double epsilon = node.getFloat("epsilon", 1e-5f);
  DimExprs dims = node.dims(x);
  if (dims.empty() || !node.expectRank(scale, 1, "the scale"))
    return node.error("expected an input of rank 1 or more");
  AffineExpr columns = node.dims(scale)[0];
  DimExprs apart = dims;
  apart.back() = nn::simplifyDim(dims.back().floorDiv(columns));
  apart.push_back(columns);
  if (!node.unify(apart[apart.size() - 2] * columns, dims.back(), "the last dimension is not a multiple of the scale's size"))
    return failure();
  Type wide = node.wideType(x), element = node.elementType(x);
  Value normal = normalizeRows(node, node.reshape(node.cast(x, wide), apart), node.cast(scale, wide), Value(), epsilon, /*rms=*/true);
  if (node.failed())
    return failure();
  Value open = node.unary<SwishOp>(node.broadcastTo(node.cast(gate, wide), dims), number(node, 1));
  return node.result(node.cast(node.binary<MulOp>(node.reshape(normal, dims), open), element));
}

/// X + Y * gate, where the gate has one number for each row.
static LogicalResult gatedAdd(Node &node) {
  Value x = node.input(0), y = node.input(1), gate = node.input(2);
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(x);
  return node.result(node.binary<AddOp>(x, node.binary<MulOp>(node.broadcastTo(y, dims), node.broadcastTo(gate, dims))));
}

/// What gates a linear attention: decay_scale * softplus(a + dt_bias), and sigmoid(b). Numbers of heads are f32.
static LogicalResult linearAttentionGate(Node &node) {
  Value a = node.input(0), bias = node.input(1), scale = node.input(2), b = node.optionalInput(3);
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(a);
  if (dims.empty() || (node.hasOutput(1) && !b))
    return node.error(dims.empty() ? "expected an input of rank 1 or more" : "has result 'beta', but not its input 'b'");
  Type wide = node.wideType(a), element = node.elementType(a);
  auto perHead = [&](Value numbers) {
    return node.cast(node.reshape(alignDims(node, numbers, {dims.back()}, "expected a number for each head"), {dims.back()}), wide);
  };
  Value decay = node.unary<SoftplusOp>(node.binary<AddOp>(node.cast(a, wide), perHead(bias)));
  decay = node.binary<MulOp>(decay, perHead(scale));
  if (node.failed() || failed(node.result(node.cast(decay, element))) || !node.hasOutput(1))
    return failure(node.failed());
  b = alignDims(node, b, dims, "b does not have the shape of a");
  return node.failed() ? failure() : node.result(1, node.cast(node.unary<SigmoidOp>(node.cast(b, wide)), element));
}

/// gate * value, where each token's gate is sigmoid(sign(dot) * sqrt(max(|dot|, 1e-6))) of the product of its normalized key and query, for each of several
/// streams that share the value.
static LogicalResult engramGate(Node &node) {
  Value key = node.input(0), query = node.input(1), value = node.input(2), keyScale = node.input(3), queryScale = node.input(4);
  double epsilon = node.getFloat("epsilon", 1e-5f);
  if (node.failed())
    return failure();
  constexpr double leastDot = 1e-6f;
  DimExprs dims = node.dims(query), perRow = {dims[2], dims[3]}, one = {dims[0], dims[1], node.number(1), dims[3]};
  Type wide = node.wideType(query), element = node.elementType(query);
  auto normalize = [&](Value x, Value scale, StringRef what) {
    scale = node.cast(alignDims(node, scale, perRow, what + " does not have a number for each column of each stream"), wide);
    Value x32 = node.cast(x, wide), mean = node.failed() ? x : node.reduce(ReduceKind::Mean, node.binary<MulOp>(x32, x32), {3}, /*keep=*/true);
    return node.binary<MulOp>(node.binary<DivOp>(x32, node.unary<SqrtOp>(node.binary<AddOp>(mean, epsilon))), scale);
  };
  key = alignDims(node, key, dims, "the key does not have the shape of the query");
  value = node.failed() ? value : alignDims(node, value, {dims[0], dims[1], dims[3]}, "the value does not fit the query");
  if (node.failed())
    return failure();
  Value product = node.binary<MulOp>(normalize(key, keyScale, "key_norm_scale"), normalize(query, queryScale, "query_norm_scale"));
  if (node.failed())
    return failure();
  Value dot = node.reduce(ReduceKind::Sum, product, {3}, /*keep=*/true), width = node.cast(sizeOf(node, dims[3], node.builder().getI64Type()), wide);
  dot = node.binary<DivOp>(dot, node.unary<SqrtOp>(width));
  Value root = node.unary<SqrtOp>(node.binary<MaximumOp>(node.unary<AbsOp>(dot), leastDot));
  Value gate = node.unary<SigmoidOp>(node.binary<MulOp>(node.unary<SignOp>(dot), root));
  Value gated = node.failed() ? gate : node.binary<MulOp>(gate, node.cast(node.reshape(value, one), wide));
  return node.failed() ? failure() : node.result(node.cast(gated, element));
}

//===- Embeddings ----------------------------------------------------------===//

namespace {
/// EmbedLayerNormalization: the sum of the embeddings of words, positions and segments, normalized.
class EmbeddingNorm {
public:
  EmbeddingNorm(Node &node, bool isQuantized) : node(node), isQuantized(isQuantized) {}
  LogicalResult run();

private:
  /// Tables and parameters in the order of their scales and zero points.
  enum Part { Word, Position, Segment, Gamma, Beta };
  Value asReal(Value x, Part part);
  Value lookUp(Value table, Value at, StringRef what, Part part);
  Value positions(const DimExprs &ids);
  LogicalResult countUnmasked(Value mask, const DimExprs &ids);

  Node &node;
  /// Tables and parameters are bytes.
  bool isQuantized;
};
} // namespace

/// What bytes stand for: rows of a table after they are picked, not the table.
Value EmbeddingNorm::asReal(Value x, Part part) {
  constexpr unsigned scales = 8, zeroPoints = 13;
  if (!isQuantized || node.failed() ||
      !expectNumbers(node, {{static_cast<int>(scales + part), "a scale"}, {static_cast<int>(zeroPoints + part), "a zero point"}}))
    return x;
  return buildDequantize(node, x, node.input(scales + part), node.input(zeroPoints + part));
}

Value EmbeddingNorm::lookUp(Value table, Value at, StringRef what, Part part) {
  if (node.failed() || !node.expectRank(table, 2, what))
    return table;
  return asReal(buildGather(node, table, at, 0), part);
}

/// The embeddings of the given positions, or of the first ones.
Value EmbeddingNorm::positions(const DimExprs &ids) {
  Value table = node.input(3), given = isQuantized ? Value() : node.optionalInput(8);
  if (given)
    return lookUp(table, given, "the position embedding", Position);
  if (!node.expectRank(table, 2, "the position embedding"))
    return table;
  node.requireNotNegative(node.dims(table)[0] - ids[1], "there are fewer position embeddings than tokens");
  return node.failed() ? table : asReal(node.slice(table, 0, node.number(0), ids[1]), Position);
}

/// Output 1: how many tokens of each batch entry the mask keeps, or zeros without a mask.
LogicalResult EmbeddingNorm::countUnmasked(Value mask, const DimExprs &ids) {
  Type i32 = node.builder().getI32Type();
  if (!mask)
    return node.result(1, node.splat({ids[0]}, i32, 0));
  if (!node.expectRank(mask, 2, "the mask"))
    return failure();
  Value keeps = node.compare<EqualOp>(mask, node.splatLike(mask, 1));
  return node.result(1, node.reduce(ReduceKind::Sum, node.cast(keeps, i32), {1}, /*keep=*/false));
}

LogicalResult EmbeddingNorm::run() {
  Value words = node.input(0), segments = node.optionalInput(1), mask = node.optionalInput(7);
  double epsilon = node.getFloat("epsilon", 1e-12f);
  node.ignore("mask_index_type");
  if (!node.expectRank(words, 2, "input_ids"))
    return failure();
  DimExprs ids = node.dims(words);
  Value sum = lookUp(node.input(2), words, "the word embedding", Word), place = positions(ids);
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(sum);
  sum = node.binary<AddOp>(sum, node.broadcastTo(place, dims));
  if (segments && node.hasInput(4))
    sum = node.binary<AddOp>(sum, node.broadcastTo(lookUp(node.input(4), segments, "the segment embedding", Segment), dims));
  else if (segments || node.hasInput(4))
    return node.error("has only one of segment_ids and segment_embedding");
  Value normal = normalizeRows(node, sum, asReal(node.input(5), Gamma), asReal(node.input(6), Beta), epsilon, /*rms=*/false);
  if (node.hasOutput(1))
    (void)countUnmasked(mask, ids);
  if (node.hasOutput(2))
    (void)node.result(2, sum);
  return node.result(normal);
}

static LogicalResult embedLayerNorm(Node &node) { return EmbeddingNorm(node, /*isQuantized=*/false).run(); }
static LogicalResult qEmbedLayerNorm(Node &node) { return EmbeddingNorm(node, /*isQuantized=*/true).run(); }

ArrayRef<Operator> getContribOperators() {
  static const Operator rows[] = {
      {"BiasAdd", 1, Elements::Float, biasAdd, INT64_MAX, "com.microsoft"},
      {"BiasGelu", 1, Elements::Float, biasGelu, INT64_MAX, "com.microsoft"},
      {"BiasSplitGelu", 1, Elements::Float, biasSplitGelu, INT64_MAX, "com.microsoft"},
      {"EmbedLayerNormalization", 1, Elements::Any, embedLayerNorm, INT64_MAX, "com.microsoft"},
      {"EngramGate", 1, Elements::Float, engramGate, INT64_MAX, "com.microsoft"},
      {"FastGelu", 1, Elements::Float, fastGelu, INT64_MAX, "com.microsoft"},
      {"FusedConv", 1, Elements::Float, fusedConv, INT64_MAX, "com.microsoft"},
      {"FusedGemm", 1, Elements::Float, fusedGemm, INT64_MAX, "com.microsoft"},
      {"FusedMatMul", 1, Elements::Float, fusedMatmul, INT64_MAX, "com.microsoft"},
      {"FusedMatMulActivation", 1, Elements::Float, fusedMatmulActivation, INT64_MAX, "com.microsoft"},
      {"GatedAdd", 1, Elements::Float, gatedAdd, INT64_MAX, "com.microsoft"},
      {"GatedRMSNorm", 1, Elements::Float, gatedRmsNorm, INT64_MAX, "com.microsoft"},
      {"Gelu", 1, Elements::Float, contribGelu, INT64_MAX, "com.microsoft"},
      {"GemmFastGelu", 1, Elements::Float, gemmFastGelu, INT64_MAX, "com.microsoft"},
      {"LinearAttentionGate", 1, Elements::Float, linearAttentionGate, INT64_MAX, "com.microsoft"},
      {"QEmbedLayerNormalization", 1, Elements::Any, qEmbedLayerNorm, INT64_MAX, "com.microsoft"},
      {"QuickGelu", 1, Elements::Float, quickGelu, INT64_MAX, "com.microsoft"},
      {"SkipLayerNormalization", 1, Elements::Float, skipLayerNorm, INT64_MAX, "com.microsoft"},
      {"SkipSimplifiedLayerNormalization", 1, Elements::Float, skipSimplifiedLayerNorm, INT64_MAX, "com.microsoft"},
      {"TransposeMatMul", 1, Elements::Float, fusedMatmul, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
