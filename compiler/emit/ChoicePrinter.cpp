//===- ChoicePrinter.cpp - The choice among targets, as C++ ----------------===//
#include "compiler/emit/ChoicePrinter.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/EntryPrinter.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/InfoTables.h"
#include "compiler/emit/KernelPrinter.h"
#include "compiler/emit/RealExpressions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace kiln {

/// The best target first: the widest vectors, then the most features, then the one that the user named last.
static std::vector<Signature> sortTargets(ArrayRef<Signature> targets) {
  std::vector<std::tuple<unsigned, size_t, size_t>> order;
  for (auto [i, signature] : llvm::enumerate(targets))
    if (!signature.isVersion()) {
      kernel::TargetAttr target = kernel::getTarget(signature.module());
      order.emplace_back(target.getVectorBits(), instructionSets(target).size(), i);
    }
  llvm::sort(order, std::greater());
  std::vector<Signature> sorted;
  for (auto [bits, features, position] : order)
    sorted.push_back(targets[position]);
  return sorted;
}

/// A row of the table: the target's name and what a CPU must have. The enumerators of kiln/cpu.h are LLVM's names.
static std::string printRow(const Signature &target) {
  std::vector<std::string> features;
  for (const std::string &feature : neededFeatures(kernel::getTarget(target.module())))
    features.push_back("kiln::cpu::" + makeIdentifier(feature));
  return "    {" + makeStringLiteral(target.target) + ", kiln::cpu::with(" + llvm::join(features, ", ") + ")},\n";
}

namespace {
/// A function of the library that forwards its arguments to the function of a target and version.
struct Forward {
  std::string head, none, arguments;
  std::string (Signature::*callee)() const;
};
} // namespace

/// A condition in double that an expression of the dimensions is zero. It may be wrong for sizes beyond 2^53, but the version checks it again, exactly.
static std::string printZero(AffineExpr expr, const Signature &signature) {
  std::vector<std::string> symbols;
  for (const SignatureSymbol &symbol : signature.givenSymbols()) {
    symbols.resize(std::max<size_t>(symbols.size(), symbol.position + 1));
    symbols[symbol.position] = "dims->" + symbol.field;
  }
  return printReal(expr, symbols) + " == 0";
}

/// Calls of one target's versions, those for special sizes first. `dims` may be null, for which the callee returns a status.
static std::string printCalls(const Forward &forward, const Signature &target, ArrayRef<Signature> signatures, const std::string &indent) {
  std::string text;
  for (const Signature &version : signatures) {
    if (!version.isVersion() || version.variant != target.variant)
      continue;
    std::string condition = "dims";
    for (auto &[field, size] : version.special)
      condition += " && dims->" + field + " == " + std::to_string(size);
    for (AffineExpr zero : version.zeros)
      condition += " && " + printZero(zero, version);
    if (version.isSharded())
      condition = "rank == " + std::to_string(version.rank);
    for (int64_t rank : version.sharedBy)
      condition += " || rank == " + std::to_string(rank);
    text += indent + "if (" + condition + ")\n" + indent + "  return " + (version.*forward.callee)() + "(" + forward.arguments + ");\n";
  }
  return text + indent + "return " + (target.*forward.callee)() + "(" + forward.arguments + ");\n";
}

/// Whether the CPU is asked: for the best of several targets, or whether it can run the only one.
static bool asksCpu(ArrayRef<Signature> targets) {
  return targets.size() > 1 || !neededFeatures(kernel::getTarget(targets.front().module())).empty();
}

static std::string printForward(const Forward &forward, ArrayRef<Signature> targets, ArrayRef<Signature> signatures) {
  if (!asksCpu(targets))
    return forward.head + " {\n" + printCalls(forward, targets.front(), signatures, "  ") + "}\n";
  std::string text = forward.head + " {\n  switch (choose()) {\n";
  for (auto [i, target] : llvm::enumerate(targets))
    text += "  case " + std::to_string(i) + ":\n" + printCalls(forward, target, signatures, "    ");
  return text + "  default:\n    return " + forward.none + ";\n  }\n}\n";
}

/// The table of targets and NAME_target. A single target that runs on any CPU needs no choice.
static std::string printTargets(const std::string &name, ArrayRef<Signature> targets, const std::string &tables) {
  std::string function = "extern \"C\" const kiln_model_info " + name + "_info = description;\n\nextern \"C\" const char *" + name + "_target(void) {";
  if (!asksCpu(targets))
    return "\nnamespace {\n\n" + tables + "\n} // namespace\n\n" + function + " return " + makeStringLiteral(targets.front().target) + "; }\n\n";
  bool isOne = targets.size() == 1;
  std::string text = "\nnamespace {\n\n" + std::string(isOne ? "" : "// The best first.\n") + "constexpr kiln::target_row targets[] = {\n";
  for (const Signature &target : targets)
    text += printRow(target);
  std::string find = isOne ? "check_target(targets[0], " : "choose_target(targets, " + std::to_string(targets.size()) + ", ";
  return text + "};\n\n// What was found, once it is known; every thread finds the same.\nint32_t kept_choice;\n\nint32_t choose() { return kiln::" + find +
         "&kept_choice); }\n\n" + tables + "\n} // namespace\n\n" + function +
         "\n  const int32_t choice = choose();\n  return choice < 0 ? nullptr : targets[choice].name;\n}\n\n";
}

