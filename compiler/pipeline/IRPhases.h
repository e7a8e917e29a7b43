//===- IRPhases.h - The part of a compile that works on IR -----------------===//
#ifndef KILN_COMPILER_PIPELINE_IRPHASES_H
#define KILN_COMPILER_PIPELINE_IRPHASES_H

#include "compiler/Compile.h"

namespace kiln {

/// Reads the model and runs the stages up to `kernel`, or up to the one to stop after. `begin` is called with the name of each.
CompileStatus makeKernels(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors,
                          llvm::function_ref<void(const std::string &)> begin);

/// Runs the stage `kernel` on a module that has passed those before it.
CompileStatus lowerToKernels(const CompileOptions &options, mlir::ModuleOp module, std::string &reproducer, std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_IRPHASES_H
