//===- DataSized.cpp - Results whose size only the data tells ----------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/DataDims.h"
#include "compiler/import/Operators.h"
#include "compiler/import/SymbolicSizes.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNDataSizedOps.h"
#include "dialects/nn/NNRuntimeOps.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The number of the symbol that an operation computes, and the type of its count.
static uint64_t positionOf(AffineExpr symbol) { return mlir::cast<AffineSymbolExpr>(symbol).getPosition(); }
static RankedTensorType countType(Node &node) { return RankedTensorType::get({1}, node.builder().getI64Type()); }

/// The result with a size that the caller bounds, where the own bound of its count is too large for what is made of it.
static Value loosen(Node &node, Value result, int64_t axis, Value counted, AffineExpr count) {
  if (node.failed() || !node.sizes().isLoosened(positionOf(count)))
    return result;
  AffineExpr size = makeDataDim(node, counted, AffineExpr(), node.outputName(0) + "_kept");
  return node.failed() ? result : node.slice(result, axis, node.number(0), size);
}

/// [rank, count] coordinates of what is not zero.
static Value makeNonZero(Node &node, Value x, const Twine &name) {
  // Values that one mask chooses are of one size.
  for (Operation *user : x.getUsers())
    if (auto known = dyn_cast<NonZeroOp>(user); known && !node.sizes().isLoosened(known.getCounts()) &&
                                                 known->getParentRegion()->isAncestor(node.builder().getInsertionBlock()->getParent()))
      return known.getIndices();
  AffineExpr count = node.computedDim(getNumElements(node.dims(x), node.context()), name);
  RankedTensorType type = node.type({node.number(node.rank(x)), count}, node.builder().getI64Type());
  if (node.failed())
    return {};
  auto op = NonZeroOp::create(node.builder(), node.loc, type, countType(node), x, positionOf(count));
  return loosen(node, op.getIndices(), 1, op.getCount(), count);
}

static LogicalResult nonZero(Node &node) {
  Value indices = makeNonZero(node, node.input(0), node.outputName(0) + "_count");
  return node.failed() ? failure() : node.result(indices);
}

/// The axis of Compress and Unique; without one they see x as one line.
static int64_t takeAxis(Node &node, Value &x) {
  auto given = node.findInt("axis");
  if (!given && !node.failed())
    x = node.reshape(x, {getNumElements(node.dims(x), node.context())});
  return node.failed() ? 0 : node.axis(given.value_or(0), node.rank(x));
}

/// The chosen slices of a condition that is known.
static Value knownPlaces(Node &node, ArrayRef<AffineExpr> condition, AffineExpr size) {
  SmallVector<int64_t> chosen;
  auto known = getConstantDim(size);
  for (auto [i, flag] : llvm::enumerate(condition))
    if (getConstantDim(flag) != 0)
      chosen.push_back(i);
  if (known && !chosen.empty() && chosen.back() >= *known)
    (void)node.error("index " + Twine(chosen.back()) + " is out of range for a dimension of size " + Twine(*known));
  return node.constantInts(chosen);
}

/// The slices of x along an axis where the condition holds; the condition may be shorter than the axis.
static LogicalResult compress(Node &node) {
  Value x = node.input(0), condition = node.input(1);
  if (node.failed() || !node.expectRank(condition, 1, "the condition"))
    return failure();
  if (!node.elementType(condition).isInteger(1))
    return node.error("the condition must be bool");
  int64_t axis = takeAxis(node, x);
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(x);
  Value places;
  if (auto known = getIntegerContents(condition)) {
    places = knownPlaces(node, *known, dims[axis]);
  } else {
    node.requireNotNegative(dims[axis] - node.dims(condition)[0], "the condition is longer than the axis");
    places = node.failed() ? Value() : makeNonZero(node, condition, node.outputName(0) + "_count");
    if (!node.failed())
      places = node.reshape(places, {node.dims(places)[1]});
  }
  if (node.failed())
    return failure();
  dims[axis] = node.dims(places)[0];
  RankedTensorType type = node.type(dims, node.elementType(x));
  return node.failed() ? failure() : node.result(node.make<GatherOp>(type, x, places, axis));
}

//===- Unique --------------------------------------------------------------===//

