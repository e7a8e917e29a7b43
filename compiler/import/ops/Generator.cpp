//===- Generator.cpp - Tensors out of attributes and coordinates -------------===//
#include "compiler/import/DataDims.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/Node.h"
#include "compiler/import/NumberArithmetic.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Strings.h"
#include "compiler/import/TensorData.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

template <typename T> static Value vectorOf(Node &node, Type element, ArrayRef<T> values, bool isScalar = false) {
  SmallVector<int64_t, 1> shape;
  if (!isScalar)
    shape.push_back(values.size());
  return node.constant(nn::makeConstantOf<T>(RankedTensorType::get(shape, element), values));
}

static LogicalResult constant(Node &node) {
  Builder &b = node.builder();
  SmallVector<Value> found;
  if (node.hasAttribute("value"))
    found.push_back(node.tensorAttribute("value"));
  if (node.hasAttribute("sparse_value"))
    if (ElementsAttr value = node.findTensor("sparse_value"))
      found.push_back(node.constant(value));
  if (node.hasAttribute("value_string"))
    found.push_back(node.reshape(node.strings({node.getString("value_string", "")}, node.number(1)), {}));
  if (auto values = node.findStrings("value_strings"))
    found.push_back(node.strings(*values, node.number(values->size())));
  if (auto value = node.findInt("value_int"))
    found.push_back(vectorOf<int64_t>(node, b.getI64Type(), {*value}, true));
  if (node.hasAttribute("value_float"))
    found.push_back(vectorOf<float>(node, b.getF32Type(), {static_cast<float>(node.getFloat("value_float", 0))}, true));
  if (auto values = node.findInts("value_ints"))
    found.push_back(vectorOf<int64_t>(node, b.getI64Type(), *values));
  if (auto values = node.findFloats("value_floats"))
    found.push_back(vectorOf<float>(node, b.getF32Type(), SmallVector<float>(values->begin(), values->end())));
  if (node.failed())
    return failure();
  return found.size() == 1 ? node.result(found.front()) : node.error("has " + Twine(found.size()) + " values, expected one");
}

static LogicalResult constantOfShape(Node &node) {
  auto declared = node.isKnown(0) ? std::nullopt : node.trustedDims();
  auto dims = declared ? declared : readSizes(node, 0, "the shape");
  if (declared)
    expectInRun(node, node.input(0), *declared);
  ElementsAttr value = node.findTensor("value");
  if (node.failed())
    return failure();
  Type element = value ? value.getElementType() : Type(node.builder().getF32Type());
  if (value && value.getNumElements() != 1)
    return node.error("attribute 'value' has " + Twine(value.getNumElements()) + " elements, expected one");
  nn::ConstantData data(value ? value : nn::makeConstant(RankedTensorType::get({}, element), std::vector<char>(4)));
  auto integer = dyn_cast<IntegerType>(element);
  TypedAttr attr = integer ? TypedAttr(IntegerAttr::get(element, APInt(integer.getWidth(), static_cast<uint64_t>(data.asInt(0)), false, true)))
                           : TypedAttr(FloatAttr::get(element, data.asDouble(0)));
  RankedTensorType type = node.type(*dims, element);
  return node.failed() ? failure() : node.result(node.make<SplatOp>(type, attr));
}

/// The elements of a short range whose start and step are known, so that shape arithmetic can go on with them.
static Value knownRange(Node &node, AffineExpr count, const std::optional<DimExprs> &start, const std::optional<DimExprs> &delta, Type element) {
  auto length = nn::getConstantDim(count);
  if (!length || *length > 64 || !start || !delta || !isa<IntegerType>(element))
    return {};
  Contents contents;
  for (int64_t i = 0; i < *length; ++i)
    contents.push_back({nn::simplifyDim(start->front() + delta->front() * i)});
  return materialize(node.builder(), node.loc, RankedTensorType::get({*length}, element), contents);
}

/// Ends a run in which max(ceil((limit - start) / delta), 0) is not this count.
static void expectCount(Node &node, Value step, AffineExpr count) {
  Type f64 = node.builder().getF64Type();
  auto scalar = [&](Value value) { return node.reshape(value, {}); };
  // Integers of 64 bits are subtracted before they are rounded.
  bool isFloat = isa<FloatType>(node.elementType(step));
  auto wide = [&](Value value) { return isFloat ? node.cast(scalar(value), f64) : scalar(value); };
  Value distance = node.cast(node.binary<SubOp>(wide(node.input(1)), wide(node.input(0))), f64);
  Value steps = node.binary<DivOp>(distance, node.cast(scalar(step), f64));
  steps = node.failed() ? steps : node.binary<MaximumOp>(node.unary<CeilOp>(steps), 0);
  Value expected = node.cast(node.reshape(makeDimVector(node, count), {}), f64);
  expectInRun(node, node.failed() ? expected : node.compare<EqualOp>(steps, expected));
}

