//===- PlanCommand.cpp - kiln plan: what a model would take on more ranks ----===//
//
// For each number of ranks, the module of rank 0 is compiled and runs on this machine, alone: a communicator that only counts answers its collectives at once.
// So the time of its kernels is measured, and the bytes that it would exchange are known. What the exchange takes follows from the network's latency and
// bandwidth and from the algorithms of the runtime (runtime/src/ranks/Collectives.cpp).
//
//===----------------------------------------------------------------------===//
#include "compiler/files/InputFile.h"
#include "compiler/run/Latency.h"
#include "kiln/communicator.h"
#include "kiln/runtime.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace kiln {

static cl::opt<std::string> network("network",
                                    cl::desc("Latency and bandwidth between ranks, such as 20us,10Gbit/s (default: 2us,4GB/s, processes of one machine)"),
                                    cl::value_desc("LATENCY,BANDWIDTH"), cl::init("2us,4GB/s"), cl::sub(planCommand));
static cl::opt<double> speed("speed", cl::desc("How many times as fast as this machine a rank's machine is (default: 1)"), cl::value_desc("FACTOR"),
                             cl::init(1), cl::sub(planCommand));

namespace {

struct Network {
  double latency = 0, bytesPerSecond = 0; // seconds
};

/// A rank without others: it counts what it would exchange.
class CountingRank {
public:
  CountingRank(int32_t ranks, const Network &network) : network(network) {
    calls = {KILN_ABI_VERSION, sizeof(kiln_communicator), 0, ranks, 0, this, begin, end, allReduce, allGather, reduceScatter, allToAll, send, receive,
             exchange, nullptr, nullptr};
  }
  const kiln_communicator *get() const { return &calls; }

  double seconds = 0, bytes = 0;
  int64_t exchanges = 0;

private:
  static CountingRank &of(void *user) { return *static_cast<CountingRank *>(user); }
  /// `messages` of so many bytes each: they follow each other on the wire, and the first one takes the latency.
  kiln_status add(double messages, double size) {
    ++exchanges;
    bytes += messages * size;
    seconds += network.latency + messages * size / network.bytesPerSecond;
    return KILN_STATUS_OK;
  }
  static kiln_status begin(void *, const uint8_t *) { return KILN_STATUS_OK; }
  static kiln_status end(void *, kiln_status status) { return status; }
  static kiln_status allReduce(void *user, const kiln_ranks *group, void *, int64_t count, int32_t type, int32_t) {
    double others = group->count - 1, size = double(count) * double(getByteSize(ElementType(type)));
    // Small ones go whole to everybody, others in two steps.
    constexpr double small = 16 << 10;
    if (size <= small)
      return of(user).add(others, size);
    of(user).add(others, size / group->count);
    return of(user).add(others, size / group->count);
  }
  static kiln_status allGather(void *user, const kiln_ranks *group, const void *, void *, int64_t size) { return of(user).add(group->count - 1, double(size)); }
  static kiln_status reduceScatter(void *user, const kiln_ranks *group, const void *, void *, int64_t count, int32_t type, int32_t) {
    return of(user).add(group->count - 1, double(count) * double(getByteSize(ElementType(type))));
  }
  static kiln_status allToAll(void *user, const kiln_ranks *group, const void *, void *, int64_t size) { return of(user).add(group->count - 1, double(size)); }
  static kiln_status send(void *user, int32_t, const void *, int64_t size) { return of(user).add(1, double(size)); }
  static kiln_status receive(void *user, int32_t, void *, int64_t size) { return of(user).add(1, double(size)); }
  static kiln_status exchange(void *user, int32_t, const void *, int64_t sent, int32_t, void *, int64_t received) {
    return of(user).add(1, double(std::max(sent, received)));
  }

  Network network;
  kiln_communicator calls;
};

/// What is expected of a number of ranks.
struct Row {
  int64_t ranks = 1;
  double computeMs = 0, exchangeMs = 0, exchangedBytes = 0;
  int64_t exchanges = 0, weights = 0, workspace = 0;

  double getMs() const { return computeMs + exchangeMs; }
};

} // namespace

/// A number with a unit of the table behind it, "20us".
static std::optional<double> readUnit(StringRef text, ArrayRef<std::pair<StringRef, double>> units) {
  for (auto [unit, factor] : units) {
    StringRef number = text;
    double value;
    if (number.consume_back(unit) && !number.trim().getAsDouble(value) && value > 0 && std::isfinite(value))
      return value * factor;
  }
  return std::nullopt;
}

