//===- Elementwise.cpp - Arithmetic, comparison, logic, conversion -----------===//
#include "compiler/import/NarrowTypes.h"
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Strings.h"
#include "compiler/import/TensorData.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNElementwiseOps.h"
#include "dialects/nn/NNRuntimeOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

template <typename Op> static LogicalResult unary(Node &node) { return node.result(node.unary<Op>(node.input(0))); }

template <typename Op> static LogicalResult binary(Node &node) { return node.result(node.binary<Op>(node.input(0), node.input(1))); }

/// Up to opset 6: the second operand is broadcast only with `broadcast`, from dimension `axis` of the first on. Null after an error.
static Value secondAtAxis(Node &node) {
  Value x = node.input(0), y = node.input(1);
  bool isBroadcast = node.getFlag("broadcast");
  DimExprs shape = node.dims(y);
  int64_t rank = node.rank(x), own = shape.size(), axis = node.getInt("axis", rank - own);
  if (!node.failed() && own > rank)
    (void)node.error("the second operand has rank " + Twine(own) + ", the first " + Twine(rank));
  else if (!node.failed() && (axis < 0 || axis + own > rank))
    (void)node.error("axis " + Twine(axis) + " is out of range for ranks " + Twine(rank) + " and " + Twine(own));
  else if (!node.failed() && !isBroadcast && own != rank)
    (void)node.error("the operands have different ranks, and attribute 'broadcast' is not set");
  if (node.failed())
    return {};
  shape.append(rank - own - axis, node.number(1));
  return node.broadcastTo(node.reshape(y, shape), node.dims(x));
}

template <typename Op> static LogicalResult binaryAtAxis(Node &node) {
  Value y = secondAtAxis(node);
  return y ? node.result(node.binary<Op>(node.input(0), y)) : failure();
}

template <typename Op> static LogicalResult compareAtAxis(Node &node) {
  Value y = secondAtAxis(node);
  return y ? node.result(node.compare<Op>(node.input(0), y)) : failure();
}

template <typename Op> static LogicalResult compare(Node &node) { return node.result(node.compare<Op>(node.input(0), node.input(1))); }

/// Sum, Min, Max, Mean: any number of operands.
template <typename Op> static Value chain(Node &node) {
  Value total = node.input(0);
  for (unsigned i = 1; i < node.numInputs() && !node.failed(); ++i)
    total = node.binary<Op>(total, node.input(i));
  return total;
}

template <typename Op> static LogicalResult variadic(Node &node) { return node.result(chain<Op>(node)); }

static LogicalResult mean(Node &node) { return node.result(node.binary<DivOp>(chain<AddOp>(node), static_cast<double>(std::max(node.numInputs(), 1u)))); }

/// The result has the base's type; an exponent of another type is converted, and a real exponent makes the computation real.
static LogicalResult pow(Node &node) {
  Value base = node.input(0), exponent = node.input(1);
  Type element = node.elementType(base);
  bool viaReal = isa<IntegerType>(element) && isa<FloatType>(node.elementType(exponent));
  Type compute = viaReal ? node.elementType(exponent) : element;
  Value result = node.binary<PowOp>(node.cast(base, compute), node.cast(exponent, compute));
  return node.result(node.cast(result, element));
}

static LogicalResult mod(Node &node) {
  return node.getFlag("fmod") ? binary<FmodOp>(node) : binary<ModOp>(node);
}

static LogicalResult bitShift(Node &node) {
  std::string direction = node.getString("direction", "");
  if (direction == "LEFT")
    return binary<ShiftLeftOp>(node);
  return direction == "RIGHT" ? binary<ShiftRightOp>(node) : node.error("attribute 'direction' is '" + direction + "', expected LEFT or RIGHT");
}

static LogicalResult isNan(Node &node) {
  Value x = node.input(0);
  return node.result(node.make<IsNanOp>(node.type(node.dims(x), node.builder().getI1Type()), x));
}

static LogicalResult isInf(Node &node) {
  Value x = node.input(0);
  bool negative = node.getFlag("detect_negative", true), positive = node.getFlag("detect_positive", true);
  if (!negative && !positive)
    return node.result(node.splat(node.dims(x), node.builder().getI1Type(), 0));
  Value magnitude = negative && positive ? node.unary<AbsOp>(x) : x;
  return node.result(node.compare<EqualOp>(magnitude, node.splatLike(x, positive ? HUGE_VAL : -HUGE_VAL)));
}