/// The length of a range of integers that sizes decide, with a constant step.
static AffineExpr countSteps(Node &node, AffineExpr start, AffineExpr limit, AffineExpr delta) {
  auto by = nn::getConstantDim(delta), first = nn::getConstantDim(start), last = nn::getConstantDim(limit);
  if (*by == 0)
    (void)node.error("delta is zero");
  if (node.failed())
    return node.number(0);
  if (!first || !last) {
    AffineExpr distance = node.clampLow(*by > 0 ? limit - start : start - limit, node.number(0), "the range ends before it starts");
    return nn::simplifyDim(distance.ceilDiv(std::abs(*by)));
  }
  // Wide arithmetic: the difference of two int64 may not be one.
  __int128 distance = *by > 0 ? static_cast<__int128>(*last) - *first : static_cast<__int128>(*first) - *last;
  __int128 stride = *by > 0 ? static_cast<__int128>(*by) : -static_cast<__int128>(*by);
  __int128 steps = distance > 0 ? (distance + stride - 1) / stride : 0;
  if (steps > (int64_t(1) << 40))
    (void)node.error("the range has too many elements: its size overflows the limit");
  return node.number(node.failed() ? 0 : static_cast<int64_t>(steps));
}

/// The length of a range of floating-point numbers that sizes decide, where the difference of limit and start is exact and delta is a constant above zero.
static AffineExpr countRealSteps(Node &node, Value step) {
  Type element = node.elementType(step);
  auto start = getContents(node.input(0), &node.facts()), limit = getContents(node.input(1), &node.facts()), delta = getContents(step);
  if (!isa<FloatType>(element) || !start || !limit || !delta || (!start->front().expr && !limit->front().expr) || delta->front().expr)
    return {};
  auto difference = subtract(limit->front(), start->front(), element, node.facts());
  auto by = toRational(delta->front(), node.context());
  AffineConstantExpr most = by ? mlir::cast<AffineConstantExpr>(by->expr) : AffineConstantExpr();
  int64_t divisor;
  if (!difference || !most || most.getValue() < 1 || llvm::MulOverflow(difference->divisor, most.getValue(), divisor))
    return {};
  return node.clampLow(nn::simplifyDim((difference->expr * by->divisor).ceilDiv(divisor)), node.number(0), "the range ends before it starts");
}

/// The length of a range of integers that begins where data say and has a constant length, or whose limit has a bound; else null.
static AffineExpr countWithBound(Node &node, Value step, AffineExpr start, AffineExpr delta) {
  auto by = delta ? nn::getConstantDim(delta) : std::nullopt;
  if (!isa<IntegerType>(node.elementType(step)) || !by || *by < 1)
    return {};
  Value first = node.reshape(node.input(0), {}), last = node.reshape(node.input(1), {});
  auto skipReshapes = [](Value value) {
    while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
      value = reshape.getInput();
    return value;
  };
  if (auto sum = skipReshapes(last).getDefiningOp<nn::AddOp>())
    for (unsigned side : {0, 1})
      if (auto length = node.knownScalar(sum->getOperand(1 - side)); length && skipReshapes(sum->getOperand(side)) == skipReshapes(first))
        return node.number(*length < 0 ? 0 : (*length + *by - 1) / *by);
  AffineExpr most = findUpperBound(node, last);
  if (!most || !start || !node.facts().areOrdered(node.number(0), start))
    return {};
  Value distance = node.cast(node.binary<nn::MaximumOp>(node.binary<nn::SubOp>(last, first), 0.0), node.builder().getI64Type());
  Value steps = *by == 1 ? distance : node.binary<nn::DivOp>(node.binary<nn::AddOp>(distance, static_cast<double>(*by - 1)), static_cast<double>(*by));
  return node.failed() ? AffineExpr() : makeDataDim(node, steps, nn::simplifyDim(most.ceilDiv(*by)), node.outputName(0) + "_count");
}

