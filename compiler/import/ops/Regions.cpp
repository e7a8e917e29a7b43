//===- Regions.cpp - Regions of interest, and windows that move -------------===//
//
// Both read an image between its elements: of the four neighbours of each place, one gather moves all channels.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Sampling.h"
#include "compiler/import/ops/Window.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"

#include <array>
#include <limits>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// One of the two neighbours along a dimension: its index (i64) and its share.
struct Neighbour {
  Value place, weight;
};
using Neighbours = std::array<Neighbour, 2>;
} // namespace

static Value inside(Node &node, Value place, Value last) {
  Value low = node.compare<GreaterEqualOp>(place, node.splatLike(place, 0)), high = node.compare<LessEqualOp>(place, last);
  return node.binary<AndOp>(low, high);
}

static Value keepIf(Node &node, Value condition, Value x) {
  node.broadcast({&condition, &x}, /*mixed=*/true);
  return node.failed() ? x : node.make<SelectOp>(x.getType(), condition, x, node.splatLike(x, 0));
}

/// The neighbours of real places along a dimension. One outside the image counts nothing, and reads at its edge.
static Neighbours neighbours(Node &node, Value place, AffineExpr dim) {
  Value last = node.binary<SubOp>(sizeOf(node, dim, node.elementType(place)), 1.0), low = node.unary<FloorOp>(place);
  Value share = node.binary<SubOp>(place, low);
  Neighbours result;
  for (int i = 0; i < 2; ++i) {
    Value at = i == 0 ? low : node.binary<AddOp>(low, 1.0);
    Value weight = i == 0 ? node.binary<SubOp>(node.splatLike(share, 1), share) : share;
    weight = keepIf(node, inside(node, at, node.broadcastTo(last, node.dims(at))), weight);
    Value kept = node.binary<MinimumOp>(node.binary<MaximumOp>(at, 0.0), last);
    result[i] = {node.cast(kept, node.builder().getI64Type()), weight};
  }
  return result;
}

/// The four terms weight * element of each place, in the type of the weights. `base` is the row at which the place's image starts in `table` [rows, channels].
static SmallVector<Value> readTerms(Node &node, Value table, Value base, const Neighbours &ys, const Neighbours &xs, AffineExpr width) {
  SmallVector<Value> terms;
  for (const Neighbour &y : ys)
    for (const Neighbour &x : xs) {
      Value row = node.binary<MulOp>(y.place, sizeOf(node, width, node.elementType(y.place)));
      Value index = node.binary<AddOp>(node.binary<AddOp>(base, row), x.place), weight = node.binary<MulOp>(y.weight, x.weight);
      if (node.failed())
        return {table, table, table, table};
      DimExprs dims = node.dims(index), one = dims;
      dims.push_back(node.dims(table)[1]);
      one.push_back(node.number(1));
      Value elements = node.cast(node.make<GatherOp>(node.type(dims, node.elementType(table)), table, index, 0), node.elementType(weight));
      terms.push_back(node.binary<MulOp>(elements, node.reshape(node.broadcastTo(weight, node.dims(index)), one)));
    }
  return terms;
}

template <typename Op> static Value joinTerms(Node &node, ArrayRef<Value> terms) {
  Value total = terms.front();
  for (Value term : terms.drop_front())
    total = node.binary<Op>(total, term);
  return total;
}

//===- RoiAlign ------------------------------------------------------------===//

namespace {
struct RoiAlign {
  int64_t height, width, samples;
  double scale;
  bool halfPixel, isMax;
};
} // namespace

