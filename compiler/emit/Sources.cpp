//===- Sources.cpp - The C++ text of a whole model -------------------------===//
#include "compiler/emit/Sources.h"
#include "compiler/emit/ChoicePrinter.h"
#include "compiler/emit/CppTypes.h"
#include "compiler/emit/EntryPrinter.h"
#include "compiler/emit/HeaderPrinter.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/KernelPrinter.h"
#include "dialects/kernel/IndexWidth.h"
#include "dialects/kernel/KernelAttributeNames.h"

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
  size_t count = std::min({llvm::divideCeil(total, unitBytes), maxUnits, kernels.size()});
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

static SourceFile printKernelHeader(ArrayRef<KernelText> kernels, ArrayRef<Signature> versions) {
  const Signature &signature = versions.front();
  std::string guard = makeMacroName(signature.variantOf(signature.name)) + "_KERNELS_H";
  std::string text = "// The kernels of model '" + signature.name + "', for its own translation units.\n#ifndef " + guard + "\n#define " + guard +
                     "\n\n#include \"kiln/entry.h\"\n";
  std::set<std::string> externals;
  for (const Signature &version : versions)
    if (std::string declarations = declareExternals(version.module()); externals.insert(declarations).second)
      text += declarations;
  for (const KernelText &kernel : kernels)
    text += kernel.declaration;
  return {signature.kernelHeader(), text + "\n#endif // " + guard + "\n"};
}

/// `using kiln::f32x8;` for each vector type that the kernels name.
static std::string useTypes(const std::set<std::string> &types) {
  std::string lines;
  for (const std::string &type : types)
    lines += "using kiln::" + type + ";\n";
  return lines.empty() ? "" : "\n" + lines;
}

/// The headers of functions that kernels call whole.
static std::string includeFunctions(const std::set<std::string> &callees) {
  static constexpr std::pair<StringLiteral, StringLiteral> headers[] = {
      {"kiln::col2im", "col2im"},    {"kiln::couple_", "coupling"}, {"kiln::decimal_", "decimal"},
      {"kiln::distances", "distances"}, {"kiln::depthwise_", "depthwise"},
      {"kiln::dot_", "dot"},       {"kiln::fourier_", "fourier"}, {"kiln::full_trees", "full_trees"}, {"kiln::greedy_boxes", "boxes"},
      {"kiln::image_", "image"},     {"kiln::lookup", "lookup"}, {"kiln::pair_", "pairs"}, {"kiln::quantize", "quantize"}, {"kiln::random_", "random"},
      {"kiln::rank_", "collectives"}, {"kiln::rounded", "order"}, {"kiln::rows_", "rows"},
      {"kiln::string_", "strings"}, {"kiln::tiles_", "tiles"}, {"kiln::token_", "tokens"},
      {"kiln::top_k", "best"}, {"kiln::tree_", "trees"}, {"kiln::unique_rows", "unique"}};
  std::string lines;
  for (auto [prefix, header] : headers)
    if (llvm::any_of(callees, [prefix = prefix](StringRef callee) { return callee.starts_with(prefix); }))
      lines += ("#include \"kiln/" + header + ".h\"\n").str();
  return lines;
}

namespace {
/// The kernels of all versions of a model for one target.
struct KernelTexts {
  std::vector<KernelText> kernels;
  NameScope scope;
  /// The names of the kernels by their text, so that versions share kernels that are equal.
  llvm::StringMap<std::string> known;
};
} // namespace

/// The name of a kernel in C++.
static std::string nameKernel(const Signature &signature, func::FuncOp kernel, NameScope &scope) {
  std::string stem = signature.variantOf(signature.name + "_kernel") + "_" + makeIdentifier(kernel.getSymName());
  return scope.unique(signature.versionOf(stem));
}

FailureOr<std::vector<std::pair<func::FuncOp, KernelText>>> printKernelTexts(const Signature &signature) {
  std::vector<std::pair<func::FuncOp, KernelText>> texts;
  bool complete = true;
  NameScope scope;
  NarrowIndices narrow(kernel::hasNarrowIndices(kernel::getTarget(signature.module())));
  for (auto function : signature.module().getOps<func::FuncOp>()) {
    if (function == signature.workspaceSize)
      continue;
    auto text = printKernel(function, nameKernel(signature, function, scope));
    complete &= succeeded(text);
    if (succeeded(text))
      texts.emplace_back(function, std::move(*text));
  }
  if (!complete)
    return failure();
  return std::move(texts);
}

/// Adds the kernels of a module. Fails after it has reported each kernel that has no C++ text.
static LogicalResult printKernels(const Signature &signature, KernelTexts &texts, KernelNames &names) {
  bool complete = true;
  NarrowIndices narrow(kernel::hasNarrowIndices(kernel::getTarget(signature.module())));
  for (auto function : signature.module().getOps<func::FuncOp>()) {
    if (function == signature.workspaceSize)
      continue;
    std::string name = nameKernel(signature, function, texts.scope);
    auto text = printKernel(function, name);
    complete &= succeeded(text);
    if (failed(text))
      continue;
    auto [known, isNew] = texts.known.try_emplace(text->body, name);
    // Kernels of one module differ already.
    if (isNew || !signature.isVersion()) {
      names[function.getSymName()] = name;
      texts.kernels.push_back(std::move(*text));
      continue;
    }
    names[function.getSymName()] = known->second;
  }
  return success(complete);
}

