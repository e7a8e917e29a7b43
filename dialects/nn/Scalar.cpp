//===- Scalar.cpp - Element-wise formulas as plain C++ ---------------------===//
#include "dialects/nn/Scalar.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNElementwiseOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNStructureOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace kiln::nn {

bool isHalf(Type elementType) { return elementType.isF16() || elementType.isBF16(); }
bool computesInF32(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || isHalf(element);
}

Type computeType(Type elementType) {
  if (isHalf(elementType))
    return Float32Type::get(elementType.getContext());
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(elementType.getContext(), integer.getWidth());
  return elementType;
}

unsigned lanesOf(kernel::TargetAttr target, Type elementType) {
  unsigned bits = elementType.isInteger(1) ? 32 : computeType(elementType).getIntOrFloatBitWidth();
  return bits > 64 ? 1 : std::max(1u, target.lanes(bits));
}

double lowestOf(Type type) {
  auto integer = cast<IntegerType>(getElementTypeOrSelf(type));
  return integer.isUnsigned() ? 0 : -std::ldexp(1.0, integer.getWidth() - 1);
}
double highestOf(Type type) {
  auto integer = cast<IntegerType>(getElementTypeOrSelf(type));
  return std::ldexp(1.0, integer.isUnsigned() ? integer.getWidth() : integer.getWidth() - 1) - 1;
}

/// The type of a value of `model`'s form (scalar, vector, tensor) with another element type.
static Type withForm(Type model, Type elementType) {
  if (isa<RankedTensorType>(model))
    return withElementType(model, elementType);
  if (auto vector = dyn_cast<VectorType>(model))
    return vector.clone(computeType(elementType));
  return computeType(elementType);
}

kernel::Accuracy accuracyOf(Operation *op) {
  auto approximate = dyn_cast<Approximate>(op);
  return approximate ? approximate.getAccuracy() : kernel::Accuracy::Exact;
}

Scalar::Scalar(OpBuilder &builder, Location loc, Value value, Type type, kernel::Accuracy accuracy)
    : builder(builder), loc(loc), held(value), element(getElementTypeOrSelf(type)), accuracy(accuracy) {}

Scalar Scalar::approximate(Operation *op) const {
  if (auto composed = dyn_cast<Approximate>(op))
    composed.setAccuracy(accuracy);
  else if (isa<math::ExpOp>(op) && accuracy != kernel::Accuracy::Exact)
    op->setAttr(kernel::accuracyAttrName, kernel::AccuracyAttr::get(op->getContext(), accuracy));
  return with(op->getResult(0));
}

bool Scalar::isTensor() const { return isa<RankedTensorType>(held.getType()); }
bool Scalar::isFloat() const { return isa<FloatType>(element); }
bool Scalar::isUnsigned() const { return element.isUnsignedInteger() || element.isInteger(1); }
bool Scalar::isBool() const { return element.isInteger(1); }

Scalar Scalar::withBool(Value value) const { return Scalar(builder, loc, value, builder.getI1Type()); }

/// A number as an attribute of an element type; unsigned element types keep their own integer type.
static TypedAttr numberAttr(Type type, double number) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, number);
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, APInt(width, static_cast<uint64_t>(static_cast<int64_t>(number)), false, true));
}

Scalar Scalar::like(double number) const {
  if (isTensor())
    return with(SplatOp::create(builder, loc, held.getType(), numberAttr(element, number)));
  TypedAttr attr = numberAttr(computeType(element), number);
  if (auto vector = dyn_cast<VectorType>(held.getType()))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return with(arith::ConstantOp::create(builder, loc, attr));
}

template <typename TensorOp, typename FloatOp, typename IntOp, typename UnsignedOp>
Scalar Scalar::binary(const Scalar &y) const {
  if (isTensor())
    return with(TensorOp::create(builder, loc, held.getType(), held, y.held));
  if constexpr (!std::is_void_v<FloatOp>)
    if (isFloat())
      return with(FloatOp::create(builder, loc, held, y.held));
  if (isUnsigned())
    return with(UnsignedOp::create(builder, loc, held, y.held));
  return with(IntOp::create(builder, loc, held, y.held));
}

