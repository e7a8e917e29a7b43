//===- Chart.h - A plan as a picture ----------------------------------------===//
#ifndef KILN_COMPILER_PLAN_CHART_H
#define KILN_COMPILER_PLAN_CHART_H

#include "compiler/plan/Prediction.h"

namespace kiln {

/// A plan for one network, and its name.
struct PlanCurve {
  std::string name;
  std::vector<PlanRow> rows;
};

/// A picture in SVG: the time of a run over the ranks, and how many times as fast it is as with the fewest ranks; a line for each curve. The same plan gives
/// the same bytes.
std::string drawPlan(const std::string &title, const std::vector<PlanCurve> &curves);

} // namespace kiln

#endif // KILN_COMPILER_PLAN_CHART_H