/// Strings are only moved: the two choices are concatenated, and the condition selects the index.
static Value chooseStrings(Node &node, Value condition, Value x, Value y) {
  DimExprs dims = node.dims(x), one = dims;
  one.insert(one.begin(), node.number(1));
  Value both = node.concat({node.reshape(y, one), node.reshape(x, one)}, 0);
  Value at = node.reshape(node.cast(condition, node.builder().getI64Type()), one);
  if (node.failed())
    return {};
  return node.reshape(node.make<GatherElementsOp>(node.type(one, node.elementType(x)), both, at, 0), dims);
}

static LogicalResult where(Node &node) {
  Value condition = node.input(0), x = node.input(1), y = node.input(2);
  if (!node.failed() && node.elementType(x) != node.elementType(y))
    return node.error("the two choices have different element types");
  node.broadcast({&condition, &x, &y}, /*mixed=*/true);
  if (Value chosen = !node.failed() && nn::isString(node.elementType(x)) ? chooseStrings(node, condition, x, y) : Value())
    return node.result(chosen);
  return node.failed() ? failure() : node.result(node.make<SelectOp>(x.getType(), condition, x, y));
}

/// complex128: the newest type when attributes held names.
static constexpr int newestNamedType = 15;
static constexpr int stringType = 8;

/// Up to opset 5 the attribute holds the type's name.
static int64_t castTarget(Node &node) {
  if (node.opset >= 6)
    return node.requireInt("to");
  std::string name = node.getString("to", "");
  for (int type = 1; type <= newestNamedType; ++type)
    if (StringRef(name).equals_insensitive(getDataTypeName(type)))
      return type;
  (void)node.error("attribute 'to' names no data type: '" + name + "'");
  return 0;
}

static LogicalResult convert(Node &node, int64_t to) {
  bool saturates = node.getFlag("saturate", true);
  std::string rounding = node.getString("round_mode", "up");
  Value x = node.input(0);
  Builder &b = node.builder();
  if (Type element = getElementType(static_cast<int>(to), node.context()); !node.failed() && nn::isString(node.elementType(x)) && to != stringType) {
    x = parseStrings(node, x, isNarrowFloat(to) ? b.getF32Type() : narrowIntegerBits(to) > 0 ? b.getI64Type() : element);
  } else if (to == stringType && !node.failed()) {
    if (int64_t from = node.narrowType(0); isNarrowFloat(from))
      x = decodeNarrowFloat(node, x, from);
    return node.failed() ? failure() : node.result(nn::isString(node.elementType(x)) ? x : printNumbers(node, x));
  }
  if (int64_t from = node.narrowType(0); isNarrowFloat(from) && from != to)
    x = decodeNarrowFloat(node, x, from);
  if (node.failed() || to == node.narrowType(0))
    return node.failed() ? failure() : node.narrowResult(x, to);
  if (isNarrowFloat(to))
    return node.narrowResult(encodeNarrowFloat(node, x, to, saturates, rounding), to);
  if (narrowIntegerBits(to) > 0)
    return node.narrowResult(wrapNarrowInteger(node, x, to), to);
  return node.result(node.cast(x, getElementType(static_cast<int>(to), node.context())));
}

static LogicalResult cast(Node &node) {
  int64_t to = castTarget(node);
  if (node.failed())
    return failure();
  if (to != stringType && !getElementType(static_cast<int>(to), node.context()) && !isNarrowFloat(to))
    return node.unsupported("conversion to " + getDataTypeName(static_cast<int>(to)), "keep the tensor in a wider type");
  return convert(node, to);
}

/// The same bits as another type of the same width. A bool is a byte of zero or one.
static LogicalResult bitCast(Node &node) {
  Value x = node.input(0);
  int64_t to = node.requireInt("to");
  Type from = node.elementType(x), type = to >= 1 && to <= newestNamedType + 1 ? getElementType(static_cast<int>(to), node.context()) : Type();
  if (node.failed() || !type || node.narrowType(0) != 0)
    return node.unsupported("BitCast from or to a type whose elements do not fill whole bytes", "use types of 8 to 64 bits");
  if (nn::elementBytes(from) != nn::elementBytes(type))
    return node.error("reads elements of " + Twine(8 * nn::elementBytes(from)) + " bits as elements of " + Twine(8 * nn::elementBytes(type)));
  if (from.isInteger(1) || type.isInteger(1) || from == type)
    return node.result(node.cast(x, type));
  return node.result(node.make<BitcastOp>(node.type(node.dims(x), type), x));
}

