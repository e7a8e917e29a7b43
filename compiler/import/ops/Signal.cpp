//===- Signal.cpp - Windows and discrete Fourier transforms ------------------===//
//
// Transforms are nn.fourier, along the last but one dimension; frames of a signal are gathered at places that the kernel computes.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/TensorData.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Fourier.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNDataMovementOps.h"

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
  int64_t length, in, out;
  bool isInverse, toReal;
};
} // namespace

/// Transforms [..., n, parts] along its last but one dimension.
static Value transformRows(Node &node, Value x, const Transform &transform) {
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
  auto have = nn::getConstantDim(node.dims(x)[at]);
  if (!have)
    return node.unsupported("the transformed dimension is symbolic", "make it static with --dim");
  bool toReal = inverse && onesided;
  std::optional<int64_t> length = node.hasInput(1) ? constantNumber(node, 1, "dft_length") : toReal ? 2 * (*have - 1) : *have;
  if (!length)
    return failure();
  int64_t half = *length / 2 + 1;
  Transform transform{*length, std::min(*have, toReal ? half : *length), onesided && !inverse ? half : *length, inverse, toReal};
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
  auto have = nn::getConstantDim(dims[dims.size() - 2]);
  if (!have)
    return node.unsupported("the transformed dimension is symbolic", "make it static with --dim");
  int64_t length = isInverse ? 2 * (*have - 1) : *have;
  Value result = transformRows(node, node.reshape(x, dims), Transform{length, *have, isInverse ? length : length / 2 + 1, isInverse, isInverse});
  if (node.failed() || !isInverse)
    return node.failed() ? failure() : node.result(result);
  dims.pop_back();
  dims.back() = node.number(length);
  return node.result(node.reshape(result, dims));
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
  std::optional<int64_t> length;
  if (node.hasInput(3))
    length = constantNumber(node, 3, "frame_length");
  else if (window && node.expectRank(window, 1, "the window"))
    length = nn::getConstantDim(node.dims(window)[0]);
  DimExprs dims = node.dims(signal);
  auto samples = nn::getConstantDim(dims[1]);
  if (!length || !samples)
    return node.unsupported("the frame length or the signal's length is not known", "make it a constant, or static with --dim");
  if (*step < 1 || *length < 1 || *length > *samples || (onesided && *complex))
    return node.error("frames of " + Twine(*length) + " with step " + Twine(*step) + " do not fit a signal of " + Twine(*samples));
  int64_t frames = (*samples - *length) / *step + 1;
  SmallVector<int64_t> places;
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t i = 0; i < *length; ++i)
      places.push_back(frame * *step + i);
  DimExprs framed = {dims[0], node.number(frames), node.number(*length), dims[2]}, flat = {dims[0], node.number(frames * *length), dims[2]};
  Value x = node.make<GatherOp>(node.type(flat, node.elementType(signal)), signal, node.constantInts(places), 1);
  x = node.reshape(x, framed);
  if (window)
    x = node.binary<MulOp>(x, node.reshape(window, {node.number(*length), node.number(1)}));
  return node.result(transformRows(node, x, {*length, *length, onesided ? *length / 2 + 1 : *length, false, false}));
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
