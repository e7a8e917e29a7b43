//===- Card.cpp - What a compile has made, for a person ----------------------------===//
//
// Printed to terminals only. Scripts read --json, or -v.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln/Card.h"
#include "compiler/Decisions.h"
#include "compiler/emit/BuildText.h"
#include "compiler/emit/Signature.h"
#include "compiler/files/Printable.h"
#include "dialects/kernel/Kernel.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/GivenOptions.h"
#include "tools/kiln/HelpText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

std::string sizeText(int64_t bytes) {
  constexpr int64_t kilo = 1 << 10, mega = 1 << 20, giga = 1 << 30;
  if (bytes < kilo)
    return std::to_string(bytes) + " bytes";
  auto [unit, name] = bytes < mega ? std::pair(kilo, "KiB") : bytes < giga ? std::pair(mega, "MiB") : std::pair(giga, "GiB");
  double number = double(bytes) / double(unit);
  return formatv(number < 10 ? "{0:f1} {1}" : "{0:f0} {1}", number, name).str();
}

static constexpr size_t labelWidth = 11;

static void printRow(raw_ostream &os, StringRef label, StringRef text) {
  os << left_justify(label, labelWidth);
  printWrapped(os, printable(text), labelWidth, labelWidth, getColumns());
}

/// A line to copy: it stays one line, because a terminal joins what it wraps itself.
static void printToCopy(raw_ostream &os, const Twine &line) { printLine(os, "  " + line); }

static std::vector<Signature> readSignatures(const Compilation &model) {
  std::vector<Signature> signatures;
  for (const TargetModule &target : model.targets)
    if (auto signature = readSignature(*target.module, model.name); succeeded(signature))
      signatures.push_back(std::move(*signature));
  return signatures;
}

/// "3: gemm_tiled, 2 x conv_strips".
static std::string describeKernels(const Compilation &model) {
  std::vector<Decision> decisions = collectDecisions(model);
  std::vector<std::pair<std::string, unsigned>> counts;
  for (const Decision &decision : decisions) {
    std::string family = StringRef(decision.algorithm).split(' ').first.str();
    auto known = find_if(counts, [&](auto &entry) { return entry.first == family; });
    if (known == counts.end())
      counts.push_back({family, 1});
    else
      ++known->second;
  }
  llvm::sort(counts, [](auto &a, auto &b) { return std::pair(b.second, a.first) < std::pair(a.second, b.first); });
  std::vector<std::string> names;
  constexpr size_t most = 6;
  for (auto &[name, count] : ArrayRef(counts).take_front(most))
    names.push_back((count > 1 ? std::to_string(count) + " x " : "") + name);
  if (counts.size() > most)
    names.push_back("and " + std::to_string(counts.size() - most) + " kinds more");
  return std::to_string(decisions.size()) + (names.empty() ? "" : ": ") + join(names, ", ");
}

static void printModel(raw_ostream &os, const Compilation &model, const Signature &signature) {
  std::string workspace = "depends on the dimensions, " + signature.name + "_workspace_size() tells";
  if (signature.workspaceBytes)
    workspace = sizeText(*signature.workspaceBytes);
  printRow(os, "workspace", workspace + "; weights " + sizeText(signature.weightsBytes));
  printRow(os, "kernels", describeKernels(model));
  for (const SignatureSymbol &symbol : signature.givenSymbols())
    printRow(os, "dimension", symbol.onnxName + ", " + std::to_string(symbol.min) + " to " + std::to_string(symbol.max));
  for (const std::string &demand : ArrayRef(signature.demands).take_front(6))
    printRow(os, "demand", demand);
  if (size_t loops = findLoopFallbacks(model).size())
    printRow(os, "slow", std::to_string(loops) + (loops == 1 ? " kernel is" : " kernels are") + " plain loops; --why says why no better one matches");
}

static void printCpus(raw_ostream &os, const Compilation &compilation, const Signature &signature) {
  printRow(os, "for", compilation.target);
  bool isNative = llvm::is_contained(split(compilation.target, ','), "native");
  if (isNative && !signature.needs.empty())
    printRow(os, "note", "native code runs only on CPUs with all features of this one; --target=portable-x86_64 makes a library that chooses at run time");
}

static std::string joinWords(ArrayRef<std::string> words, std::string (*quote)(StringRef)) {
  std::string text;
  for (const std::string &word : words)
    text += " " + quote(word);
  return text;
}

static void printNextSteps(raw_ostream &os, const CardFacts &facts, ArrayRef<Signature> signatures) {
  const Compilation &compilation = facts.compilation;
  os << "\n";
  printToCopy(os, "#include \"" + compilation.header.path + "\"");
  for (const Signature &signature : signatures)
    printToCopy(os, "kiln_status status = " + signature.name + "_run(" + (signature.hasDims() ? "&dims, " : "") + "&inputs, &outputs, " +
                        (signature.externalWeights ? "weights, " : "") + "workspace, NULL);");
  std::vector<std::string> options = getGivenOptions(compileCommand, {"o", "name", "emit", "depfile", "stamp", "why", "v", "q", "json"});
  bool isOne = facts.models.size() == 1;
  printToCopy(os, "kiln_add_model(" + compilation.name + (isOne ? " MODEL" : " MODELS") + joinWords(facts.models, quoteForCMake) +
                      (options.empty() ? "" : " OPTIONS") + joinWords(options, quoteForCMake) + ")");
  if (!isOne)
    return;
  // What only a compile takes.
  std::vector<std::string> shared = getGivenOptions(compileCommand, {"o", "name", "emit", "depfile", "stamp", "why", "v", "q", "json", "guarantee", "hidden",
                                                                   "stages", "cut", "stage-memory", "stage"});
  std::string rest = joinWords(facts.models, quoteForShell) + joinWords(shared, quoteForShell);
  printToCopy(os, "kiln bench" + rest);
  printToCopy(os, "kiln verify" + rest);
}

void printCard(raw_ostream &os, const CardFacts &facts) {
  const Compilation &compilation = facts.compilation;
  size_t longest = 0;
  for (const OutputFile &file : facts.files)
    longest = std::max(longest, facts.folder.size() + 1 + file.path.size());
  constexpr size_t most = 8;
  for (auto [i, file] : enumerate(facts.files.take_front(most))) {
    std::string path = facts.folder + "/" + file.path;
    os << left_justify(i ? "" : "made", labelWidth);
    printLine(os, path + std::string(longest - path.size() + 2, ' ') + sizeText(int64_t(file.getSize())));
  }
  if (facts.files.size() > most)
    printRow(os, "", "and " + std::to_string(facts.files.size() - most) + " files more");
  std::vector<Signature> merged;
  for (const Compilation *model : compilation.models()) {
    std::vector<Signature> signatures = readSignatures(*model);
    if (signatures.empty())
      continue;
    merged.push_back(mergeSignatures(signatures));
    if (merged.size() == 1)
      printCpus(os, compilation, merged.front());
    if (!compilation.graphs.empty())
      printRow(os, "model", model->name);
    printModel(os, *model, merged.back());
  }
  printRow(os, "time", formatv("{0:f1} s", facts.seconds).str() +
                           (compilation.cachedUnits ? ", " + std::to_string(compilation.cachedUnits) + " of " + std::to_string(compilation.units) +
                                                          " translation units from the cache"
                                                    : ""));
  bool isLibrary = any_of(facts.files, [](const OutputFile &file) { return StringRef(file.path).ends_with(".a") || StringRef(file.path).ends_with(".so"); });
  if (isLibrary && !merged.empty())
    printNextSteps(os, facts, merged);
}

} // namespace kiln
