//===- Random.cpp - Random numbers -------------------------------------------===//
//
// All are made of nn.random: the Mersenne Twister that NumPy's RandomState(seed) is, and so the numbers of ONNX's reference implementation. Where a node has
// no seed, one is made of the name of its result.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/TensorData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNRuntimeOps.h"

#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Seeds are whole numbers; of real ones the fraction is dropped, and the low 32 bits count.
static int64_t readSeed(Node &node) {
  constexpr uint64_t range = uint64_t(1) << 32;
  if (!node.hasAttribute("seed"))
    return static_cast<int64_t>(llvm::xxh3_64bits(node.outputName(0)) % range);
  double seed = node.opType() == "Dropout" ? static_cast<double>(node.getInt("seed", 0)) : std::trunc(node.getFloat("seed", 0));
  if (!(std::fabs(seed) < 0x1p62)) {
    (void)node.error("attribute 'seed' is not a number, or too large");
    return 0;
  }
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(seed)) % range);
}

/// Narrow floats are rounded from doubles.
static Value makeRandom(Node &node, Distribution kind, ArrayRef<AffineExpr> dims, Type element, double first, double second) {
  OpBuilder &b = node.builder();
  int64_t seed = readSeed(node);
  RankedTensorType type = node.type(dims, element.isF32() ? element : Type(b.getF64Type()));
  if (node.failed())
    return node.constantInts({0});
  Value numbers = node.make<RandomOp>(type, kind, static_cast<uint64_t>(seed), llvm::APFloat(first), llvm::APFloat(second));
  return node.cast(numbers, element);
}

/// The type of attribute 'dtype', which must be a float; `fallback` without one.
static Type floatType(Node &node, Type fallback) {
  auto dtype = node.findInt("dtype");
  Type element = dtype ? getElementType(static_cast<int>(std::clamp<int64_t>(*dtype, 0, 1000)), node.context()) : fallback;
  if (isa_and_nonnull<FloatType>(element))
    return element;
  (void)node.error("attribute 'dtype' names no type of floating-point numbers");
  return node.builder().getF32Type();
}

template <Distribution kind> static LogicalResult random(Node &node, ArrayRef<AffineExpr> dims, Type element) {
  bool isUniform = kind == Distribution::Uniform;
  double first = node.getFloat(isUniform ? "low" : "mean", 0), second = node.getFloat(isUniform ? "high" : "scale", 1);
  return node.result(makeRandom(node, kind, dims, element, first, second));
}

template <Distribution kind> static LogicalResult randomOfShape(Node &node) {
  auto shape = node.findInts("shape");
  if (!shape)
    return node.error("attribute 'shape' is missing");
  DimExprs dims;
  for (int64_t size : *shape)
    dims.push_back(node.number(size));
  return random<kind>(node, dims, floatType(node, node.builder().getF32Type()));
}

template <Distribution kind> static LogicalResult randomLike(Node &node) {
  Value like = node.input(0);
  return random<kind>(node, node.dims(like), floatType(node, node.elementType(like)));
}

/// Ones with the probability that the input gives: one draw an element, as numpy.random.binomial(1, p) uses it.
static LogicalResult bernoulli(Node &node) {
  Value p = node.input(0);
  auto dtype = node.findInt("dtype");
  Type element = dtype ? getElementType(static_cast<int>(std::clamp<int64_t>(*dtype, 0, 1000)), node.context()) : node.elementType(p);
  if (!element)
    return node.error("attribute 'dtype' names no supported type");
  Type f64 = node.builder().getF64Type();
  Value draw = makeRandom(node, Distribution::Uniform, node.dims(p), f64, 0, 1);
  if (node.failed())
    return failure();
  p = node.cast(p, f64);
  Value rare = node.compare<GreaterOp>(draw, node.binary<SubOp>(node.splatLike(p, 1), p)), often = node.compare<LessEqualOp>(draw, p);
  Value isRare = node.compare<LessEqualOp>(p, node.splatLike(p, 0.5));
  return node.result(node.cast(node.make<SelectOp>(rare.getType(), isRare, rare, often), element));
}

