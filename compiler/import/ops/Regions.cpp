//===- Regions.cpp - Regions of interest, and windows that move -------------===//
//
// Both read an image between its elements: of the four neighbours of each place, one gather moves all channels.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Sampling.h"
#include "compiler/import/ops/Window.h"

#include <array>

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
  if (roi.samples == 0)
    (void)node.unsupported("a sampling_ratio of 0, with which the number of samples depends on the size of each region", "set the attribute to 1 or more");
  return node.failed() ? std::nullopt : std::optional(roi);
}

/// The neighbours of the sample places of all regions along one axis: [regions, bins * samples]. A place beyond the border counts nothing, one
/// within it is moved to the edge.
static Neighbours sampleAxis(Node &node, const RoiAlign &roi, Value rois, int64_t column, int64_t bins, AffineExpr dim) {
  AffineExpr one = node.number(1), two = node.number(column + 2);
  Value start = node.binary<MulOp>(node.slice(rois, 1, node.number(column), one), roi.scale);
  Value end = node.binary<MulOp>(node.slice(rois, 1, two, one), roi.scale);
  if (roi.halfPixel)
    start = node.binary<SubOp>(start, 0.5), end = node.binary<SubOp>(end, 0.5);
  Value length = node.binary<SubOp>(end, start);
  if (!roi.halfPixel)
    length = node.binary<MaximumOp>(length, 1.0);
  Type element = node.elementType(rois);
  DimExprs row = {one, node.number(bins * roi.samples)};
  Value step = node.binary<AddOp>(node.cast(node.iota(row, 1, node.builder().getI64Type()), element), 0.5);
  Value place = node.binary<MulOp>(node.binary<DivOp>(length, static_cast<double>(bins)), node.binary<DivOp>(step, static_cast<double>(roi.samples)));
  place = node.binary<AddOp>(place, start);
  Value size = sizeOf(node, dim, element), outer = node.binary<AddOp>(place, 1.0);
  Value counts = inside(node, outer, node.broadcastTo(node.binary<AddOp>(size, 1.0), node.dims(outer)));
  Value kept = node.binary<MinimumOp>(node.binary<MaximumOp>(place, 0.0), node.binary<SubOp>(size, 1.0));
  Neighbours result = neighbours(node, kept, dim);
  for (Neighbour &neighbour : result)
    neighbour.weight = keepIf(node, counts, neighbour.weight);
  return result;
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
      {"DeformConv", 19, Elements::Float, deformConv},
      {"RoiAlign", 10, Elements::Float, roiAlign},
  };
  return rows;
}

} // namespace kiln::import
