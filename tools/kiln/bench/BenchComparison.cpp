//===- BenchComparison.cpp - Two measurements of a model ------------------------===//
#include "tools/kiln/bench/BenchComparison.h"
#include "compiler/Recursion.h"
#include "compiler/files/InputFile.h"
#include "compiler/files/Printable.h"
#include "compiler/run/Tensor.h"
#include "tools/kiln/Reporting.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace kiln {

/// Smaller differences are those of two measurements of one library, and say nothing: parts of a kernel's time, and of the whole run.
static constexpr double leastPart = 0.05, leastOfRun = 0.002;
static constexpr size_t mostCompared = 15;

static std::string getText(const json::Object &object, StringRef key) { return object.getString(key).value_or("").str(); }

Expected<BenchRecord> readBenchRecord(StringRef path) {
  auto fail = [&](const Twine &text) { return makeError("--compare: " + path + ": " + text); };
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostTextBytes);
  if (!file)
    return fail(toString(file.takeError()));
  Expected<json::Value> value = parseJson((*file)->getBuffer());
  if (!value)
    return fail(toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  const json::Array *kernels = object ? object->getArray("kernels") : nullptr;
  std::optional<double> median = object ? object->getNumber("median_ms") : std::nullopt, min = object ? object->getNumber("min_ms") : std::nullopt;
  if (!kernels || !median || !min || !(*median > 0) || !(*min > 0))
    return fail("not what kiln bench --json prints: it lacks \"median_ms\", \"min_ms\" or \"kernels\"");
  BenchRecord record{path.str(), getText(*object, "target"), object->getInteger("threads").value_or(0), *median, *min, {}};
  for (const json::Value &row : *kernels)
    if (const json::Object *fields = row.getAsObject()) {
      KernelSpeed kernel;
      kernel.name = getText(*fields, "name");
      kernel.nodes = getText(*fields, "nodes");
      kernel.milliseconds = fields->getNumber("ms").value_or(0);
      kernel.best = fields->getNumber("min_ms").value_or(0);
      kernel.calls = fields->getNumber("calls").value_or(1);
      record.kernels.push_back(std::move(kernel));
    }
  return record;
}

namespace {
/// What the kernels of some nodes take of a run. Several may compute parts of the same.
struct NodeTime {
  std::string name;
  double best = 0, mean = 0;
  bool hasBest = true;
};
} // namespace

static MapVector<StringRef, NodeTime> sumByNodes(ArrayRef<KernelSpeed> kernels) {
  MapVector<StringRef, NodeTime> times;
  for (const KernelSpeed &kernel : kernels) {
    NodeTime &time = times[kernel.nodes];
    time.name += (time.name.empty() ? "" : " + ") + kernel.name;
    time.best += kernel.bestOfRun();
    time.mean += kernel.milliseconds * kernel.calls;
    time.hasBest &= kernel.best > 0;
  }
  return times;
}

static void sortRows(std::vector<BenchComparison::Row> &rows) {
  auto key = [](const BenchComparison::Row &row) { return std::tuple(-std::fabs(row.now - row.before), row.nodes, row.name); };
  llvm::sort(rows, [&](auto &a, auto &b) { return key(a) < key(b); });
}

BenchComparison compareBench(const BenchRecord &before, const Latency &latency, StringRef target, int64_t threads, ArrayRef<KernelSpeed> kernels) {
  BenchComparison result;
  result.medianBefore = before.median, result.median = latency.median;
  result.minBefore = before.min, result.min = latency.min;
  MapVector<StringRef, NodeTime> was = sumByNodes(before.kernels), is = sumByNodes(kernels);
  for (auto &[nodes, time] : is) {
    auto old = was.find(nodes);
    if (old == was.end()) {
      result.added.push_back({nodes.str(), time.name, 0, time.best});
      continue;
    }
    // The fastest launches say most, where both sides know them.
    bool hasBest = time.hasBest && old->second.hasBest;
    double now = hasBest ? time.best : time.mean, then = hasBest ? old->second.best : old->second.mean, off = std::fabs(now - then);
    std::string name = old->second.name == time.name ? time.name : old->second.name + " -> " + time.name;
    if (off <= leastPart * std::min(now, then) || off <= leastOfRun * std::min(before.min, latency.min))
      ++result.same;
    else
      (now < then ? result.faster : result.slower).push_back({nodes.str(), name, then, now});
  }
  for (auto &[nodes, time] : was)
    if (!is.contains(nodes))
      result.gone.push_back({nodes.str(), time.name, time.best, 0});
  for (std::vector<BenchComparison::Row> *rows : {&result.faster, &result.slower, &result.gone, &result.added})
    sortRows(*rows);
  if (!before.target.empty() && before.target != target)
    result.doubt = "that was for target " + before.target + ", this is for " + target.str();
  else if (before.threads != threads)
    result.doubt = "that was with " + std::to_string(before.threads) + " threads, this is with " + std::to_string(threads);
  else if (result.same + result.faster.size() + result.slower.size() == 0)
    result.doubt = "no kernel computes the same nodes in both: that is another model";
  return result;
}

static void printRows(StringRef title, ArrayRef<BenchComparison::Row> rows) {
  if (rows.empty())
    return;
  outs() << title << "\n";
  for (const BenchComparison::Row &row : rows.take_front(mostCompared)) {
    outs() << format("  %+10.4g ms", row.now - row.before);
    if (row.before > 0 && row.now > 0)
      outs() << format("  %9.4g -> %9.4g  %5.2fx  ", row.before, row.now, row.before / row.now);
    else
      outs() << "  ";
    printLine(outs(), row.name + ": " + row.nodes);
  }
  if (rows.size() > mostCompared)
    outs() << "  and " << rows.size() - mostCompared << " more\n";
}

/// "12.0 % less", of times before and now.
static std::string describeChange(double before, double now) {
  std::string text;
  raw_string_ostream(text) << format("%.1f %% ", std::fabs(now / before - 1) * 100) << (now <= before ? "less" : "more");
  return text;
}

void printComparison(const BenchRecord &before, const BenchComparison &comparison) {
  printLine(outs(), "compared with " + before.path + ":");
  outs() << format("  median %.3f ms, was %.3f ms: ", comparison.median, comparison.medianBefore)
         << describeChange(comparison.medianBefore, comparison.median) << format("; min %.3f ms, was %.3f ms: ", comparison.min, comparison.minBefore)
         << describeChange(comparison.minBefore, comparison.min) << "\n";
  if (!comparison.doubt.empty())
    printLine(outs(), "  " + comparison.doubt);
  printRows("faster", comparison.faster);
  printRows("slower", comparison.slower);
  printRows("only there", comparison.gone);
  printRows("only here", comparison.added);
  outs() << comparison.same << " kernels take about as long as before\n";
}

static json::Array toJson(ArrayRef<BenchComparison::Row> rows) {
  json::Array list;
  for (const BenchComparison::Row &row : rows)
    list.push_back(json::Object{{"nodes", jsonText(row.nodes)}, {"name", jsonText(row.name)}, {"ms_before", row.before}, {"ms", row.now}});
  return list;
}

json::Object toJson(const BenchComparison &comparison) {
  return json::Object{{"median_ms_before", comparison.medianBefore},
                      {"min_ms_before", comparison.minBefore},
                      {"faster", toJson(comparison.faster)},
                      {"slower", toJson(comparison.slower)},
                      {"only_there", toJson(comparison.gone)},
                      {"only_here", toJson(comparison.added)},
                      {"same", int64_t(comparison.same)},
                      {"doubt", jsonText(comparison.doubt)}};
}

} // namespace kiln