/// Classes by their unnormalized logarithmic probabilities: how many cumulative sums a draw is not below.
static LogicalResult multinomial(Node &node) {
  Value x = node.input(0);
  int64_t samples = node.getInt("sample_size", 1), dtype = node.getInt("dtype", 6);
  Type f64 = node.builder().getF64Type(), i64 = node.builder().getI64Type();
  if (!node.expectRank(x, 2, "the input") || samples < 0 || (dtype != 6 && dtype != 7))
    return node.error("expected a sample_size that is not negative, and the dtype int32 or int64");
  DimExprs dims = node.dims(x);
  AffineExpr count = node.number(samples), one = node.number(1);
  Value draw = makeRandom(node, Distribution::Uniform, {dims[0], count}, f64, 0, 1);
  if (node.failed())
    return failure();
  x = node.cast(x, f64);
  Value weights = node.unary<ExpOp>(node.binary<SubOp>(x, node.reduce(ReduceKind::Max, x, {1}, /*keep=*/true)));
  Value sums = node.make<CumulativeOp>(weights.getType(), ReduceKind::Sum, weights, 1, false, false);
  Value total = node.reduce(ReduceKind::Sum, weights, {1}, /*keep=*/true);
  Value target = node.reshape(node.binary<MulOp>(draw, total), {dims[0], count, one});
  Value passed = node.cast(node.compare<LessEqualOp>(node.reshape(sums, {dims[0], one, dims[1]}), target), i64);
  Value chosen = node.reduce(ReduceKind::Sum, passed, {2}, /*keep=*/false);
  Contents last = {{nn::simplifyDim(dims[1] - 1)}};
  if (node.failed())
    return failure();
  Value limit = materialize(node.builder(), node.loc, RankedTensorType::get({}, i64), last);
  chosen = node.binary<MinimumOp>(chosen, limit);
  return node.result(node.cast(chosen, dtype == 6 ? Type(node.builder().getI32Type()) : i64));
}

//===- Dropout -------------------------------------------------------------===//

/// What is kept, scaled so that the mean stays; the mask says what.
static LogicalResult dropoutInTraining(Node &node, Value training) {
  Value x = node.input(0);
  Type element = node.elementType(x), f64 = node.builder().getF64Type();
  Value ratio = node.hasInput(1) ? node.reshape(node.input(1), {}) : node.splat({}, node.builder().getF32Type(), 0.5);
  Value draw = makeRandom(node, Distribution::Uniform, node.dims(x), f64, 0, 1);
  if (node.failed())
    return failure();
  Value kept = node.compare<GreaterEqualOp>(draw, node.cast(ratio, f64));
  Value share = node.cast(ratio, element);
  Value scaled = node.binary<DivOp>(x, node.binary<SubOp>(node.splatLike(share, 1), share));
  Value result = node.failed() ? x : node.make<SelectOp>(x.getType(), kept, scaled, node.splatLike(x, 0));
  if (training && !node.failed()) {
    Value trains = node.broadcastTo(node.reshape(training, {}), node.dims(x));
    result = node.make<SelectOp>(x.getType(), trains, result, x);
    kept = node.make<SelectOp>(kept.getType(), trains, kept, node.splatLike(kept, 1));
  }
  if (node.hasOutput(1))
    (void)node.result(1, kept);
  return node.result(result);
}

/// The identity, except in training mode. The mask, if it is used, keeps everything.
static LogicalResult dropout(Node &node) {
  for (StringRef name : {"ratio", "seed", "is_test"})
    node.ignore(name);
  Value x = node.input(0);
  if (auto ratio = node.opset >= 12 && node.hasInput(1) ? getContents(node.input(1)) : std::nullopt) {
    if (ratio->size() != 1)
      return node.error("ratio has " + Twine(ratio->size()) + " elements, expected one");
    if (double part = ratio->front().real; !ratio->front().expr && !(part >= 0 && part < 1))
      return node.error("ratio is " + Twine(std::to_string(part)) + ", expected 0 or more, and less than 1");
  }
  if (Value training = node.opset >= 12 ? node.optionalInput(2) : Value()) {
    auto known = getIntegerContents(training);
    auto ratio = node.hasInput(1) ? getContents(node.input(1)) : std::nullopt;
    bool dropsNothing = ratio && ratio->size() == 1 && !ratio->front().expr && ratio->front().real == 0;
    if (known && known->size() != 1)
      return node.error("training_mode has " + Twine(known->size()) + " elements, expected one");
    if (!dropsNothing && (!known || nn::getConstantDim(known->front()) != 0))
      return dropoutInTraining(node, known ? Value() : training);
  }
  if (node.hasOutput(1))
    (void)node.result(1, node.splat(node.dims(x), node.opset < 10 ? node.elementType(x) : node.builder().getI1Type(), 1));
  return node.result(x);
}

ArrayRef<Operator> getRandomOperators() {
  static const Operator rows[] = {
      {"Bernoulli", 15, Elements::Float, bernoulli},
      {"Dropout", 1, Elements::Float, dropout},
      {"Multinomial", 7, Elements::Float, multinomial},
      {"RandomNormal", 1, Elements::Any, randomOfShape<Distribution::Normal>},
      {"RandomNormalLike", 1, Elements::Any, randomLike<Distribution::Normal>},
      {"RandomUniform", 1, Elements::Any, randomOfShape<Distribution::Uniform>},
      {"RandomUniformLike", 1, Elements::Any, randomLike<Distribution::Uniform>},
  };
  return rows;
}

} // namespace kiln::import
