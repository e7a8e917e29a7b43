//===- Resize.cpp - Resize and Upsample --------------------------------------===//
#include "compiler/import/DataDims.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/SymbolBounds.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// What is asked for, for all dimensions of the input.
namespace {
struct Target {
  DimExprs dims;
  /// 0: result size / input size.
  SmallVector<double> scales;
};
} // namespace

static constexpr double scaleLimit = 1e9;

/// Whether n * scale, rounded to f32, has the whole part of n / divisor for each size n up to `most`. Sizes just below a multiple and at it decide.
static bool dividesExactly(float scale, int64_t divisor, int64_t most) {
  for (int64_t multiple = divisor; multiple <= most; multiple += divisor)
    if (std::floor(static_cast<float>(multiple) * scale) != static_cast<float>(multiple / divisor) ||
        std::floor(static_cast<float>(multiple - 1) * scale) != static_cast<float>((multiple - 1) / divisor))
      return false;
  return true;
}

/// floor(dim * scale) in f32: as an expression where that is exact for all sizes, else as a dimension that the run computes.
static AffineExpr scaleDim(Node &node, AffineExpr dim, float scale, const Twine &name) {
  constexpr int64_t mostTried = 1 << 22, fraction = 1 << 20;
  if (scale > fraction || scale * fraction < 1) {
    (void)node.unsupported("scale " + Twine(std::to_string(scale)) + " of a symbolic dimension", "make the dimension static with --dim");
    return dim;
  }
  int64_t most = node.facts().getRange(dim).most.value_or(defaultSymbolMax), divisor = std::lround(1 / scale);
  if (isa<AffineSymbolExpr>(dim) && divisor > 1 && most <= mostTried && dividesExactly(scale, divisor, most))
    return nn::simplifyDim(dim.floorDiv(divisor));
  Value size = node.cast(node.reshape(makeDimVector(node, dim), {}), node.builder().getF32Type());
  Value whole = node.cast(node.unary<nn::FloorOp>(node.binary<nn::MulOp>(size, scale)), node.builder().getI64Type());
  if (auto known = node.findIntegers(whole))
    return known->front();
  AffineExpr bound = (dim * static_cast<int64_t>(std::ceil(static_cast<double>(scale) * fraction))).ceilDiv(fraction) + 1;
  return makeDataDim(node, whole, nn::simplifyDim(bound), node.outputName(0) + "_" + name);
}

/// Result sizes floor(size * scale), with the product rounded to f32 as in ONNX's shape inference: 5 * 2.6f is 13.
static std::optional<Target> fromScales(Node &node, Value x, ArrayRef<double> scales, ArrayRef<int64_t> axes) {
  Target target{node.dims(x), SmallVector<double>(node.rank(x), 1.0)};
  for (auto [scale, axis] : llvm::zip_equal(scales, axes)) {
    AffineExpr &dim = target.dims[axis];
    auto size = nn::getConstantDim(dim);
    target.scales[axis] = scale;
    if (!(scale > 0) || scale > scaleLimit)
      (void)node.error("scale " + Twine(std::to_string(scale)) + " is not positive, or too large");
    else if (size)
      dim = node.number(static_cast<int64_t>(std::floor(static_cast<float>(*size) * static_cast<float>(scale))));
    else if (scale == std::floor(scale))
      dim = dim * static_cast<int64_t>(scale);
    else
      dim = scaleDim(node, dim, static_cast<float>(scale), "axis" + Twine(axis));
  }
  return node.failed() ? std::nullopt : std::optional(target);
}

