//===- BenchComparison.h - Two measurements of a model --------------------------===//
#ifndef KILN_TOOLS_KILN_BENCH_BENCHCOMPARISON_H
#define KILN_TOOLS_KILN_BENCH_BENCHCOMPARISON_H

#include "tools/kiln/bench/BenchReport.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// What `kiln bench --json` printed before.
struct BenchRecord {
  std::string path, target;
  int64_t threads = 0;
  double median = 0, min = 0;
  std::vector<KernelSpeed> kernels;
};
llvm::Expected<BenchRecord> readBenchRecord(llvm::StringRef path);

/// A measurement against an earlier one, kernel by kernel; kernels of the same ONNX nodes are the same.
struct BenchComparison {
  struct Row {
    std::string nodes, name;
    /// Milliseconds of a run; 0 where the kernel is in the other measurement only.
    double before = 0, now = 0;
  };
  double medianBefore = 0, median = 0, minBefore = 0, min = 0;
  /// By the size of the difference, the largest first.
  std::vector<Row> faster, slower, gone, added;
  /// Kernels that take about as long as before.
  size_t same = 0;
  /// What makes the two hard to compare, in a sentence; empty: nothing.
  std::string doubt;
};
BenchComparison compareBench(const BenchRecord &before, const Latency &latency, llvm::StringRef target, int64_t threads,
                             llvm::ArrayRef<KernelSpeed> kernels);

void printComparison(const BenchRecord &before, const BenchComparison &comparison);
llvm::json::Object toJson(const BenchComparison &comparison);

} // namespace kiln

#endif // KILN_TOOLS_KILN_BENCH_BENCHCOMPARISON_H