/// The length of any range: ceil((limit - start) / delta) as the data have it, with the quotient in f64.
static AffineExpr countByData(Node &node, Value step) {
  Type f64 = node.builder().getF64Type();
  auto scalar = [&](Value value) { return node.reshape(value, {}); };
  Value distance = node.cast(node.binary<nn::SubOp>(scalar(node.input(1)), scalar(node.input(0))), f64);
  Value steps = node.failed() ? distance : node.unary<nn::CeilOp>(node.binary<nn::DivOp>(distance, node.cast(scalar(step), f64)));
  return node.failed() ? AffineExpr() : makeDataDim(node, node.cast(steps, node.builder().getI64Type()), AffineExpr(), node.outputName(0) + "_count");
}

/// start + delta * i. The count is known for known bounds, or from expressions when delta is one, which it is where com.microsoft's has none.
static LogicalResult range(Node &node) {
  Type element = node.elementType(node.input(0));
  unsigned given = node.numInputs() > 2 && node.hasInput(2) ? 3 : 2;
  Value step = given == 3 ? node.input(2) : node.splat({}, element, 1);
  for (unsigned i = 0; i < given; ++i)
    if (nn::getConstantDim(nn::getNumElements(node.dims(node.input(i)), node.context())) != 1 || node.elementType(node.input(i)) != element)
      return node.error("start, limit and delta must be scalars of one type");
  AffineExpr count;
  auto isConstant = [&](Value value) { return node.findNumbers(value).has_value(); };
  auto start = node.findIntegers(node.input(0)), limit = node.findIntegers(node.input(1));
  auto delta = given == 3 ? node.findIntegers(step) : std::optional(DimExprs{node.number(1)});
  if (start && limit && delta && nn::getConstantDim(delta->front())) {
    count = countSteps(node, start->front(), limit->front(), delta->front());
  } else if (AffineExpr steps = countRealSteps(node, step)) {
    count = steps;
  } else if (AffineExpr length = countWithBound(node, step, start ? start->front() : AffineExpr(), delta ? delta->front() : AffineExpr())) {
    count = length;
  } else if (!(isConstant(node.input(0)) && isConstant(node.input(1)) && isConstant(step))) {
    auto declared = node.trustedDims();
    bool isDeclared = declared && declared->size() == 1;
    count = isDeclared ? declared->front() : countByData(node, step);
    if (isDeclared)
      expectCount(node, step, count);
  } else {
    double bounds[3] = {0, 0, 1};
    for (unsigned i = 0; i < given; ++i) {
      auto number = node.constantNumbers(i, "start, limit or delta");
      if (!number)
        return failure();
      bounds[i] = number->front();
    }
    double steps = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
    if (bounds[2] == 0 || !std::isfinite(steps) || steps > 1e12)
      return node.error("delta is zero, or the range has too many elements");
    count = node.number(std::max<int64_t>(static_cast<int64_t>(steps), 0));
  }
  if (node.failed())
    return failure();
  DimExprs dims = {count};
  (void)node.type(dims, element);
  if (node.failed())
    return failure();
  if (Value known = knownRange(node, count, start, delta, element))
    return node.result(known);
  Type computed = node.getInt("stash_type", 1) == 1 ? node.wideType(node.input(0)) : element;
  auto spread = [&](Value number) { return node.broadcastTo(node.cast(node.reshape(number, {}), computed), dims); };
  Value first = spread(node.input(0)), by = spread(step);
  Value places = node.cast(node.iota(dims, 0, node.builder().getI64Type()), computed);
  return node.result(node.cast(node.binary<AddOp>(node.binary<MulOp>(places, by), first), element));
}

/// Ones on the k-th diagonal.
static LogicalResult eyeLike(Node &node) {
  Value x = node.input(0);
  int64_t k = node.getInt("k", 0);
  auto dtype = node.findInt("dtype");
  Type element = dtype ? getElementType(static_cast<int>(std::clamp<int64_t>(*dtype, 0, 1000)), node.context()) : node.elementType(x);
  if (!element || !node.expectRank(x, 2, "the input"))
    return node.error("attribute 'dtype' names no supported type");
  DimExprs dims = node.dims(x);
  Type i64 = node.builder().getI64Type();
  Value diagonal = node.binary<AddOp>(node.iota(dims, 0, i64), static_cast<double>(k));
  return node.result(node.cast(node.compare<EqualOp>(diagonal, node.iota(dims, 1, i64)), element));
}

