//===- HiddenFeatures.cpp - Features that this machine shall not have -------===//
#include "compiler/target/native/HiddenFeatures.h"
#include "kiln/choice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

StringRef getHiddenFeatures() {
  const char *list = find_variable("KILN_CPU_WITHOUT");
  return list ? list : "";
}

static bool hides(const std::string &item, const std::string &feature) { return cpu::begins_with(feature.c_str(), item.c_str()); }

bool isHidden(const std::string &feature) {
  return llvm::any_of(llvm::split(getHiddenFeatures(), ','), [&](StringRef item) { return hides(item.str(), feature); });
}

std::string findUnknownHiddenFeature() {
  for (StringRef part : llvm::split(getHiddenFeatures(), ',')) {
    std::string item = part.str();
    auto isKnown = [&](ArrayRef<const char *> names) { return llvm::any_of(names, [&](const char *name) { return hides(item, name); }); };
    if (!item.empty() && !isKnown(cpu::feature_names) && !isKnown(cpu::aarch64_feature_names) && !isKnown(cpu::riscv64_feature_names))
      return item;
  }
  return "";
}

} // namespace kiln