Scalar Scalar::operator+(const Scalar &y) const { return binary<AddOp, arith::AddFOp, arith::AddIOp, arith::AddIOp>(y); }
Scalar Scalar::operator-(const Scalar &y) const { return binary<SubOp, arith::SubFOp, arith::SubIOp, arith::SubIOp>(y); }
Scalar Scalar::operator*(const Scalar &y) const { return binary<MulOp, arith::MulFOp, arith::MulIOp, arith::MulIOp>(y); }
Scalar Scalar::operator/(const Scalar &y) const { return binary<DivOp, arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(y); }
Scalar truncMod(const Scalar &x, const Scalar &y) { return x.binary<FmodOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(y); }
Scalar max(const Scalar &x, const Scalar &y) { return x.binary<MaximumOp, arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(y); }
Scalar min(const Scalar &x, const Scalar &y) { return x.binary<MinimumOp, arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(y); }
Scalar Scalar::operator&(const Scalar &y) const { return binary<AndOp, void, arith::AndIOp, arith::AndIOp>(y); }
Scalar Scalar::operator|(const Scalar &y) const { return binary<OrOp, void, arith::OrIOp, arith::OrIOp>(y); }
Scalar Scalar::operator^(const Scalar &y) const { return binary<XorOp, void, arith::XOrIOp, arith::XOrIOp>(y); }

Scalar Scalar::operator~() const {
  if (isTensor())
    return with(NotOp::create(builder, loc, held.getType(), held));
  return *this ^ (isBool() ? like(1) : like(-1));
}

Scalar Scalar::operator-() const {
  if (isTensor())
    return with(NegOp::create(builder, loc, held.getType(), held));
  if (isFloat())
    return with(arith::NegFOp::create(builder, loc, held));
  return like(0) - *this;
}

Scalar Scalar::compare(const Scalar &y, int floatPredicate, int signedPredicate, int unsignedPredicate) const {
  if (isFloat())
    return withBool(arith::CmpFOp::create(builder, loc, static_cast<arith::CmpFPredicate>(floatPredicate), held, y.held));
  auto predicate = static_cast<arith::CmpIPredicate>(isUnsigned() ? unsignedPredicate : signedPredicate);
  return withBool(arith::CmpIOp::create(builder, loc, predicate, held, y.held));
}

Scalar Scalar::operator<(const Scalar &y) const {
  if (isTensor())
    return withBool(LessOp::create(builder, loc, withElementType(held.getType(), builder.getI1Type()), held, y.held));
  return compare(y, int(arith::CmpFPredicate::OLT), int(arith::CmpIPredicate::slt), int(arith::CmpIPredicate::ult));
}
Scalar Scalar::operator<=(const Scalar &y) const {
  if (isTensor())
    return withBool(LessEqualOp::create(builder, loc, withElementType(held.getType(), builder.getI1Type()), held, y.held));
  return compare(y, int(arith::CmpFPredicate::OLE), int(arith::CmpIPredicate::sle), int(arith::CmpIPredicate::ule));
}
Scalar Scalar::operator==(const Scalar &y) const {
  if (isTensor())
    return withBool(EqualOp::create(builder, loc, withElementType(held.getType(), builder.getI1Type()), held, y.held));
  return compare(y, int(arith::CmpFPredicate::OEQ), int(arith::CmpIPredicate::eq), int(arith::CmpIPredicate::eq));
}

Scalar select(const Scalar &condition, const Scalar &x, const Scalar &y) {
  if (x.isTensor())
    return x.with(SelectOp::create(x.builder, x.loc, x.held.getType(), condition.held, x.held, y.held));
  return x.with(arith::SelectOp::create(x.builder, x.loc, condition.held, x.held, y.held));
}