static LogicalResult trilu(Node &node) {
  Value x = node.input(0);
  bool upper = node.getFlag("upper", true);
  DimExprs dims = node.dims(x);
  int64_t rank = dims.size();
  if (rank < 2)
    return node.error("the input has rank " + Twine(rank) + ", expected at least 2");
  DimExprs matrix = {dims[rank - 2], dims[rank - 1]};
  Type i64 = node.builder().getI64Type();
  Value rows = node.iota(matrix, 0, i64), columns = node.iota(matrix, 1, i64);
  if (Value k = node.optionalInput(1))
    rows = node.binary<AddOp>(rows, node.broadcastTo(node.reshape(node.cast(k, i64), {}), matrix));
  Value keeps = upper ? node.compare<GreaterEqualOp>(columns, rows) : node.compare<LessEqualOp>(columns, rows);
  keeps = node.broadcastTo(keeps, dims);
  StringPlaces strings(node, {&x});
  Value fill = node.broadcastTo(strings.fill(node.elementType(x)), dims);
  return node.failed() ? failure() : node.result(strings.restore(node.make<SelectOp>(x.getType(), keeps, x, fill)));
}

/// A depth that data decide, which may be of any type of numbers.
static std::optional<Contents> readDepth(Node &node) {
  Value depth = node.input(1);
  if (!node.unify(getNumElements(node.dims(depth), node.context()), node.number(1), "depth must be one number: elements"))
    return std::nullopt;
  return Contents{{makeDataDim(node, depth, findUpperBound(node, depth), node.outputName(0) + "_depth")}};
}

/// values[1] where the place along the new axis equals the index, values[0] elsewhere. Negative indices count from the end.
static LogicalResult oneHot(Node &node) {
  Value indices = node.input(0), values = node.input(2);
  auto depth = getContents(node.input(1), &node.facts());
  int64_t rank = node.rank(indices), axis = node.axis(node.getInt("axis", -1), rank + 1);
  auto declared = depth ? std::nullopt : node.trustedDims();
  if (!depth && !node.failed() && !declared)
    depth = readDepth(node);
  if (!depth && declared && static_cast<int64_t>(declared->size()) == rank + 1 && !node.failed()) {
    depth = Contents{{(*declared)[axis]}};
    expectInRun(node, node.cast(node.input(1), node.builder().getI64Type()), (*declared)[axis]);
  }
  if (!depth || depth->size() != 1 || depth->front().divisor != 1)
    return node.unsupported("depth is known only at run time", "make it a constant");
  if (node.failed() || !node.expectRank(values, 1, "values") || !node.unify(node.dims(values)[0], node.number(2), "expected the values off and on: sizes"))
    return failure();
  const Number &size = depth->front();
  if (!size.expr && !(size.real >= 0 && size.real < 1e12))
    return node.error("depth is negative or too large");
  if (auto known = size.expr ? nn::getConstantDim(size.expr) : std::optional(static_cast<int64_t>(size.real)); known && *known < 1)
    return node.error("depth is " + Twine(*known) + ", expected a positive number");
  AffineExpr count = size.expr ? size.expr : node.number(static_cast<int64_t>(size.real));
  DimExprs dims = node.dims(indices), one = dims;
  dims.insert(dims.begin() + axis, count);
  one.insert(one.begin() + axis, node.number(1));
  (void)node.type(dims, node.elementType(values));
  if (node.failed())
    return failure();
  Type i64 = node.builder().getI64Type();
  Value at = node.reshape(node.cast(indices, i64), one);
  Contents length = {{count}};
  Value total = materialize(node.builder(), node.loc, RankedTensorType::get({}, i64), length);
  Value wrapped = node.binary<AddOp>(at, node.broadcastTo(total, one));
  at = node.make<SelectOp>(at.getType(), node.compare<LessOp>(at, node.splatLike(at, 0)), wrapped, at);
  Value hit = node.compare<EqualOp>(node.broadcastTo(at, dims), node.iota(dims, axis, i64));
  if (nn::isString(node.elementType(values)))
    return node.result(node.make<GatherOp>(node.type(dims, node.elementType(values)), values, node.cast(hit, i64), 0));
  auto choice = [&](int64_t i) { return node.broadcastTo(node.reshape(node.slice(values, 0, node.number(i), node.number(1)), {}), dims); };
  Value on = choice(1), off = choice(0);
  return node.failed() ? failure() : node.result(node.make<SelectOp>(on.getType(), hit, on, off));
}

ArrayRef<Operator> getGeneratorOperators() {
  static const Operator rows[] = {
      {"Constant", 1, Elements::Any, constant},
      {"ConstantOfShape", 9, Elements::Any, constantOfShape},
      {"EyeLike", 9, Elements::Any, eyeLike},
      {"OneHot", 9, Elements::Any, oneHot},
      {"Range", 11, Elements::Any, range},
      {"Range", 1, Elements::Any, range, INT64_MAX, "com.microsoft"},
      {"Trilu", 14, Elements::Data, trilu},
      {"Trilu", 1, Elements::Data, trilu, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