/// Result sizes as given; `policy` keeps the aspect ratio (not_larger, not_smaller).
static std::optional<Target> fromSizes(Node &node, Value x, ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> axes, StringRef policy) {
  Target target{node.dims(x), SmallVector<double>(node.rank(x), 1.0)};
  std::optional<double> common;
  for (auto [size, axis] : llvm::zip_equal(sizes, axes)) {
    auto from = nn::getConstantDim(target.dims[axis]), to = nn::getConstantDim(size);
    if (to && *to < 0)
      (void)node.error("sizes has the negative entry " + Twine(*to));
    if (policy != "stretch" && (!from || !to || *from == 0))
      (void)node.unsupported("keep_aspect_ratio_policy on symbolic dimensions", "make them static with --dim");
    if (node.failed())
      return std::nullopt;
    double scale = from && to && *from > 0 ? static_cast<double>(*to) / static_cast<double>(*from) : 0;
    target.scales[axis] = nn::provablyEqual(target.dims[axis], size) ? 1.0 : scale;
    target.dims[axis] = size;
    common = policy == "not_larger" ? std::min(common.value_or(scale), scale) : std::max(common.value_or(scale), scale);
  }
  DimExprs from = node.dims(x);
  for (int64_t axis : axes)
    if (policy != "stretch") {
      target.scales[axis] = *common;
      // In float, as ONNX's shape inference has it; coordinates are computed from the scale itself.
      target.dims[axis] = node.number(static_cast<int64_t>(std::round(static_cast<float>(*common) * static_cast<float>(*nn::getConstantDim(from[axis])))));
    }
  return target;
}

static std::optional<SmallVector<double>> readRoi(Node &node, ArrayRef<int64_t> axes, int64_t rank) {
  auto given = node.constantNumbers(1, "roi");
  if (!given)
    return std::nullopt;
  if (given->size() != 2 * axes.size()) {
    (void)node.error("roi has " + Twine(given->size()) + " entries, expected " + Twine(2 * axes.size()));
    return std::nullopt;
  }
  SmallVector<double> roi(2 * rank, 0.0);
  std::fill(roi.begin() + rank, roi.end(), 1.0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    roi[axis] = (*given)[i];
    roi[rank + axis] = (*given)[axes.size() + i];
  }
  return roi;
}

/// Whether the input is there and has elements; exporters write empty tensors for absent ones.
static bool isGiven(Node &node, unsigned i) {
  return node.hasInput(i) && nn::getConstantDim(nn::getNumElements(node.dims(node.optionalInput(i)), node.context())) != 0;
}

static std::optional<Target> readTarget(Node &node, Value x, ArrayRef<int64_t> axes, StringRef policy) {
  bool hasScales = isGiven(node, 2), hasSizes = isGiven(node, 3);
  if (hasScales == hasSizes) {
    (void)node.error("expected either scales or sizes");
    return std::nullopt;
  }
  if (hasScales) {
    auto scales = node.constantNumbers(2, "scales");
    if (scales && scales->size() == axes.size())
      return fromScales(node, x, *scales, axes);
    (void)node.error("scales do not have one entry for each axis");
    return std::nullopt;
  }
  std::optional<DimExprs> sizes;
  auto declared = policy == "stretch" && !node.isKnown(3) ? node.trustedDims() : std::nullopt;
  if (declared && static_cast<int64_t>(declared->size()) == node.rank(x)) {
    sizes.emplace();
    for (int64_t axis : axes)
      sizes->push_back((*declared)[axis]);
    expectInRun(node, node.input(3), *sizes);
  } else {
    sizes = policy == "stretch" ? readSizes(node, 3, "sizes") : node.knownIntegers(3, "sizes");
  }
  if (sizes && sizes->size() == axes.size())
    return fromSizes(node, x, *sizes, axes, policy);
  (void)node.error("sizes do not have one entry for each axis");
  return std::nullopt;
}

//===- Antialiasing --------------------------------------------------------===//
//
// A filter that is as wide as the step between results reads many places; with known sizes it is a constant matrix for each dimension.
//
//===----------------------------------------------------------------------===//

namespace {
struct Filter {
  ResizeMode mode;
  std::string coordinates;
  double cubicCoefficient;
  bool excludeOutside;

