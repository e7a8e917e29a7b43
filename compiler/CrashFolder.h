//===- CrashFolder.h - The folder for crash reports --------------------===//
//
// A reproducer contains the model's weights, and a crash report the command line. Their folder is therefore created by mkdtemp, when it is first needed.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_CRASHFOLDER_H
#define KILN_COMPILER_CRASHFOLDER_H

#include "mlir/Pass/PassManager.h"
#include <string>

namespace kiln {

/// Determines the path of the folder. Afterwards, the other functions are safe in a signal handler.
void prepareCrashFolder();

/// Creates a file of this name in the process's folder and sets `path`. The caller owns the descriptor. Returns -1 on failure.
int openCrashFile(const char *name, char *path, size_t pathBytes);

/// Makes a pass manager write a reproducer into the folder. `path` is set when it has been written.
void keepReproducer(mlir::PassManager &passes, std::string &path);

/// Removes an unneeded file, and the folder with it.
void dropCrashFile(std::string &path);

/// Sets a function that is called before each pass of those that keep a reproducer.
void watchPasses(void (*watch)());

} // namespace kiln

#endif // KILN_COMPILER_CRASHFOLDER_H