Scalar floorMod(const Scalar &x, const Scalar &y) {
  if (x.isTensor())
    return x.with(ModOp::create(x.builder, x.loc, x.held.getType(), x.held, y.held));
  if (x.isUnsigned())
    return truncMod(x, y);
  // The result has the divisor's sign.
  Scalar remainder = truncMod(x, y);
  Scalar zero = x.like(0);
  Scalar nonZero = ~(remainder == zero);
  Scalar differ = (remainder < zero) ^ (y < zero);
  Scalar none = x.isFloat() ? select(y < zero, x.like(-0.0), zero) : zero;
  return select(nonZero, select(differ, remainder + y, remainder), none);
}

/// A square is a product, which is rounded once. Other powers are left to the function.
Scalar pow(const Scalar &x, const Scalar &y) {
  if (x.isTensor())
    return x.with(PowOp::create(x.builder, x.loc, x.held.getType(), x.held, y.held));
  APFloat exponent(0.0f);
  if (x.isFloat() && matchPattern(y.held, m_ConstantFloat(&exponent)) && exponent.isExactlyValue(2.0))
    return x * x;
  if (x.isFloat())
    return x.with(math::PowFOp::create(x.builder, x.loc, x.held, y.held));
  return x.with(math::IPowIOp::create(x.builder, x.loc, x.held, y.held));
}

Scalar shiftLeft(const Scalar &x, const Scalar &y) { return x.binary<ShiftLeftOp, void, arith::ShLIOp, arith::ShLIOp>(y); }

Scalar shiftRight(const Scalar &x, const Scalar &y) { return x.binary<ShiftRightOp, void, arith::ShRSIOp, arith::ShRUIOp>(y); }

Scalar isNan(const Scalar &x) {
  return x.withBool(arith::CmpFOp::create(x.builder, x.loc, arith::CmpFPredicate::UNO, x.held, x.held));
}

Scalar sign(const Scalar &x) {
  if (x.isTensor())
    return x.with(SignOp::create(x.builder, x.loc, x.held.getType(), x.held));
  Scalar positive = select(x > x.like(0), x.like(1), select(x == x.like(0), x.like(0), x));
  return select(x < x.like(0), x.like(-1), positive);
}

Scalar abs(const Scalar &x) {
  if (x.isTensor())
    return x.with(AbsOp::create(x.builder, x.loc, x.held.getType(), x.held));
  if (x.isFloat())
    return x.with(math::AbsFOp::create(x.builder, x.loc, x.held));
  return x.isUnsigned() ? x : x.with(math::AbsIOp::create(x.builder, x.loc, x.held));
}

Scalar sigmoid(const Scalar &x) {
  if (x.isTensor())
    return x.approximate(SigmoidOp::create(x.builder, x.loc, x.held.getType(), x.held));
  return x.like(1.0) / (exp(-x) + 1.0);
}

/// With t = e^-|x|, (1 + 2t) / (1 + 2t + 2t^2), or below zero t (t + 2) / (t (t + 2) + 2): sums of positive numbers, so that no digit is lost.
Scalar tanhOfSoftplus(const Scalar &x) {
  Scalar t = exp(-abs(x)), isNegative = x < 0.0;
  Scalar grown = select(isNegative, t * (t + 2.0), t * 2.0 + 1.0);
  return grown / (grown + select(isNegative, t.like(2.0), t * t * 2.0));
}

Scalar castTo(const Scalar &x, Type type) {
  Type to = getElementTypeOrSelf(type), from = x.element;
  Type form = withForm(x.held.getType(), to);
  auto result = [&](Value value) { return Scalar(x.builder, x.loc, value, to, x.accuracy); };
  if (from == to)
    return x;
  if (x.isTensor())
    return result(CastOp::create(x.builder, x.loc, form, x.held));
  OpBuilder &b = x.builder;
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  bool toUnsigned = to.isUnsignedInteger();
  if (to.isInteger(1))
    return ~(x == x.like(0));
  if (fromFloat && toFloat) {
    // Rounds to the narrow type although kernels compute in f32.
    Type narrow = isa<VectorType>(form) ? Type(cast<VectorType>(form).clone(to)) : to;
    Value value = x.held;
    unsigned have = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
    if (have > to.getIntOrFloatBitWidth())
      value = arith::TruncFOp::create(b, x.loc, narrow, value);
    else if (have < to.getIntOrFloatBitWidth())
      value = arith::ExtFOp::create(b, x.loc, narrow, value);
    if (value.getType() != form)
      value = arith::ExtFOp::create(b, x.loc, form, value);
    return result(value);
  }
  if (fromFloat)
    return result(toUnsigned ? Value(arith::FPToUIOp::create(b, x.loc, form, x.held)) : Value(arith::FPToSIOp::create(b, x.loc, form, x.held)));
  if (toFloat)
    return result(x.isUnsigned() ? Value(arith::UIToFPOp::create(b, x.loc, form, x.held)) : Value(arith::SIToFPOp::create(b, x.loc, form, x.held)));
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (toWidth < fromWidth)
    return result(arith::TruncIOp::create(b, x.loc, form, x.held));
  if (toWidth > fromWidth)
    return result(x.isUnsigned() ? Value(arith::ExtUIOp::create(b, x.loc, form, x.held)) : Value(arith::ExtSIOp::create(b, x.loc, form, x.held)));
  return result(x.held);
}

