//===- Sources.cpp - The C++ text of a whole model -------------------------===//
#include "compiler/emit/Sources.h"
#include "compiler/emit/ChoicePrinter.h"
#include "compiler/emit/EntryPrinter.h"
#include "compiler/emit/HeaderPrinter.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/KernelPrinter.h"

#include "llvm/ADT/StringExtras.h"
#include <numeric>
#include <set>

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
  std::string guard = makeMacroName(signature.variantOf(signature.name)) + "_KERNELS_H";
  std::string text = "// The kernels of model '" + signature.name + "', for its own translation units.\n#ifndef " + guard + "\n#define " + guard +
                     "\n\n#include \"kiln/entry.h\"\n" + declareExternals(signature.module());
  for (const KernelText &kernel : kernels)
    text += kernel.declaration;
  return {signature.kernelHeader(), text + "\n#endif // " + guard + "\n"};
}

/// `using kiln::f32x8;` for each vector type that a text names.
static std::string useTypes(StringRef text) {
  std::set<std::string> types;
  for (size_t at = 0; (at = text.find_first_of("fiu", at)) != StringRef::npos; ++at) {
    StringRef word = text.substr(at).take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    bool begins = at == 0 || !(llvm::isAlnum(text[at - 1]) || text[at - 1] == '_');
    if (begins && isVectorName(word))
      types.insert(word.str());
  }
  std::string lines;
  for (const std::string &type : types)
    lines += "using kiln::" + type + ";\n";
  return lines.empty() ? "" : "\n" + lines;
}

/// The headers of functions that kernels call whole.
static std::string includeFunctions(StringRef text) {
  std::string lines = text.contains("kiln::random_") ? "#include \"kiln/random.h\"\n" : "";
  return lines + (text.contains("kiln::string_") ? "#include \"kiln/strings.h\"\n" : "");
}

/// The kernels of a module; failure after a report for each that has no C++ text.
static FailureOr<std::vector<KernelText>> printKernels(const Signature &signature, KernelNames &names) {
  std::vector<KernelText> kernels;
  NameScope scope;
  bool complete = true;
  for (auto function : signature.module().getOps<func::FuncOp>()) {
    if (function == signature.workspaceSize)
      continue;
    std::string name = scope.unique(signature.variantOf(signature.name + "_kernel") + "_" + makeIdentifier(function.getSymName()));
    auto text = printKernel(function, name);
    names[function.getSymName()] = name;
    complete &= succeeded(text);
    if (succeeded(text))
      kernels.push_back(std::move(*text));
  }
  if (!complete)
    return failure();
  return kernels;
}

static LogicalResult printTarget(const Signature &signature, ModelSources &sources) {
  KernelNames names;
  auto kernels = printKernels(signature, names);
  auto entry = failed(kernels) ? FailureOr<std::string>() : printEntrySource(signature, names);
  if (failed(entry))
    return failure();
  kernel::TargetAttr target = kernel::getTarget(signature.module());
  std::string stem = signature.variantOf(signature.name);
  sources.units.push_back({{stem + "_run.cpp", *entry}, target});
  sources.kernelHeaders.push_back(printKernelHeader(*kernels, signature));
  std::string includes = "#include \"" + signature.kernelHeader() + "\"\n#include \"kiln/half.h\"\n#include \"kiln/lanes.h\"\n"
                         "#include \"kiln/math.h\"\n#include \"kiln/vector.h\"\n#include \"kiln/wrap.h\"\n";
  std::string whose = "'" + signature.name + "'" + (signature.variant.empty() ? "" : " for " + makeCommentText(signature.target));
  for (auto [i, unit] : llvm::enumerate(balance(*kernels))) {
    std::string text;
    for (size_t kernel : unit)
      text += "\n" + (*kernels)[kernel].definition;
    text = "// Kernels of model " + whose + ".\n" + includes + includeFunctions(text) + useTypes(text) + text;
    sources.units.push_back({{stem + "_kernels_" + std::to_string(i) + ".cpp", text}, target});
  }
  return success();
}

std::vector<SourceFile> ModelSources::headers() const {
  std::vector<SourceFile> files = {header};
  files.insert(files.end(), kernelHeaders.begin(), kernelHeaders.end());
  return files;
}

FailureOr<ModelSources> printSources(ArrayRef<Signature> targets) {
  ModelSources sources;
  sources.signature = mergeSignatures(targets);
  sources.header = {sources.signature.name + ".h", printHeader(sources.signature)};
  if (targets.size() > 1)
    sources.units.push_back({{sources.signature.name + "_run.cpp", printChoiceSource(sources.signature, targets)}, baselineOf(targets.front())});
  for (const Signature &target : targets)
    if (failed(printTarget(target, sources)))
      return failure();
  return sources;
}

} // namespace kiln
