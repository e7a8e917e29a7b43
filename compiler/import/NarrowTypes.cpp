//===- NarrowTypes.cpp - Element types that nothing computes with -----------===//
#include "compiler/import/NarrowTypes.h"
#include "compiler/import/TensorData.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// The codes of a narrow float: codes [0, finite) are the numbers from zero up, and `sign` is the bit of negative numbers.
struct Format {
  int dataType, mantissaBits, bias, finite, sign, nan, overflow;
  /// No negative zero: its code is the NaN.
  bool oneZero;

  float number(int code) const {
    int exponent = code >> mantissaBits, mantissa = code & ((1 << mantissaBits) - 1);
    float fraction = std::ldexp(static_cast<float>(mantissa), -mantissaBits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  }
  float meaning(int code) const {
    int magnitude = code & (sign - 1);
    if ((oneZero && code == sign) || (magnitude >= finite && magnitude != overflow))
      return std::nanf("");
    if (magnitude >= finite)
      return overflow == nan ? std::nanf("") : code & sign ? -INFINITY : INFINITY;
    return code & sign ? -number(magnitude) : number(magnitude);
  }
  /// The largest number that does not round to a code above this one; ties go to the even code.
  float lastBelow(int code) const {
    float step = code + 1 < finite ? number(code + 1) - number(code) : number(code) - number(code - 1);
    float middle = number(code) + step / 2;
    return code % 2 == 0 ? middle : std::nextafterf(middle, 0.0f);
  }
};
} // namespace

static const Format *findFormat(int64_t dataType) {
  static constexpr Format formats[] = {
      {17, 3, 7, 127, 128, 127, 127, false},  // float8e4m3fn
      {18, 3, 8, 128, 128, 128, 128, true},   // float8e4m3fnuz
      {19, 2, 15, 124, 128, 126, 124, false}, // float8e5m2
      {20, 2, 16, 128, 128, 128, 128, true},  // float8e5m2fnuz
      {23, 1, 1, 8, 8, 8, 7, false},          // float4e2m1: all codes are numbers
      {27, 3, 1, 32, 32, 32, 31, false},      // float6e2m3: the same
      {28, 2, 3, 32, 32, 32, 31, false},      // float6e3m2
  };
  for (const Format &format : formats)
    if (format.dataType == dataType)
      return &format;
  return nullptr;
}

/// float8e8m0: codes are exponents of two, without sign and without zero.
static constexpr int64_t exponentType = 24;
static constexpr int exponentBias = 127, exponentNan = 255;

bool isNarrowFloat(int64_t dataType) { return dataType == exponentType || findFormat(dataType); }

int narrowIntegerBits(int64_t dataType) { return dataType == 21 || dataType == 22 ? 4 : dataType == 25 || dataType == 26 ? 2 : 0; }

static Value numbers(Node &node, ArrayRef<float> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, node.builder().getF32Type());
  return node.constant(nn::makeConstantOf<float>(type, values));
}

Value decodeNarrowFloat(Node &node, Value codes, int64_t dataType) {
  SmallVector<float> table;
  if (const Format *format = findFormat(dataType)) {
    for (int code = 0; code < 2 * format->sign; ++code)
      table.push_back(format->meaning(code));
  } else {
    for (int code = 0; code < exponentNan; ++code)
      table.push_back(std::ldexp(1.0f, code - exponentBias));
    table.push_back(std::nanf(""));
  }
  Value places = node.cast(codes, node.builder().getI32Type());
  return node.make<GatherOp>(node.type(node.dims(codes), node.builder().getF32Type()), numbers(node, table), places, 0);
}

/// For each number, how many of the ascending bounds it reaches.
static Value countBelow(Node &node, Value x, ArrayRef<float> bounds, bool countsEqual = false) {
  DimExprs column = node.dims(x);
  int64_t last = column.size();
  column.push_back(node.number(1));
  Value each = node.reshape(x, column), bound = numbers(node, bounds);
  Value above = countsEqual ? node.compare<GreaterEqualOp>(each, bound) : node.compare<GreaterOp>(each, bound);
  return node.reduce(ReduceKind::Sum, node.cast(above, node.elementType(x)), {last}, /*keep=*/false);
}

