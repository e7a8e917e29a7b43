//===- Pooling.cpp - Pools over windows and over everything ------------------===//
#include "compiler/import/ops/Pooling.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Sampling.h"
#include "compiler/import/ops/Window.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// What no element of a window is below.
static double lowestNumber(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return !integer ? -HUGE_VAL : integer.isUnsigned() ? 0 : -std::ldexp(1.0, static_cast<int>(integer.getWidth()) - 1);
}

/// The window and the result's type; nullopt after an error. With `fill` the input may get a border that only run time knows.
static std::optional<std::pair<Window, RankedTensorType>> readPool(Node &node, Value &x, std::optional<double> fill = std::nullopt) {
  auto window = readWindow(node, x, std::nullopt, /*pads=*/fill.has_value());
  if (!window)
    return std::nullopt;
  window->isCeil = node.getFlag("ceil_mode");
  DimExprs in = node.dims(x), out{in[0], in[1]};
  if (fill)
    x = padInput(node, x, *window, in, *fill);
  out.append(window->outputDims(node, in));
  RankedTensorType type = node.type(out, node.elementType(x));
  return node.failed() ? std::nullopt : std::optional(std::pair(*window, type));
}

namespace {
/// For each place of a pool's result and each element of its window: where that is in a channel of the input. One outside is the first that is
/// inside, so that it is never larger: the lowest number of a type may stand in the input, too.
struct WindowPlaces {
  SmallVector<int64_t> rowMajor, columnMajor;
  int64_t places = 1, elements = 1, input = 1;
};
} // namespace

static WindowPlaces windowPlaces(const Window &w, ArrayRef<int64_t> in, ArrayRef<int64_t> out) {
  WindowPlaces result;
  int64_t rank = w.rank();
  for (int64_t d = 0; d < rank; ++d) {
    result.places *= out[d];
    result.elements *= w.kernel[d];
    result.input *= in[d];
  }
  SmallVector<char> isInside;
  for (int64_t place = 0; place < result.places; ++place)
    for (int64_t element = 0; element < result.elements; ++element) {
      int64_t row = 0, column = 0, restPlace = place, restElement = element, rowStep = 1, columnStep = result.input;
      bool inside = true;
      for (int64_t d = rank - 1; d >= 0; --d) {
        int64_t at = restPlace % out[d] * w.strides[d] + restElement % w.kernel[d] * w.dilations[d] - w.begin(d);
        inside &= at >= 0 && at < in[d];
        restPlace /= out[d];
        restElement /= w.kernel[d];
        columnStep /= in[d];
        row += at * rowStep;
        column += at * columnStep;
        rowStep *= in[d];
      }
      result.rowMajor.push_back(inside ? row : 0);
      result.columnMajor.push_back(inside ? column : 0);
      isInside.push_back(inside);
    }
  for (size_t start = 0; start < isInside.size(); start += result.elements) {
    auto window = ArrayRef(isInside).slice(start, result.elements);
    size_t first = start + (llvm::find(window, true) - window.begin()) % result.elements;
    for (size_t i = start; i < start + result.elements; ++i)
      if (!isInside[i]) {
        result.rowMajor[i] = result.rowMajor[first];
        result.columnMajor[i] = result.columnMajor[first];
      }
  }
  return result;
}

/// Where the largest element of each window is in the whole input: the windows are gathered, and the first largest one wins.
static Value maxPoolIndices(Node &node, Value x, const Window &w, Type resultType, bool columnMajor) {
  DimExprs in = node.dims(x), out = nn::getDims(resultType);
  SmallVector<int64_t> inSizes, outSizes;
  for (size_t d = 2; d < in.size(); ++d) {
    auto size = nn::getConstantDim(in[d]), places = nn::getConstantDim(out[d]);
    if (!size || !places) {
      (void)node.unsupported("the second result, Indices, of symbolic spatial dimensions", "make them static with --dim");
      return {};
    }
    inSizes.push_back(*size);
    outSizes.push_back(*places);
  }
  // The table of places is a constant: at most 128 MiB.
  constexpr int64_t mostPlaces = 1 << 24;
  int64_t entries = 1;
  for (int64_t size : llvm::concat<const int64_t>(outSizes, w.kernel))
    if (llvm::MulOverflow(entries, size, entries) || entries > mostPlaces) {
      (void)node.unsupported("the second result, Indices, of windows with more than " + Twine(mostPlaces) + " elements in all", "use the first result only");
      return {};
    }
  WindowPlaces table = windowPlaces(w, inSizes, outSizes);
  OpBuilder &b = node.builder();
  SmallVector<int64_t> shape = {table.places, table.elements};
  auto places = [&](ArrayRef<int64_t> values) { return node.constant(nn::makeConstantOf<int64_t>(RankedTensorType::get(shape, b.getI64Type()), values)); };
  AffineExpr planes = nn::simplifyDim(in[0] * in[1]), count = node.number(table.places), size = node.number(table.input);
  DimExprs windows = {planes, count, node.number(table.elements)};
  Value flat = node.reshape(x, {planes, size});
  Value taken = node.make<GatherOp>(node.type(windows, node.elementType(x)), flat, places(table.rowMajor), 1);
  DimExprs one = {planes, count, node.number(1)};
  Value best = node.make<ArgReduceOp>(node.type(one, b.getI64Type()), ReduceKind::Max, taken, 2, false);
  Value order = node.broadcastTo(places(columnMajor ? table.columnMajor : table.rowMajor), windows);
  Value within = node.make<GatherElementsOp>(node.type(one, b.getI64Type()), order, best, 2);
  Value plane = node.iota(one, 0, b.getI64Type());
  Value index = node.binary<AddOp>(node.binary<MulOp>(plane, static_cast<double>(table.input)), within);
  return node.reshape(index, out);
}

