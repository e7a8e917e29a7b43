//===- Sources.cpp - The C++ text of a whole model -------------------------===//
#include "compiler/emit/Sources.h"
#include "compiler/emit/EntryPrinter.h"
#include "compiler/emit/HeaderPrinter.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/KernelPrinter.h"

#include <numeric>

using namespace mlir;

namespace kiln {

/// Text that one translation unit should hold: it compiles in about a second.
static constexpr size_t unitBytes = 48 << 10;
static constexpr size_t maxUnits = 64;

/// The kernels of each translation unit: the largest first, each to the unit with the least text so far.
static std::vector<std::vector<size_t>> balance(ArrayRef<KernelText> kernels) {
  size_t total = 0;
  for (const KernelText &kernel : kernels)
    total += kernel.definition.size();
  size_t count = std::min({(total + unitBytes - 1) / unitBytes, maxUnits, kernels.size()});
  std::vector<size_t> order(kernels.size()), filled(count);
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::make_pair(kernels[b].definition.size(), a) < std::make_pair(kernels[a].definition.size(), b);
  });
  std::vector<std::vector<size_t>> units(count);
  for (size_t kernel : order) {
    size_t unit = std::min_element(filled.begin(), filled.end()) - filled.begin();
    units[unit].push_back(kernel);
    filled[unit] += kernels[kernel].definition.size();
  }
  for (std::vector<size_t> &unit : units)
    llvm::sort(unit);
  return units;
}

static SourceFile printKernelHeader(ArrayRef<KernelText> kernels, const Signature &signature) {
  std::string guard = signature.macro + "_KERNELS_H";
  std::string text = "// The kernels of model '" + signature.name + "', for its own translation units.\n#ifndef " + guard + "\n#define " + guard +
                     "\n\n#include \"kiln/entry.h\"\n\n";
  for (const KernelText &kernel : kernels)
    text += kernel.declaration;
  return {signature.name + "_kernels.h", text + "\n#endif // " + guard + "\n"};
}

FailureOr<ModelSources> printSources(ModuleOp module, const Signature &signature) {
  std::vector<KernelText> kernels;
  KernelNames names;
  NameScope scope;
  bool complete = true;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function == signature.workspaceSize)
      continue;
    std::string name = scope.unique(signature.name + "_kernel_" + makeIdentifier(function.getSymName()));
    auto text = printKernel(function, name);
    names[function.getSymName()] = name;
    complete &= succeeded(text);
    if (succeeded(text))
      kernels.push_back(std::move(*text));
  }
  if (!complete)
    return failure();
  auto entry = printEntrySource(module, signature, names);
  if (failed(entry))
    return failure();
  ModelSources sources;
  sources.header = {signature.name + ".h", printHeader(signature)};
  sources.kernelHeader = printKernelHeader(kernels, signature);
  sources.units.push_back({signature.name + "_run.cpp", *entry});
  std::string includes = "#include \"" + sources.kernelHeader.name + "\"\n#include \"kiln/half.h\"\n#include \"kiln/lanes.h\"\n"
                         "#include \"kiln/math.h\"\n#include \"kiln/vector.h\"\n#include \"kiln/wrap.h\"\n";
  for (auto [i, unit] : llvm::enumerate(balance(kernels))) {
    std::string text = "// Kernels of model '" + signature.name + "'.\n" + includes;
    for (size_t kernel : unit)
      text += "\n" + kernels[kernel].definition;
    sources.units.push_back({signature.name + "_kernels_" + std::to_string(i) + ".cpp", text});
  }
  return sources;
}

} // namespace kiln
