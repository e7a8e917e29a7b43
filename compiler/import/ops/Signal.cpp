//===- Signal.cpp - Windows and discrete Fourier transforms ------------------===//
//
// Transforms are nn.fourier, along the last but one dimension; frames of a signal are gathered at places that the kernel computes.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Fourier.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNElementwiseOps.h"

#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static constexpr int64_t largestMatrix = 1 << 24, longestTransform = 1 << 24;

static Value numbers(Node &node, ArrayRef<int64_t> shape, Type element, ArrayRef<double> values) {
  auto wide = RankedTensorType::get(shape, node.builder().getF64Type());
  return node.cast(node.constant(nn::makeConstantOf<double>(wide, values)), element);
}

/// The only number of a constant integer input.
static std::optional<int64_t> constantNumber(Node &node, unsigned input, StringRef what) {
  auto values = node.constantIntegers(input, what);
  if (values && values->size() != 1)
    (void)node.error(what + " has " + Twine(values->size()) + " elements, expected one");
  return node.failed() || !values ? std::nullopt : std::optional(values->front());
}

//===- Windows -------------------------------------------------------------===//

/// a - b * cos(2 pi i / n) + c * cos(4 pi i / n), where n is the size, or one less for a symmetric window.
template <int which> static LogicalResult window(Node &node) {
  static constexpr double factors[][3] = {{0.5, 0.5, 0}, {25.0 / 46, 21.0 / 46, 0}, {0.42, 0.5, 0.08}};
  auto size = constantNumber(node, 0, "the size");
  bool isPeriodic = node.getFlag("periodic", true);
  Type element = getElementType(static_cast<int>(std::clamp<int64_t>(node.getInt("output_datatype", 1), 0, 1000)), node.context());
  if (!size)
    return failure();
  if (!element || *size < 0 || *size > largestMatrix)
    return node.error("attribute 'output_datatype' names no supported type, or the size is negative or too large");
  SmallVector<double> values;
  double turn = 2 * llvm::numbers::pi / static_cast<double>(std::max<int64_t>(isPeriodic ? *size : *size - 1, 1));
  for (int64_t i = 0; i < *size; ++i) {
    double angle = turn * static_cast<double>(i);
    values.push_back(factors[which][0] - factors[which][1] * std::cos(angle) + factors[which][2] * std::cos(2 * angle));
  }
  return node.result(numbers(node, {*size}, element, values));
}

//===- Fourier transforms --------------------------------------------------===//

namespace {
/// One transform of `length` points: of `in` given values to `out` values.
struct Transform {
  AffineExpr length, in, out;
  bool isInverse, toReal;

  /// Whether all sizes are numbers.
  bool isStatic() const {
    return llvm::all_of(ArrayRef{length, in, out}, [](AffineExpr size) { return nn::getConstantDim(size).has_value(); });
  }
};
/// A transform whose sizes are numbers.
struct StaticTransform {
  int64_t length, in, out;
  bool isInverse, toReal;
};
} // namespace

/// The cosines and sines of the angles 2 pi j k / length for each given value j and each result k, [in, out]. A product of places modulo the length is exact.
static std::pair<Value, Value> makeTurns(Node &node, const Transform &transform, Type element) {
  Type i64 = node.builder().getI64Type(), f64 = node.builder().getF64Type();
  DimExprs all = {transform.in, transform.out};
  Value length = sizeOf(node, transform.length, i64);
  Value turn = node.binary<ModOp>(node.binary<MulOp>(node.iota(all, 0, i64), node.iota(all, 1, i64)), length);
  Value angle = node.binary<MulOp>(node.binary<DivOp>(node.cast(turn, f64), node.cast(length, f64)), 2 * llvm::numbers::pi);
  return {node.cast(node.unary<CosOp>(angle), element), node.cast(node.unary<SinOp>(angle), element)};
}

/// How often each value of half a spectrum is in the whole one: twice, but for the first and the one in the middle.
static Value countMirrored(Node &node, const Transform &transform, Type element) {
  Type i64 = node.builder().getI64Type();
  Value place = node.iota({transform.in}, 0, i64), length = sizeOf(node, transform.length, i64);
  Value isSingle = node.binary<OrOp>(node.compare<EqualOp>(place, node.splatLike(place, 0)),
                                     node.compare<EqualOp>(node.binary<MulOp>(place, 2.0), node.broadcastTo(length, {transform.in})));
  return node.failed() ? place : node.cast(node.make<SelectOp>(place.getType(), isSingle, node.splatLike(place, 1), node.splatLike(place, 2)), element);
}