Value buildMaxPool(Node &node, Value x) {
  auto pool = readPool(node, x, lowestNumber(node.elementType(x)));
  if (!pool)
    return {};
  const Window &w = pool->first;
  return node.make<MaxPoolOp>(pool->second, x, w.kernel, w.strides, w.dilations, w.pads, Layout::ChannelsFirst);
}

static LogicalResult maxPool(Node &node) {
  Value x = node.input(0);
  bool columnMajor = node.getFlag("storage_order");
  if (!node.hasOutput(1)) {
    Value pooled = buildMaxPool(node, x);
    return pooled ? node.result(pooled) : failure();
  }
  // Indices count in the input as it is.
  auto pool = readPool(node, x);
  if (!pool)
    return failure();
  const Window &w = pool->first;
  Value indices = maxPoolIndices(node, x, w, pool->second, columnMajor);
  if (!indices || node.failed())
    return failure();
  (void)node.result(1, indices);
  return node.result(node.make<MaxPoolOp>(pool->second, x, w.kernel, w.strides, w.dilations, w.pads, Layout::ChannelsFirst));
}

//===- MaxpoolWithMask -----------------------------------------------------===//

/// Where an element of x [batch, channels, spatial...] is hidden, as 0 or 1. ONNX Runtime's kernel finds a channel's mask in that of all channels by the
/// remainder of its place; masks for one channel are those of all. It never hides the first element of several spatial dimensions.
static Value findHidden(Node &node, Value x, Value mask) {
  DimExprs dims = node.dims(x), shape = node.dims(mask);
  Type i64 = node.builder().getI64Type(), i32 = node.builder().getI32Type();
  AffineExpr size = nn::getNumElements(ArrayRef(dims).drop_front(2), node.context()), channels = nn::simplifyDim(dims[0] * dims[1]), one = node.number(1);
  auto count = nn::getConstantDim(nn::simplifyDim(shape[0] * shape[1]));
  if (!count || *count < 1) {
    (void)node.unsupported("a mask of a symbolic number of channels, or of none", "make its first two dimensions static with --dim");
    return mask;
  }
  DimExprs rows = {channels, size};
  Value flat = node.reshape(mask, {nn::simplifyDim(*count * size)}), place = node.broadcastTo(node.iota({one, size}, 1, i64), rows);
  Value start = node.binary<MulOp>(node.iota({channels, one}, 0, i64), sizeOf(node, size, i64)), at = place;
  start = node.binary<SubOp>(start, node.binary<MulOp>(node.binary<DivOp>(start, static_cast<double>(*count)), static_cast<double>(*count)));
  if (*count > 1)
    at = node.binary<AddOp>(at, node.broadcastTo(start, rows));
  if (node.failed())
    return mask;
  Value picked = *count > 1 ? node.make<GatherOp>(node.type(rows, node.elementType(mask)), flat, at, 0) : node.broadcastTo(flat, rows);
  Value hidden = node.compare<EqualOp>(picked, node.splatLike(picked, 0));
  if (dims.size() > 3)
    hidden = node.binary<AndOp>(hidden, node.compare<GreaterOp>(place, node.splatLike(place, 0)));
  return node.reshape(node.cast(hidden, i32), dims);
}