  double support() const { return mode == ResizeMode::Linear ? 1 : 2; }
  double operator()(double distance) const {
    double x = std::abs(distance), a = cubicCoefficient;
    if (mode == ResizeMode::Linear)
      return std::max(1 - x, 0.0);
    if (x <= 1)
      return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }
  /// The position in the input of result `at`.
  double coordinate(int64_t at, double scale, double in, double out) const {
    double x = static_cast<double>(at), halfPixel = (x + 0.5) / scale - 0.5;
    if (coordinates == "asymmetric")
      return x / scale;
    if (coordinates == "align_corners") {
      // The last place of a result whose size is not rounded down.
      double last = std::abs(in * scale - out) < 1e-6 * out ? out - 1 : in * scale - 1;
      return out == 1 || last <= 0 ? 0 : x * (in - 1) / last;
    }
    if (coordinates == "tf_half_pixel_for_nn")
      return (x + 0.5) / scale;
    if (coordinates == "pytorch_half_pixel")
      return out > 1 ? halfPixel : 0;
    return coordinates == "half_pixel_symmetric" ? in / 2 * (1 - out / (scale * in)) + halfPixel : halfPixel;
  }
};
} // namespace

/// Column `o` of [in, out] holds what each place counts for result o; places outside count for the border.
static SmallVector<double> filterMatrix(const Filter &filter, double scale, int64_t in, int64_t out) {
  SmallVector<double> matrix(in * out, 0.0);
  double width = std::min(scale, 1.0);
  for (int64_t o = 0; o < out; ++o) {
    double x = filter.coordinate(o, scale, static_cast<double>(in), static_cast<double>(out)), total = 0;
    auto first = static_cast<int64_t>(std::ceil(x - filter.support() / width)), last = static_cast<int64_t>(std::floor(x + filter.support() / width));
    for (int64_t place = first; place <= last; ++place) {
      if (filter.excludeOutside && (place < 0 || place >= in))
        continue;
      double weight = filter(width * (static_cast<double>(place) - x));
      matrix[std::clamp(place, int64_t(0), in - 1) * out + o] += weight;
      total += weight;
    }
    for (int64_t place = 0; place < in; ++place)
      matrix[place * out + o] /= total;
  }
  return matrix;
}

static Value makeWeights(Node &node, const Filter &filter, double scale, int64_t in, int64_t out, Type element) {
  SmallVector<double> matrix = filterMatrix(filter, scale, in, out);
  auto type = RankedTensorType::get({in, out}, element);
  return node.constant(element.isF64() ? nn::makeConstantOf<double>(type, matrix)
                                       : nn::makeConstantOf<float>(type, SmallVector<float>(matrix.begin(), matrix.end())));
}

/// The filter at each distance, as filter(distance) has it.
static Value applyFilter(Node &node, const Filter &filter, Value distance) {
  Value x = node.unary<AbsOp>(distance);
  auto number = [&](double value) { return node.splatLike(x, value); };
  if (filter.mode == ResizeMode::Linear)
    return node.binary<MaximumOp>(node.binary<SubOp>(number(1), x), 0.0);
  double a = filter.cubicCoefficient;
  auto horner = [&](std::initializer_list<double> factors) {
    Value sum;
    for (double factor : factors)
      sum = sum ? node.binary<AddOp>(node.binary<MulOp>(sum, x), factor) : number(factor);
    return sum;
  };
  Value near = horner({a + 2, -(a + 3), 0, 1}), far = horner({a, -5 * a, 8 * a, -4 * a});
  Value isNear = node.compare<LessEqualOp>(x, number(1)), isFar = node.compare<LessOp>(x, number(2));
  if (node.failed())
    return x;
  return node.make<SelectOp>(x.getType(), isNear, near, node.make<SelectOp>(x.getType(), isFar, far, number(0)));
}

