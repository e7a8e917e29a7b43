//===- ChoicePrinter.cpp - The choice among targets, as C++ ----------------===//
#include "compiler/emit/ChoicePrinter.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/EntryPrinter.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/KernelPrinter.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

/// The best target first: the widest vectors, then the most features, then the one that the user named last.
static std::vector<Signature> sortTargets(ArrayRef<Signature> targets) {
  std::vector<Signature> sorted(targets.rbegin(), targets.rend());
  llvm::stable_sort(sorted, [](const Signature &a, const Signature &b) {
    kernel::TargetAttr left = kernel::getTarget(a.module()), right = kernel::getTarget(b.module());
    return std::make_pair(left.getVectorBits(), instructionSets(left).size()) > std::make_pair(right.getVectorBits(), instructionSets(right).size());
  });
  return sorted;
}

/// A row of the table: the target's name and what a CPU must have. The enumerators of kiln/cpu.h are LLVM's names.
static std::string printRow(const Signature &target) {
  std::vector<std::string> features;
  for (const std::string &feature : instructionSets(kernel::getTarget(target.module())))
    features.push_back("kiln::cpu::" + makeIdentifier(feature));
  return "    {" + makeStringLiteral(target.target) + ", kiln::cpu::with(" + llvm::join(features, ", ") + ")},\n";
}

/// A function that passes its arguments on to the chosen target's.
static std::string printForward(const std::string &head, ArrayRef<Signature> targets, const std::string &none, StringRef arguments,
                                llvm::function_ref<std::string(const Signature &)> callee) {
  std::string text = head + " {\n  switch (choose()) {\n";
  for (auto [i, target] : llvm::enumerate(targets))
    text += "  case " + std::to_string(i) + ":\n    return " + callee(target) + "(" + arguments.str() + ");\n";
  return text + "  default:\n    return " + none + ";\n  }\n}\n";
}

std::string printChoiceSource(const Signature &whole, ArrayRef<Signature> inOrder) {
  std::vector<Signature> targets = sortTargets(inOrder);
  const std::string &name = whole.name;
  std::string text = "// What programs call of model '" + makeCommentText(name) + "': it runs the best target that the CPU can.\n#include \"" + name +
                     ".h\"\n#include \"kiln/choice.h\"\n#include \"kiln/entry.h\"\n\n";
  size_t launches = 0;
  for (const Signature &target : targets) {
    text += "KILN_KERNEL size_t " + target.workspaceFunction() + "(" + target.dimsParameter() + ");\n" +
            printCall("KILN_KERNEL kiln_status " + target.runFunction(), target.runParameters()) + ";\n";
    launches = std::max(launches, countLaunches(target));
  }
  text += "\nnamespace {\n\n// The best first.\nconstexpr kiln::target_row targets[] = {\n";
  for (const Signature &target : targets)
    text += printRow(target);
  std::string count = std::to_string(targets.size());
  text += "};\n\n// What was chosen, once it is known; every thread finds the same.\nint32_t kept_choice;\n\nint32_t choose() { return "
          "kiln::choose_target(targets, " + count + ", &kept_choice); }\n\n" + printInfoTables(whole, launches) + "\n} // namespace\n\n";
  text += "extern \"C\" const kiln_model_info " + name + "_info = description;\n\nextern \"C\" const char *" + name + "_target(void) {\n"
          "  const int32_t choice = choose();\n  return choice < 0 ? nullptr : targets[choice].name;\n}\n\n";
  std::string size = "extern \"C\" size_t " + name + "_workspace_size(" + whole.dimsParameter() + ")";
  if (whole.workspaceBytes)
    text += size + " {\n" + (whole.hasDims() ? "  (void)dims;\n" : "") + "  return " + std::to_string(*whole.workspaceBytes) + ";\n}\n";
  else
    text += printForward(size, targets, "0", "dims", [](const Signature &target) { return target.workspaceFunction(); });
  return text + "\n" + printForward(printCall("extern \"C\" kiln_status " + name + "_run", whole.runParameters()), targets, "KILN_STATUS_UNSUPPORTED_CPU",
                                    whole.runArguments(), [](const Signature &target) { return target.runFunction(); });
}

kernel::TargetAttr baselineOf(const Signature &target) {
  kernel::TargetAttr attr = kernel::getTarget(target.module());
  return kernel::TargetAttr::get(attr.getContext(), "baseline", attr.getTriple(), "", 128, 16, attr.getL1(), attr.getL2(), attr.getL3(),
                                 Builder(attr.getContext()).getStrArrayAttr({}), ArrayAttr());
}

} // namespace kiln
