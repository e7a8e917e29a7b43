//===- BenchReport.h - What kiln bench prints ---------------------------------===//
#ifndef KILN_TOOLS_KILN_BENCH_BENCHREPORT_H
#define KILN_TOOLS_KILN_BENCH_BENCHREPORT_H

#include "compiler/run/Latency.h"
#include "compiler/run/MachineProbe.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace kiln {

/// What a kernel multiplies, and so which peak its operations are measured against.
enum class Operands { Real, Bytes, Brain };

struct KernelSpeed {
  std::string name, nodes;
  Operands operands = Operands::Real;
  /// Of one launch: the mean; the fastest and the median, 0 where another machine has measured.
  double milliseconds = 0, best = 0, median = 0;
  double gflops = 0, gbps = 0;
  /// Its operations as a part of the measured peak for what it multiplies; 0 if that is not known.
  double peakShare = 0;
  /// The least time that the machine allows, as a part of the time taken.
  double roofline = 0;
  /// Launches in a run, which conditions and loops decide, and what one of them does.
  double calls = 0, flops = 0, bytes = 0;

  /// The median where it is known: a few launches that something else delayed change a mean.
  double usual() const { return median > 0 ? median : milliseconds; }
  /// Milliseconds of a run, as usual and at best.
  double ofRun() const { return usual() * calls; }
  double bestOfRun() const { return (best > 0 ? best : milliseconds) * calls; }
};

/// A rank of a sharded model: milliseconds of a run, the median; and means of what it waits for and exchanges with others, and of what it computes.
struct RankSpeed {
  double run = 0, exchange = 0, compute = 0;
};

/// The kernels in the order of the time that they take of a run, the longest first.
std::vector<const KernelSpeed *> sortByTime(llvm::ArrayRef<KernelSpeed> kernels);

/// A table: the longest kernels, with shares of the run, or all. In front of it the ranks, if there are any.
void printTable(const Latency &latency, int32_t threads, const Machine &machine, llvm::ArrayRef<KernelSpeed> kernels, llvm::ArrayRef<RankSpeed> ranks,
                bool isWhole);

llvm::json::Array kernelsToJson(llvm::ArrayRef<KernelSpeed> kernels);
llvm::json::Array ranksToJson(llvm::ArrayRef<RankSpeed> ranks);

} // namespace kiln

#endif // KILN_TOOLS_KILN_BENCH_BENCHREPORT_H