static Expected<Network> readNetwork() {
  auto [latency, bandwidth] = StringRef(network).split(',');
  auto seconds = readUnit(latency.trim(), {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
  auto perSecond = readUnit(bandwidth.trim(), {{"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}, {"GB/s", 1e9}, {"MB/s", 1e6}});
  if (!seconds || !perSecond)
    return makeError("--network=" + network + ": expected LATENCY,BANDWIDTH, such as 20us,10Gbit/s or 2us,4GB/s");
  return Network{*seconds, *perSecond};
}

static Expected<std::vector<int64_t>> readCounts() {
  std::vector<int64_t> counts;
  SmallVector<StringRef> words;
  StringRef text = getRanksText();
  (text.empty() ? StringRef("1,2,4,8") : text).split(words, ',');
  for (StringRef word : words) {
    int64_t count;
    if (word.trim().getAsInteger(10, count) || count < 1 || count > 256)
      return makeError("--ranks=" + text + ": expected numbers of ranks from 1 to 256, separated by commas");
    counts.push_back(count);
  }
  return counts;
}

/// The time of a run of rank 0's kernels. The counts of `rank` are those of one run.
static Expected<double> measure(const Execution &execution, CountingRank &rank, kiln_context context) {
  constexpr double enough = 0.5e9, fewest = 5;
  context.communicator = rank.get();
  if (kiln_status status = execution.call(&context)) // also takes the pages in
    return makeError("the model did not run: " + Twine(kiln_status_string(status)));
  CountingRank counted = rank;
  std::vector<double> times;
  for (int64_t begin = kiln_clock_ns(); double(times.size()) < fewest || double(kiln_clock_ns() - begin) < enough;) {
    int64_t start = kiln_clock_ns();
    execution.call(&context);
    times.push_back(double(kiln_clock_ns() - start) * 1e-6);
  }
  rank.seconds = counted.seconds, rank.bytes = counted.bytes, rank.exchanges = counted.exchanges;
  return findMedian(std::move(times));
}

/// Compiles and measures one number of ranks. Reports errors and returns the exit status.
static int planRanks(CompileOptions options, int64_t ranks, const Network &net, kiln_context context, Row &row) {
  options.ranks = ranks > 1 ? std::to_string(ranks) : "";
  options.onlyRank = ranks > 1 ? 0 : -1;
  RunnableModel model;
  if (int status = loadOrReport(options, model))
    return status;
  Expected<InputSpecs> specs = getInputSpecs(*model.loaded);
  if (!specs)
    return report(specs.takeError(), WrongUsage);
  Expected<std::vector<Tensor>> inputs = makeInputs(*model.loaded, *specs, "random", options);
  if (!inputs)
    return report(inputs.takeError(), AtFault);
  Expected<Execution> execution = prepareRun(*model.loaded, *inputs);
  if (!execution)
    return report(execution.takeError(), AtFault);
  CountingRank rank(int32_t(ranks), net);
  Expected<double> milliseconds = measure(*execution, rank, context);
  if (!milliseconds)
    return report(milliseconds.takeError(), AtFault);
  const kiln_model_info &info = model.loaded->getInfo();
  row = {ranks, *milliseconds / speed, rank.seconds * 1e3, rank.bytes, rank.exchanges, info.weights_size, int64_t(execution->getWorkspaceSize())};
  return Done;
}

static void printTable(ArrayRef<Row> rows) {
  constexpr size_t width = 30;
  double longest = 0;
  for (const Row &row : rows)
    longest = std::max(longest, row.getMs());
  outs() << "ranks        ms   compute  exchange  MB sent  weights MB  workspace MB  efficiency\n";
  const Row &first = rows.front();
  for (const Row &row : rows) {
    double efficiency = first.getMs() * double(first.ranks) / (row.getMs() * double(row.ranks));
    outs() << formatv("{0,5} {1,9:f3} {2,9:f3} {3,9:f3} {4,8:f2} {5,11:f1} {6,13:f1} {7,10:f0} %  ", row.ranks, row.getMs(), row.computeMs, row.exchangeMs,
                      row.exchangedBytes * 1e-6, double(row.weights) * 1e-6, double(row.workspace) * 1e-6, efficiency * 100);
    // Of the longest time: computing, and exchanging.
    auto bar = [&](double ms, char sign) { return std::string(size_t(std::lround(ms / longest * width)), sign); };
    outs() << bar(row.computeMs, '#') << bar(row.exchangeMs, '-') << "\n";
  }
}

static void printRows(ArrayRef<Row> rows, const Network &net) {
  json::Array list;
  for (const Row &row : rows)
    list.push_back(json::Object{{"ranks", row.ranks}, {"ms", row.getMs()}, {"compute_ms", row.computeMs}, {"exchange_ms", row.exchangeMs},
                                {"exchanges", row.exchanges}, {"exchanged_bytes", row.exchangedBytes}, {"weights_bytes", row.weights},
                                {"workspace_bytes", row.workspace}});
  printJson(json::Object{{"latency_us", net.latency * 1e6}, {"bandwidth_gbps", net.bytesPerSecond * 1e-9}, {"plan", std::move(list)}});
}

int runPlan() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  Expected<Network> net = readNetwork();
  if (!net)
    return report(net.takeError(), WrongUsage);
  Expected<std::vector<int64_t>> counts = readCounts();
  if (!counts)
    return report(counts.takeError(), WrongUsage);
  if (!(speed > 0) || !std::isfinite(speed))
    return report(makeError("--speed: expected a number above 0"), WrongUsage);
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create();
  if (!pool)
    return report(pool.takeError(), AtFault);
  std::vector<Row> rows;
  for (int64_t count : *counts)
    if (int status = planRanks(*options, count, *net, (*pool)->context, rows.emplace_back()))
      return status;
  wantsJson() ? printRows(rows, *net) : printTable(rows);
  return Done;
}

} // namespace kiln
