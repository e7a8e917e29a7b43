//===- Sampling.cpp - Reads at computed coordinates --------------------------===//
#include "compiler/import/ops/Sampling.h"
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

Value sizeOf(Node &node, AffineExpr dim, Type element) {
  Contents contents = {{dim}};
  return node.cast(materialize(node.builder(), node.loc, RankedTensorType::get({}, node.builder().getI64Type()), contents), element);
}

//===- AffineGrid ----------------------------------------------------------===//

/// The places -1 ... 1 of a dimension's elements: their centres, or from the first to the last one with align_corners.
static Value normalizedPlaces(Node &node, ArrayRef<AffineExpr> dims, int64_t axis, Type element, bool alignCorners) {
  Value at = node.cast(node.iota(dims, axis, node.builder().getI64Type()), element), size = sizeOf(node, dims[axis], element);
  Value last = node.binary<MaximumOp>(node.binary<SubOp>(size, 1.0), 1.0);
  Value twice = node.binary<MulOp>(at, 2.0);
  Value places = alignCorners ? node.binary<DivOp>(twice, last) : node.binary<DivOp>(node.binary<AddOp>(twice, 1.0), size);
  return node.binary<SubOp>(places, 1.0);
}

static LogicalResult affineGrid(Node &node) {
  // Half precision cannot count beyond 2048 places.
  Value given = node.input(0), theta = node.cast(given, node.wideType(given));
  auto size = node.knownIntegers(1, "the size");
  bool alignCorners = node.getFlag("align_corners");
  if (!size || !node.expectRank(theta, 3, "theta"))
    return failure();
  int64_t spatial = static_cast<int64_t>(size->size()) - 2;
  DimExprs dims = node.dims(theta);
  if ((spatial != 2 && spatial != 3) || nn::getConstantDim(dims[1]) != spatial || nn::getConstantDim(dims[2]) != spatial + 1)
    return node.error("expected theta [N, 2, 3] with 4 sizes, or [N, 3, 4] with 5");
  DimExprs places(size->begin() + 2, size->end()), column = places, result = places;
  column.push_back(node.number(1));
  Type element = node.elementType(theta);
  SmallVector<Value> columns;
  for (int64_t axis = spatial - 1; axis >= 0; --axis)
    columns.push_back(node.reshape(normalizedPlaces(node, places, axis, element, alignCorners), column));
  columns.push_back(node.splat(column, element, 1));
  Value base = node.concat(columns, spatial);
  AffineExpr count = nn::getNumElements(places, node.context());
  base = node.broadcastTo(node.reshape(base, {count, node.number(spatial + 1)}), {dims[0], count, node.number(spatial + 1)});
  result.insert(result.begin(), dims[0]);
  result.push_back(node.number(spatial));
  Value grid = node.reshape(node.matmul(base, node.transpose(theta, {0, 2, 1})), result);
  return node.result(node.cast(grid, node.elementType(given)));
}

//===- GridSample ----------------------------------------------------------===//
//
// Each place of the grid reads 1 (nearest), 2 (linear) or 4 (cubic) elements a dimension. Taps are flat indices into the image with its
// channels last, so that one gather moves all channels of a place.
//
//===----------------------------------------------------------------------===//

namespace {
/// A row of taps along one dimension: the index as a number, and what it counts; a null weight is one.
struct Tap {
  Value place, weight;
};

class GridSample {
public:
  explicit GridSample(Node &node) : node(node) {}
  LogicalResult run();

private:
  bool read();
  Value coordinate(int64_t axis);
  SmallVector<Tap> taps(int64_t axis);
  Value reflect(Value place, AffineExpr dim);
  Tap keepInside(Tap tap, AffineExpr dim);
  Value cubicWeight(Value distance, bool isNear);
  Value blend(int64_t axis, Value index, Value weight);
  Value fetch(Value index, Value weight);

  Node &node;
  Value image, grid;
  std::string mode, padding;
  bool alignCorners = false;
  DimExprs sizes, places;
  Type real;
  SmallVector<SmallVector<Tap>> allTaps;
};
} // namespace

