//===- Expression.cpp - C++ expressions and constants ----------------------===//
#include "compiler/emit/Expression.h"
#include "dialects/kernel/IndexWidth.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cmath>
#include <cstring>

using namespace mlir;

namespace kiln {

Expression call(const std::string &function, ArrayRef<std::string> arguments) {
  return {function + "(" + llvm::join(arguments, ", ") + ")"};
}

Expression callOn(StringRef function, const std::string &type, ValueRange operands, OperandText operand) {
  if (type.empty())
    return {};
  std::vector<std::string> arguments;
  for (Value value : operands)
    arguments.push_back(operand(value).text);
  return call("kiln::" + function.str() + "<" + type + ">", arguments);
}

Expression infix(const Expression &left, StringRef op, const Expression &right, Binding binding) {
  // Compilers warn about bitwise operators and comparisons without parentheses.
  bool nests = binding == Binding::Add || binding == Binding::Multiply;
  Binding tighter = nests ? static_cast<Binding>(static_cast<int>(binding) + 1) : binding == Binding::Compare ? Binding::Add : Binding::Unary;
  return {left.at(nests ? binding : tighter) + " " + op.str() + " " + right.at(tighter), binding};
}

//===- Constants -----------------------------------------------------------===//

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
  if (type.isIndex() && indexBits() == 32)
    return {std::to_string(std::clamp(value.getSExtValue(), -kernel::mostNarrowIndex, kernel::mostNarrowIndex)),
            value.isNegative() ? Binding::Unary : Binding::Primary};
  bool isUnsigned = type.isUnsignedInteger();
  // The smallest number has no literal, because -9223372036854775808 is the negation of a number that no type can hold.
  if (!isUnsigned && value.isMinSignedValue() && value.getBitWidth() >= 32)
    return {value.getBitWidth() == 32 ? "INT32_MIN" : "INT64_MIN"};
  std::string text = isUnsigned ? std::to_string(value.getZExtValue()) + (value.getBitWidth() > 32 ? "ull" : "u")
                                : std::to_string(value.getSExtValue());
  return {text, text.front() == '-' ? Binding::Unary : Binding::Primary};
}

/// Empty for a type that has no C++ text, and for an attribute that is not a number.
static Expression scalarLiteral(Attribute attr, Type type) {
  if (cppType(type).empty() || type.isInteger(128))
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

Expression literal(TypedAttr value, VectorNames *used) {
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
  if (used)
    used->use(name);
  if (elements.isSplat())
    return {"kiln::broadcast<" + name + ">(" + lane(elements.getSplatValue<Attribute>()) + ")"};
  return {name + "{" + llvm::join(llvm::map_range(elements.getValues<Attribute>(), lane), ", ") + "}"};
}

} // namespace kiln
