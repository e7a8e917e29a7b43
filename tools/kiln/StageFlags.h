//===- StageFlags.h - A model as a pipeline, on the command line -----------===//
#ifndef KILN_TOOLS_KILN_STAGEFLAGS_H
#define KILN_TOOLS_KILN_STAGEFLAGS_H

#include "compiler/Compile.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// What --stages and the options that go with it ask for. Fails when they do not fit each other: wrong usage.
llvm::Expected<StageRequest> getStageRequest();

/// Prints each stage and cut on standard error, for --why.
void printStages(llvm::ArrayRef<StageSummary> stages);

llvm::json::Array stagesToJson(llvm::ArrayRef<StageSummary> stages);

} // namespace kiln

#endif // KILN_TOOLS_KILN_STAGEFLAGS_H