bool GridSample::read() {
  image = node.input(0);
  grid = node.input(1);
  mode = node.getString("mode", node.opset < 20 ? "bilinear" : "linear");
  mode = mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode;
  padding = node.getString("padding_mode", "zeros");
  alignCorners = node.getFlag("align_corners");
  if (mode != "linear" && mode != "nearest" && mode != "cubic")
    (void)node.error("attribute 'mode' is '" + mode + "', expected linear, nearest or cubic");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    (void)node.error("attribute 'padding_mode' is '" + padding + "', expected zeros, border or reflection");
  int64_t rank = node.rank(image);
  if (rank < 3 || rank > 5 || !node.expectRank(grid, rank, "the grid"))
    (void)node.error("the input has rank " + Twine(rank) + ", expected [N, C] and one to three spatial dimensions");
  if (!node.failed()) {
    DimExprs aligned = node.dims(grid);
    aligned.back() = node.number(rank - 2);
    grid = alignDims(node, grid, aligned, "the grid's last dimension is not " + Twine(rank - 2));
  }
  if (node.failed() || !node.unify(node.dims(image)[0], node.dims(grid)[0], "input and grid have different batch sizes"))
    return false;
  // Half precision cannot count beyond 2048 places.
  real = node.elementType(grid).isF64() ? node.elementType(grid) : Type(node.builder().getF32Type());
  grid = node.cast(grid, real);
  DimExprs in = node.dims(image), out = node.dims(grid);
  sizes.assign(in.begin() + 2, in.end());
  places.assign(out.begin(), out.end() - 1);
  return true;
}

/// Where the grid points along a dimension, in elements; its last number is that of the first dimension.
Value GridSample::coordinate(int64_t axis) {
  int64_t last = node.rank(grid) - 1;
  Value g = node.reshape(node.slice(grid, last, node.number(static_cast<int64_t>(sizes.size()) - 1 - axis), node.number(1)), places);
  // As PyTorch, take what is not a number for the lower border.
  Value isNan = node.make<IsNanOp>(node.type(places, node.builder().getI1Type()), g);
  g = node.make<SelectOp>(g.getType(), isNan, node.splatLike(g, -1), g);
  Value size = sizeOf(node, sizes[axis], real), shifted = node.binary<AddOp>(g, 1.0);
  if (alignCorners)
    return node.binary<MulOp>(shifted, node.binary<MulOp>(node.binary<SubOp>(size, 1.0), 0.5));
  return node.binary<MulOp>(node.binary<SubOp>(node.binary<MulOp>(shifted, size), 1.0), 0.5);
}

/// Folds the line of places back and forth between the borders.
Value GridSample::reflect(Value place, AffineExpr dim) {
  double low = alignCorners ? 0 : -0.5;
  Value size = sizeOf(node, dim, real), range = alignCorners ? node.binary<MaximumOp>(node.binary<SubOp>(size, 1.0), 1.0) : size;
  Value distance = node.unary<AbsOp>(node.binary<SubOp>(place, low));
  Value turns = node.unary<FloorOp>(node.binary<DivOp>(distance, range));
  Value rest = node.binary<SubOp>(distance, node.binary<MulOp>(turns, range));
  Value isEven = node.compare<EqualOp>(node.binary<ModOp>(turns, 2.0), node.splatLike(turns, 0));
  Value back = node.binary<SubOp>(range, rest);
  return node.binary<AddOp>(node.make<SelectOp>(rest.getType(), isEven, rest, back), low);
}

/// A tap outside reads the border and, with zeros around the image, counts nothing.
Tap GridSample::keepInside(Tap tap, AffineExpr dim) {
  if (padding == "reflection")
    tap.place = reflect(tap.place, dim);
  Value last = node.binary<SubOp>(sizeOf(node, dim, real), 1.0);
  Value inside = node.binary<MinimumOp>(node.binary<MaximumOp>(tap.place, 0.0), last);
  if (padding == "zeros") {
    Value isInside = node.compare<EqualOp>(inside, tap.place), weight = tap.weight ? tap.weight : node.splatLike(inside, 1);
    tap.weight = node.make<SelectOp>(weight.getType(), isInside, weight, node.splatLike(weight, 0));
  }
  tap.place = inside;
  return tap;
}