/// The elements of each window along the last dimension, [..., windows, width], of the windows that stand on a border of `filler`.
static Value takeWindows(Node &node, Value x, const Window &w, AffineExpr windows, double filler) {
  if (node.failed())
    return x;
  DimExprs dims = node.dims(x);
  size_t last = w.rank() - 1;
  int64_t axis = static_cast<int64_t>(dims.size()) - 1;
  SmallVector<AffineExpr> low(dims.size(), node.number(0)), high = low;
  low.back() = node.number(w.begin(last)), high.back() = node.number(w.end(last));
  Value padded = node.pad(x, low, high, PadMode::Constant, node.splat({}, node.elementType(x), filler));
  AffineExpr one = node.number(1), width = node.number(w.kernel[last]);
  Type i64 = node.builder().getI64Type();
  Value first = node.binary<MulOp>(node.iota({windows, one}, 0, i64), static_cast<double>(w.strides[last]));
  Value at = node.binary<AddOp>(node.broadcastTo(first, {windows, width}), node.broadcastTo(node.iota({one, width}, 1, i64), {windows, width}));
  dims.back() = windows;
  dims.push_back(width);
  return node.failed() ? x : node.make<GatherOp>(node.type(dims, node.elementType(x)), padded, at, axis);
}

/// MaxPool that stops at a hidden element: what lies behind it in a row of the window does not count either. Numbers that are not above the lowest one of
/// their type do not count.
static LogicalResult maxPoolWithMask(Node &node) {
  Value x = node.input(0), mask = node.input(1);
  node.ignore("storage_order");
  auto pool = readPool(node, x);
  if (!pool || !node.expectRank(mask, node.rank(x), "the mask"))
    return failure();
  const Window &w = pool->first;
  DimExprs dims = node.dims(x), shape = node.dims(mask), out = nn::getDims(pool->second);
  for (size_t d = 2; d < dims.size(); ++d)
    if (!node.unify(dims[d], shape[d], "the mask does not fit the input: dimensions"))
      return failure();
  double lowest = -std::numeric_limits<float>::max();
  Value hidden = findHidden(node, x, mask);
  if (node.failed())
    return failure();
  x = node.make<SelectOp>(x.getType(), node.compare<GreaterOp>(x, node.splatLike(x, lowest)), x, node.splatLike(x, lowest));
  hidden = takeWindows(node, hidden, w, out.back(), 0);
  x = takeWindows(node, x, w, out.back(), lowest);
  if (node.failed())
    return failure();
  int64_t along = node.rank(x) - 1;
  Value before = node.make<CumulativeOp>(hidden.getType(), ReduceKind::Sum, hidden, along, /*exclusive=*/false, /*reverse=*/false);
  Value counted = node.make<SelectOp>(x.getType(), node.compare<EqualOp>(before, node.splatLike(before, 0)), x, node.splatLike(x, lowest));
  Value rows = node.reduce(ReduceKind::Max, counted, {along}, /*keep=*/false);
  if (w.rank() == 1 || node.failed())
    return node.failed() ? failure() : node.result(rows);
  // The other dimensions.
  size_t last = w.rank() - 1;
  SmallVector<int64_t> kernel(w.kernel), strides(w.strides), pads(w.pads), ones(w.rank(), 1);
  kernel[last] = strides[last] = 1;
  pads[last] = pads[2 * last + 1] = 0;
  return node.result(node.make<MaxPoolOp>(pool->second, rows, kernel, strides, ones, pads, Layout::ChannelsFirst));
}

//===- Other pools ---------------------------------------------------------===//

/// Elements back at the places that MaxPool's indices name, zeros elsewhere. Indices count in the result that the window gives; a larger
/// output_shape has zeros after it.
static LogicalResult maxUnpool(Node &node) {
  Value x = node.input(0), indices = node.input(1);
  auto window = readWindow(node, x, std::nullopt, /*pads=*/false, /*most=*/node.limits().rank);
  auto given = node.hasInput(2) ? node.knownIntegers(2, "output_shape") : std::nullopt;
  if (!window || node.failed() || !node.expectRank(indices, node.rank(x), "the indices"))
    return failure();
  DimExprs in = node.dims(x), whole{in[0], in[1]};
  for (size_t i = 0; i < window->rank(); ++i)
    whole.push_back(nn::simplifyDim((in[2 + i] - 1) * window->strides[i] + window->kernel[i] - window->begin(i) - window->end(i)));
  for (auto [a, b] : llvm::zip_equal(in, node.dims(indices)))
    if (!node.unify(a, b, "the indices and the input have different shapes: dimensions"))
      return failure();
  AffineExpr size = nn::getNumElements(whole, node.context()), count = nn::getNumElements(in, node.context());
  Value zeros = node.splat({size}, node.elementType(x), 0);
  Value flat = node.make<ScatterElementsOp>(zeros.getType(), zeros, node.reshape(indices, {count}), node.reshape(x, {count}), 0, ScatterReduction::None);
  Value result = node.reshape(flat, whole);
  if (!given || node.failed())
    return node.failed() ? failure() : node.result(result);
  if (given->size() != whole.size())
    return node.error("output_shape has " + Twine(given->size()) + " entries, the input has rank " + Twine(whole.size()));
  SmallVector<AffineExpr> low(whole.size(), node.number(0)), high;
  for (auto [want, have] : llvm::zip_equal(*given, whole)) {
    node.requireNotNegative(want - have, "output_shape is smaller than what the window gives");
    high.push_back(nn::simplifyDim(want - have));
  }
  return node.failed() ? failure() : node.result(node.pad(result, low, high, PadMode::Constant, node.splat({}, node.elementType(x), 0)));
}