static LogicalResult castLike(Node &node) {
  if (int64_t like = node.narrowType(1))
    return convert(node, like);
  Value x = node.input(0);
  if (int64_t from = node.narrowType(0); isNarrowFloat(from))
    x = decodeNarrowFloat(node, x, from);
  node.ignore("saturate");
  node.ignore("round_mode");
  if (Value like = node.input(1); like && nn::isString(node.elementType(like)) && !nn::isString(node.elementType(x)))
    return node.result(printNumbers(node, x));
  else if (like && !nn::isString(node.elementType(like)) && nn::isString(node.elementType(x)))
    x = parseStrings(node, x, node.elementType(like));
  return node.failed() ? failure() : node.result(node.cast(x, node.elementType(node.input(1))));
}

static LogicalResult prelu(Node &node) {
  Value x = node.input(0), slope = node.input(1);
  // Opset 6: a vector of slopes counts channels, whatever follows them.
  if (node.opset < 7 && node.rank(slope) == 1 && node.rank(x) > 1) {
    DimExprs shape(node.rank(x), node.number(1));
    shape[1] = node.dims(slope)[0];
    slope = node.reshape(slope, shape);
  }
  slope = node.broadcastTo(slope, node.dims(x));
  return node.failed() ? failure() : node.result(node.make<PreluOp>(x.getType(), x, slope));
}

/// Of integers: computed as real numbers.
static LogicalResult erf(Node &node) {
  Value x = node.input(0);
  Type element = node.elementType(x);
  return node.result(node.cast(node.unary<ErfOp>(isa<FloatType>(element) ? x : node.cast(x, node.builder().getF64Type())), element));
}

/// Bounds from inputs (or from attributes before opset 11). Where one is absent it is the end of the type, so infinities become that. A NaN stays NaN.
static LogicalResult clip(Node &node) {
  Value x = node.input(0);
  bool isReal = isa<FloatType>(node.elementType(x));
  std::optional<double> low, high;
  Value lowValue, highValue;
  if (node.opset < 11) {
    low = node.getFloat("min", -3.4028234663852886e38);
    high = node.getFloat("max", 3.4028234663852886e38);
  } else {
    auto number = [](Value value) -> std::optional<double> {
      auto contents = value ? getContents(value) : std::nullopt;
      return contents && contents->size() == 1 && !contents->front().expr ? std::optional(contents->front().real) : std::nullopt;
    };
    lowValue = node.optionalInput(1);
    highValue = node.optionalInput(2);
    double most = isReal ? APFloat::getLargest(mlir::cast<FloatType>(node.elementType(x)).getFloatSemantics()).convertToDouble() : 0;
    low = lowValue ? number(lowValue) : -most;
    high = highValue ? number(highValue) : most;
  }
  if (isReal && low && high)
    return node.result(node.unary<ClampOp>(x, node.builder().getF64FloatAttr(*low), node.builder().getF64FloatAttr(*high)));
  if (lowValue || isReal)
    x = node.binary<MaximumOp>(x, lowValue ? node.broadcastTo(lowValue, node.dims(x)) : node.splatLike(x, *low));
  if (highValue || isReal)
    x = node.binary<MinimumOp>(x, highValue ? node.broadcastTo(highValue, node.dims(x)) : node.splatLike(x, *high));
  return node.result(x);
}

/// Of numbers, or of strings.
static LogicalResult equal(Node &node) {
  Value x = node.input(0), y = node.input(1);
  if (node.failed() || !isString(node.elementType(x)))
    return compare<EqualOp>(node);
  node.broadcast({&x, &y});
  if (node.failed())
    return failure();
  return node.result(node.make<StringEqualOp>(node.type(node.dims(x), node.builder().getI1Type()), x, node.reshape(y, node.dims(x))));
}

