//===- ContribExperts.cpp - Mixtures of experts ------------------------------===//
//
// MoE and QMoE of domain com.microsoft (ONNX Runtime's ContribOperators.md): for each token the k experts that the router likes best, each a network of two
// or three products, summed by the router's weights. Where a few tokens choose few of many experts, only the weights of these are read; otherwise
// all experts compute all tokens, and those that were not chosen count nothing. Weights of a few bits are unpacked after they are picked.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/PackedNumbers.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNElementwiseOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// The weights [experts, rows, columns] of one of the products, and what belongs to them; null: not given.
struct Layer {
  Value weights, bias, scales, zeroPoints;
};

class ExpertMixture {
public:
  ExpertMixture(Node &node, bool isQuantized) : node(node), isQuantized(isQuantized) {}
  LogicalResult run();

private:
  LogicalResult readAttributes();
  LogicalResult readLayers();
  LogicalResult route(Value logits);
  Value pick(Value ofExperts);
  Value weightsOf(const Layer &layer);
  Value product(const Layer &layer, Value x);
  Value activate(Value gate, Value linear);
  Value applyFirst(Value x);
  Value weigh(Value results);

  Node &node;
  bool isQuantized;
  Layer first, second, third;
  int64_t chosen = 1, bits = 4, block = 0, fusion = 0;
  double alpha = 1, beta = 0, limit = HUGE_VAL;
  bool normalizes = false;
  std::string activation;
  Type element, wide;
  AffineExpr tokens, width, experts;
  /// The places of the chosen experts [tokens, chosen], and what they count.
  Value places, shares;
  /// Whether only the weights of chosen experts are read.
  bool isSparse = false;
};
} // namespace

LogicalResult ExpertMixture::readAttributes() {
  chosen = node.getInt("k", 1);
  activation = node.getString("activation_type", "relu");
  normalizes = node.getFlag("normalize_routing_weights");
  fusion = node.getInt("swiglu_fusion", 0);
  alpha = node.getFloat("activation_alpha", 1);
  beta = node.getFloat("activation_beta", 0);
  limit = node.getFloat("swiglu_limit", HUGE_VAL);
  if (node.getFlag("use_sparse_mixer"))
    return node.unsupported("attribute 'use_sparse_mixer'", "export the model without it");
  if (!isQuantized)
    return failure(node.failed());
  bits = node.getInt("expert_weight_bits", 4);
  block = node.getInt("block_size", 0);
  // How kernels may round and lay out what they read.
  node.ignore("accuracy_level");
  if (std::string type = node.getString("quant_type", "int"); type != "int")
    return node.unsupported("weights of quant_type '" + type + "'", "quantize them as integers");
  if (node.getInt("weights_prepacked", -1) > 0)
    return node.unsupported("weights that are packed for another machine", "export the model with weights_prepacked = 0");
  if (bits != 2 && bits != 4 && bits != 8)
    return node.error("attribute 'expert_weight_bits' is " + Twine(bits) + ", expected 2, 4 or 8");
  if (block < 0 || (block > 0 && (block < 16 || !llvm::isPowerOf2_64(block))))
    return node.error("attribute 'block_size' is " + Twine(block) + ", expected a power of two of at least 16");
  return failure(node.failed());
}

LogicalResult ExpertMixture::readLayers() {
  if (isQuantized) {
    first = {node.input(2), node.optionalInput(4), node.input(3), node.optionalInput(11)};
    second = {node.input(5), node.optionalInput(7), node.input(6), node.optionalInput(12)};
    third = {node.optionalInput(8), node.optionalInput(10), node.optionalInput(9), node.optionalInput(13)};
    for (unsigned input = 15; input < 21; ++input)
      if (node.hasInput(input))
        return node.unsupported("scales of weights that are narrow floats", "quantize them as integers");
  } else {
    first = {node.input(2), node.optionalInput(3), {}, {}};
    second = {node.input(4), node.optionalInput(5), {}, {}};
    third = {node.optionalInput(6), node.optionalInput(7), {}, {}};
  }
  if (third.weights && fusion != 0)
    return node.error("has the weights of a third product, but attribute 'swiglu_fusion' says that the first has them");
  if (activation == "swiglu" && fusion == 0 && !third.weights)
    return node.error("activation swiglu needs the weights of a third product, or attribute 'swiglu_fusion'");
  return failure(node.failed());
}