/// The positions in the input of the results, as filter.coordinate() has them: [1, out] in f64. `scale`, `in` and `out` are scalars.
static Value placeResults(Node &node, const Filter &filter, AffineExpr count, Value scale, Value in, Value out) {
  Type f64 = node.builder().getF64Type();
  DimExprs row = {node.number(1), count};
  Value x = node.cast(node.iota(row, 1, node.builder().getI64Type()), f64);
  auto half = [&] { return node.binary<DivOp>(node.binary<AddOp>(x, 0.5), scale); };
  auto wherePositive = [&](Value number, Value then) {
    Value is = node.broadcastTo(node.compare<GreaterOp>(number, node.splatLike(number, 0)), row);
    return node.failed() ? then : node.make<SelectOp>(then.getType(), is, then, node.splatLike(then, 0));
  };
  if (filter.coordinates == "asymmetric")
    return node.binary<DivOp>(x, scale);
  if (filter.coordinates == "tf_half_pixel_for_nn")
    return half();
  Value centred = node.binary<SubOp>(half(), 0.5), product = node.binary<MulOp>(in, scale);
  if (filter.coordinates == "pytorch_half_pixel")
    return wherePositive(node.binary<SubOp>(out, 1.0), centred);
  if (filter.coordinates == "half_pixel_symmetric") {
    Value share = node.binary<DivOp>(out, product), rest = node.binary<SubOp>(node.splatLike(share, 1), share);
    return node.binary<AddOp>(centred, node.binary<MulOp>(node.binary<MulOp>(in, 0.5), rest));
  }
  if (filter.coordinates != "align_corners")
    return centred;
  Value isWhole = node.compare<LessOp>(node.unary<AbsOp>(node.binary<SubOp>(product, out)), node.binary<MulOp>(out, 1e-6));
  Value last = node.failed() ? out : node.binary<SubOp>(node.make<SelectOp>(out.getType(), isWhole, out, product), 1.0);
  Value spread = node.binary<DivOp>(node.binary<MulOp>(x, node.binary<SubOp>(in, 1.0)), last);
  return wherePositive(last, wherePositive(node.binary<SubOp>(out, 1.0), spread));
}

/// Resizes the last dimension, of a size that only run time knows, by a matrix that the run computes. Its rows are the places of the input with a margin as
/// wide as the filter, in which the elements at the border repeat. `reach` is the width of the filter, `width` what makes it wider where it is below 1.
static Value filterRows(Node &node, Value x, AffineExpr size, Value ratio, AffineExpr reach, Value width, const Filter &filter) {
  int64_t last = node.rank(x) - 1;
  Type i64 = node.builder().getI64Type(), f64 = node.builder().getF64Type(), element = node.elementType(x);
  AffineExpr in = node.dims(x)[last];
  node.requireNotNegative(in - 1, "cannot resize an empty dimension");
  AffineExpr margin = nn::simplifyDim(reach + 1), all = nn::simplifyDim(in + margin * 2);
  Value length = sizeOf(node, in, f64), results = sizeOf(node, size, f64);
  Value place = node.binary<SubOp>(node.iota({all, node.number(1)}, 0, i64), sizeOf(node, margin, i64));
  Value at = placeResults(node, filter, size, ratio, length, results);
  Value weights = applyFilter(node, filter, node.binary<MulOp>(node.binary<SubOp>(node.cast(place, f64), at), width));
  Value kept = node.binary<MinimumOp>(node.binary<MaximumOp>(place, 0.0), node.binary<SubOp>(sizeOf(node, in, i64), 1.0));
  if (node.failed())
    return x;
  if (filter.excludeOutside) {
    Value isInside = node.broadcastTo(node.compare<EqualOp>(place, kept), node.dims(weights));
    weights = node.make<SelectOp>(weights.getType(), isInside, weights, node.splatLike(weights, 0));
  }
  weights = node.binary<DivOp>(weights, node.reduce(ReduceKind::Sum, weights, {0}, /*keep=*/true));
  DimExprs wide = node.dims(x);
  wide[last] = all;
  RankedTensorType type = node.type(wide, element);
  if (node.failed())
    return x;
  Value rows = node.make<GatherOp>(type, x, node.reshape(kept, {all}), last);
  return node.matmul(rows, node.cast(weights, element));
}

