//===- LaunchFlags.h - Ranks that are processes, for commands that run a model ===//
#ifndef KILN_TOOLS_KILN_LAUNCHFLAGS_H
#define KILN_TOOLS_KILN_LAUNCHFLAGS_H

#include "compiler/CompileOptions.h"
#include "compiler/run/Launch.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln {

/// Runs the command. If something has started this process with others as the ranks of the model, rank 0 runs it, and the others do what that needs of them.
/// Gives the exit status, the same in all processes.
int runOnRanks(const CompileOptions &options, llvm::function_ref<int()> command);

/// Within such a command at rank 0: the processes. Null if the ranks are threads.
Launch *getLaunch();

/// Whether rank 0 is another process, which prints what there is to say.
bool isFollower();

} // namespace kiln

#endif // KILN_TOOLS_KILN_LAUNCHFLAGS_H