static Value encodeExponent(Node &node, Value real, bool saturates, StringRef rounding) {
  if (rounding != "up" && rounding != "down" && rounding != "nearest")
    (void)node.error("attribute 'round_mode' is '" + rounding + "', expected up, down or nearest");
  Value size = node.unary<AbsOp>(node.cast(real, node.builder().getF32Type()));
  SmallVector<float> bounds;
  for (int code = 0; code + 1 < exponentNan; ++code)
    bounds.push_back(std::ldexp(rounding == "up" ? 1.0f : rounding == "down" ? 2.0f : 1.5f, code - exponentBias));
  Value code = countBelow(node, size, bounds, /*countsEqual=*/rounding != "up");
  Type flag = node.builder().getI1Type();
  Value isNan = node.make<IsNanOp>(node.type(node.dims(size), flag), size);
  if (!saturates)
    isNan = node.binary<OrOp>(isNan, node.compare<GreaterOp>(size, node.splatLike(size, std::ldexp(1.0, exponentNan - 1 - exponentBias))));
  code = node.make<SelectOp>(code.getType(), isNan, node.splatLike(code, exponentNan), code);
  return node.cast(code, node.builder().getIntegerType(8, false));
}

/// A code is how many bounds between neighbouring codes a number is above: exact, and without a look at the number's bits.
Value encodeNarrowFloat(Node &node, Value real, int64_t dataType, bool saturates, StringRef rounding) {
  if (dataType == exponentType)
    return encodeExponent(node, real, saturates, rounding);
  const Format &format = *findFormat(dataType);
  Value x = node.cast(real, node.builder().getF32Type()), size = node.unary<AbsOp>(x);
  SmallVector<float> bounds;
  for (int code = 0; code + 1 < format.finite; ++code)
    bounds.push_back(format.lastBelow(code));
  DimExprs dims = node.dims(x);
  Value code = countBelow(node, size, bounds);
  auto choose = [&](Value condition, Value yes, Value no) { return node.make<SelectOp>(no.getType(), condition, yes, no); };
  // The reciprocal shows the sign of a zero, the number that of an infinity.
  Value zero = node.splatLike(x, 0);
  Value isNegative = node.binary<OrOp>(node.compare<LessOp>(x, zero), node.compare<LessOp>(node.unary<ReciprocalOp>(x), zero));
  if (format.oneZero)
    isNegative = node.binary<AndOp>(isNegative, node.compare<GreaterOp>(code, zero));
  Value isOver = node.compare<GreaterOp>(size, node.splatLike(x, format.lastBelow(format.finite - 1)));
  bool overflows = !saturates && format.overflow >= format.finite;
  if (overflows)
    code = choose(isOver, node.splatLike(x, format.overflow), code);
  Value withSign = choose(isNegative, node.binary<AddOp>(code, static_cast<double>(format.sign)), code);
  if (overflows && format.overflow == format.sign)
    withSign = choose(isOver, code, withSign);
  Value isNan = node.make<IsNanOp>(node.type(dims, node.builder().getI1Type()), x);
  return node.cast(choose(isNan, node.splatLike(x, format.nan), withSign), node.builder().getIntegerType(8, false));
}

Value wrapNarrowInteger(Node &node, Value x, int64_t dataType) {
  int64_t bits = narrowIntegerBits(dataType), half = int64_t(1) << (bits - 1);
  Type to = getElementType(static_cast<int>(dataType), node.context());
  Value low = node.binary<AndOp>(node.cast(x, node.builder().getI32Type()), static_cast<double>(2 * half - 1));
  if (!to.isUnsignedInteger())
    low = node.binary<SubOp>(node.binary<XorOp>(low, static_cast<double>(half)), static_cast<double>(half));
  return node.cast(low, to);
}

} // namespace kiln::import
