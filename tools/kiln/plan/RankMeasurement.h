//===- RankMeasurement.h - One rank's part, compiled and measured -----------===//
#ifndef KILN_TOOLS_KILN_PLAN_RANKMEASUREMENT_H
#define KILN_TOOLS_KILN_PLAN_RANKMEASUREMENT_H

#include "compiler/CompileOptions.h"
#include "compiler/plan/Prediction.h"
#include "kiln/runtime.h"

namespace kiln {

/// Compiles the part of rank 0 of so many ranks in a grid, "8" or "4x2", and measures its kernels on this machine, alone. Its calls are those of a
/// communicator with these algorithms. Reports errors and returns the exit status.
int measureRank(CompileOptions options, const std::string &grid, int64_t ranks, Algorithms algorithms, const kiln_context &context, RankPart &part);

} // namespace kiln

#endif // KILN_TOOLS_KILN_PLAN_RANKMEASUREMENT_H
