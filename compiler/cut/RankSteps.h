//===- RankSteps.h - The steps of a sharded model ---------------------------===//
//
// A sharded model has a module for each rank whose code differs. All are cut in front of the same steps, so that the ranks of a stage make the same
// collectives.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_CUT_RANKSTEPS_H
#define KILN_COMPILER_CUT_RANKSTEPS_H

#include "compiler/cut/StepGraph.h"
#include "llvm/ADT/DenseSet.h"

namespace kiln::cut {

/// Why the ranks' modules cannot be cut at the same places; empty if they can. Then the first one's obstacles are those of all.
std::string joinRanks(llvm::MutableArrayRef<StepGraph> graphs);

/// The values between steps of which each rank has another part, among those of all modules. `cutInputs` are the arguments of which each has one, and `ranks`
/// counts the ranks.
llvm::DenseSet<mlir::Value> findParts(llvm::ArrayRef<StepGraph> graphs, const std::vector<bool> &cutInputs, size_t ranks);

} // namespace kiln::cut

#endif // KILN_COMPILER_CUT_RANKSTEPS_H
