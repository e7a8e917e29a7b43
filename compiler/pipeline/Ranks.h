//===- Ranks.h - The modules of a sharded model ----------------------------===//
#ifndef KILN_COMPILER_PIPELINE_RANKS_H
#define KILN_COMPILER_PIPELINE_RANKS_H

#include "compiler/Compile.h"

namespace kiln {

/// The number of ranks that `--ranks` or `--grid` asks for; 0 for a model that is not sharded.
int64_t countRanks(const CompileOptions &options);

/// Decides how the model is cut, after the graph stage, and makes the module of each rank of it. False, with lines in `errors`, if it cannot be sharded so.
bool splitByRank(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_RANKS_H
