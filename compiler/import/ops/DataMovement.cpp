//===- DataMovement.cpp - Slices, joins, borders, permutations ---------------===//
#include "compiler/import/DataDims.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Strings.h"
#include "dialects/nn/NNArithmeticOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static LogicalResult transpose(Node &node) {
  Value x = node.input(0);
  int64_t rank = node.rank(x);
  SmallVector<int64_t> permutation = node.findInts("perm").value_or(llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank))));
  if (static_cast<int64_t>(permutation.size()) != rank)
    return node.error("attribute 'perm' has " + Twine(permutation.size()) + " entries, the input has rank " + Twine(rank));
  if (node.axes(permutation, rank); node.failed())
    return node.error("attribute 'perm' is not a permutation");
  for (int64_t &axis : permutation)
    axis = node.axis(axis, rank);
  return node.result(node.transpose(x, permutation));
}

static LogicalResult concat(Node &node) {
  SmallVector<Value> values;
  for (unsigned i = 0; i < node.numInputs(); ++i)
    values.push_back(node.input(i));
  if (values.empty())
    return node.error("has no inputs");
  int64_t axis = node.axis(node.opset < 4 ? node.getInt("axis", 1) : node.requireInt("axis"), node.rank(values.front()));
  return node.failed() ? failure() : node.result(node.concat(values, axis));
}

//===- Slice ---------------------------------------------------------------===//

/// Bounds beyond this mean "to the end".
static constexpr int64_t endless = (int64_t(1) << 31) - 1;

/// A bound counted from the front and cut to [low, high].
static AffineExpr normalizeBound(Node &node, AffineExpr bound, AffineExpr size, AffineExpr low, AffineExpr high) {
  auto known = nn::getConstantDim(bound);
  if (known && *known >= endless)
    return high;
  if (known && *known <= -endless)
    return node.clampHigh(low, high, "a bound is after the end");
  bound = node.countFromFront(bound, size, "a bound is before the start");
  return node.clampHigh(node.clampLow(bound, low, "a bound is before the start"), high, "a bound is after the end");
}

static Value sliceAxis(Node &node, Value x, int64_t axis, AffineExpr start, AffineExpr end, int64_t step) {
  AffineExpr size = node.dims(x)[axis], zero = node.number(0);
  bool forward = step > 0;
  AffineExpr low = node.number(forward ? 0 : -1), high = forward ? size : size - 1;
  AffineExpr first = normalizeBound(node, start, size, zero, high);
  AffineExpr last = normalizeBound(node, end, size, low, high);
  // A step that leaves the range at once is as good as the largest sane one.
  int64_t stride = std::clamp<int64_t>(step, -endless, endless);
  AffineExpr distance = nn::simplifyDim(forward ? last - first : first - last);
  distance = node.clampLow(distance, zero, "the slice ends before it starts");
  AffineExpr extent = nn::simplifyDim(distance.ceilDiv(std::abs(stride)));
  if (nn::getConstantDim(extent) == 0)
    return node.slice(x, axis, zero, zero, 1);
  return node.slice(x, axis, first, extent, stride);
}

/// A Slice whose starts or ends the run computes.
static LogicalResult sliceAllByData(Node &node, std::optional<SmallVector<int64_t>> axes, std::optional<SmallVector<int64_t>> steps) {
  Value x = node.input(0);
  auto count = nn::getConstantDim(node.dims(node.input(1))[0]);
  if (!count || !node.unify(node.dims(node.input(1))[0], node.dims(node.input(2))[0], "starts and ends have different lengths:"))
    return node.unsupported("the number of starts and ends is known only at run time", "make it static with --dim");
  axes = axes.value_or(llvm::to_vector(llvm::seq<int64_t>(0, *count)));
  steps = steps.value_or(SmallVector<int64_t>(*count, 1));
  if (static_cast<int64_t>(axes->size()) != *count || axes->size() != steps->size())
    return node.error("starts, ends, axes and steps have different lengths");
  if (node.axes(*axes, node.rank(x)); node.failed())
    return failure();
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    if ((*steps)[i] < 1)
      return node.unsupported("a step is not positive, and the starts or ends are known only at run time",
                              "fix the input that they depend on with --bind input=value");
    auto at = [&](unsigned operand) { return node.slice(node.input(operand), 0, node.number(static_cast<int64_t>(i)), node.number(1)); };
    x = sliceByData(node, x, node.axis(axis, node.rank(x)), at(1), at(2), std::min((*steps)[i], endless));
  }
  return node.failed() ? failure() : node.result(x);
}

