//===- ManCommand.cpp - kiln man: manual pages --------------------------------===//
//
// Pages for man(1), made from the registered options: kiln.1, and kiln-SUBCOMMAND.1 for each subcommand.
//
//===----------------------------------------------------------------------===//
#include "compiler/run/Tensor.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/OptionTexts.h"
#include "tools/kiln/Reporting.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static cl::opt<std::string> page(cl::Positional, cl::desc("SUBCOMMAND"), cl::sub(manCommand));

/// Text in which troff sees no commands of its own, and dashes stay dashes.
static std::string escape(StringRef text) {
  std::string result;
  if (text.starts_with(".") || text.starts_with("'"))
    result = "\\&";
  for (char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

static void printTitle(raw_ostream &os, StringRef name, StringRef summary) {
  os << ".TH " << escape(name.upper()) << " 1 \"\" \"Kiln " KILN_VERSION "\" \"Kiln\"\n.SH NAME\n" << escape(name) << " \\- " << escape(summary) << "\n";
}

static void printExit(raw_ostream &os) {
  os << ".SH EXIT STATUS\n0 for success; 1 if the model, its data or the value of an option is at fault, or if a comparison found a difference; 2 for wrong\n"
        "usage; 3 for a bug in Kiln, with a reproducer in the folder for temporary files.\n";
}

static void printGeneralPage(raw_ostream &os) {
  printTitle(os, "kiln", "compile ONNX models ahead of time to C++ libraries");
  os << ".SH SYNOPSIS\n.B kiln\n.RI [ subcommand ]\n.RI [ options ]\n.SH DESCRIPTION\nKiln compiles an ONNX model into C++ kernels, builds them into a static "
        "library with a plain C header, and needs no other program for it.\n.B kiln MODEL.onnx\nmeans\n.BR \"kiln compile MODEL.onnx\" .\n.SH SUBCOMMANDS\n";
  for (const Command &command : getCommands())
    os << ".TP\n.BR kiln\\-" << escape(command.subcommand->getName()) << " (1)\n" << escape(command.subcommand->getDescription()) << "\n";
  printExit(os);
  constexpr std::pair<StringRef, StringRef> variables[] = {
      {"KILN_CACHE", "off disables the kernel cache; headers keeps no objects of models; http://HOST/PATH, https://HOST/PATH or file:///FOLDER is one "
                     "that machines share, behind that of the user. |timeout=MILLISECONDS (3000) and |read-only may follow."},
      {"KILN_CACHE_DIR", "The folder of the kernel cache, otherwise kiln in $XDG_CACHE_HOME or ~/.cache."},
      {"KILN_CACHE_LIMIT", "The most megabytes of the cache (512)."},
      {"NO_COLOR", "If it is set and not empty, messages have no colours. TERM=dumb does the same, and hides the line of progress."},
      {"COLUMNS", "The width of help texts, where it is not that of the terminal."}};
  os << ".SH ENVIRONMENT\n";
  for (auto [name, meaning] : variables)
    os << ".TP\n.B " << name << "\n" << escape(meaning) << "\n";
}

static void printCommandPage(raw_ostream &os, const Command &command) {
  cl::SubCommand &sub = *command.subcommand;
  printTitle(os, ("kiln-" + sub.getName()).str(), sub.getDescription());
  std::string usage = describeUsage(sub);
  StringRef arguments = StringRef(usage).drop_front(StringRef("kiln ").size() + sub.getName().size());
  os << ".SH SYNOPSIS\n.B kiln " << escape(sub.getName()) << "\n" << escape(arguments.trim()) << "\n.SH OPTIONS\n";
  for (const OptionText &option : describeOptions(sub)) {
    os << ".TP\n\\fB" << escape(option.flag) << "\\fR";
    if (!option.value.empty())
      os << (StringRef(option.flag).starts_with("--") ? "=" : " ") << "\\fI" << escape(option.value) << "\\fR";
    os << "\n" << escape(option.help) << "\n";
  }
  auto examples = splitExamples(command.examples);
  if (!examples.empty())
    os << ".SH EXAMPLES\n";
  for (auto &[line, meaning] : examples)
    os << ".TP\n.B " << escape(line) << "\n" << (meaning.empty() ? "\\&" : escape(meaning)) << "\n";
  printExit(os);
  os << ".SH SEE ALSO\n.BR kiln (1)\n";
}

int runMan() { return printPage(page, printGeneralPage, printCommandPage); }

} // namespace kiln
