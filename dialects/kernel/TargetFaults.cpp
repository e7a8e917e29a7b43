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