static LogicalResult slice(Node &node) {
  Value x = node.input(0);
  std::optional<DimExprs> starts, ends;
  std::optional<SmallVector<int64_t>> axes, steps;
  // DynamicSlice is what Slice became.
  if (node.opset < 10 && node.opType() != "DynamicSlice") {
    auto exprs = [&](StringRef name) {
      DimExprs result;
      for (int64_t value : node.findInts(name).value_or(SmallVector<int64_t>()))
        result.push_back(node.number(value));
      return result;
    };
    starts = exprs("starts");
    ends = exprs("ends");
    axes = node.findInts("axes");
  } else {
    if (!node.expectRank(node.input(1), 1, "starts") || !node.expectRank(node.input(2), 1, "ends"))
      return failure();
    bool isByData = !node.isKnown(1) || !node.isKnown(2);
    starts = isByData ? std::nullopt : node.knownIntegers(1, "starts");
    ends = isByData ? std::nullopt : node.knownIntegers(2, "ends");
    if (node.hasInput(3))
      axes = node.constantIntegers(3, "axes");
    if (node.hasInput(4))
      steps = node.constantIntegers(4, "steps");
    if (isByData && !node.failed())
      return sliceAllByData(node, axes, steps);
  }
  if (node.failed())
    return failure();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts->size()));
  if (!steps)
    steps = SmallVector<int64_t>(starts->size(), 1);
  if (ends->size() != starts->size() || axes->size() != starts->size() || steps->size() != starts->size())
    return node.error("starts, ends, axes and steps have different lengths");
  if (node.axes(*axes, node.rank(x)); node.failed())
    return failure();
  for (size_t i = 0; i < axes->size(); ++i) {
    if ((*steps)[i] == 0)
      return node.error("a step is zero");
    x = sliceAxis(node, x, node.axis((*axes)[i], node.rank(x)), (*starts)[i], (*ends)[i], (*steps)[i]);
  }
  return node.result(x);
}

//===- Split ---------------------------------------------------------------===//

/// What the model declares for the parts, when their extents are data.
static std::optional<DimExprs> declaredExtents(Node &node, int64_t axis) {
  DimExprs extents;
  for (unsigned i = 0; i < node.numOutputs(); ++i) {
    auto dims = node.trustedDims(i);
    if (!dims || axis >= static_cast<int64_t>(dims->size()))
      return makeDataDims(node, node.input(1), SmallVector<AffineExpr>(node.numOutputs(), node.dims(node.input(0))[axis]), "part");
    extents.push_back((*dims)[axis]);
  }
  expectInRun(node, node.input(1), extents);
  return extents;
}

/// The extents of the parts: given, or equal ones of which the last may be smaller.
static std::optional<DimExprs> splitExtents(Node &node, AffineExpr size, int64_t axis) {
  if (node.opset == 1 && node.hasInput(1)) { // of the type of the data
    auto given = node.constantNumbers(1, "split");
    return given ? std::optional(llvm::map_to_vector<6>(*given, [&](double extent) { return node.number(static_cast<int64_t>(extent)); })) : std::nullopt;
  }
  if (node.opset >= 13 && node.hasInput(1))
    return node.isKnown(1) ? node.knownIntegers(1, "split") : declaredExtents(node, axis);
  DimExprs extents;
  if (auto given = node.opset < 13 ? node.findInts("split") : std::nullopt) {
    for (int64_t extent : *given)
      extents.push_back(node.number(extent));
    return extents;
  }
  int64_t parts = node.opset >= 18 ? node.getInt("num_outputs", node.numOutputs()) : node.numOutputs();
  if (parts < 1 || parts != static_cast<int64_t>(node.numOutputs())) {
    (void)node.error("has " + Twine(node.numOutputs()) + " outputs, but is split in " + Twine(parts));
    return std::nullopt;
  }
  auto known = nn::getConstantDim(size);
  if (node.opset < 18 && known && *known % parts) {
    (void)node.error("dimension of size " + Twine(*known) + " cannot be split in " + Twine(parts) + " equal parts");
    return std::nullopt;
  }
  AffineExpr each = nn::simplifyDim(size.ceilDiv(parts));
  extents.assign(parts, each);
  extents.back() = nn::simplifyDim(size - each * (parts - 1));
  if (!known)
    node.requireInRun(extents.back());
  return extents;
}