/// The softmax of the logits says how much each expert counts. ONNX Runtime's QMoE takes it of the chosen ones alone.
LogicalResult ExpertMixture::route(Value logits) {
  Value given = isQuantized ? node.optionalInput(14) : Value();
  logits = node.cast(alignDims(node, logits, {tokens, experts}, "the router does not have a number for each token and expert"), wide);
  if (auto all = nn::getConstantDim(experts); all && chosen > *all)
    return node.error("attribute 'k' is " + Twine(chosen) + ", but there are " + Twine(*all) + " experts");
  IntegerAttr axis = node.builder().getI64IntegerAttr(1);
  Value scores = isQuantized ? logits : node.unary<SoftmaxOp>(logits, axis);
  DimExprs dims = {tokens, node.number(chosen)};
  RankedTensorType values = node.type(dims, wide), indices = node.type(dims, node.builder().getI64Type());
  if (node.failed())
    return failure();
  auto best = TopKOp::create(node.builder(), node.loc, values, indices, scores, 1, /*largest=*/true);
  places = best.getIndices();
  shares = best.getValues();
  if (given) {
    given = node.cast(alignDims(node, given, {tokens, experts}, "router_weights does not have a number for each token and expert"), wide);
    shares = node.failed() ? shares : node.make<GatherElementsOp>(values, given, places, 1);
  } else if (isQuantized) {
    shares = node.unary<SoftmaxOp>(shares, axis);
  }
  if (normalizes && (given || !isQuantized))
    shares = node.binary<DivOp>(shares, node.reduce(ReduceKind::Sum, shares, {1}, /*keep=*/true));
  return failure(node.failed());
}

/// What belongs to experts, for the chosen ones of each token [tokens * chosen, ...], or as it is.
Value ExpertMixture::pick(Value ofExperts) {
  if (!isSparse || node.failed())
    return ofExperts;
  return buildGather(node, ofExperts, node.reshape(places, {nn::simplifyDim(tokens * chosen)}), 0);
}

/// [experts or chosen ones, rows, columns] in real numbers.
Value ExpertMixture::weightsOf(const Layer &layer) {
  Value weights = pick(layer.weights);
  if (!isQuantized || node.failed())
    return node.cast(weights, wide);
  Value numbers = node.cast(unpackNumbers(node, weights, bits), wide), scales = node.cast(pick(layer.scales), wide);
  DimExprs dims = node.dims(numbers);
  AffineExpr size = block ? node.number(block) : dims[2], blocks = nn::simplifyDim(block ? dims[2].floorDiv(block) : node.number(1));
  DimExprs apart = {dims[0], dims[1], blocks, size}, single = {dims[0], dims[1], blocks, node.number(1)};
  if (!node.unify(nn::getNumElements(node.dims(scales), node.context()), dims[0] * dims[1] * blocks, "the scales do not fit the weights and blocks"))
    return numbers;
  Value centre = node.splat(single, wide, 1 << (bits - 1));
  if (layer.zeroPoints) {
    Value points = unpackNumbers(node, pick(layer.zeroPoints), bits);
    if (!node.unify(nn::getNumElements(node.dims(points), node.context()), dims[0] * dims[1] * blocks, "the zero points do not fit the weights and blocks"))
      return numbers;
    centre = node.reshape(node.cast(points, wide), single);
  }
  Value centred = node.binary<SubOp>(node.reshape(numbers, apart), centre);
  return node.reshape(node.binary<MulOp>(centred, node.reshape(scales, single)), dims);
}

/// x times the transposed weights, and the bias. x is [experts, tokens, n], or with chosen experts only [tokens * chosen, 1, n].
Value ExpertMixture::product(const Layer &layer, Value x) {
  Value weights = weightsOf(layer);
  if (node.failed() || !node.unify(node.dims(weights)[2], node.dims(x)[2], "an expert's weights do not fit their input"))
    return x;
  Value result = node.matmul(x, node.transpose(weights, {0, 2, 1}));
  if (!layer.bias || node.failed())
    return result;
  DimExprs dims = node.dims(result);
  AffineExpr all = node.dims(layer.weights)[0], rows = dims[2];
  Value bias = pick(alignDims(node, layer.bias, {all, rows}, "an expert's bias does not fit its weights"));
  return node.failed() ? result : node.binary<AddOp>(result, node.reshape(node.cast(bias, wide), {dims[0], node.number(1), rows}));
}