/// The largest workspace of any rank.
static std::string printRankSizes(const Signature &whole, ArrayRef<Signature> signatures) {
  std::string text = "namespace {\n\nsize_t larger(size_t a, size_t b) { return a < b ? b : a; }\n\n} // namespace\n\nextern \"C\" size_t " + whole.name +
                     "_workspace_size(" + whole.dimsParameter() + ") {\n  size_t most = 0;\n";
  for (const Signature &signature : signatures)
    text += "  most = larger(most, " + signature.workspaceFunction() + "(dims));\n";
  return text + "  return most;\n}\n";
}

/// A number that differs between libraries whose ranks cannot run together: of other models, of other parts of them, or of another version of Kiln, whose ranks
/// may exchange something else.
static uint64_t fingerprint(const Signature &whole) {
  std::string text = KILN_VERSION " " + whole.name;
  for (const RankWeights &weights : whole.rankWeights)
    text += " " + std::to_string(weights.bytes) + " " + std::to_string(weights.checksum);
  for (auto *tensors : {&whole.inputs, &whole.outputs})
    for (const SignatureTensor &tensor : *tensors)
      text += " " + makeStringLiteral(tensor.onnxName) + shapeText(tensor, whole);
  return llvm::xxh3_64bits(text);
}

/// NAME_run of a sharded model: the ranks begin together, each runs its module, and they end together.
static std::string printRankRun(const Signature &whole, ArrayRef<Signature> targets, ArrayRef<Signature> signatures) {
  std::vector<std::string> parameters = whole.runParameters();
  parameters.insert(parameters.begin(), "int32_t rank");
  Forward ofRank = {printCall("kiln_status run_rank", parameters), "KILN_STATUS_UNSUPPORTED_CPU", whole.runArguments(), &Signature::runFunction};
  std::string sizes, count = "0", list = "nullptr";
  if (whole.hasDims()) {
    for (const SignatureSymbol &symbol : whole.givenSymbols())
      sizes += std::string(sizes.empty() ? "" : ", ") + "dims ? dims->" + symbol.field + " : -1";
    count = std::to_string(whole.givenSymbols().size());
    sizes = "  const int64_t sizes[] = {" + sizes + "};\n";
    list = "sizes";
  }
  std::string text = "namespace {\n\n" + printForward(ofRank, targets, signatures) + "\n} // namespace\n\n";
  text += printCall("extern \"C\" kiln_status " + whole.name + "_run", whole.runParameters()) + " {\n" + sizes + "  const kiln::rank_run run(context, ";
  text += std::to_string(whole.rankWeights.size()) + ", " + std::to_string(fingerprint(whole)) + "ull, " + list + ", " + count + ");\n";
  text += "  const int32_t rank = run.rank();\n  return run.end(rank < 0 ? KILN_STATUS_OK : run_rank(rank, " + whole.runArguments() + "));\n";
  return text + "}\n";
}

std::string printChoiceSource(const Signature &whole, ArrayRef<Signature> inOrder) {
  std::vector<Signature> targets = sortTargets(inOrder);
  const std::string &name = whole.name;
  std::string does = whole.isSharded()    ? "runs the part of the model that its rank has"
                     : targets.size() > 1 ? "runs the best target that the CPU can"
                     : whole.isGuarded  ? "asks whether the CPU can run it"
                                        : "runs the version for the dimensions";
  std::string text = "// The functions that programs call of model '" + makeCommentText(name) + "': it " + does + ".\n#include \"" + whole.header() + "\"\n" +
                     (asksCpu(targets) ? "#include \"kiln/choice.h\"\n" : "") + "#include \"kiln/entry.h\"\n";
  text += whole.isSharded() ? "#include \"kiln/collectives.h\"\n\n" : "\n";
  size_t launches = 0;
  for (const Signature &target : inOrder) {
    text += "KILN_KERNEL size_t " + target.workspaceFunction() + "(" + target.dimsParameter() + ");\n" +
            printCall("KILN_KERNEL kiln_status " + target.runFunction(), target.runParameters()) + ";\n";
    launches = std::max(launches, countLaunches(target));
  }
  text += printTargets(name, targets, printInfoTables(whole, launches));
  std::string size = "extern \"C\" size_t " + name + "_workspace_size(" + whole.dimsParameter() + ")";
  if (whole.workspaceBytes && !whole.hasDims())
    text += size + " {\n  return " + std::to_string(*whole.workspaceBytes) + ";\n}\n";
  else if (whole.isSharded())
    text += printRankSizes(whole, inOrder);
  else
    text += printForward({size, "0", "dims", &Signature::workspaceFunction}, targets, inOrder);
  if (whole.isSharded())
    return text + "\n" + printRankRun(whole, targets, inOrder);
  Forward run = {printCall("extern \"C\" kiln_status " + name + "_run", whole.runParameters()), "KILN_STATUS_UNSUPPORTED_CPU", whole.runArguments(),
                 &Signature::runFunction};
  return text + "\n" + printForward(run, targets, inOrder);
}

kernel::TargetAttr baselineOf(const Signature &target) { return makeBaseline(kernel::getTarget(target.module())); }

} // namespace kiln