static std::optional<RoiAlign> readRoiAlign(Node &node) {
  RoiAlign roi{node.getInt("output_height", 1), node.getInt("output_width", 1), node.getInt("sampling_ratio", 0),
               node.getFloat("spatial_scale", 1), node.opset >= 16, false};
  if (node.opset >= 16) {
    std::string coordinates = node.getString("coordinate_transformation_mode", "half_pixel");
    roi.halfPixel = coordinates == "half_pixel";
    if (!roi.halfPixel && coordinates != "output_half_pixel")
      (void)node.error("attribute 'coordinate_transformation_mode' is '" + coordinates + "', expected half_pixel or output_half_pixel");
  }
  std::string mode = node.getString("mode", "avg");
  roi.isMax = mode == "max";
  if (!roi.isMax && mode != "avg")
    (void)node.error("attribute 'mode' is '" + mode + "', expected avg or max");
  if (roi.height < 1 || roi.width < 1 || roi.height > 65536 || roi.width > 65536 || roi.samples < 0 || roi.samples > 1024)
    (void)node.error("expected a positive output_height and output_width, and a sampling_ratio of at most 1024");
  if (roi.samples == 0 && roi.isMax)
    (void)node.unsupported("a sampling_ratio of 0 with mode max, with which the number of samples depends on the size of each region",
                           "set the attribute to 1 or more");
  return node.failed() ? std::nullopt : std::optional(roi);
}

namespace {
/// Where regions begin along one axis of the image, and how long they are: [regions, 1].
struct Extent {
  Value start, length;
};
} // namespace

static Extent readExtent(Node &node, const RoiAlign &roi, Value rois, int64_t column) {
  AffineExpr one = node.number(1), two = node.number(column + 2);
  Value start = node.binary<MulOp>(node.slice(rois, 1, node.number(column), one), roi.scale);
  Value end = node.binary<MulOp>(node.slice(rois, 1, two, one), roi.scale);
  if (roi.halfPixel)
    start = node.binary<SubOp>(start, 0.5), end = node.binary<SubOp>(end, 0.5);
  Value length = node.binary<SubOp>(end, start);
  if (!roi.halfPixel)
    length = node.binary<MaximumOp>(length, 1.0);
  return {start, length};
}

/// Whether places count, which those beyond the border do not, and the places moved to the edge of the image.
static std::pair<Value, Value> keepInside(Node &node, Value place, AffineExpr dim) {
  Value size = sizeOf(node, dim, node.elementType(place)), outer = node.binary<AddOp>(place, 1.0);
  Value counts = inside(node, outer, node.broadcastTo(node.binary<AddOp>(size, 1.0), node.dims(outer)));
  return {counts, node.binary<MinimumOp>(node.binary<MaximumOp>(place, 0.0), node.binary<SubOp>(size, 1.0))};
}

/// The neighbours of the sample places of all regions along one axis: [regions, bins * samples]. A place beyond the border counts nothing, one
/// within it is moved to the edge.
static Neighbours sampleAxis(Node &node, const RoiAlign &roi, Value rois, int64_t column, int64_t bins, AffineExpr dim) {
  auto [start, length] = readExtent(node, roi, rois, column);
  DimExprs row = {node.number(1), node.number(bins * roi.samples)};
  Value step = node.binary<AddOp>(node.cast(node.iota(row, 1, node.builder().getI64Type()), node.elementType(rois)), 0.5);
  Value place = node.binary<MulOp>(node.binary<DivOp>(length, static_cast<double>(bins)), node.binary<DivOp>(step, static_cast<double>(roi.samples)));
  auto [counts, kept] = keepInside(node, node.binary<AddOp>(place, start), dim);
  Neighbours result = neighbours(node, kept, dim);
  for (Neighbour &neighbour : result)
    neighbour.weight = keepIf(node, counts, neighbour.weight);
  return result;
}