/// Keys' kernel with a = -0.75: for distances below one, and from one to two.
Value GridSample::cubicWeight(Value x, bool isNear) {
  constexpr double a = -0.75;
  auto step = [&](Value sum, double term) { return node.binary<AddOp>(node.binary<MulOp>(sum, x), term); };
  Value first = node.binary<MulOp>(x, isNear ? a + 2 : a);
  return isNear ? step(step(node.binary<AddOp>(first, -(a + 3)), 0), 1) : step(step(node.binary<AddOp>(first, -5 * a), 8 * a), -4 * a);
}

SmallVector<Tap> GridSample::taps(int64_t axis) {
  Value x = coordinate(axis);
  SmallVector<Tap> result;
  if (mode == "nearest") {
    result.push_back({node.unary<RoundOp>(x), {}});
  } else {
    Value whole = node.unary<FloorOp>(x), t = node.binary<SubOp>(x, whole), rest = node.binary<SubOp>(node.splatLike(t, 1), t);
    Value next = node.binary<AddOp>(whole, 1.0);
    if (mode == "linear")
      result = {{whole, rest}, {next, t}};
    else
      result = {{node.binary<SubOp>(whole, 1.0), cubicWeight(node.binary<AddOp>(t, 1.0), false)}, {whole, cubicWeight(t, true)},
                {next, cubicWeight(rest, true)}, {node.binary<AddOp>(whole, 2.0), cubicWeight(node.binary<AddOp>(rest, 1.0), false)}};
  }
  for (Tap &tap : result) {
    tap = keepInside(tap, sizes[axis]);
    tap.place = node.cast(tap.place, node.builder().getI64Type());
  }
  return result;
}

/// The channels at flat indices, times a weight, in the type that they are summed in.
Value GridSample::fetch(Value index, Value weight) {
  DimExprs one = places, to = places;
  one.push_back(node.number(1));
  to.push_back(node.dims(image).back());
  Value read = node.cast(node.make<GatherNdOp>(node.type(to, node.elementType(image)), image, node.reshape(index, one), 1), node.wideType(image));
  return weight ? node.binary<MulOp>(read, node.reshape(node.cast(weight, node.elementType(read)), one)) : read;
}

/// The sum over all combinations of taps of the dimensions from `axis` on.
Value GridSample::blend(int64_t axis, Value index, Value weight) {
  if (axis == static_cast<int64_t>(sizes.size()))
    return fetch(index, weight);
  Value sum;
  for (const Tap &tap : allTaps[axis]) {
    Value at = index ? node.binary<AddOp>(node.binary<MulOp>(index, sizeOf(node, sizes[axis], node.elementType(index))), tap.place) : tap.place;
    Value counts = weight && tap.weight ? node.binary<MulOp>(weight, tap.weight) : tap.weight ? tap.weight : weight;
    Value term = blend(axis + 1, at, counts);
    sum = sum ? node.binary<AddOp>(sum, term) : term;
  }
  return sum;
}

LogicalResult GridSample::run() {
  if (!read())
    return failure();
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    allTaps.push_back(taps(static_cast<int64_t>(axis)));
  if (node.failed())
    return failure();
  // [N, C, spatial...] -> [N, places, C], and the result back.
  int64_t rank = node.rank(image);
  SmallVector<int64_t> last = {0}, first = {0, rank - 1};
  for (int64_t i = 2; i < rank; ++i) {
    last.push_back(i);
    first.push_back(i - 1);
  }
  last.push_back(1);
  DimExprs in = node.dims(image);
  image = node.reshape(node.transpose(image, last), {in[0], nn::getNumElements(sizes, node.context()), in[1]});
  Type element = node.elementType(image);
  return node.result(node.cast(node.transpose(blend(0, {}, {}), first), element));
}

static LogicalResult gridSample(Node &node) { return GridSample(node).run(); }

ArrayRef<Operator> getSamplingOperators() {
  static const Operator rows[] = {
      asComposite({"AffineGrid", 20, Elements::Float, affineGrid}),
      {"GridSample", 16, Elements::Float, gridSample},
      {"GridSample", 1, Elements::Float, gridSample, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
