//===- Resize.cpp - Resize and Upsample --------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"

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

/// Result sizes floor(size * scale); a symbolic size takes whole scales and their reciprocals.
static std::optional<Target> fromScales(Node &node, Value x, ArrayRef<double> scales, ArrayRef<int64_t> axes) {
  Target target{node.dims(x), SmallVector<double>(node.rank(x), 1.0)};
  for (auto [scale, axis] : llvm::zip_equal(scales, axes)) {
    AffineExpr &dim = target.dims[axis];
    auto size = nn::getConstantDim(dim);
    double inverse = std::round(1 / scale);
    target.scales[axis] = scale;
    if (!(scale > 0) || scale > scaleLimit)
      (void)node.error("scale " + Twine(std::to_string(scale)) + " is not positive, or too large");
    else if (size)
      dim = node.number(static_cast<int64_t>(std::floor(static_cast<double>(*size) * scale)));
    else if (scale == std::floor(scale))
      dim = dim * static_cast<int64_t>(scale);
    else if (static_cast<float>(1 / inverse) == static_cast<float>(scale))
      dim = dim.floorDiv(static_cast<int64_t>(inverse));
    else
      (void)node.unsupported("scale " + Twine(std::to_string(scale)) + " of a symbolic dimension", "make the dimension static with --dim");
  }
  return node.failed() ? std::nullopt : std::optional(target);
}

/// Result sizes as given; `policy` keeps the aspect ratio (not_larger, not_smaller).
static std::optional<Target> fromSizes(Node &node, Value x, ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> axes, StringRef policy) {
  Target target{node.dims(x), SmallVector<double>(node.rank(x), 1.0)};
  double common = 0;
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
    common = common == 0 ? scale : policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
  }
  DimExprs from = node.dims(x);
  for (int64_t axis : axes)
    if (policy != "stretch") {
      target.scales[axis] = common;
      target.dims[axis] = node.number(static_cast<int64_t>(std::floor(common * static_cast<double>(*nn::getConstantDim(from[axis])) + 0.5)));
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
  if (auto declared = node.declaredDims(); policy == "stretch" && declared && !node.isKnown(3) && static_cast<int64_t>(declared->size()) == node.rank(x)) {
    sizes.emplace();
    for (int64_t axis : axes)
      sizes->push_back((*declared)[axis]);
  } else {
    sizes = node.knownIntegers(3, "sizes");
  }
  if (sizes && sizes->size() == axes.size())
    return fromSizes(node, x, *sizes, axes, policy);
  (void)node.error("sizes do not have one entry for each axis");
  return std::nullopt;
}

static Value build(Node &node, Value x, const Target &target, ResizeMode mode, StringRef coordinates, StringRef nearest) {
  OpBuilder &b = node.builder();
  RankedTensorType type = node.type(target.dims, node.elementType(x));
  if (node.failed())
    return x;
  return node.make<ResizeOp>(type, x, ResizeModeAttr::get(node.context(), mode), b.getStringAttr(coordinates), b.getStringAttr(nearest),
                             b.getDenseF64ArrayAttr(target.scales), b.getF64FloatAttr(node.getFloat("cubic_coeff_a", -0.75)),
                             b.getBoolAttr(node.getFlag("exclude_outside")), b.getF64FloatAttr(node.getFloat("extrapolation_value", 0)),
                             b.getBoolAttr(node.getFlag("antialias")), DenseF64ArrayAttr());
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