/// The shares that the elements of one axis have in the bins: [regions, bins, dim]. A bin has as many samples as its length rounded up. They are at most
/// one element apart and, when there is more than one, at least half of one, so that the image has room for a known number of them: those before
/// are skipped.
static Value shareAxis(Node &node, const RoiAlign &roi, Value rois, int64_t column, int64_t bins, AffineExpr dim) {
  auto [start, length] = readExtent(node, roi, rois, column);
  Type element = node.elementType(rois), i64 = node.builder().getI64Type();
  AffineExpr count = node.dims(rois)[0], one = node.number(1), all = node.number(bins), room = nn::simplifyDim(dim * 2 + 6);
  Value size = node.binary<DivOp>(length, static_cast<double>(bins)), samples = node.unary<CeilOp>(size);
  Value bin = node.cast(node.iota({one, all}, 1, i64), element), begin = node.binary<AddOp>(node.binary<MulOp>(size, bin), start);
  Value apart = node.binary<DivOp>(size, node.binary<MaximumOp>(samples, 1.0));
  // The first sample that can be inside; of none, the step is 0 and nothing counts.
  Value outside = node.binary<SubOp>(node.splatLike(begin, -2), begin), step = node.binary<MaximumOp>(node.broadcastTo(apart, node.dims(begin)), 1e-6);
  Value skipped = node.binary<DivOp>(outside, step);
  skipped = node.binary<MaximumOp>(node.unary<FloorOp>(skipped), 0.0);
  auto deepen = [&](Value value) { return node.reshape(value, {count, node.dims(value)[1], one}); };
  Value number = node.binary<AddOp>(node.cast(node.iota({one, one, room}, 2, i64), element), deepen(skipped));
  Value place = node.binary<MulOp>(node.binary<AddOp>(number, 0.5), deepen(apart));
  auto [counts, kept] = keepInside(node, node.binary<AddOp>(place, deepen(begin)), dim);
  Value exists = node.compare<LessOp>(number, deepen(samples));
  counts = node.binary<AndOp>(counts, exists);
  if (node.failed())
    return rois;
  // A place's share of an element is one less their distance.
  DimExprs spread = {count, all, room, one};
  Value index = node.cast(node.iota({one, one, one, dim}, 3, i64), element);
  Value distance = node.unary<AbsOp>(node.binary<SubOp>(node.reshape(kept, spread), index));
  Value share = node.binary<MaximumOp>(node.binary<SubOp>(node.splatLike(distance, 1), distance), 0.0);
  share = keepIf(node, node.reshape(counts, spread), share);
  Value sum = node.reduce(ReduceKind::Sum, share, {2}, /*keep=*/false);
  return node.binary<DivOp>(sum, node.binary<MaximumOp>(deepen(samples), 1.0));
}

/// RoiAlign with as many samples as a region has room for: a mean over a grid is a product with the shares of rows, and one with those of columns.
static Value alignAdaptively(Node &node, const RoiAlign &roi, Value x, Value rois, Value images) {
  DimExprs in = node.dims(x);
  AffineExpr count = node.dims(rois)[0], one = node.number(1), bins = node.number(roi.height);
  Value rows = shareAxis(node, roi, rois, 1, roi.height, in[2]), columns = shareAxis(node, roi, rois, 0, roi.width, in[3]);
  Type element = node.elementType(rois), i64 = node.builder().getI64Type();
  // A region has a share in its own image only.
  Value number = node.broadcastTo(node.iota({one, in[0]}, 1, i64), {count, in[0]});
  Value isOwn = node.compare<EqualOp>(node.broadcastTo(node.reshape(node.cast(images, i64), {count, one}), {count, in[0]}), number);
  if (node.failed())
    return x;
  Value everywhere = node.broadcastTo(node.reshape(rows, {count, bins, one, in[2]}), {count, bins, in[0], in[2]});
  Value chosen = keepIf(node, node.reshape(isOwn, {count, one, in[0], one}), everywhere);
  Value table = node.reshape(node.cast(node.transpose(x, {0, 2, 3, 1}), element), {in[0] * in[2], in[3] * in[1]});
  Value lines = node.matmul(node.reshape(chosen, {count * bins, in[0] * in[2]}), table);
  if (node.failed())
    return x;
  lines = node.transpose(node.reshape(lines, {count, bins, in[3], in[1]}), {0, 2, 1, 3});
  Value cells = node.matmul(columns, node.reshape(lines, {count, in[3], bins * in[1]}));
  return node.transpose(node.reshape(cells, {count, node.number(roi.width), bins, in[1]}), {0, 3, 2, 1});
}