/// Transforms [..., n, parts] of a length that only run time knows, as products with the matrix of the transform.
static Value transformByMatrix(Node &node, Value x, const Transform &transform, Type element) {
  int64_t last = node.rank(x) - 1;
  DimExprs rows = node.dims(x);
  bool isComplex = nn::getConstantDim(rows.back()) == 2;
  rows.pop_back();
  auto part = [&](int64_t which) { return node.reshape(node.slice(x, last, node.number(which), node.number(1)), rows); };
  auto [cosines, sines] = makeTurns(node, transform, element);
  Value real = part(0), imaginary = isComplex ? part(1) : Value();
  if (transform.toReal) {
    Value often = countMirrored(node, transform, element);
    real = node.binary<MulOp>(real, often);
    imaginary = imaginary ? node.binary<MulOp>(imaginary, often) : imaginary;
  }
  auto times = [&](Value values, Value matrix) { return node.matmul(values, matrix); };
  if (transform.isInverse)
    sines = node.unary<NegOp>(sines);
  SmallVector<Value> parts = {times(real, cosines)};
  if (!transform.toReal)
    parts.push_back(node.unary<NegOp>(times(real, sines)));
  if (imaginary)
    parts[0] = node.binary<AddOp>(parts[0], times(imaginary, sines));
  if (imaginary && !transform.toReal)
    parts[1] = node.binary<AddOp>(parts[1], times(imaginary, cosines));
  rows.back() = transform.out;
  rows.push_back(node.number(1));
  for (Value &result : parts) {
    if (transform.isInverse)
      result = node.binary<DivOp>(result, sizeOf(node, transform.length, element));
    result = node.reshape(result, rows);
  }
  return parts.size() == 1 ? parts.front() : node.concat(parts, last);
}

static Value transformStatic(Node &node, Value x, const StaticTransform &transform);

/// Transforms [..., n, parts] along its last but one dimension.
static Value transformRows(Node &node, Value x, const Transform &transform) {
  if (transform.isStatic()) {
    auto number = [](AffineExpr size) { return *nn::getConstantDim(size); };
    return transformStatic(node, x, {number(transform.length), number(transform.in), number(transform.out), transform.isInverse, transform.toReal});
  }
  Type element = node.elementType(x), wide = node.builder().getF64Type(), computed = element == wide ? wide : node.builder().getF32Type();
  node.requireNotNegative(transform.length - 1, "a transform has no points: too few");
  x = node.cast(node.slice(x, node.rank(x) - 2, node.number(0), transform.in), computed);
  return node.failed() ? x : node.cast(transformByMatrix(node, x, transform, computed), element);
}

static Value transformStatic(Node &node, Value x, const StaticTransform &transform) {
  if (transform.length < 1 || transform.in < 1 || transform.out < 1 || transform.length > longestTransform) {
    (void)node.unsupported("a transform of no points, or of more than " + Twine(longestTransform), "");
    return x;
  }
  Type element = node.elementType(x), wide = node.builder().getF64Type(), computed = element == wide ? wide : node.builder().getF32Type();
  x = node.cast(node.slice(x, node.rank(x) - 2, node.number(0), node.number(transform.in)), computed);
  DimExprs to = node.dims(x);
  auto plan = FourierPlan::of(transform.length, nn::getConstantDim(to.back()) == 1, transform.isInverse, transform.toReal);
  Value table = numbers(node, {plan.tableSize()}, computed, plan.table());
  to[to.size() - 2] = node.number(transform.out);
  to.back() = node.number(transform.toReal ? 1 : 2);
  RankedTensorType type = node.type(to, computed);
  if (node.failed())
    return x;
  return node.cast(node.make<FourierOp>(type, x, table, static_cast<uint64_t>(transform.length), transform.isInverse), element);
}

/// Whether the last dimension says real (1) or complex (2).
static std::optional<bool> isComplex(Node &node, Value x) {
  auto parts = node.rank(x) < 2 ? std::nullopt : nn::getConstantDim(node.dims(x).back());
  if (parts == 1 || parts == 2)
    return parts == 2;
  (void)node.error("expected an input of rank 2 or more whose last dimension is 1 (real) or 2 (complex)");
  return std::nullopt;
}