static LogicalResult split(Node &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.getInt("axis", 0), node.rank(x));
  if (node.failed())
    return failure();
  AffineExpr size = node.dims(x)[axis], start = node.number(0), sum = start;
  auto extents = splitExtents(node, size, axis);
  if (!extents)
    return failure();
  if (extents->size() != node.numOutputs())
    return node.error("split has " + Twine(extents->size()) + " entries, but there are " + Twine(node.numOutputs()) + " outputs");
  for (AffineExpr extent : *extents) {
    if (auto known = nn::getConstantDim(extent); known && *known < 0)
      return node.error("split has the negative entry " + Twine(*known));
    sum = sum + extent;
  }
  if (!node.unify(sum, size, "the sum of split differs from the dimension's size"))
    return failure();
  for (auto [i, extent] : llvm::enumerate(*extents)) {
    (void)node.result(i, node.slice(x, axis, start, extent));
    start = start + extent;
  }
  return success(!node.failed());
}

//===- Tile, Pad -----------------------------------------------------------===//

/// Opset 1: one dimension, `axis`, is repeated `tiles` times; both are inputs.
static LogicalResult tileAxis(Node &node) {
  Value x = node.input(0);
  auto given = node.constantNumbers(1, "tiles"), at = node.constantNumbers(2, "axis");
  if (!given || !at)
    return failure();
  if (given->size() != 1 || at->size() != 1 || !(given->front() >= 1 && given->front() < endless) || !(std::abs(at->front()) < endless))
    return node.error("expected one axis and one positive number of tiles");
  int64_t axis = node.axis(static_cast<int64_t>(at->front()), node.rank(x)), tiles = static_cast<int64_t>(given->front());
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(x), apart = dims, joined = dims;
  apart.insert(apart.begin() + axis, node.number(1));
  DimExprs repeated = apart;
  repeated[axis] = node.number(tiles);
  joined[axis] = dims[axis] * tiles;
  (void)node.type(joined, node.elementType(x));
  return node.failed() ? failure() : node.result(node.reshape(node.broadcastTo(node.reshape(x, apart), repeated), joined));
}

/// Each dimension gets one of size `repeats` in front, and both become one.
static LogicalResult tile(Node &node) {
  Value x = node.input(0);
  DimExprs dims = node.dims(x), apart, repeated, joined;
  std::optional<DimExprs> repeats;
  if (auto declared = node.isKnown(1) ? std::nullopt : node.trustedDims(); declared && declared->size() == dims.size()) {
    repeats.emplace();
    for (auto [to, from] : llvm::zip_equal(*declared, dims))
      repeats->push_back(divideExactly({to}, {from}, node.context()));
    expectInRun(node, node.binary<MulOp>(node.cast(node.input(1), node.builder().getI64Type()), makeDimVector(node, dims)), *declared);
  } else {
    repeats = readSizes(node, 1, "repeats");
  }
  if (!repeats)
    return failure();
  if (repeats->size() != dims.size())
    return node.error("repeats has " + Twine(repeats->size()) + " entries, the input has rank " + Twine(dims.size()));
  for (auto [dim, repeat] : llvm::zip_equal(dims, *repeats)) {
    auto known = nn::getConstantDim(repeat);
    if (known && *known < 0)
      return node.error("repeats has the negative entry " + Twine(*known));
    if (known != 1) {
      apart.push_back(node.number(1));
      repeated.push_back(repeat);
    }
    apart.push_back(dim);
    repeated.push_back(dim);
    joined.push_back(dim * repeat);
  }
  (void)node.type(joined, node.elementType(x));
  return node.failed() ? failure() : node.result(node.reshape(node.broadcastTo(node.reshape(x, apart), repeated), joined));
}

static std::optional<PadMode> padMode(Node &node) {
  std::string mode = node.getString("mode", "constant");
  auto known = symbolizePadMode(mode);
  if (!known)
    (void)node.error("attribute 'mode' is '" + mode + "', expected constant, reflect, edge or wrap");
  return known;
}