static LogicalResult roiAlign(Node &node) {
  Value x = node.input(0), rois = node.input(1), images = node.input(2);
  auto roi = readRoiAlign(node);
  if (!roi || !node.expectRank(x, 4, "the input") || !node.expectRank(rois, 2, "rois") || !node.expectRank(images, 1, "batch_indices"))
    return failure();
  DimExprs in = node.dims(x);
  AffineExpr count = node.dims(rois)[0], one = node.number(1);
  // Half precision cannot tell places beyond 2048 from each other.
  rois = node.cast(alignDims(node, rois, {count, node.number(4)}, "expected rois [regions, 4]"), node.wideType(rois));
  if (node.failed() || !node.unify(count, node.dims(images)[0], "rois and batch_indices have different lengths"))
    return failure();
  if (roi->samples == 0) {
    Value result = alignAdaptively(node, *roi, x, rois, images);
    return node.failed() ? failure() : node.result(node.cast(result, node.elementType(x)));
  }
  Neighbours ys = sampleAxis(node, *roi, rois, 1, roi->height, in[2]), xs = sampleAxis(node, *roi, rois, 0, roi->width, in[3]);
  int64_t rows = roi->height * roi->samples, columns = roi->width * roi->samples;
  for (int i = 0; i < 2; ++i) {
    for (Value *y : {&ys[i].place, &ys[i].weight})
      *y = node.reshape(*y, {count, node.number(rows), one});
    for (Value *at : {&xs[i].place, &xs[i].weight})
      *at = node.reshape(*at, {count, one, node.number(columns)});
  }
  Type i64 = node.builder().getI64Type();
  Value base = node.reshape(node.cast(images, i64), {count, one, one});
  base = node.binary<MulOp>(base, sizeOf(node, nn::simplifyDim(in[2] * in[3]), i64));
  Value table = node.reshape(node.transpose(x, {0, 2, 3, 1}), {in[0] * in[2] * in[3], in[1]});
  SmallVector<Value> terms = readTerms(node, table, base, ys, xs, in[3]);
  Value read = roi->isMax ? joinTerms<MaximumOp>(node, terms) : joinTerms<AddOp>(node, terms);
  AffineExpr samples = node.number(roi->samples), height = node.number(roi->height), width = node.number(roi->width);
  read = node.reshape(read, {count, height, samples, width, samples, in[1]});
  Value bins = node.reduce(roi->isMax ? ReduceKind::Max : ReduceKind::Mean, read, {2, 4}, /*keep=*/false);
  return node.failed() ? failure() : node.result(node.cast(node.transpose(bins, {0, 3, 1, 2}), node.elementType(x)));
}

//===- MaxRoiPool ----------------------------------------------------------===//

/// Which elements of one axis belong to each bin of each region: [regions, bins, dim]. Bins share their borders' elements.
static Value membersOf(Node &node, Value rois, int64_t column, int64_t bins, double scale, AffineExpr dim) {
  AffineExpr count = node.dims(rois)[0], one = node.number(1), all = node.number(bins);
  Type element = node.elementType(rois), i64 = node.builder().getI64Type();
  // Halves go away from zero.
  auto corner = [&](int64_t at) {
    Value place = node.binary<MulOp>(node.slice(rois, 1, node.number(at), one), scale);
    Value away = node.unary<FloorOp>(node.binary<AddOp>(node.unary<AbsOp>(place), 0.5));
    return node.binary<MulOp>(away, node.unary<SignOp>(place));
  };
  Value first = corner(column), last = corner(column + 2);
  Value length = node.binary<MaximumOp>(node.binary<AddOp>(node.binary<SubOp>(last, first), 1.0), 1.0);
  Value size = node.binary<DivOp>(length, static_cast<double>(bins)), bin = node.cast(node.iota({one, all}, 1, i64), element);
  Value begin = node.binary<AddOp>(node.unary<FloorOp>(node.binary<MulOp>(size, bin)), first);
  Value end = node.binary<AddOp>(node.unary<CeilOp>(node.binary<MulOp>(size, node.binary<AddOp>(bin, 1.0))), first);
  if (node.failed())
    return rois;
  auto deepen = [&](Value value) { return node.broadcastTo(node.reshape(value, {count, all, one}), {count, all, dim}); };
  Value index = node.broadcastTo(node.cast(node.iota({one, one, dim}, 2, i64), element), {count, all, dim});
  return node.binary<AndOp>(node.compare<GreaterEqualOp>(index, deepen(begin)), node.compare<LessOp>(index, deepen(end)));
}

