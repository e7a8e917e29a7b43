//===- MachineMeasurement.h - What a plan needs to know of this machine -----===//
#ifndef KILN_TOOLS_KILN_PLAN_MACHINEMEASUREMENT_H
#define KILN_TOOLS_KILN_PLAN_MACHINEMEASUREMENT_H

#include "compiler/plan/MachineFile.h"

namespace kiln {

/// This machine with a rank on each core, as threads of one process. Takes some seconds.
llvm::Expected<PlanMachine> measureMachine();

/// What is known of it without measuring: its cores. Each rank has a machine of its own.
PlanMachine describeOwnMachine();

} // namespace kiln

#endif // KILN_TOOLS_KILN_PLAN_MACHINEMEASUREMENT_H
