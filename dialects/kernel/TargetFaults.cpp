//===- TargetFaults.cpp - What every target must fulfil ---------------------===//
#include "dialects/kernel/TargetFaults.h"
#include "dialects/kernel/Libraries.h"
#include "dialects/kernel/Names.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kiln::kernel {

static bool isMadeOf(StringRef text, StringRef others) {
  return llvm::all_of(text, [&](char c) { return llvm::isAlnum(c) || others.contains(c); });
}

/// The text as a message may have it: control characters escaped.
static std::string shown(StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  llvm::printEscapedString(text.take_front(80), stream);
  return result;
}

/// Triples, CPUs and features become options of compilers and text of CMake.
static std::string findTextFault(StringRef field, StringRef text) {
  if (isMadeOf(text, "._+-"))
    return "";
  return ("'" + field + "' must be letters, digits, '.', '_', '+' and '-'; got '" + shown(text) + "'").str();
}

static std::string findFeatureFault(ArrayAttr features) {
  for (Attribute feature : features) {
    auto text = dyn_cast<StringAttr>(feature);
    if (!text)
      return "'features' must be a list of strings";
    if (text.empty())
      return "'features' has an empty name";
    if (std::string fault = findTextFault("features", text); !fault.empty())
      return fault;
  }
  return "";
}

static std::string findLibraryFault(ArrayAttr libraries) {
  std::string fault;
  for (Attribute entry : libraries ? libraries.getValue() : ArrayRef<Attribute>()) {
    auto text = dyn_cast<StringAttr>(entry);
    if (!text)
      return "'libraries' must be a list of strings";
    if (parseLibrary(text, fault); !fault.empty())
      return fault;
  }
  return "";
}

std::string findNameFault(const TargetNames &names) {
  if (names.name.empty() || !isMadeOf(names.name, "-_."))
    return "'name' must be letters, digits, '-', '_' and '.'";
  std::string fault = findTextFault("triple", names.triple);
  if (fault.empty())
    fault = findTextFault("cpu", names.cpu);
  if (fault.empty())
    fault = findFeatureFault(names.features);
  return fault.empty() ? findLibraryFault(names.libraries) : fault;
}

std::string findSizeFault(int64_t vectorBits, int64_t registers) {
  if (vectorBits < 32 || vectorBits > 2048 || !llvm::isPowerOf2_64(vectorBits))
    return "'vector_bits' must be a power of two from 32 to 2048";
  return registers < 8 || registers > 64 ? "'registers' must be between 8 and 64" : "";
}

static bool isStepType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  unsigned bits = integer ? integer.getWidth() : 0;
  return type.isF32() || type.isF64() || type.isF16() || type.isBF16() || (llvm::isPowerOf2_32(bits) && bits >= 8 && bits <= 64);
}

/// As messages and files name a type of a step: u8 for ui8.
static std::string nameType(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type;
  return StringRef(text).starts_with("ui") ? "u" + text.substr(2) : text;
}

std::string findStepFault(Type lhs, Type rhs, Type sum, ArrayRef<int64_t> shape, StringRef function) {
  constexpr int64_t most = 1024;
  for (auto [role, type] : {std::pair("lhs", lhs), std::pair("rhs", rhs), std::pair("sum", sum)})
    if (!isStepType(type))
      return std::string("the '") + role + "' of a step must be f16, bf16, f32, f64 or an integer of 8 to 64 bits; got " + nameType(type);
  if (isa<FloatType>(lhs) != isa<FloatType>(sum) || isa<FloatType>(rhs) != isa<FloatType>(sum))
    return "a step must have floating-point numbers or integers on all sides; got " + nameType(lhs) + ", " + nameType(rhs) + " and " + nameType(sum);
  auto isExtent = [](int64_t extent) { return extent >= 1 && extent <= most && llvm::isPowerOf2_64(static_cast<uint64_t>(extent)); };
  if (shape.size() != 3 || !llvm::all_of(shape, isExtent))
    return "the 'shape' of a step must be [rows, lanes, depth], powers of two up to " + std::to_string(most);
  // The expression a * b + c has elements of one type, one at a time.
  bool isPlain = lhs == sum && rhs == sum && shape[0] == 1 && shape[2] == 1;
  if (function.empty() && !isPlain)
    return "a step without a 'function' must have elements of one type, one row and depth 1";
  return function.empty() || isIdentifier(function) ? "" : "the 'function' of a step must be an identifier; got '" + shown(function) + "'";
}

std::string findStepsFault(ArrayRef<StepAttr> steps, int64_t vectorBits) {
  for (size_t i = 0; i < steps.size(); ++i) {
    StepAttr step = steps[i];
    std::string name = "the step of " + nameType(step.getLhs()) + ", " + nameType(step.getRhs()) + " and " + nameType(step.getSum());
    // What computes several rows has registers of its own.
    if (int64_t bits = step.getLanes() * step.getSum().getIntOrFloatBitWidth(); step.getRows() == 1 && bits > vectorBits)
      return name + " has sums of " + std::to_string(bits) + " bits, a vector has " + std::to_string(vectorBits);
    auto isSame = [&](StepAttr other) { return other.takes(step.getLhs(), step.getRhs(), step.getSum()) && other.getShape() == step.getShape(); };
    if (llvm::any_of(steps.take_front(i), isSame))
      return name + " is listed twice with one shape";
  }
  return "";
}

/// What is wrong with a name or version, or with the name of one that is there already.
static constexpr llvm::StringLiteral identityFault = "a composite must have a unique 'name', and a 'version' that is not negative";

std::string findCompositeFault(StringRef name, int64_t version, StringRef function) {
  if (name.empty() || version < 0)
    return identityFault.str();
  return isFunctionName(function) ? "" : "the composite '" + shown(name) + "' must have a 'function' whose name C allows";
}

std::string findRepeatedComposite(ArrayRef<CompositeAttr> composites) {
  llvm::StringSet<> names;
  bool repeats = llvm::any_of(composites, [&](CompositeAttr composite) { return !names.insert(composite.getName()).second; });
  return repeats ? identityFault.str() : "";
}

} // namespace kiln::kernel