/// The largest elements among the members of each bin along the axis of x [regions, channels, rows, columns]; the lowest number where there is none.
static Value poolMembers(Node &node, Value x, Value members, int64_t axis, int64_t bins) {
  DimExprs shape(4, node.number(1));
  shape[0] = node.dims(x)[0], shape[axis] = node.dims(x)[axis];
  SmallVector<Value> parts;
  for (int64_t bin = 0; bin < bins && !node.failed(); ++bin) {
    Value condition = node.reshape(node.slice(members, 1, node.number(bin), node.number(1)), shape), value = x;
    Value none = node.splatLike(x, -std::numeric_limits<double>::infinity());
    node.broadcast({&condition, &value, &none}, /*mixed=*/true);
    if (!node.failed())
      parts.push_back(node.reduce(ReduceKind::Max, node.make<SelectOp>(x.getType(), condition, value, none), {axis}, /*keep=*/true));
  }
  return node.failed() ? x : node.concat(parts, axis);
}

static LogicalResult maxRoiPool(Node &node) {
  Value x = node.input(0), rois = node.input(1);
  auto shape = node.findInts("pooled_shape").value_or(SmallVector<int64_t>());
  double scale = node.getFloat("spatial_scale", 1);
  if (node.failed() || !node.expectRank(x, 4, "the input") || !node.expectRank(rois, 2, "rois"))
    return failure();
  if (shape.size() != 2 || *llvm::min_element(shape) < 1 || *llvm::max_element(shape) > 256)
    return node.error("attribute 'pooled_shape' must be two numbers from 1 to 256");
  DimExprs in = node.dims(x);
  AffineExpr count = node.dims(rois)[0];
  rois = node.cast(alignDims(node, rois, {count, node.number(5)}, "expected rois [regions, 5]"), node.builder().getF32Type());
  if (node.failed())
    return failure();
  Value image = node.reshape(node.cast(node.slice(rois, 1, node.number(0), node.number(1)), node.builder().getI64Type()), {count});
  Value corners = node.slice(rois, 1, node.number(1), node.number(4)), own = buildGather(node, x, image, 0);
  Value rows = membersOf(node, corners, 1, shape[0], scale, in[2]), columns = membersOf(node, corners, 0, shape[1], scale, in[3]);
  if (node.failed())
    return failure();
  Value pooled = poolMembers(node, poolMembers(node, own, columns, 3, shape[1]), rows, 2, shape[0]);
  Value isEmpty = node.failed() ? pooled : node.compare<EqualOp>(pooled, node.splatLike(pooled, -std::numeric_limits<double>::infinity()));
  return node.failed() ? failure() : node.result(node.make<SelectOp>(pooled.getType(), isEmpty, node.splatLike(pooled, 0), pooled));
}

//===- CropAndResize -------------------------------------------------------===//