/// filterRows with a filter that is wider where the result is smaller. A scale of 0 is the ratio of the sizes.
static Value filterWidely(Node &node, Value x, AffineExpr size, double scale, const Filter &filter) {
  Type f64 = node.builder().getF64Type();
  AffineExpr in = node.dims(x).back();
  auto support = static_cast<int64_t>(filter.support());
  AffineExpr reach = scale > 0 ? node.number(static_cast<int64_t>(std::ceil(filter.support() / std::min(scale, 1.0)))) : in.ceilDiv(size) * support + support;
  Value ratio = scale > 0 ? node.splat({}, f64, scale) : node.binary<DivOp>(sizeOf(node, size, f64), sizeOf(node, in, f64));
  return filterRows(node, x, size, ratio, reach, node.binary<MinimumOp>(ratio, 1.0), filter);
}

static Value resizeAntialiased(Node &node, Value x, const Target &target, const Filter &filter) {
  constexpr int64_t largestMatrix = 1 << 24;
  Type element = node.elementType(x), wide = element.isF64() ? element : Type(node.builder().getF32Type());
  Value result = node.cast(x, wide);
  for (int64_t axis = 0, rank = node.rank(x); axis < rank; ++axis) {
    auto in = nn::getConstantDim(node.dims(x)[axis]), out = nn::getConstantDim(target.dims[axis]);
    if (nn::provablyEqual(node.dims(x)[axis], target.dims[axis]) && target.scales[axis] == 1.0)
      continue;
    bool isKnown = in && out;
    if ((isKnown && (*in < 1 || *out < 1 || *in > largestMatrix / *out)) || filter.coordinates == "tf_crop_and_resize") {
      (void)node.unsupported("antialiasing of empty or huge dimensions, or with tf_crop_and_resize", "leave out antialias");
      return x;
    }
    SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(swapped[axis], swapped.back());
    // A vector is one row.
    Value rows = rank == 1 ? node.reshape(result, {node.number(1), node.dims(x)[axis]}) : node.transpose(result, swapped);
    Value product = isKnown ? node.matmul(rows, makeWeights(node, filter, target.scales[axis], *in, *out, wide))
                            : filterWidely(node, rows, target.dims[axis], target.scales[axis], filter);
    result = rank == 1 ? node.reshape(product, {target.dims[axis]}) : node.transpose(product, swapped);
  }
  return node.cast(result, element);
}

//===- Scales that only run time knows -------------------------------------===//

namespace {
/// A constant, or else a scalar that the run computes.
struct Scale {
  std::optional<double> known;
  Value computed;
};
} // namespace

static void collectScales(Node &node, Value scales, SmallVectorImpl<Scale> &all) {
  if (auto known = node.findNumbers(scales)) {
    for (double scale : *known)
      all.push_back({scale, Value()});
  } else if (auto concat = scales.getDefiningOp<ConcatOp>()) {
    for (Value part : concat.getInputs())
      collectScales(node, part, all);
  } else {
    int64_t count = nn::getConstantDim(getNumElements(node.dims(scales), node.context())).value_or(0);
    for (int64_t i = 0; i < count && !node.failed(); ++i)
      all.push_back({std::nullopt, node.reshape(node.slice(scales, 0, node.number(i), node.number(1)), {})});
  }
}

