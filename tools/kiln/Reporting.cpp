//===- Reporting.cpp - What kiln tells its user ----------------------------===//
#include "tools/kiln/Reporting.h"
#include "compiler/files/Printable.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/LaunchFlags.h"
#include "compiler/emit/SharedCache.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static cl::opt<bool> json("json", cl::desc("Print one JSON object on standard output"), cl::sub(codeCommands));
static cl::opt<bool> verbose("v", cl::desc("Print what is done"), cl::sub(codeCommands));
static cl::opt<bool> quiet("q", cl::desc("Print errors and warnings only"), cl::sub(codeCommands));

bool wantsJson() { return json; }

int verbosity() { return quiet ? 0 : verbose ? 2 : 1; }

void printJson(json::Object object) { outs() << formatv("{0:2}", json::Value(std::move(object))) << "\n"; }

void printError(const Twine &message) {
  std::string text = message.str();
  auto [first, rest] = StringRef(text).rtrim('\n').split('\n');
  printLine(WithColor::error(errs()), first);
  // The log of a compiler, or a name that wants to look like another message: indented.
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    printLine(errs() << "  ", line);
    rest = next;
  }
}

int report(ArrayRef<std::string> errors, int status) {
  if (isFollower())
    return status;
  for (const std::string &error : errors)
    printError(error);
  if (json)
    printJson(json::Object{{"errors", json::Array(map_range(errors, jsonText))}, {"exit_status", status}});
  return status;
}

int report(Error error, int status) {
  std::vector<std::string> lines;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) { lines.push_back(info.message()); });
  return report(lines, status);
}

//===- Progress ------------------------------------------------------------===//

/// One line on a terminal that the next step overwrites.
static void showStep(const std::string &step, unsigned done, unsigned total) {
  errs() << "\r\x1b[K[" << done << "/" << total << "] " << printable(step);
  errs().flush();
}

static void clearSteps() { errs() << "\r\x1b[K"; }

void followTerminal() {
  // https://no-color.org: set and not empty. Whether a terminal has colours LLVM finds out from TERM.
  if (!sys::Process::GetEnv("NO_COLOR").value_or("").empty())
    WithColor::setAutoDetectFunction([](const raw_ostream &) { return false; });
}

//===- Compiling -----------------------------------------------------------===//

void reportSharedCache(const CompileOptions &options) {
  if (options.cache.shared.empty() || verbosity() == 0)
    return;
  if (std::string fault = SharedCache::at(options.cache.shared).takeFault(); !fault.empty())
    printLine(WithColor::note(errs()), fault);
}

int compileOrReport(CompileOptions options, Compilation &result, ArrayRef<GraphOptions> graphs) {
  // A dumb terminal cannot take a line back.
  bool shows = verbosity() > 0 && sys::Process::StandardErrIsDisplayed() && sys::Process::GetEnv("TERM").value_or("") != "dumb";
  if (shows)
    options.progress = showStep;
  else if (verbosity() > 1)
    options.progress = [](const std::string &step, unsigned, unsigned) { printLine(errs(), step); };
  options.keepReproducer = true;
  std::vector<std::string> errors;
  CompileStatus status = compileGraphs(options, graphs, result, errors);
  if (shows)
    clearSteps();
  if (verbosity() > 1 && !result.cacheFault.empty())
    printLine(WithColor::warning(errs()), "the kernel cache '" + options.cache.folder + "' is not used: " + result.cacheFault);
  reportSharedCache(options);
  if (status == CompileStatus::Done && verbosity() > 1 && result.units)
    errs() << result.cachedUnits << " of " << result.units << " translation units from the cache\n";
  if (status == CompileStatus::Done) {
    for (const std::string &warning : result.warnings)
      printLine(WithColor::warning(errs()), warning);
    for (const std::string &note : result.notes)
      if (verbosity() > 0)
        printLine(WithColor::note(errs()), note);
    return Done;
  }
  if (status == CompileStatus::AtFault)
    return report(errors, AtFault);
  errors.insert(errors.begin(), "internal error in Kiln, please report it with the model");
  if (!result.reproducer.empty())
    errors.push_back("reproducer: " + result.reproducer);
  return report(errors, InternalError);
}

} // namespace kiln