/// Where the rows or columns of the crops read, [regions, size], as real places. The corners are at places themselves.
static Value cropAxis(Node &node, Value rois, int64_t column, int64_t size, AffineExpr dim) {
  AffineExpr one = node.number(1);
  Type element = node.elementType(rois);
  Value last = node.binary<SubOp>(sizeOf(node, dim, element), 1.0);
  Value start = node.slice(rois, 1, node.number(column), one), end = node.slice(rois, 1, node.number(column + 2), one);
  Value low = node.binary<MulOp>(start, last), high = node.binary<MulOp>(end, last);
  if (size == 1)
    return node.binary<MulOp>(node.binary<MulOp>(node.binary<AddOp>(start, end), 0.5), last);
  Value step = node.binary<DivOp>(node.binary<MulOp>(node.binary<SubOp>(end, start), last), static_cast<double>(size - 1));
  Value number = node.iota({one, node.number(size)}, 1, node.builder().getI64Type());
  Value place = node.binary<AddOp>(node.binary<MulOp>(step, node.cast(number, element)), low);
  Value isLast = node.compare<EqualOp>(number, node.splatLike(number, static_cast<double>(size - 1)));
  node.broadcast({&isLast, &high, &place}, /*mixed=*/true);
  return node.failed() ? place : node.make<SelectOp>(place.getType(), isLast, high, place);
}

/// The elements of images [N, C, H, W] at places of rows and columns, with their weights, and whether a place lies within.
static Value readCrops(Node &node, Value x, Value images, std::array<Value, 2> places, bool isNearest, double outside) {
  DimExprs in = node.dims(x);
  AffineExpr count = node.dims(images)[0], one = node.number(1);
  Type i64 = node.builder().getI64Type();
  std::array<Neighbours, 2> found;
  std::array<Value, 2> within;
  for (int axis = 0; axis < 2; ++axis) {
    Value place = places[axis], last = node.binary<SubOp>(sizeOf(node, in[2 + axis], node.elementType(place)), 1.0);
    DimExprs shape = {count, one, one, one}, line = {count, one, one};
    shape[1 + axis] = line[1 + axis] = node.dims(place)[1];
    within[axis] = node.reshape(inside(node, place, node.broadcastTo(last, node.dims(place))), shape);
    found[axis] = neighbours(node, isNearest ? node.unary<FloorOp>(node.binary<AddOp>(place, 0.5)) : place, in[2 + axis]);
    for (Neighbour &neighbour : found[axis])
      neighbour = {node.reshape(neighbour.place, line), node.reshape(neighbour.weight, line)};
  }
  Value base = node.binary<MulOp>(node.reshape(node.cast(images, i64), {count, one, one}), sizeOf(node, nn::simplifyDim(in[2] * in[3]), i64));
  Value table = node.reshape(node.transpose(x, {0, 2, 3, 1}), {in[0] * in[2] * in[3], in[1]});
  if (node.failed())
    return x;
  Value read = joinTerms<AddOp>(node, readTerms(node, table, base, found[0], found[1], in[3]));
  Value counts = node.binary<AndOp>(within[0], within[1]), other = node.splatLike(read, outside);
  node.broadcast({&counts, &read, &other}, /*mixed=*/true);
  return node.failed() ? x : node.transpose(node.make<SelectOp>(read.getType(), counts, read, other), {0, 3, 1, 2});
}