/// A reflection ends where the input does; an edge and a whole input repeat as often as the border is long. `kept` is what negative amounts leave.
static void checkBorder(Node &node, PadMode mode, AffineExpr kept, AffineExpr amount) {
  if (mode == PadMode::Constant || provablyAtMost(amount, node.number(0)))
    return;
  auto size = nn::getConstantDim(kept), border = nn::getConstantDim(amount);
  AffineExpr room = kept - 1 - (mode == PadMode::Reflect ? amount : node.number(0));
  // An amount that adds nothing in a run needs nothing to repeat.
  if (!size || !border)
    node.requireNotNegative(border ? room : node.facts().getLarger(room, -amount), "the border is larger than the dimension");
  else if (*size <= 0)
    (void)node.error("cannot pad an empty dimension with its own elements");
  else if (mode == PadMode::Reflect && *border >= *size)
    (void)node.error("cannot reflect " + Twine(*border) + " elements of a dimension of size " + Twine(*size) + ": the border must be smaller");
}

/// Amounts of both sides that data may decide. No more than there is can be cut off.
static std::optional<DimExprs> readPads(Node &node, Value x, ArrayRef<int64_t> axes) {
  SmallVector<AffineExpr> sizes;
  for (unsigned side = 0; side < 2; ++side)
    for (int64_t given : axes)
      sizes.push_back(node.dims(x)[node.axis(given, node.rank(x))]);
  return sizes.empty() ? node.knownIntegers(1, "pads") : readAmounts(node, 1, sizes, "pads");
}

/// Up to opset 10 of ONNX what is padded are attributes, else inputs.
static LogicalResult padBy(Node &node, bool areInputs) {
  Value x = node.input(0);
  int64_t rank = node.rank(x);
  std::optional<PadMode> mode = padMode(node);
  std::optional<DimExprs> pads;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.hasInput(3))
    axes = node.constantIntegers(3, "axes").value_or(SmallVector<int64_t>());
  if (node.axes(axes, rank); node.failed() || !mode)
    return failure();
  if (!areInputs) {
    pads.emplace();
    for (int64_t amount : node.findInts(node.opset < 2 ? "paddings" : "pads").value_or(SmallVector<int64_t>()))
      pads->push_back(node.number(amount));
  } else {
    pads = readPads(node, x, axes);
  }
  if (!pads)
    return failure();
  if (pads->size() != 2 * axes.size())
    return node.error("pads has " + Twine(pads->size()) + " entries, expected " + Twine(2 * axes.size()));
  SmallVector<AffineExpr> low(rank, node.number(0)), high = low;
  for (auto [i, given] : llvm::enumerate(axes)) {
    int64_t axis = node.axis(given, rank);
    low[axis] = (*pads)[i];
    high[axis] = (*pads)[axes.size() + i];
    AffineExpr zero = node.number(0), kept = node.dims(x)[axis] - node.facts().getLarger(-low[axis], zero) - node.facts().getLarger(-high[axis], zero);
    node.requireInRun(node.dims(x)[axis] + low[axis] + high[axis]);
    checkBorder(node, *mode, nn::simplifyDim(kept), low[axis]);
    checkBorder(node, *mode, nn::simplifyDim(kept), high[axis]);
  }
  Value fill = areInputs ? node.optionalInput(2) : Value();
  StringPlaces strings(node, {&x, &fill});
  if (fill && node.elementType(fill) != node.elementType(x))
    return node.error("the constant value has another element type than the input");
  fill = fill ? node.reshape(fill, {}) : !areInputs ? node.splat({}, node.elementType(x), node.getFloat("value", 0)) : strings.fill(node.elementType(x));
  return node.failed() ? failure() : node.result(strings.restore(node.pad(x, low, high, *mode, fill)));
}

static LogicalResult pad(Node &node) { return padBy(node, node.opset >= 11); }
static LogicalResult contribPad(Node &node) { return padBy(node, /*areInputs=*/true); }

//===- Blocks between depth and space --------------------------------------===//

static bool checkBlock(Node &node, Value x, int64_t block) {
  if (!node.expectRank(x, 4, "the input"))
    return false;
  if (block < 1 || block > 65536)
    (void)node.error("attribute 'blocksize' is " + Twine(block) + ", expected a positive number");
  return !node.failed();
}

