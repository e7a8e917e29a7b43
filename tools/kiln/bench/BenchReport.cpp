//===- BenchReport.cpp - What kiln bench prints -------------------------------===//
#include "tools/kiln/bench/BenchReport.h"
#include "compiler/files/Printable.h"
#include "tools/kiln/Reporting.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace kiln {

/// Kernels of a table that is not asked for whole.
static constexpr size_t mostKernels = 15;
static constexpr int barWidth = 10;

std::vector<const KernelSpeed *> sortByTime(ArrayRef<KernelSpeed> kernels) {
  std::vector<const KernelSpeed *> sorted;
  for (const KernelSpeed &kernel : kernels)
    sorted.push_back(&kernel);
  // Those that take the same are in the order of their launches.
  llvm::sort(sorted, [](auto *a, auto *b) { return std::pair(b->ofRun(), a) < std::pair(a->ofRun(), b); });
  return sorted;
}

static double sumOf(ArrayRef<const KernelSpeed *> kernels) {
  double sum = 0;
  for (const KernelSpeed *kernel : kernels)
    sum += kernel->ofRun();
  return sum;
}

/// "#######..." for 0.7.
static std::string makeBar(double part) {
  int filled = std::clamp(int(std::lround(part * barWidth)), 0, barWidth);
  return std::string(size_t(filled), '#') + std::string(size_t(barWidth - filled), '.');
}

static void printMachine(const Machine &machine) {
  if (machine.peak > 0)
    outs() << format("measured here: %.0f GFLOP/s;", machine.peak * 1e-9);
  if (machine.bytePeak > 0)
    outs() << format(" %.0f Gop/s of bytes;", machine.bytePeak * 1e-9);
  if (machine.brainPeak > 0)
    outs() << format(" %.0f GFLOP/s of bf16;", machine.brainPeak * 1e-9);
  for (const MemoryLevel &level : machine.levels)
    outs() << " " << printable(level.name) << format(" %.0f", level.bandwidth * 1e-9);
  outs() << (machine.peak > 0 ? " GB/s\n" : "");
}

static void printRow(const KernelSpeed &kernel, double share, double sum) {
  const char *unit = kernel.operands == Operands::Bytes ? "Gop/s  " : "GFLOP/s";
  // Rates are those of the mean; the table is about the usual launch.
  double best = kernel.best > 0 ? kernel.best : kernel.milliseconds, faster = kernel.milliseconds / kernel.usual();
  outs() << format("%4.0f %% %4.0f %% %9.4g %9.4g %5.4g", share * 100, sum * 100, best, kernel.usual(), kernel.calls)
         << format(" %10.2f %s %4.0f %% %9.2f  ", kernel.gflops * faster, unit, kernel.peakShare * faster * 100, kernel.gbps * faster)
         << makeBar(kernel.roofline * faster) << format(" %3.0f %%  ", kernel.roofline * faster * 100);
  printLine(outs(), kernel.name + ": " + kernel.nodes);
}

/// The slowest rank is the one that computes longest: the others wait for it.
static void printRanks(ArrayRef<RankSpeed> ranks) {
  if (ranks.empty())
    return;
  const RankSpeed *slowest = llvm::max_element(ranks, [](const RankSpeed &a, const RankSpeed &b) { return a.compute < b.compute; });
  for (auto [number, rank] : llvm::enumerate(ranks)) {
    outs() << "rank " << number
           << format(": median %.3f ms, of which %.3f ms exchange and wait (%.0f %%)", rank.run, rank.exchange,
                     rank.exchange / std::max(rank.exchange + rank.compute, 1e-9) * 100)
           << (&rank == slowest ? ", the slowest\n" : "\n");
  }
}

void printTable(const Latency &latency, int32_t threads, const Machine &machine, ArrayRef<KernelSpeed> kernels, ArrayRef<RankSpeed> ranks, bool isWhole) {
  outs() << format("median %.3f ms, min %.3f ms, p95 %.3f ms (%zu runs, %d threads)\n", latency.median, latency.min, latency.p95, latency.runs, threads);
  if (latency.instructions)
    outs() << *latency.instructions << " instructions a run, which the emulator counted\n";
  if (std::string noise = describeNoise(latency); !noise.empty())
    printLine(outs(), noise);
  if (verbosity() == 0)
    return;
  printRanks(ranks);
  printMachine(machine);
  std::vector<const KernelSpeed *> sorted = sortByTime(kernels);
  double whole = std::max(sumOf(sorted), 1e-9), sum = 0;
  outs() << " share    sum   best ms median ms calls         speed    peak      GB/s  roofline         kernel\n";
  // One row less that stands for one kernel would save nothing.
  size_t rows = isWhole || sorted.size() <= mostKernels + 1 ? sorted.size() : mostKernels;
  for (const KernelSpeed *kernel : ArrayRef(sorted).take_front(rows)) {
    sum += kernel->ofRun();
    printRow(*kernel, kernel->ofRun() / whole, sum / whole);
  }
  if (rows < sorted.size())
    outs() << format("%zu more, %.0f %% (--all lists them)\n", sorted.size() - rows, sumOf(ArrayRef(sorted).drop_front(rows)) / whole * 100);
}

json::Array ranksToJson(ArrayRef<RankSpeed> ranks) {
  json::Array list;
  for (const RankSpeed &rank : ranks)
    list.push_back(json::Object{{"median_ms", rank.run}, {"exchange_ms", rank.exchange}, {"compute_ms", rank.compute}});
  return list;
}

json::Array kernelsToJson(ArrayRef<KernelSpeed> kernels) {
  double whole = std::max(sumOf(sortByTime(kernels)), 1e-9);
  json::Array list;
  for (const KernelSpeed &kernel : kernels) {
    json::Object row{{"name", jsonText(kernel.name)}, {"nodes", jsonText(kernel.nodes)}, {"ms", kernel.milliseconds}, {"gbps", kernel.gbps},
                     {"roofline", kernel.roofline}, {"calls", kernel.calls}, {"flops", kernel.flops}, {"bytes", kernel.bytes},
                     {"share", kernel.ofRun() / whole}};
    row["operands"] = kernel.operands == Operands::Bytes ? "bytes" : kernel.operands == Operands::Brain ? "bf16" : "real";
    row[kernel.operands == Operands::Bytes ? "gops" : "gflops"] = kernel.gflops;
    if (kernel.peakShare > 0)
      row["peak_share"] = kernel.peakShare;
    if (kernel.best > 0) {
      row["min_ms"] = kernel.best;
      row["median_ms"] = kernel.median;
    }
    list.push_back(std::move(row));
  }
  return list;
}

} // namespace kiln
