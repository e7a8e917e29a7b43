//===- Prediction.h - What a run takes on some ranks ------------------------===//
#ifndef KILN_COMPILER_PLAN_PREDICTION_H
#define KILN_COMPILER_PLAN_PREDICTION_H

#include "compiler/plan/MachineFile.h"
#include <string>
#include <vector>

namespace kiln {

/// A kernel of a rank that was measured alone.
struct RankKernel {
  /// All of its launches in a run.
  double seconds = 0;
  /// Of a run: bytes of weights, and all others that it reads and writes.
  double weightBytes = 0, otherBytes = 0;
};

/// One rank's part of a model: what a run computes, and what it exchanges.
struct RankPart {
  int64_t ranks = 1, threads = 1;
  /// How the ranks are arranged, "8" or "4x2".
  std::string grid;
  std::vector<RankKernel> kernels;
  /// In their order, begin and end of the run included.
  std::vector<ExchangeStep> steps;
  /// Calls that the model makes.
  int64_t exchanges = 0;
  int64_t weights = 0, workspace = 0;
  /// Of the estimated work of one rank, the share that all ranks do; the operation with most of it, and whether it has as many equal parts as there are ranks.
  double wholeShare = 0;
  std::string wholeOperation;
  bool wholeHasParts = false;
};

/// What is expected of a number of ranks. Times are in seconds.
struct PlanRow {
  int64_t ranks = 1, machines = 1;
  double compute = 0, exchange = 0;
  /// Of the time of the kernels, the part that the bandwidth of memory decides.
  double memoryShare = 0;
  double turns = 1;

  double getSeconds() const { return compute + exchange; }
};

/// A rank's time on these machines. A kernel takes what it took alone, or what its share of the memory's bandwidth allows, whichever is longer.
PlanRow predictRow(const RankPart &part, const PlanMachine &machine);

/// By what factor one of two rows is faster than the other for each doubling of the ranks between them.
double gainPerDoubling(const PlanRow &fewer, const PlanRow &more);

/// A number of ranks pays if each doubling up to there gains at least this.
inline constexpr double payingGain = 1.4;
/// The largest number of ranks that pays, of rows with growing numbers; that of the first row at least.
int64_t findPayingRanks(const std::vector<PlanRow> &rows);

} // namespace kiln

#endif // KILN_COMPILER_PLAN_PREDICTION_H