/// floor(dim * scale) in f32, as fromScales has it.
static AffineExpr sizeByScale(Node &node, AffineExpr dim, const Scale &scale, Value ratio, int64_t axis) {
  Type f32 = node.builder().getF32Type();
  Value size = node.unary<FloorOp>(node.binary<MulOp>(sizeOf(node, dim, f32), node.cast(ratio, f32)));
  Value whole = node.cast(size, node.builder().getI64Type());
  if (auto known = node.findIntegers(whole))
    return known->front();
  AffineExpr most = scale.known ? node.number(static_cast<int64_t>(std::ceil(*scale.known))) : findUpperBound(node, scale.computed);
  return makeDataDim(node, whole, most ? nn::simplifyDim(dim * most) : AffineExpr(), node.outputName(0) + "_axis" + Twine(axis));
}

/// The elements of the last dimension that are nearest to the results' places.
static Value pickNearest(Node &node, Value x, AffineExpr size, Value ratio, StringRef nearest, const Filter &filter) {
  int64_t last = node.rank(x) - 1;
  Type i64 = node.builder().getI64Type(), f64 = node.builder().getF64Type();
  AffineExpr in = node.dims(x)[last];
  Value at = placeResults(node, filter, size, ratio, sizeOf(node, in, f64), sizeOf(node, size, f64));
  if (nearest == "ceil" || nearest == "round_prefer_floor")
    at = node.unary<CeilOp>(nearest == "ceil" ? at : node.binary<SubOp>(at, 0.5));
  else
    at = node.unary<FloorOp>(nearest == "floor" ? at : node.binary<AddOp>(at, 0.5));
  Value place = node.binary<MaximumOp>(node.binary<MinimumOp>(node.cast(at, i64), node.binary<SubOp>(sizeOf(node, in, i64), 1.0)), 0.0);
  DimExprs dims = node.dims(x);
  dims[last] = size;
  RankedTensorType type = node.type(dims, node.elementType(x));
  return node.failed() ? x : Value(node.make<GatherOp>(type, x, node.reshape(place, {size}), last));
}

/// Resizes one dimension after the other. The filter is as wide as the distance of the input's elements.
static LogicalResult resizeByData(Node &node, Value x, ArrayRef<int64_t> axes, StringRef nearest, const Filter &filter) {
  Type f64 = node.builder().getF64Type(), element = node.elementType(x);
  bool isNearest = filter.mode == ResizeMode::Nearest;
  if (filter.coordinates == "tf_crop_and_resize" || node.getFlag("antialias") || (!isNearest && !isa<FloatType>(element)))
    return node.unsupported("scales that are known only at run time, with antialias, tf_crop_and_resize or filtered integers",
                            "fix the input that they depend on with --bind input=value");
  SmallVector<Scale> scales;
  collectScales(node, node.input(2), scales);
  if (scales.size() != axes.size())
    return node.error("scales do not have one entry for each axis");
  Type wide = isNearest || element.isF64() ? element : Type(node.builder().getF32Type());
  Value result = node.cast(x, wide);
  for (auto [scale, axis] : llvm::zip_equal(scales, axes)) {
    if (scale.known == 1.0)
      continue;
    Value ratio = scale.known ? node.splat({}, f64, *scale.known) : node.cast(scale.computed, f64);
    AffineExpr size = sizeByScale(node, node.dims(result)[axis], scale, ratio, axis);
    SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x)));
    std::swap(swapped[axis], swapped.back());
    Value rows = node.rank(x) == 1 ? node.reshape(result, {node.number(1), node.dims(result)[0]}) : node.transpose(result, swapped);
    if (node.failed())
      return failure();
    AffineExpr reach = node.number(static_cast<int64_t>(filter.support()));
    Value product = isNearest ? pickNearest(node, rows, size, ratio, nearest, filter)
                              : filterRows(node, rows, size, ratio, reach, node.splat({}, f64, 1), filter);
    result = node.rank(x) == 1 ? node.reshape(product, {size}) : node.transpose(product, swapped);
  }
  return node.result(node.cast(result, element));
}

