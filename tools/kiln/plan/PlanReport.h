//===- PlanReport.h - What kiln plan prints ---------------------------------===//
#ifndef KILN_TOOLS_KILN_PLAN_PLANREPORT_H
#define KILN_TOOLS_KILN_PLAN_PLANREPORT_H

#include "compiler/plan/Prediction.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// A plan for one network.
struct NetworkPlan {
  /// As it was given, "20us,10Gbit/s"; empty: all ranks are on one machine.
  std::string network;
  PlanMachine machine;
  /// For each part.
  std::vector<PlanRow> rows;
};

/// A table for each network with bars of time, and sentences on what keeps the ranks from being faster.
void printPlans(llvm::ArrayRef<RankPart> parts, llvm::ArrayRef<NetworkPlan> plans);

llvm::json::Object plansToJson(llvm::ArrayRef<RankPart> parts, llvm::ArrayRef<NetworkPlan> plans);

} // namespace kiln

#endif // KILN_TOOLS_KILN_PLAN_PLANREPORT_H