/// `outputs` says which of values, first places, places in the result and counts the outputs are.
static LogicalResult findUnique(Node &node, bool sorted, ArrayRef<unsigned> outputs) {
  Value x = node.input(0);
  int64_t axis = takeAxis(node, x);
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(x);
  // The axis in front, the rest of each slice in a row.
  SmallVector<int64_t> order{axis};
  DimExprs rest;
  for (int64_t i = 0; i < node.rank(x); ++i)
    if (i != axis) {
      order.push_back(i);
      rest.push_back(dims[i]);
    }
  Value keys = node.elementType(x).isInteger(1) ? node.cast(x, IntegerType::get(node.context(), 8, IntegerType::Unsigned)) : x;
  if (isString(node.elementType(x))) {
    RankedTensorType type = node.type(getNumElements(dims, node.context()), node.builder().getI64Type());
    auto numbered = StringOrderOp::create(node.builder(), node.loc, type, type, node.reshape(x, getDims(type)));
    keys = node.reshape(numbered.getResult(), dims);
  }
  keys = node.reshape(node.transpose(keys, order), {dims[axis], getNumElements(rest, node.context())});
  AffineExpr count = node.computedDim(dims[axis], node.outputName(0) + "_count");
  if (node.failed())
    return failure();
  Type i64 = node.builder().getI64Type();
  RankedTensorType counted = node.type(count, i64), whole = node.type(dims[axis], i64);
  dims[axis] = count;
  RankedTensorType type = node.type(dims, node.elementType(x));
  if (node.failed())
    return failure();
  auto op = UniqueOp::create(node.builder(), node.loc, {counted, whole, counted, countType(node)}, keys, sorted, positionOf(count));
  Value first = loosen(node, op.getFirst(), 0, op.getCount(), count), counts = op.getSizes();
  dims[axis] = node.dims(first)[0];
  if (first != op.getFirst())
    counts = node.slice(counts, 0, node.number(0), dims[axis]);
  type = node.type(dims, node.elementType(x));
  if (node.failed())
    return failure();
  Value values[] = {node.make<GatherOp>(type, x, first, axis), first, op.getInverse(), counts};
  for (auto [i, of] : llvm::enumerate(outputs))
    if ((i == 0 || node.hasOutput(i)) && mlir::failed(node.result(i, values[of])))
      return failure();
  return success();
}

static LogicalResult unique(Node &node) { return findUnique(node, node.getFlag("sorted", true), {0, 1, 2, 3}); }
/// com.microsoft's: in the order of the input, without the first places.
static LogicalResult contribUnique(Node &node) { return findUnique(node, /*sorted=*/false, {0, 2, 3}); }

//===- NonMaxSuppression ---------------------------------------------------===//

/// A limit or threshold of one element as a scalar; `fallback` when it is not there.
static Value scalarInput(Node &node, unsigned input, Type type, double fallback, StringRef what) {
  Value value = node.optionalInput(input);
  if (!value)
    return node.splat({}, type, fallback);
  value = alignDims(node, value, SmallVector<AffineExpr>(node.rank(value), node.number(1)), what + " must have one element");
  if (node.elementType(value) != type)
    (void)node.error(what + " has a wrong element type");
  return node.failed() ? value : node.reshape(value, {});
}

/// The most boxes of a class: the limit when it is a constant, all of them else.
static AffineExpr mostOfClass(Node &node, Value limit, AffineExpr boxes) {
  // A limit that no box count reaches says nothing.
  static constexpr int64_t largest = 1 << 20;
  auto contents = node.hasInput(2) ? getIntegerContents(limit) : std::nullopt;
  auto known = contents ? getConstantDim(contents->front()) : std::nullopt, size = getConstantDim(boxes);
  if (!known || *known > largest)
    return boxes;
  int64_t most = std::max<int64_t>(*known, 0);
  return size && *size < most ? boxes : node.number(most);
}

static LogicalResult nonMaxSuppression(Node &node) {
  Value boxes = node.input(0), scores = node.input(1);
  int64_t center = node.getInt("center_point_box", 0);
  Type f32 = node.builder().getF32Type(), i64 = node.builder().getI64Type();
  if (node.failed() || !node.expectRank(boxes, 3, "boxes") || !node.expectRank(scores, 3, "scores"))
    return failure();
  if (node.elementType(boxes) != f32 || node.elementType(scores) != f32)
    return node.error("boxes and scores must be float");
  if (center != 0 && center != 1)
    return node.error("attribute 'center_point_box' is " + Twine(center) + ", expected 0 or 1");
  DimExprs dims = node.dims(scores), boxDims = node.dims(boxes);
  if (!node.unify(boxDims[0], dims[0], "boxes and scores differ in the batch: dimensions") ||
      !node.unify(boxDims[1], dims[2], "boxes and scores differ in the number of boxes: dimensions") ||
      !node.unify(boxDims[2], node.number(4), "a box has four numbers: dimensions"))
    return failure();
  boxes = node.reshape(boxes, {dims[0], dims[2], node.number(4)});
  Value limit = scalarInput(node, 2, i64, 0, "max_output_boxes_per_class"), iou = scalarInput(node, 3, f32, 0, "iou_threshold");
  if (auto given = node.hasInput(3) ? getContents(node.input(3)) : std::nullopt; given && given->size() == 1 && !given->front().expr)
    if (double part = given->front().real; !(part >= 0 && part <= 1))
      return node.error("iou_threshold is " + Twine(std::to_string(part)) + ", expected 0 to 1");
  Value score = node.hasInput(4) ? scalarInput(node, 4, f32, 0, "score_threshold") : Value();
  if (node.failed())
    return failure();
  AffineExpr most = node.hasInput(2) ? mostOfClass(node, node.input(2), dims[2]) : node.number(0);
  AffineExpr count = node.computedDim(dims[0] * dims[1] * most, node.outputName(0) + "_count");
  RankedTensorType type = node.type({count, node.number(3)}, i64);
  if (node.failed())
    return failure();
  auto op = NonMaxSuppressionOp::create(node.builder(), node.loc, type, countType(node), boxes, scores, limit, iou, score, center == 1, positionOf(count));
  return node.result(loosen(node, op.getSelected(), 0, op.getCount(), count));
}