static Value build(Node &node, Value x, const Target &target, ResizeMode mode, StringRef coordinates, StringRef nearest) {
  OpBuilder &b = node.builder();
  RankedTensorType type = node.type(target.dims, node.elementType(x));
  double cubicCoefficient = node.getFloat("cubic_coeff_a", -0.75);
  bool excludeOutside = node.getFlag("exclude_outside"), antialias = node.getFlag("antialias");
  if (node.failed())
    return x;
  double outside = node.getFloat("extrapolation_value", 0);
  if (antialias && mode != ResizeMode::Nearest)
    return resizeAntialiased(node, x, target, {mode, coordinates.str(), cubicCoefficient, excludeOutside});
  return node.make<ResizeOp>(type, x, ResizeModeAttr::get(node.context(), mode), b.getStringAttr(coordinates), b.getStringAttr(nearest),
                             b.getDenseF64ArrayAttr(target.scales), b.getF64FloatAttr(cubicCoefficient),
                             b.getBoolAttr(excludeOutside), b.getF64FloatAttr(outside), DenseF64ArrayAttr());
}

static std::optional<ResizeMode> readMode(Node &node) {
  std::string mode = node.getString("mode", "nearest");
  auto known = symbolizeResizeMode(mode == "bilinear" ? "linear" : mode);
  if (!known)
    (void)node.error("attribute 'mode' is '" + mode + "', expected nearest, linear or cubic");
  return known;
}

static LogicalResult resize(Node &node) {
  Value x = node.input(0);
  int64_t rank = node.rank(x);
  auto mode = readMode(node);
  std::string coordinates = node.getString("coordinate_transformation_mode", "half_pixel"), nearest = node.getString("nearest_mode", "round_prefer_floor");
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  SmallVector<int64_t> axes = node.findInts("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  if (node.axes(axes, rank); node.failed())
    return failure();
  for (int64_t &axis : axes)
    axis = node.axis(axis, rank);
  if (isGiven(node, 2) && !isGiven(node, 3) && !node.failed() && !node.findNumbers(node.input(2)) && mode)
    return resizeByData(node, x, axes, nearest, {*mode, coordinates, node.getFloat("cubic_coeff_a", -0.75), node.getFlag("exclude_outside")});
  auto target = readTarget(node, x, axes, policy);
  if (!target)
    return failure();
  Value result = build(node, x, *target, *mode, coordinates, nearest);
  if (coordinates == "tf_crop_and_resize" && !node.failed()) {
    auto roi = readRoi(node, axes, rank);
    if (!roi)
      return failure();
    if (auto op = result.getDefiningOp<ResizeOp>())
      op.setRoiAttr(node.builder().getDenseF64ArrayAttr(*roi));
  }
  return node.result(result);
}

/// Upsample, and Resize of opset 10: result i is taken at floor(i / scale).
static LogicalResult upsample(Node &node) {
  Value x = node.input(0);
  auto mode = readMode(node);
  auto scales = node.opset >= 9 ? node.constantNumbers(1, "scales") : node.findFloats("scales");
  if (node.opset < 7)
    scales = {1, 1, node.getFloat("height_scale", 0), node.getFloat("width_scale", 0)};
  if (!scales || node.failed() || static_cast<int64_t>(scales->size()) != node.rank(x))
    return node.error("scales do not have one entry for each dimension");
  for (double scale : *scales)
    if (node.opType() == "Upsample" && !(scale >= 1))
      return node.error("scale " + Twine(std::to_string(scale)) + " is less than 1");
  auto target = fromScales(node, x, *scales, llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x))));
  return target ? node.result(build(node, x, *target, *mode, "asymmetric", "floor")) : failure();
}

ArrayRef<Operator> getResizeOperators() {
  static const Operator rows[] = {
      {"Resize", 10, Elements::Number, upsample, 10},
      {"Resize", 11, Elements::Number, resize},
      {"Upsample", 1, Elements::Number, upsample, 9},
  };
  return rows;
}

} // namespace kiln::import