/// `linear` may be null: then there is one operand.
Value ExpertMixture::activate(Value gate, Value linear) {
  OpBuilder &b = node.builder();
  if (node.failed())
    return gate;
  if (activation == "swiglu") {
    if (std::isfinite(limit)) {
      gate = node.binary<MinimumOp>(gate, limit);
      linear = node.unary<ClampOp>(linear, b.getF64FloatAttr(-limit), b.getF64FloatAttr(limit));
    }
    Value open = node.unary<SwishOp>(gate, b.getF64FloatAttr(alpha));
    return node.binary<MulOp>(open, beta == 0 ? linear : node.binary<AddOp>(linear, beta));
  }
  if (activation == "relu")
    gate = node.unary<ReluOp>(gate);
  else if (activation == "gelu")
    gate = node.unary<GeluOp>(gate);
  else if (activation == "silu")
    gate = node.unary<SwishOp>(gate, b.getF64FloatAttr(1));
  return linear ? node.binary<MulOp>(gate, linear) : gate;
}

/// Up to the input of the second product.
Value ExpertMixture::applyFirst(Value x) {
  Value gate = product(first, x), linear = third.weights ? product(third, x) : Value();
  if (node.failed() || activation != "swiglu" || fusion == 0)
    return activate(gate, linear);
  DimExprs dims = node.dims(gate);
  AffineExpr half = nn::simplifyDim(dims[2].floorDiv(2));
  if (!node.unify(dims[2], half * 2, "the first product has an odd number of rows"))
    return gate;
  bool isInterleaved = fusion == 1;
  linear = isInterleaved ? node.slice(gate, 2, node.number(1), half, 2) : node.slice(gate, 2, half, half);
  gate = isInterleaved ? node.slice(gate, 2, node.number(0), half, 2) : node.slice(gate, 2, node.number(0), half);
  return activate(gate, linear);
}

/// The sum [tokens, width] of what experts computed, by their shares.
Value ExpertMixture::weigh(Value results) {
  if (node.failed())
    return results;
  AffineExpr one = node.number(1);
  if (isSparse) {
    Value each = node.reshape(results, {tokens, node.number(chosen), width});
    return node.reduce(ReduceKind::Sum, node.binary<MulOp>(each, node.reshape(shares, {tokens, node.number(chosen), one})), {1}, /*keep=*/false);
  }
  Value none = node.splat({tokens, experts}, wide, 0);
  Value all = node.make<ScatterElementsOp>(none.getType(), none, places, shares, 1, ScatterReduction::None);
  Value ofExperts = node.reshape(node.transpose(all, {1, 0}), {experts, tokens, one});
  // What was not chosen must not count even where it is infinite.
  Value scaled = node.binary<MulOp>(results, ofExperts), isNone = node.compare<EqualOp>(ofExperts, node.splatLike(ofExperts, 0));
  node.broadcast({&isNone, &scaled}, /*mixed=*/true);
  Value counted = node.failed() ? scaled : node.make<SelectOp>(scaled.getType(), isNone, node.splatLike(scaled, 0), scaled);
  return node.reduce(ReduceKind::Sum, counted, {0}, /*keep=*/false);
}

LogicalResult ExpertMixture::run() {
  Value x = node.input(0), logits = node.input(1);
  if (failed(readAttributes()) || failed(readLayers()))
    return failure();
  DimExprs shape = node.dims(x);
  element = node.elementType(x), wide = node.wideType(x);
  width = shape.back(), experts = node.dims(first.weights)[0];
  tokens = nn::getNumElements(ArrayRef(shape).drop_back(1), node.context());
  for (Value weights : {second.weights, third.weights})
    if (weights && !node.unify(node.dims(weights)[0], experts, "the products have different numbers of experts"))
      return failure();
  if (failed(route(logits)))
    return failure();
  auto count = nn::getConstantDim(tokens), all = nn::getConstantDim(experts);
  isSparse = count && all && *count * chosen < *all;
  Value rows = node.reshape(node.cast(x, wide), {tokens, width});
  if (isSparse)
    rows = node.reshape(node.broadcastTo(node.reshape(rows, {tokens, node.number(1), width}), {tokens, node.number(chosen), width}),
                        {nn::simplifyDim(tokens * chosen), node.number(1), width});
  else
    rows = node.broadcastTo(node.reshape(rows, {node.number(1), tokens, width}), {experts, tokens, width});
  Value result = weigh(product(second, applyFirst(rows)));
  return node.failed() ? failure() : node.result(node.cast(node.reshape(result, shape), element));
}

static LogicalResult moe(Node &node) { return ExpertMixture(node, /*isQuantized=*/false).run(); }
static LogicalResult qMoe(Node &node) { return ExpertMixture(node, /*isQuantized=*/true).run(); }

ArrayRef<Operator> getContribExpertOperators() {
  static const Operator rows[] = {
      {"MoE", 1, Elements::Float, moe, INT64_MAX, "com.microsoft"},
      {"QMoE", 1, Elements::Float, qMoe, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