//===- ImageDecoder --------------------------------------------------------===//

static std::optional<PixelFormat> findPixelFormat(Node &node) {
  std::string name = node.getString("pixel_format", "RGB");
  auto format = llvm::StringSwitch<std::optional<PixelFormat>>(name)
                    .Case("RGB", PixelFormat::Rgb)
                    .Case("BGR", PixelFormat::Bgr)
                    .Case("Grayscale", PixelFormat::Grayscale)
                    .Default(std::nullopt);
  if (!format && !node.failed())
    (void)node.error("attribute 'pixel_format' is '" + name + "', expected 'RGB', 'BGR' or 'Grayscale'");
  return format;
}

/// One number of a list as a dimension of at most `most`.
static AffineExpr takeDim(Node &node, Value numbers, int64_t place, AffineExpr most, const Twine &name) {
  AffineExpr dim = node.computedDim(most, name);
  Value number = node.reshape(node.slice(numbers, 0, node.number(place), node.number(1)), {});
  if (!node.failed())
    ComputedDimOp::create(node.builder(), node.loc, countType(node), number, positionOf(dim));
  return dim;
}

/// The size that the model declares for the picture, which is its promise; nothing when it leaves it to the data.
static std::optional<DimExprs> declaredPicture(Node &node, AffineExpr channels) {
  auto declared = node.declaredDims();
  if (!declared)
    return std::nullopt;
  if (declared->size() != 3) {
    (void)node.error("the model declares a result of rank " + Twine(declared->size()) + ", expected 3");
    return std::nullopt;
  }
  if (!node.unify(channels, declared->back(), "the model declares another number of channels: dimensions"))
    return std::nullopt;
  bool isKnown = getConstantDim((*declared)[0]) && getConstantDim((*declared)[1]);
  return isKnown ? declared : std::nullopt;
}

/// Whether there may be a buffer for the largest picture.
static bool checkPictureSize(Node &node, ArrayRef<AffineExpr> most) {
  int64_t bytes = 1;
  for (AffineExpr dim : most)
    if (llvm::MulOverflow(bytes, *getConstantDim(dim), bytes))
      bytes = std::numeric_limits<int64_t>::max();
  if (bytes <= node.limits().tensorBytes)
    return true;
  (void)node.error("room for a picture of " + formatDim(most[0]) + " x " + formatDim(most[1]) + " pixels overflows the limit of " +
                   Twine(node.limits().tensorBytes) + " bytes");
  return false;
}

static LogicalResult imageDecoder(Node &node) {
  Value file = node.input(0);
  std::optional<PixelFormat> format = node.failed() ? std::nullopt : findPixelFormat(node);
  Type u8 = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  if (!format || !node.expectRank(file, 1, "the encoded picture"))
    return failure();
  if (node.elementType(file) != u8)
    return node.error("the encoded picture must be of uint8");
  AffineExpr channels = node.number(*format == PixelFormat::Grayscale ? 1 : 3);
  auto declared = declaredPicture(node, channels);
  const Limits &limits = node.limits();
  DimExprs most = declared.value_or(DimExprs{node.number(limits.imageHeight), node.number(limits.imageWidth), channels});
  if (node.failed() || !checkPictureSize(node, most))
    return failure();
  std::string name = node.outputName(0);
  AffineExpr whole = simplifyDim(getNumElements(most, node.context())), count = node.computedDim(whole, name + "_bytes");
  // Pixels of a type that says how many there are: the run refuses a picture of another size.
  RankedTensorType type = node.type({declared ? whole : count}, u8), pair = RankedTensorType::get({2}, node.builder().getI64Type());
  if (node.failed())
    return failure();
  auto op = DecodeImageOp::create(node.builder(), node.loc, type, pair, countType(node), file, *format, *getConstantDim(most[0]), *getConstantDim(most[1]),
                                  positionOf(count));
  if (declared)
    return node.result(node.reshape(op.getPixels(), *declared));
  AffineExpr height = takeDim(node, op.getSize(), 0, most[0], name + "_height"), width = takeDim(node, op.getSize(), 1, most[1], name + "_width");
  return node.failed() ? failure() : node.result(node.reshape(op.getPixels(), {height, width, channels}));
}

ArrayRef<Operator> getDataSizedOperators() {
  static const Operator rows[] = {
      {"Compress", 9, Elements::Data, compress},
      {"ImageDecoder", 20, Elements::Any, imageDecoder},
      {"NonMaxSuppression", 10, Elements::Float, nonMaxSuppression},
      {"NonZero", 9, Elements::Any, nonZero},
      {"Unique", 11, Elements::Data, unique},
      {"Unique", 1, Elements::Data, contribUnique, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
