//===- CutModel.h - A model as a pipeline of stages ------------------------===//
#ifndef KILN_COMPILER_CUT_CUTMODEL_H
#define KILN_COMPILER_CUT_CUTMODEL_H

#include "compiler/Compile.h"

namespace kiln {

/// Runs the stages of a compile up to `target` on the whole model, cuts it as `options.stages` says, and runs the last one on each part. The parts are the
/// graphs of `result`, or the one part that was asked for is the model. `begin` is called with the name of each step.
CompileStatus makeStages(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors,
                         llvm::function_ref<void(const std::string &)> begin);

} // namespace kiln

#endif // KILN_COMPILER_CUT_CUTMODEL_H