static LogicalResult depthToSpace(Node &node) {
  Value x = node.input(0);
  int64_t block = node.requireInt("blocksize");
  std::string mode = node.getString("mode", "DCR");
  if (!checkBlock(node, x, block))
    return failure();
  DimExprs d = node.dims(x);
  auto channels = nn::getConstantDim(d[1]);
  if (channels && *channels % (block * block))
    return node.error(Twine(*channels) + " channels are not a multiple of the square of blocksize");
  AffineExpr b = node.number(block), c = nn::simplifyDim(d[1].floorDiv(block * block));
  bool depthFirst = mode == "DCR";
  if (!depthFirst && mode != "CRD")
    return node.error("attribute 'mode' is '" + mode + "', expected DCR or CRD");
  x = node.reshape(x, depthFirst ? DimExprs{d[0], b, b, c, d[2], d[3]} : DimExprs{d[0], c, b, b, d[2], d[3]});
  x = node.transpose(x, depthFirst ? ArrayRef<int64_t>{0, 3, 4, 1, 5, 2} : ArrayRef<int64_t>{0, 1, 4, 2, 5, 3});
  return node.result(node.reshape(x, {d[0], c, d[2] * b, d[3] * b}));
}

static LogicalResult spaceToDepth(Node &node) {
  Value x = node.input(0);
  int64_t block = node.requireInt("blocksize");
  if (!checkBlock(node, x, block))
    return failure();
  DimExprs d = node.dims(x);
  for (int64_t axis : {2, 3}) {
    if (auto size = nn::getConstantDim(d[axis]); size && *size % block)
      return node.error("dimension of size " + Twine(*size) + " is not a multiple of blocksize " + Twine(block));
    (void)node.unify(d[axis] % block, node.number(0), "a dimension is not a multiple of blocksize");
  }
  AffineExpr b = node.number(block), h = nn::simplifyDim(d[2].floorDiv(block)), w = nn::simplifyDim(d[3].floorDiv(block));
  x = node.reshape(x, {d[0], d[1], h, b, w, b});
  x = node.transpose(x, node.getString("mode", "DCR") == "DCR" ? ArrayRef<int64_t>{0, 3, 5, 1, 2, 4} : ArrayRef<int64_t>{0, 1, 3, 5, 2, 4});
  return node.result(node.reshape(x, {d[0], d[1] * (block * block), h, w}));
}

/// Cuts or pads each axis to a size, alike on both sides.
static LogicalResult centerCropPad(Node &node) {
  Value x = node.input(0);
  auto sizes = node.constantIntegers(1, "the shape");
  int64_t rank = node.rank(x);
  SmallVector<int64_t> axes = node.findInts("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  if (!sizes || (node.axes(axes, rank), node.failed()) || sizes->size() != axes.size())
    return node.error("the shape does not have one entry for each axis");
  SmallVector<AffineExpr> low(rank, node.number(0)), high(rank, node.number(0));
  for (auto [axis, size] : llvm::zip_equal(axes, *sizes)) {
    axis = node.axis(axis, rank);
    if (size < 0)
      return node.error("the shape has the negative entry " + Twine(size));
    AffineExpr have = node.dims(x)[axis], zero = node.number(0);
    AffineExpr cut = node.facts().getLarger(have - size, zero), added = node.facts().getLarger(size - have, zero);
    if (nn::getConstantDim(cut) != 0)
      x = node.slice(x, axis, cut.floorDiv(2), have - cut);
    low[axis] = nn::simplifyDim(added.floorDiv(2));
    high[axis] = nn::simplifyDim(added - low[axis]);
  }
  if (node.failed() || llvm::all_of(high, [](AffineExpr amount) { return nn::getConstantDim(amount) == 0; }))
    return node.result(x);
  StringPlaces strings(node, {&x});
  return node.result(strings.restore(node.pad(x, low, high, PadMode::Constant, strings.fill(node.elementType(x)))));
}

ArrayRef<Operator> getDataMovementOperators() {
  static const Operator rows[] = {
      {"CenterCropPad", 18, Elements::Data, centerCropPad},
      {"Concat", 1, Elements::Data, concat},
      {"DepthToSpace", 1, Elements::Data, depthToSpace},
      {"DynamicSlice", 1, Elements::Data, slice, 9},
      {"Pad", 1, Elements::Data, pad},
      {"Pad", 1, Elements::Float, contribPad, INT64_MAX, "com.microsoft"},
      {"Slice", 1, Elements::Data, slice},
      {"SpaceToDepth", 1, Elements::Data, spaceToDepth},
      {"Split", 1, Elements::Data, split},
      {"Tile", 1, Elements::Data, tileAxis, 5},
      {"Tile", 6, Elements::Data, tile},
      {"Transpose", 1, Elements::Data, transpose},
  };
  return rows;
}

} // namespace kiln::import
