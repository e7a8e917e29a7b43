//===- PlanReport.cpp - What kiln plan prints -------------------------------===//
#include "tools/kiln/plan/PlanReport.h"
#include "compiler/files/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace kiln {

static double countSent(const RankPart &part) {
  double bytes = 0;
  for (const ExchangeStep &step : part.steps)
    bytes += countBytes(step);
  return bytes;
}

static std::string countText(int64_t number, StringRef noun) { return formatv("{0} {1}{2}", number, noun, number == 1 ? "" : "s"); }

/// Who is where.
static void printHead(const NetworkPlan &plan, ArrayRef<RankPart> parts) {
  const PlanMachine &machine = plan.machine;
  std::string line = plan.network.empty() ? "" : "network " + plan.network + ": ";
  line += countText(machine.ranksPerMachine, "rank") + " for each machine of " + countText(machine.cores, "core");
  if (!machine.name.empty())
    line += " (" + machine.name + ")";
  if (int64_t threads = parts.front().threads; threads > 1)
    line += ", " + countText(threads, "thread") + " for each rank";
  printLine(outs(), line);
}

static void printTable(ArrayRef<RankPart> parts, ArrayRef<PlanRow> rows) {
  constexpr double width = 30;
  double longest = 0;
  for (const PlanRow &row : rows)
    longest = std::max(longest, row.getSeconds());
  outs() << "ranks  machines        ms   compute  exchange  MB sent  weights MB  workspace MB  times as fast  efficiency\n";
  const PlanRow &first = rows.front();
  for (auto [part, row] : zip(parts, rows)) {
    double speedup = first.getSeconds() / row.getSeconds(), efficiency = speedup * double(first.ranks) / double(row.ranks);
    outs() << formatv("{0,5} {1,9} {2,9:f3} {3,9:f3} {4,9:f3} {5,8:f2} {6,11:f1} {7,13:f1} {8,14:f2} {9,9:f0} %  ", part.grid, row.machines,
                      row.getSeconds() * 1e3, row.compute * 1e3, row.exchange * 1e3, countSent(part) * 1e-6, double(part.weights) * 1e-6,
                      double(part.workspace) * 1e-6, speedup, efficiency * 100);
    // Of the longest time: computing, and exchanging.
    auto bar = [&](double seconds, char sign) { return std::string(size_t(std::lround(seconds / longest * width)), sign); };
    outs() << bar(row.compute, '#') << bar(row.exchange, '-') << "\n";
  }
}

/// What keeps ranks from being faster, and whether more of them pay.
static void printRemarks(const PlanMachine &machine, ArrayRef<RankPart> parts, const std::vector<PlanRow> &rows) {
  constexpr double notable = 0.1;
  for (auto [part, row] : zip(parts, rows)) {
    if (row.turns > 1)
      printLine(outs(), formatv("{0} ranks take turns: {1} of a machine run at one time, on {2}", part.grid,
                                std::max<int64_t>(machine.cores / part.threads, 1), countText(machine.cores, "core")));
    if (row.memoryShare > notable)
      printLine(outs(), formatv("{0} ranks share the bandwidth of their machine's memory, which decides {1:f0} % of the kernels' time", part.grid,
                                row.memoryShare * 100));
    if (part.wholeShare > notable)
      printLine(outs(), formatv("{0} ranks do {1:f0} % of the work each for itself, most of it {2}: {3}", part.grid, part.wholeShare * 100, part.wholeOperation,
                                part.wholeHasParts ? "parts of it would take longer" : "it has no " + std::to_string(part.ranks) + " equal parts"));
  }
  if (rows.size() > 1)
    printLine(outs(), formatv("up to {0} pay: each doubling gains at least {1:f1}", countText(findPayingRanks(rows), "rank"), payingGain));
}

void printPlans(ArrayRef<RankPart> parts, ArrayRef<NetworkPlan> plans) {
  for (const NetworkPlan &plan : plans) {
    printHead(plan, parts);
    printTable(parts, plan.rows);
    printRemarks(plan.machine, parts, plan.rows);
  }
}

json::Object plansToJson(ArrayRef<RankPart> parts, ArrayRef<NetworkPlan> plans) {
  json::Array networks;
  for (const NetworkPlan &plan : plans) {
    json::Array list;
    for (auto [part, row] : zip(parts, plan.rows))
      list.push_back(json::Object{{"ranks", row.ranks}, {"grid", part.grid}, {"machines", row.machines}, {"ms", row.getSeconds() * 1e3},
                                  {"compute_ms", row.compute * 1e3}, {"exchange_ms", row.exchange * 1e3}, {"exchanges", part.exchanges},
                                  {"exchanged_bytes", countSent(part)}, {"weights_bytes", part.weights}, {"workspace_bytes", part.workspace},
                                  {"memory_share", row.memoryShare}, {"turns", row.turns}, {"whole_share", part.wholeShare},
                                  {"whole_operation", jsonText(part.wholeOperation)}});
    networks.push_back(json::Object{{"network", plan.network}, {"machine", toJson(plan.machine)}, {"plan", std::move(list)},
                                    {"paying_ranks", findPayingRanks(plan.rows)}});
  }
  return json::Object{{"networks", std::move(networks)}};
}

} // namespace kiln
