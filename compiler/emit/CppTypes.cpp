//===- CppTypes.cpp - Types in C++ -----------------------------------------===//
#include "compiler/emit/CppTypes.h"
#include "compiler/emit/Identifiers.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace kiln {

static thread_local unsigned widthOfIndex = 64;

unsigned indexBits() { return widthOfIndex; }

NarrowIndices::NarrowIndices(bool isNarrow) : before(widthOfIndex) { widthOfIndex = isNarrow ? 32 : 64; }

NarrowIndices::~NarrowIndices() { widthOfIndex = before; }

/// Width in bits of the integer that holds a value: masks have 32-bit lanes.
static unsigned integerWidth(Type element, bool isLane) {
  if (element.isIndex())
    return indexBits();
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

/// f32x8, for which the translation unit has a using declaration, or kiln::vec<float, 2> for a vector type without a short name.
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

std::string VectorNames::use(std::string type) {
  if (isVectorName(type))
    names.insert(type);
  return type;
}

} // namespace kiln