static constexpr Operator rows[] = {
    {"Abs", 1, Elements::Number, unary<AbsOp>},
    {"Acos", 7, Elements::Float, unary<AcosOp>},
    {"Acosh", 9, Elements::Float, unary<AcoshOp>},
    {"Add", 1, Elements::Number, binaryAtAxis<AddOp>, 6},
    {"Add", 7, Elements::Number, binary<AddOp>},
    {"And", 1, Elements::Bool, binaryAtAxis<AndOp>, 6},
    {"And", 7, Elements::Bool, binary<AndOp>},
    {"Asin", 7, Elements::Float, unary<AsinOp>},
    {"Asinh", 9, Elements::Float, unary<AsinhOp>},
    {"Atan", 7, Elements::Float, unary<AtanOp>},
    {"Atanh", 9, Elements::Float, unary<AtanhOp>},
    {"BitCast", 26, Elements::Any, bitCast},
    {"BitShift", 11, Elements::Integer, bitShift},
    {"BitwiseAnd", 18, Elements::Integer, binary<AndOp>},
    {"BitwiseNot", 18, Elements::Integer, unary<NotOp>},
    {"BitwiseOr", 18, Elements::Integer, binary<OrOp>},
    {"BitwiseXor", 18, Elements::Integer, binary<XorOp>},
    {"Cast", 1, Elements::Convertible, cast},
    {"CastLike", 15, Elements::Convertible, castLike},
    {"Ceil", 1, Elements::Float, unary<CeilOp>},
    {"Clip", 1, Elements::Number, clip},
    {"Cos", 7, Elements::Float, unary<CosOp>},
    {"Cosh", 9, Elements::Float, unary<CoshOp>},
    {"Div", 1, Elements::Number, binaryAtAxis<DivOp>, 6},
    {"Div", 7, Elements::Number, binary<DivOp>},
    {"Equal", 1, Elements::Any, compareAtAxis<EqualOp>, 6},
    {"Equal", 7, Elements::Data, equal},
    {"Erf", 9, Elements::Number, erf},
    {"Exp", 1, Elements::Float, unary<ExpOp>},
    {"Floor", 1, Elements::Float, unary<FloorOp>},
    {"Greater", 1, Elements::Number, compareAtAxis<GreaterOp>, 6},
    {"Greater", 7, Elements::Number, compare<GreaterOp>},
    {"GreaterOrEqual", 12, Elements::Number, compare<GreaterEqualOp>},
    {"IsInf", 10, Elements::Float, isInf},
    {"IsNaN", 9, Elements::Float, isNan},
    {"Less", 1, Elements::Number, compareAtAxis<LessOp>, 6},
    {"Less", 7, Elements::Number, compare<LessOp>},
    {"LessOrEqual", 12, Elements::Number, compare<LessEqualOp>},
    {"Log", 1, Elements::Float, unary<LogOp>},
    {"Max", 1, Elements::Number, variadic<MaximumOp>},
    {"Mean", 1, Elements::Float, mean},
    {"Min", 1, Elements::Number, variadic<MinimumOp>},
    {"Mod", 10, Elements::Number, mod},
    {"Mul", 1, Elements::Number, binaryAtAxis<MulOp>, 6},
    {"Mul", 7, Elements::Number, binary<MulOp>},
    {"Neg", 1, Elements::Signed, unary<NegOp>},
    {"Not", 1, Elements::Bool, unary<NotOp>},
    {"Or", 1, Elements::Bool, binaryAtAxis<OrOp>, 6},
    {"Or", 7, Elements::Bool, binary<OrOp>},
    {"PRelu", 1, Elements::Number, prelu},
    {"Pow", 1, Elements::Number, binaryAtAxis<PowOp>, 6},
    {"Pow", 7, Elements::Number, pow},
    {"Reciprocal", 1, Elements::Float, unary<ReciprocalOp>},
    {"Round", 11, Elements::Float, unary<RoundOp>},
    {"Sign", 9, Elements::Number, unary<SignOp>},
    {"Sin", 7, Elements::Float, unary<SinOp>},
    {"Sinh", 9, Elements::Float, unary<SinhOp>},
    {"Sqrt", 1, Elements::Float, unary<SqrtOp>},
    {"Sub", 1, Elements::Number, binaryAtAxis<SubOp>, 6},
    {"Sub", 7, Elements::Number, binary<SubOp>},
    {"Sum", 1, Elements::Float, variadic<AddOp>},
    {"Tan", 7, Elements::Float, unary<TanOp>},
    {"Tanh", 1, Elements::Float, unary<TanhOp>},
    {"Where", 9, Elements::Bool, where},
    {"Xor", 1, Elements::Bool, binaryAtAxis<XorOp>, 6},
    {"Xor", 7, Elements::Bool, binary<XorOp>},
};

ArrayRef<Operator> getElementwiseOperators() { return rows; }

} // namespace kiln::import
