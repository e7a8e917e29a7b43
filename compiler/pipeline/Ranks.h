//===- Ranks.h - The modules of a sharded model ----------------------------===//
#ifndef KILN_COMPILER_PIPELINE_RANKS_H
#define KILN_COMPILER_PIPELINE_RANKS_H

#include "compiler/Compile.h"

namespace kiln {

/// The number of ranks that `--ranks` or `--grid` asks for; 0 for a model that is not sharded.
int64_t countRanks(const CompileOptions &options);

/// Decides how the model is cut, after the graph stage, and makes the module of each rank of it. False, with lines in `errors`, if it cannot be sharded so.
/// Ranks whose modules differ in the parts of constants only get one module for all.
bool splitByRank(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors);

/// Whether a stage has looked at the elements of parts, so that code that ranks share may hold for one of them only.
bool dependsOnParts(const Compilation &result);

/// After the kernel stage: the weights of the ranks that share code with another one.
void addSharedWeights(const CompileOptions &options, Compilation &result);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_RANKS_H
