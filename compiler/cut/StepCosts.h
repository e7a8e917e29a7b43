//===- StepCosts.h - What the steps of a model cost ------------------------===//
#ifndef KILN_COMPILER_CUT_STEPCOSTS_H
#define KILN_COMPILER_CUT_STEPCOSTS_H

#include "compiler/cut/StepGraph.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln::cut {

/// Lowers a module after the target stage; false if that fails.
using LowerModule = llvm::function_ref<bool(mlir::ModuleOp)>;

/// Sets the time of each step from the operations and bytes of its launches, which a copy of the module is lowered for, and from how many of both the target
/// says that one core does in a certain time.
bool measureSteps(mlir::ModuleOp module, StepGraph &graph, LowerModule lower);

/// The microseconds in which one core moves these bytes.
double estimateMoving(mlir::ModuleOp module, int64_t bytes);

} // namespace kiln::cut

#endif // KILN_COMPILER_CUT_STEPCOSTS_H