static LogicalResult dft(Node &node) {
  Value x = node.input(0);
  bool inverse = node.getFlag("inverse"), onesided = node.getFlag("onesided");
  auto complex = isComplex(node, x);
  std::optional<int64_t> axis = node.opset < 20 ? node.getInt("axis", 1) : node.hasInput(2) ? constantNumber(node, 2, "the axis") : -2;
  if (!complex || !axis)
    return failure();
  int64_t rank = node.rank(x), at = node.axis(*axis, rank);
  if (node.failed() || at == rank - 1)
    return node.error("the axis is that of the real and imaginary parts");
  AffineExpr have = node.dims(x)[at];
  bool toReal = inverse && onesided;
  auto given = node.hasInput(1) ? node.knownIntegers(1, "dft_length") : std::optional(DimExprs{nn::simplifyDim(toReal ? (have - 1) * 2 : have)});
  if (!given || given->size() != 1)
    return node.error("dft_length is not one number");
  AffineExpr length = given->front(), half = nn::simplifyDim(length.floorDiv(2) + 1);
  Transform transform{length, node.facts().getSmaller(have, toReal ? half : length), onesided && !inverse ? half : length, inverse, toReal};
  SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(swapped[at], swapped[rank - 2]);
  return node.result(node.transpose(transformRows(node, node.transpose(x, swapped), transform), swapped));
}

/// com.microsoft's transforms of the last dimension: of real numbers to half of the complex ones, and back.
template <bool isInverse> static LogicalResult realFourier(Node &node) {
  Value x = node.input(0);
  if (node.getInt("signal_ndim", 1) != 1 || node.getFlag("normalized") || !node.getFlag("onesided", true))
    return node.unsupported("a transform of several dimensions, normalized or of both sides", "use DFT of ONNX");
  DimExprs dims = node.dims(x);
  if (node.failed() || dims.size() < (isInverse ? 2 : 1) || (isInverse && nn::getConstantDim(dims.back()) != 2))
    return node.error(isInverse ? "expected an input whose last dimension is 2, the real and imaginary parts" : "the input has rank 0, so it has no signal");
  if (!isInverse)
    dims.push_back(node.number(1));
  AffineExpr have = dims[dims.size() - 2], length = nn::simplifyDim(isInverse ? (have - 1) * 2 : have);
  AffineExpr out = isInverse ? length : nn::simplifyDim(length.floorDiv(2) + 1);
  Value result = transformRows(node, node.reshape(x, dims), Transform{length, have, out, isInverse, isInverse});
  if (node.failed() || !isInverse)
    return node.failed() ? failure() : node.result(result);
  dims.pop_back();
  dims.back() = length;
  return node.result(node.reshape(result, dims));
}

/// The places of the frames' values in the signal, [frames, length].
static Value placeFrames(Node &node, AffineExpr frames, AffineExpr length, int64_t step) {
  auto count = nn::getConstantDim(frames), points = nn::getConstantDim(length);
  AffineExpr one = node.number(1);
  Type i64 = node.builder().getI64Type();
  if (!count || !points) {
    Value first = node.binary<MulOp>(node.iota({frames, one}, 0, i64), static_cast<double>(step));
    return node.binary<AddOp>(first, node.iota({one, length}, 1, i64));
  }
  SmallVector<int64_t> places;
  for (int64_t frame = 0; frame < *count; ++frame)
    for (int64_t i = 0; i < *points; ++i)
      places.push_back(frame * step + i);
  return node.reshape(node.constantInts(places), {frames, length});
}