/// Boxes [y1, x1, y2, x2] in parts of the image, each resized to crop_size.
static LogicalResult cropAndResize(Node &node) {
  Value x = node.input(0), rois = node.input(1), images = node.input(2);
  auto size = node.constantIntegers(3, "crop_size");
  std::string mode = node.getString("mode", "bilinear");
  double outside = node.getFloat("extrapolation_value", 0);
  if (node.failed() || !node.expectRank(x, 4, "the input") || !node.expectRank(rois, 2, "rois") || !node.expectRank(images, 1, "batch_indices"))
    return failure();
  if (mode != "bilinear" && mode != "nearest")
    return node.error("attribute 'mode' is '" + mode + "', expected bilinear or nearest");
  if (size->size() != 2 || *llvm::min_element(*size) < 1 || *llvm::max_element(*size) > 65536)
    return node.error("crop_size must be two numbers from 1 to 65536");
  AffineExpr count = node.dims(rois)[0];
  rois = node.cast(alignDims(node, rois, {count, node.number(4)}, "expected rois [regions, 4]"), node.wideType(rois));
  if (node.failed() || !node.unify(count, node.dims(images)[0], "rois and batch_indices have different lengths"))
    return failure();
  Value ys = cropAxis(node, rois, 0, (*size)[0], node.dims(x)[2]), columns = cropAxis(node, rois, 1, (*size)[1], node.dims(x)[3]);
  Value crops = node.failed() ? x : readCrops(node, x, images, {ys, columns}, mode == "nearest", outside);
  return node.failed() ? failure() : node.result(node.cast(crops, node.elementType(x)));
}

//===- DeformConv ----------------------------------------------------------===//

namespace {
/// A convolution whose windows read at places that the offsets move: [N, groups of offsets, kernel elements, rows, columns].
class DeformConv {
public:
  explicit DeformConv(Node &node) : node(node) {}
  LogicalResult run();

private:
  bool read();
  Value places(int64_t axis);
  Value columns();

  Node &node;
  Value x, weight, offset, bias, mask;
  Window window;
  DimExprs in, grid;
  int64_t groups = 1, offsetGroups = 1, kernel = 1;
};
} // namespace

bool DeformConv::read() {
  x = node.input(0), weight = node.input(1), offset = node.input(2), bias = node.optionalInput(3), mask = node.optionalInput(4);
  groups = node.getInt("group", 1), offsetGroups = node.getInt("offset_group", 1);
  if (node.failed() || node.rank(x) != 4 || node.rank(weight) != 4 || node.rank(offset) != 4) {
    (void)node.unsupported("other than two spatial dimensions", "use an input of rank 4");
    return false;
  }
  DimExprs filter = node.dims(weight);
  auto height = nn::getConstantDim(filter[2]), width = nn::getConstantDim(filter[3]);
  in = node.dims(x);
  auto channels = nn::getConstantDim(in[1]), filters = nn::getConstantDim(filter[0]), each = nn::getConstantDim(filter[1]);
  if (!height || !width || !channels || !filters || !each) {
    (void)node.unsupported("symbolic channels or kernel sizes", "make them static with --dim");
    return false;
  }
  if (groups < 1 || offsetGroups < 1 || *channels % offsetGroups || *filters % groups || *each * groups != *channels) {
    (void)node.error("the numbers of channels, filters and groups do not fit each other");
    return false;
  }
  auto found = readWindow(node, x, SmallVector<int64_t>{*height, *width});
  if (!found)
    return false;
  window = *found;
  kernel = *height * *width;
  DimExprs out = window.outputDims(node, in);
  grid = {in[0], node.number(offsetGroups), node.number(kernel), out[0], out[1]};
  DimExprs want = {in[0], node.number(offsetGroups * kernel * 2), out[0], out[1]}, wantMask = want;
  wantMask[1] = node.number(offsetGroups * kernel);
  for (int i = 0; i < 4 && !node.failed(); ++i) {
    (void)node.unify(want[i], node.dims(offset)[i], "the offsets have a wrong shape: dimensions");
    if (mask && node.expectRank(mask, 4, "the mask"))
      (void)node.unify(wantMask[i], node.dims(mask)[i], "the mask has a wrong shape: dimensions");
  }
  return !node.failed();
}