/// Half types are bits only in their narrow form, kernels compute with them in f32.
static Value narrowTo(OpBuilder &b, Location loc, Value value, Type element) {
  Type narrow = isa<VectorType>(value.getType()) ? Type(cast<VectorType>(value.getType()).clone(element)) : element;
  return value.getType() == narrow ? value : arith::TruncFOp::create(b, loc, narrow, value).getResult();
}

Scalar bitsAs(const Scalar &x, Type type) {
  Type to = getElementTypeOrSelf(type), from = x.element, form = withForm(x.held.getType(), to);
  auto result = [&](Value value) { return Scalar(x.builder, x.loc, value, to); };
  if (x.isTensor())
    return result(BitcastOp::create(x.builder, x.loc, form, x.held));
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (from == to || (!fromFloat && !toFloat))
    return result(x.held);
  Value bits = fromFloat ? narrowTo(x.builder, x.loc, x.held, from) : x.held;
  Type other = isa<VectorType>(form) ? Type(cast<VectorType>(form).clone(toFloat ? to : computeType(to))) : toFloat ? to : computeType(to);
  bits = arith::BitcastOp::create(x.builder, x.loc, other, bits);
  return result(bits.getType() == form ? bits : arith::ExtFOp::create(x.builder, x.loc, form, bits).getResult());
}

Scalar quantizeTo(const Scalar &x, const Scalar &zero, Type type) {
  Type to = getElementTypeOrSelf(type);
  unsigned width = to.getIntOrFloatBitWidth();
  if (x.isTensor() || !x.element.isF32() || (width != 8 && width != 16))
    return castTo(min(max(roundEven(x) + castTo(zero, x.element), lowestOf(to)), highestOf(to)), type);
  Value wide = castTo(zero, x.builder.getI32Type()).held;
  auto rounded = kernel::QuantizeOp::create(x.builder, x.loc, withForm(x.held.getType(), to), x.held, FloatAttr(), wide, to.isUnsignedInteger());
  return Scalar(x.builder, x.loc, rounded, to);
}

Scalar lookUp(const Scalar &x, ArrayRef<int8_t> table, Type type) {
  Type to = getElementTypeOrSelf(type);
  if (x.isTensor())
    return Scalar(x.builder, x.loc, LookupOp::create(x.builder, x.loc, withForm(x.held.getType(), to), x.held, table), to);
  return Scalar(x.builder, x.loc, kernel::LookupOp::create(x.builder, x.loc, x.held.getType(), x.held, table), to);
}

#define KILN_SCALAR_FUNCTION_OPS(name, mathOp, nnOp)                                                                   \
  Scalar name(const Scalar &x) {                                                                                       \
    if (x.isTensor())                                                                                                  \
      return x.approximate(nnOp::create(x.builder, x.loc, x.held.getType(), x.held));                                  \
    return x.isFloat() ? x.approximate(math::mathOp::create(x.builder, x.loc, x.held)) : x;                            \
  }
#include "dialects/nn/ScalarFunctions.def"
#undef KILN_SCALAR_FUNCTION_OPS

} // namespace kiln::nn
