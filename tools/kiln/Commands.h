//===- Commands.h - The subcommands of kiln --------------------------------===//
#ifndef KILN_TOOLS_KILN_COMMANDS_H
#define KILN_TOOLS_KILN_COMMANDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"
#include <string>

namespace kiln {

/// Exit statuses, on which scripts rely.
enum ExitStatus { Done = 0, AtFault = 1, WrongUsage = 2, InternalError = 3 };

inline llvm::cl::SubCommand compileCommand("compile", "Compile a model to a static library and a header (the default)");
inline llvm::cl::SubCommand runCommand("run", "Compile a model, run it once in this process and write its outputs");
inline llvm::cl::SubCommand verifyCommand("verify", "Compare a model's outputs with recorded ones, or two ways to compile it");
inline llvm::cl::SubCommand benchCommand("bench", "Measure latency, and the speed of each kernel");
inline llvm::cl::SubCommand tuneCommand("tune", "Measure alternatives of each kernel and write a profile for later compiles");
inline llvm::cl::SubCommand quantizeCommand("quantize", "Write a model with 8-bit or 4-bit integers, calibrated on samples of its inputs");
inline llvm::cl::SubCommand inspectCommand("inspect", "Show the signature, operators, sizes and decisions of a model or a library");
inline llvm::cl::SubCommand reportCommand("report", "Write a page that shows a compile: its graph, kernels, memory, weights and decisions");
inline llvm::cl::SubCommand planCommand("plan", "Predict time, memory and exchange of a model on more ranks, from measured kernels");
inline llvm::cl::SubCommand opsCommand("ops", "Check, print, evaluate or convert a file of definitions of operators");
inline llvm::cl::SubCommand kernelsCommand("kernels", "Compile kernels without a model to a static library and a header");
inline llvm::cl::SubCommand newCommand("new", "Write a project that runs a model: CMakeLists.txt, a program and a test");
inline llvm::cl::SubCommand completionCommand("completion", "Print the completion script of a shell: bash, fish or zsh");
inline llvm::cl::SubCommand manCommand("man", "Print a manual page, for man -l");
inline llvm::cl::SubCommand helpCommand("help", "Print the help of a subcommand");
inline llvm::cl::SubCommand versionCommand("version", "Print the version; with -v also what kiln was built with");

/// The subcommands that compile a model, those whose compile has a result to package, those that run a model, and those that can fill its inputs.
inline llvm::cl::SubCommandGroup compilingCommands{&compileCommand, &runCommand,      &verifyCommand, &benchCommand,
                                                   &tuneCommand,    &quantizeCommand, &inspectCommand, &reportCommand, &planCommand, &newCommand};
/// Those that compile anything: models, or kernels without a model.
inline llvm::cl::SubCommandGroup codeCommands{&compileCommand, &runCommand,      &verifyCommand,  &benchCommand,
                                              &tuneCommand,    &quantizeCommand, &inspectCommand, &reportCommand, &planCommand, &kernelsCommand, &newCommand};
inline llvm::cl::SubCommandGroup packagingCommands{&compileCommand, &runCommand, &verifyCommand, &benchCommand, &tuneCommand, &inspectCommand};
inline llvm::cl::SubCommandGroup runningCommands{&runCommand, &verifyCommand, &benchCommand, &tuneCommand, &quantizeCommand, &reportCommand, &planCommand};
inline llvm::cl::SubCommandGroup fillingCommands{&runCommand, &verifyCommand, &benchCommand, &tuneCommand, &reportCommand, &planCommand};

int runCompile();
int runRun();
int runVerify();
int runBench();
int runTune();
int runQuantize();
int runInspect();
int runReport();
int runPlan();
int runOps();
int runKernels();
int runNew();
int runCompletion();
int runMan();
int runHelp();
int runVersion();

/// Prints the named targets with what they have, which `--target=list` asks for. It needs no model.
int listTargets(bool asJson);

struct Command {
  llvm::cl::SubCommand *subcommand;
  int (*run)();
  /// The end of the help text.
  const char *examples;
};

llvm::ArrayRef<Command> getCommands();
/// Null if there is none of this name.
const Command *findCommand(llvm::StringRef name);
/// " (did you mean 'NAME'?)", or nothing.
std::string suggestCommand(llvm::StringRef name);
/// Prints the page of a subcommand, or the general one where none is named, and gives the exit status; an error where there is no such subcommand.
int printPage(llvm::StringRef topic, void (*printGeneral)(llvm::raw_ostream &), void (*printCommand)(llvm::raw_ostream &, const Command &));

/// The arguments behind the name of the subcommand, as they were given.
llvm::ArrayRef<std::string> getArguments();

/// Parses and runs a command line. Call it once per process, since options keep their values.
int dispatch(int argc, char **argv);

/// Runs a command line on a large stack, with crashes reported; LLVM is ready. main() calls it.
int runProgram(int argc, char **argv);

} // namespace kiln

#endif // KILN_TOOLS_KILN_COMMANDS_H
