//===- Reporting.h - Messages of kiln ------------------------------===//
#ifndef KILN_TOOLS_KILN_REPORTING_H
#define KILN_TOOLS_KILN_REPORTING_H

#include "compiler/Compile.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// Whether `--json` is given: stdout then has exactly one JSON object.
bool wantsJson();
/// 0 with -q, 2 with -v, otherwise 1.
int verbosity();

/// Prints `error: message`; further lines of the message are indented.
void printError(const llvm::Twine &message);

/// Prints `error: message` for each line; with --json also {"errors": [...]} on stdout. Returns `status`.
int report(llvm::ArrayRef<std::string> errors, int status);
int report(llvm::Error error, int status);

/// Compiles a model. Reports errors and returns the exit status, 0 for success. Shows progress on a terminal.
int compileOrReport(CompileOptions options, Compilation &result, llvm::ArrayRef<GraphOptions> graphs = {});

/// Prints a note if something was wrong with the cache that machines share.
void reportSharedCache(const CompileOptions &options);

/// Prints a JSON object on stdout.
void printJson(llvm::json::Object object);

/// Follows what the user wants of terminals: NO_COLOR.
void followTerminal();

/// Installs crash handling: a crash writes a reproducer, prints its path, and ends the process with status 3.
void watchForCrashes(int argc, char **argv);

} // namespace kiln

#endif // KILN_TOOLS_KILN_REPORTING_H