/// Overlapping frames, each times the window and transformed.
static LogicalResult stft(Node &node) {
  Value signal = node.input(0), window = node.optionalInput(2);
  bool onesided = node.getFlag("onesided", true);
  auto step = constantNumber(node, 1, "frame_step");
  // A signal without a dimension of parts is real (ONNX Runtime).
  if (!node.failed() && node.rank(signal) == 2)
    signal = node.reshape(signal, {node.dims(signal)[0], node.dims(signal)[1], node.number(1)});
  auto complex = isComplex(node, signal);
  if (!step || !complex || !node.expectRank(signal, 3, "the signal"))
    return failure();
  DimExprs dims = node.dims(signal);
  AffineExpr length, samples = dims[1];
  if (node.hasInput(3)) {
    auto given = node.knownIntegers(3, "frame_length");
    length = given && given->size() == 1 ? given->front() : AffineExpr();
  } else if (window && node.expectRank(window, 1, "the window")) {
    length = node.dims(window)[0];
  }
  if (!length)
    return node.unsupported("the frame length is not known", "make it a constant");
  auto points = nn::getConstantDim(length), all = nn::getConstantDim(samples);
  if (*step < 1 || (points && *points < 1) || (points && all && *points > *all) || (onesided && *complex))
    return node.error("frames of " + nn::formatDim(length) + " with step " + Twine(*step) + " do not fit a signal of " + nn::formatDim(samples));
  if (!points || !all)
    node.requireNotNegative(samples - length, "a frame is longer than the signal");
  AffineExpr frames = nn::simplifyDim((samples - length).floorDiv(*step) + 1), one = node.number(1);
  Value places = placeFrames(node, frames, length, *step);
  DimExprs framed = {dims[0], frames, length, dims[2]};
  RankedTensorType type = node.type(framed, node.elementType(signal));
  if (node.failed())
    return failure();
  Value x = node.make<GatherOp>(type, signal, places, 1);
  if (window)
    x = node.binary<MulOp>(x, node.reshape(window, {length, one}));
  return node.result(transformRows(node, x, {length, length, onesided ? nn::simplifyDim(length.floorDiv(2) + 1) : length, false, false}));
}

/// Triangles over the bins of a spectrum, evenly spaced on the mel scale.
static LogicalResult melWeightMatrix(Node &node) {
  auto bands = constantNumber(node, 0, "num_mel_bins"), length = constantNumber(node, 1, "dft_length"), rate = constantNumber(node, 2, "sample_rate");
  auto low = node.constantNumbers(3, "lower_edge_hertz"), high = node.constantNumbers(4, "upper_edge_hertz");
  Type element = getElementType(static_cast<int>(std::clamp<int64_t>(node.getInt("output_datatype", 1), 0, 1000)), node.context());
  if (!bands || !length || !rate || !low || !high)
    return failure();
  int64_t bins = *length / 2 + 1;
  if (!element || *bands < 1 || *length < 0 || *rate < 1 || *bands > largestMatrix / bins || low->size() != 1 || high->size() != 1)
    return node.error("expected positive numbers of bands, points and samples, and one frequency for each edge");
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  SmallVector<int64_t> edges;
  double first = mel(low->front()), stride = (mel(high->front()) - first) / static_cast<double>(*bands + 2);
  for (int64_t i = 0; i < *bands + 2; ++i) {
    double hertz = 700 * (std::pow(10, (first + static_cast<double>(i) * stride) / 2595) - 1);
    edges.push_back(static_cast<int64_t>(std::floor(static_cast<double>(*length + 1) * hertz / static_cast<double>(*rate))));
  }
  SmallVector<double> matrix(bins * *bands, 0.0);
  for (int64_t band = 0; band < *bands; ++band) {
    int64_t from = edges[band], peak = edges[band + 1], to = edges[band + 2];
    for (int64_t bin = std::max<int64_t>(from, 0); bin < std::min(to, bins); ++bin)
      matrix[bin * *bands + band] =
          bin < peak ? static_cast<double>(bin - from) / static_cast<double>(peak - from) : static_cast<double>(to - bin) / static_cast<double>(to - peak);
    if (peak >= 0 && peak < bins)
      matrix[peak * *bands + band] = 1;
  }
  return node.result(numbers(node, {bins, *bands}, element, matrix));
}

ArrayRef<Operator> getSignalOperators() {
  static const Operator rows[] = {
      {"BlackmanWindow", 17, Elements::Integer, window<2>},
      {"DFT", 17, Elements::Float, dft},
      {"HammingWindow", 17, Elements::Integer, window<1>},
      {"HannWindow", 17, Elements::Integer, window<0>},
      {"Irfft", 1, Elements::Float, realFourier<true>, INT64_MAX, "com.microsoft"},
      {"MelWeightMatrix", 17, Elements::Integer, melWeightMatrix},
      {"Rfft", 1, Elements::Float, realFourier<false>, INT64_MAX, "com.microsoft"},
      {"STFT", 17, Elements::Float, stft},
  };
  return rows;
}

} // namespace kiln::import