Value buildAveragePool(Node &node, Value x) {
  bool includePad = node.getFlag("count_include_pad");
  auto pool = readPool(node, x);
  if (!pool)
    return {};
  const Window &w = pool->first;
  return node.make<AvgPoolOp>(pool->second, x, w.kernel, w.strides, w.dilations, w.pads, Layout::ChannelsFirst, includePad);
}

static LogicalResult averagePool(Node &node) {
  Value pooled = buildAveragePool(node, node.input(0));
  return pooled ? node.result(pooled) : failure();
}

/// The exponent: a real number in opset 1.
static double readExponent(Node &node) { return node.opset < 2 ? node.getFloat("p", 2) : static_cast<double>(node.getInt("p", 2)); }

/// The p-th powers of the absolute values. Halves are widened: the square of 256 does not fit f16.
static Value raise(Node &node, Value x, double p) {
  Value wide = node.cast(x, node.wideType(x));
  return p == 2 ? node.binary<MulOp>(wide, wide) : node.binary<PowOp>(node.unary<AbsOp>(wide), p);
}

static Value root(Node &node, Value sum, double p, Type element) {
  return node.cast(p == 2 ? node.unary<SqrtOp>(sum) : node.binary<PowOp>(sum, 1.0 / p), element);
}

/// The p-th root of the sum of p-th powers: the mean of a window times its size.
static LogicalResult lpPool(Node &node) {
  Value x = node.input(0);
  double p = readExponent(node);
  auto pool = readPool(node, x);
  if (!pool)
    return failure();
  auto &[w, type] = *pool;
  // The mean counts what a window has in the padding, but not what lies beyond it.
  w.padOverhang();
  double elements = 1;
  for (int64_t size : w.kernel)
    elements *= static_cast<double>(size);
  Value powers = raise(node, x, p);
  Value mean = node.make<AvgPoolOp>(node.type(nn::getDims(type), node.elementType(powers)), powers, w.kernel, w.strides, w.dilations, w.pads,
                                    Layout::ChannelsFirst, true);
  return node.result(root(node, node.binary<MulOp>(mean, elements), p, node.elementType(x)));
}

static std::optional<SmallVector<int64_t>> spatialAxes(Node &node, Value x) {
  if (node.rank(x) < 3) {
    (void)node.error("the input has rank " + Twine(node.rank(x)) + ", expected [N, C] and spatial dimensions");
    return std::nullopt;
  }
  return llvm::to_vector(llvm::seq<int64_t>(2, node.rank(x)));
}

template <ReduceKind kind> static LogicalResult globalPool(Node &node) {
  Value x = node.input(0);
  auto axes = spatialAxes(node, x);
  return axes ? node.result(node.reduce(kind, x, *axes, /*keep=*/true)) : failure();
}

static LogicalResult globalLpPool(Node &node) {
  Value x = node.input(0);
  double p = readExponent(node);
  auto axes = spatialAxes(node, x);
  if (!axes)
    return failure();
  Value sum = node.reduce(ReduceKind::Sum, raise(node, x, p), *axes, /*keep=*/true);
  return node.result(root(node, sum, p, node.elementType(x)));
}

ArrayRef<Operator> getPoolingOperators() {
  static const Operator rows[] = {
      {"AveragePool", 1, Elements::Float, averagePool},
      {"GlobalAveragePool", 1, Elements::Float, globalPool<ReduceKind::Mean>},
      {"GlobalLpPool", 1, Elements::Float, globalLpPool},
      {"GlobalMaxPool", 1, Elements::Float, globalPool<ReduceKind::Max>},
      {"LpPool", 1, Elements::Float, lpPool},
      {"MaxPool", 1, Elements::Number, maxPool},
      {"MaxpoolWithMask", 1, Elements::Float, maxPoolWithMask, INT64_MAX, "com.microsoft"},
      {"MaxUnpool", 9, Elements::Float, maxUnpool},
  };
  return rows;
}

} // namespace kiln::import