/// The versions of one target, the one for all sizes first.
static LogicalResult printTarget(ArrayRef<Signature> versions, ModelSources &sources) {
  const Signature &signature = versions.front();
  kernel::TargetAttr target = kernel::getTarget(signature.module());
  std::string stem = signature.variantOf(signature.name);
  KernelTexts texts;
  for (const Signature &version : versions) {
    KernelNames names;
    auto entry = failed(printKernels(version, texts, names)) ? FailureOr<std::string>() : printEntrySource(version, names);
    if (failed(entry))
      return failure();
    for (auto &entry : names)
      if (Operation *kernel = version.module().lookupSymbol(entry.getKey()))
        sources.kernelNodes[entry.getValue()] = joinStrings(kernel->getAttr(kernel::nodesAttrName), " ");
    sources.units.push_back({{version.versionOf(stem) + "_run.cpp", *entry}, target, {signature.header(), signature.kernelHeader()}});
    llvm::append_range(sources.symbols, std::vector{version.runFunction(), version.workspaceFunction()});
  }
  const std::vector<KernelText> &kernels = texts.kernels;
  for (const KernelText &kernel : kernels)
    sources.symbols.push_back(kernel.name);
  sources.kernelHeaders.push_back(printKernelHeader(kernels, versions));
  std::string includes = "#include \"" + signature.kernelHeader() + "\"\n#include \"kiln/half.h\"\n#include \"kiln/lanes.h\"\n"
                         "#include \"kiln/math.h\"\n#include \"kiln/vector.h\"\n#include \"kiln/wrap.h\"\n";
  std::string whose = "'" + signature.name + "'" + (signature.variant.empty() ? "" : " for " + makeCommentText(signature.target));
  for (auto [i, unit] : llvm::enumerate(balance(kernels))) {
    std::string text;
    std::set<std::string> callees, types;
    for (size_t kernel : unit) {
      text += "\n" + kernels[kernel].definition;
      callees.insert(kernels[kernel].callees.begin(), kernels[kernel].callees.end());
      types.insert(kernels[kernel].vectorTypes.begin(), kernels[kernel].vectorTypes.end());
    }
    text = "// Kernels of model " + whose + ".\n" + includes + includeFunctions(callees) + useTypes(types) + text;
    sources.units.push_back({{stem + "_kernels_" + std::to_string(i) + ".cpp", text}, target, {signature.kernelHeader()}});
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
  sources.header = {sources.signature.header(), printHeader(sources.signature)};
  if (targets.size() > 1 || targets.front().isGuarded || targets.front().isSharded()) {
    // The unit of a target without a variant is called NAME_run.cpp.
    std::string suffix = targets.front().isGuarded ? "_cpu.cpp" : "_run.cpp";
    std::string text = printChoiceSource(sources.signature, targets);
    llvm::append_range(sources.symbols, std::vector{sources.signature.name + "_run", sources.signature.name + "_workspace_size"});
    sources.units.push_back({{sources.signature.name + suffix, text}, baselineOf(targets.front()), {sources.header.name}});
  }
  while (!targets.empty()) {
    auto next = llvm::find_if(targets.drop_front(), [](const Signature &signature) { return !signature.isVersion(); });
    size_t versions = next - targets.begin();
    if (failed(printTarget(targets.take_front(versions), sources)))
      return failure();
    targets = targets.drop_front(versions);
  }
  llvm::append_range(sources.symbols, std::vector{sources.signature.name + "_target", sources.signature.name + "_info"});
  sources.models = {sources.signature};
  return sources;
}

/// NAME_graphs: the signatures of all models.
static TranslationUnit printGraphTable(const Signature &library, ArrayRef<Signature> models, kernel::TargetAttr target) {
  std::string rows;
  for (const Signature &model : models)
    rows += "    &" + model.name + "_info,\n";
  std::string text = "// The models of library '" + library.name + "'.\n#include \"" + library.header() + "\"\n\nextern \"C\" const kiln_model_info *const " +
                     library.name + "_graphs[] = {\n" + rows + "};\n";
  return {{library.name + "_graphs.cpp", text}, target, {library.header()}};
}

FailureOr<ModelSources> printLibrary(StringRef name, ArrayRef<std::vector<Signature>> models) {
  ModelSources sources;
  for (const std::vector<Signature> &targets : models) {
    auto printed = printSources(targets);
    if (failed(printed))
      return failure();
    sources.models.push_back(printed->signature);
    llvm::append_range(sources.kernelHeaders, printed->kernelHeaders);
    llvm::append_range(sources.units, printed->units);
    llvm::append_range(sources.symbols, printed->symbols);
    sources.kernelNodes.insert(printed->kernelNodes.begin(), printed->kernelNodes.end());
  }
  Signature &library = sources.signature = sources.models.front();
  library.name = name.str();
  library.macro = makeMacroName(name);
  std::set<std::string> libraries;
  for (const Signature &model : sources.models)
    libraries.insert(model.libraries.begin(), model.libraries.end());
  library.libraries.assign(libraries.begin(), libraries.end());
  sources.header = {library.header(), printHeader(sources.models)};
  sources.units.insert(sources.units.begin(), printGraphTable(library, sources.models, baselineOf(models.front().front())));
  return sources;
}

} // namespace kiln