/// Where the kernel's elements read along a spatial axis (0 rows, 1 columns).
Value DeformConv::places(int64_t axis) {
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1), height = node.number(window.kernel[0]), width = node.number(window.kernel[1]);
  Value element = node.iota({one, one, height, width, one, one}, 2 + axis, i64);
  element = node.binary<MulOp>(node.reshape(element, {one, one, grid[2], one, one}), static_cast<double>(window.dilations[axis]));
  DimExprs line = {one, one, one, one, one};
  line[3 + axis] = grid[3 + axis];
  Value start = node.binary<MulOp>(node.iota(line, 3 + axis, i64), static_cast<double>(window.strides[axis]));
  start = node.binary<SubOp>(start, static_cast<double>(window.begin(axis)));
  // Half precision cannot tell places beyond 2048 from each other.
  Value regular = node.cast(node.binary<AddOp>(node.broadcastTo(element, {one, one, grid[2], grid[3], grid[4]}), start), node.wideType(x));
  Value pairs = node.reshape(node.cast(offset, node.wideType(x)), {grid[0], grid[1], grid[2], node.number(2), grid[3], grid[4]});
  return node.binary<AddOp>(node.reshape(node.slice(pairs, 3, node.number(axis), one), grid), regular);
}

/// What the kernel's elements read, in the input's type: [N, channels, kernel elements, places].
Value DeformConv::columns() {
  AffineExpr each = nn::simplifyDim(in[1].floorDiv(offsetGroups)), area = in[2] * in[3], one = node.number(1);
  Value apart = node.reshape(x, {in[0], grid[1], each, in[2], in[3]});
  Value table = node.reshape(node.transpose(apart, {0, 1, 3, 4, 2}), {in[0] * offsetGroups * area, each});
  Neighbours ys = neighbours(node, places(0), in[2]), xs = neighbours(node, places(1), in[3]);
  Type i64 = node.builder().getI64Type();
  DimExprs images = {in[0], grid[1], one, one, one};
  Value image = node.binary<AddOp>(node.binary<MulOp>(node.iota(images, 0, i64), static_cast<double>(offsetGroups)), node.iota(images, 1, i64));
  Value base = node.binary<MulOp>(image, sizeOf(node, nn::simplifyDim(area), i64));
  Value read = joinTerms<AddOp>(node, readTerms(node, table, base, ys, xs, in[3]));
  if (mask) {
    DimExprs shape = grid;
    shape.push_back(one);
    read = node.binary<MulOp>(read, node.reshape(node.cast(mask, node.elementType(read)), shape));
  }
  read = node.transpose(read, {0, 1, 5, 2, 3, 4});
  return node.cast(node.reshape(read, {in[0], in[1], grid[2], grid[3] * grid[4]}), node.elementType(x));
}

LogicalResult DeformConv::run() {
  if (!read())
    return failure();
  AffineExpr group = node.number(groups), filters = nn::simplifyDim(node.dims(weight)[0].floorDiv(groups));
  AffineExpr depth = nn::simplifyDim(node.dims(weight)[1] * kernel), area = grid[3] * grid[4];
  Value patches = node.reshape(columns(), {in[0], group, depth, area});
  Value rows = node.broadcastTo(node.reshape(weight, {node.number(1), group, filters, depth}), {in[0], group, filters, depth});
  Value sums = node.failed() ? patches : node.matmul(rows, patches);
  Value result = node.reshape(sums, {in[0], node.dims(weight)[0], grid[3], grid[4]});
  if (bias && node.expectRank(bias, 1, "the bias"))
    result = node.binary<AddOp>(result, node.reshape(bias, {node.dims(bias)[0], node.number(1), node.number(1)}));
  return node.failed() ? failure() : node.result(result);
}

static LogicalResult deformConv(Node &node) { return DeformConv(node).run(); }

ArrayRef<Operator> getRegionOperators() {
  static const Operator rows[] = {
      {"CropAndResize", 1, Elements::Float, cropAndResize, INT64_MAX, "com.microsoft"},
      {"DeformConv", 19, Elements::Float, deformConv},
      {"MaxRoiPool", 1, Elements::Float, maxRoiPool},
      {"RoiAlign", 10, Elements::Float, roiAlign},
  };
  return rows;
}

} // namespace kiln::import
