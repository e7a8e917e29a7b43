//===- CppTypes.cpp - Types and constants in C++ ---------------------------===//
#include "compiler/emit/Expression.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <charconv>
#include <cmath>
#include <cstring>

using namespace mlir;

namespace kiln {

/// Width in bits of the integer that holds a value: masks have 32-bit lanes, index is 64 bits wide.
static unsigned integerWidth(Type element, bool isLane) {
  if (element.isIndex())
    return 64;
  if (element.isInteger(1))
    return isLane ? 32 : 1;
  if (element.isF16() || element.isBF16())
    return 16;
  return element.getIntOrFloatBitWidth();
}

static std::string scalarType(Type element) {
  if (element.isF32())
    return "float";
  if (element.isF64())
    return "double";
  if (element.isF16() || element.isBF16())
    return "uint16_t";
  if (element.isInteger(1))
    return "bool";
  if (element.isInteger(128))
    return "kiln_string";
  if (!element.isIndex() && !element.isInteger(8) && !element.isInteger(16) && !element.isInteger(32) && !element.isInteger(64))
    return "";
  return (element.isUnsignedInteger() ? "uint" : "int") + std::to_string(integerWidth(element, false)) + "_t";
}

/// f32x8, which the translation unit takes out of kiln, or kiln::vec<float, 2> for a form without a name of its own.
static std::string vectorName(char kind, unsigned bits, int64_t lanes, const std::string &lane) {
  int64_t total = bits * lanes;
  if (total == 128 || total == 256 || total == 512)
    return std::string(1, kind) + std::to_string(bits) + "x" + std::to_string(lanes);
  return "kiln::vec<" + lane + ", " + std::to_string(lanes) + ">";
}

static std::string vectorType(VectorType type, bool asUnsigned) {
  if (type.getRank() != 1 || type.isScalable() || !llvm::isPowerOf2_64(type.getNumElements()))
    return "";
  Type element = type.getElementType();
  std::string lane = scalarType(element);
  if (lane.empty())
    return "";
  if ((element.isF32() || element.isF64()) && !asUnsigned)
    return vectorName('f', element.getIntOrFloatBitWidth(), type.getNumElements(), lane);
  unsigned bits = integerWidth(element, true);
  bool isUnsigned = asUnsigned || element.isF16() || element.isBF16() || element.isUnsignedInteger();
  lane = (isUnsigned ? "uint" : "int") + std::to_string(bits) + "_t";
  return vectorName(isUnsigned ? 'u' : 'i', bits, type.getNumElements(), lane);
}

bool isCppVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getNumElements() > 1;
}

std::string cppType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return scalarType(type);
  return isCppVector(type) ? vectorType(vector, false) : scalarType(vector.getElementType());
}

std::string cppElementType(Type type) {
  // A buffer holds vectors only as an array on the stack.
  return type.isInteger(1) ? "" : cppType(type);
}

std::string cppUnsignedType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (vector && isCppVector(type))
    return vectorType(vector, true);
  Type element = getElementTypeOrSelf(type);
  return scalarType(element).empty() ? "" : "uint" + std::to_string(std::max(8u, integerWidth(element, false))) + "_t";
}

template <typename Float> static std::string shortestDecimal(Float value) {
  char buffer[64];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
  bool isInteger = llvm::all_of(text, [](char c) { return llvm::isDigit(c) || c == '-'; });
  return isInteger ? text + ".0" : text;
}

template <typename Float> static std::string hexadecimal(Float value) {
  char buffer[64];
  char *end = std::to_chars(buffer, buffer + sizeof(buffer), std::fabs(value), std::chars_format::hex).ptr;
  return (std::signbit(value) ? "-0x" : "0x") + std::string(buffer, end);
}

/// A float or double: the shortest decimal that reads back as the same number, hexadecimal for denormals, bits for NaN.
template <typename Float, typename Bits> static Expression floatLiteral(const APFloat &number, StringRef suffix, StringRef bitsType) {
  Bits bits = static_cast<Bits>(number.bitcastToAPInt().getZExtValue());
  Float value;
  std::memcpy(&value, &bits, sizeof(value));
  Binding binding = std::signbit(value) ? Binding::Unary : Binding::Primary;
  if (std::isnan(value)) {
    std::string hex = "0x" + llvm::utohexstr(bits, true);
    return {("kiln::bitcast<" + Twine(suffix.empty() ? "double" : "float") + ">(" + bitsType + "(" + hex + "))").str()};
  }
  if (std::isinf(value))
    return {(std::signbit(value) ? "-__builtin_inf" : "__builtin_inf") + suffix.str() + "()", binding};
  bool denormal = number.isDenormal();
  return {(denormal ? hexadecimal(value) : shortestDecimal(value)) + suffix.str(), binding};
}

static Expression integerLiteral(const APInt &value, Type type) {
  if (type.isInteger(1))
    return {value.isZero() ? "false" : "true"};
  bool isUnsigned = type.isUnsignedInteger();
  // The smallest number has no literal: -9223372036854775808 is the negation of a number that no type holds.
  if (!isUnsigned && value.isMinSignedValue() && value.getBitWidth() >= 32)
    return {value.getBitWidth() == 32 ? "INT32_MIN" : "INT64_MIN"};
  std::string text = isUnsigned ? std::to_string(value.getZExtValue()) + (value.getBitWidth() > 32 ? "ull" : "u")
                                : std::to_string(value.getSExtValue());
  return {text, text.front() == '-' ? Binding::Unary : Binding::Primary};
}

/// Empty for a type that C++ text cannot have, and for what is no number.
static Expression scalarLiteral(Attribute attr, Type type) {
  if (scalarType(type).empty() || type.isInteger(128))
    return {};
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integerLiteral(integer.getValue(), type);
  if (!isa<FloatAttr>(attr))
    return {};
  APFloat number = cast<FloatAttr>(attr).getValue();
  if (type.isF32())
    return floatLiteral<float, uint32_t>(number, "f", "uint32_t");
  if (type.isF64())
    return floatLiteral<double, uint64_t>(number, "", "uint64_t");
  return {"0x" + llvm::utohexstr(number.bitcastToAPInt().getZExtValue(), true)};
}

Expression literal(TypedAttr value) {
  Type type = value.getType();
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return scalarLiteral(value, type);
  auto elements = dyn_cast<DenseElementsAttr>(value);
  std::string name = cppType(type);
  if (!elements || name.empty())
    return {};
  Type element = vector.getElementType();
  auto lane = [&](Attribute attr) {
    bool isMask = element.isInteger(1) && isCppVector(type);
    return isMask ? std::string(cast<IntegerAttr>(attr).getValue().isZero() ? "0" : "-1") : scalarLiteral(attr, element).text;
  };
  if (!isCppVector(type))
    return scalarLiteral(*elements.getValues<Attribute>().begin(), element);
  if (elements.isSplat())
    return {"kiln::broadcast<" + name + ">(" + lane(elements.getSplatValue<Attribute>()) + ")"};
  return {name + "{" + llvm::join(llvm::map_range(elements.getValues<Attribute>(), lane), ", ") + "}"};
}

} // namespace kiln
