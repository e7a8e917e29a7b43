//===- CrashFolder.h - Where a crash leaves what it knows --------------------===//
//
// A reproducer holds the model's weights and a crash its command line, so their folder is made by mkdtemp, open to the user alone, when it is first needed.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_CRASHFOLDER_H
#define KILN_COMPILER_CRASHFOLDER_H

#include "mlir/Pass/PassManager.h"
#include <string>

namespace kiln {

/// Finds the place for the folder; what follows is then safe in a signal handler.
void prepareCrashFolder();

/// Makes a file of this name in the folder of the process, and writes its path to `path`. The caller owns the descriptor; -1: it cannot be made.
int openCrashFile(const char *name, char *path, size_t pathBytes);

/// Lets a pass manager write what failed to a file there; `path` tells which once it is written.
void keepReproducer(mlir::PassManager &passes, std::string &path);

/// Removes a file of the folder that is of no use, and the folder with it.
void dropCrashFile(std::string &path);

} // namespace kiln

#endif // KILN_COMPILER_CRASHFOLDER_H
