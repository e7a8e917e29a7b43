//===- PlanCommand.cpp - kiln plan: what a model would take on more ranks ----===//
//
// For each number of ranks, the module of rank 0 is compiled and runs on this machine, alone: a communicator that only notes its collectives answers them at
// once (plan/CallRecorder.h). So the times of its kernels are measured, and what it would exchange is known. compiler/plan says what that takes on machines
// that several ranks share, and on a network.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compile.h"
#include "compiler/files/InputFile.h"
#include "compiler/plan/Chart.h"
#include "compiler/run/Tensor.h"
#include "dialects/nn/RealNumber.h"
#include "passes/ranks/Layouts.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "tools/kiln/plan/MachineMeasurement.h"
#include "tools/kiln/plan/PlanReport.h"
#include "tools/kiln/plan/RankMeasurement.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace kiln {

static cl::list<std::string> network("network",
    cl::desc("Latency and bandwidth between machines, such as 20us,10Gbit/s, and what a further message takes (default: a tenth of the latency); may be given "
             "several times (default: what --machine says, or 2us,4GB/s)"),
    cl::value_desc("LATENCY,BANDWIDTH[,MESSAGE]"), cl::sub(planCommand));
static cl::list<std::string> machineFiles("machine",
    cl::desc("The machines of the ranks, as --measure has written it; may be given several times (default: each rank has one of this kind)"),
    cl::value_desc("FILE"), cl::sub(planCommand));
static cl::opt<int> ranksPerMachine("ranks-per-machine", cl::desc("The ranks of a machine of --machine (default: what the file says)"), cl::value_desc("N"),
                                    cl::sub(planCommand));
static cl::opt<bool> measure("measure", cl::desc("Measure this machine, and write what --machine reads to -o; takes no model"), cl::sub(planCommand));
static cl::opt<double> speed("speed",
    cl::desc("How many times as fast as this machine's the cores of a rank's machine are (default: what --machine says, or 1)"), cl::value_desc("FACTOR"),
                             cl::init(1), cl::sub(planCommand));
static cl::opt<Algorithms> algorithms("collectives",
    cl::desc("How the ranks' communicator makes its collectives:"), cl::init(Algorithms::Direct), cl::sub(planCommand),
    cl::values(clEnumValN(Algorithms::Direct, "direct", "all send to all others, as Kiln's communicators do (default)"),
               clEnumValN(Algorithms::Ring, "ring", "parts go around"),
               clEnumValN(Algorithms::Doubling, "doubling", "ranks at distances that double exchange what they have"),
               clEnumValN(Algorithms::Mpi, "mpi", "what implementations of MPI choose by size")));
static cl::opt<std::string> chartFile("o", cl::desc("Where to write a chart of the plan (.svg), or with --measure the machine (.json)"), cl::value_desc("FILE"),
                                   cl::sub(planCommand));

/// A number with a unit of the table behind it, "20us".
static std::optional<double> readUnit(StringRef text, ArrayRef<std::pair<StringRef, double>> units) {
  for (auto [unit, factor] : units) {
    StringRef number = text;
    double value;
    if (number.consume_back(unit) && parseReal(number.trim(), value) && value > 0 && std::isfinite(value))
      return value * factor;
  }
  return std::nullopt;
}

static Expected<Link> readNetwork(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ',');
  auto time = [](StringRef word) { return readUnit(word.trim(), {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}); };
  constexpr double messageShare = 0.1;
  if (words.size() == 2 || words.size() == 3) {
    auto latency = time(words[0]), rate = readUnit(words[1].trim(), {{"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}, {"GB/s", 1e9}, {"MB/s", 1e6}});
    auto message = words.size() == 3 ? time(words[2]) : latency ? std::optional(*latency * messageShare) : std::nullopt;
    if (latency && rate && message)
      return Link{*latency, *message, *rate, *rate};
  }
  return makeError("--network=" + text + ": expected LATENCY,BANDWIDTH, such as 20us,10Gbit/s or 2us,4GB/s, and perhaps the time of a further message");
}

namespace {
/// A number of ranks, and how they are arranged.
struct RankCount {
  std::string grid;
  int64_t ranks;
};
} // namespace

static Expected<std::vector<RankCount>> readCounts() {
  std::vector<RankCount> counts;
  SmallVector<StringRef> words;
  StringRef text = getRanksText();
  (text.empty() ? StringRef("1,2,4,8") : text).split(words, ',');
  for (StringRef word : words) {
    std::optional<Grid> grid = parseGrid(word.trim());
    if (!grid)
      return makeError("--ranks=" + text + ": expected numbers of ranks from 1 to 256, or grids of them such as 4x2, separated by commas");
    if (!counts.empty() && counts.back().ranks > grid->countRanks())
      return makeError("--ranks=" + text + ": expected growing numbers");
    counts.push_back({word.trim().str(), grid->countRanks()});
  }
  return counts;
}

static Expected<PlanMachine> readMachineFile(StringRef path) {
  auto fail = [&](const Twine &text) { return makeError("--machine=" + path + ": " + text); };
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostTextBytes);
  if (!file)
    return fail(toString(file.takeError()));
  Expected<PlanMachine> machine = readMachine((*file)->getBuffer());
  if (!machine)
    return fail(toString(machine.takeError()));
  if (ranksPerMachine.getNumOccurrences())
    machine->ranksPerMachine = ranksPerMachine;
  if (machine->ranksPerMachine > 1 && !machine->inside)
    return fail("it lacks 'inside', the connection of the " + Twine(machine->ranksPerMachine) + " ranks of a machine");
  if (speed.getNumOccurrences())
    machine->speed = speed;
  return machine;
}

static Expected<std::vector<Link>> readNetworks() {
  std::vector<Link> links;
  for (const std::string &text : network) {
    Expected<Link> link = readNetwork(text);
    if (!link)
      return link.takeError();
    links.push_back(*link);
  }
  return links;
}

/// A plan for each machine and each network, still without rows.
static Expected<std::vector<NetworkPlan>> listPlans(int64_t mostRanks) {
  if (machineFiles.empty() && ranksPerMachine.getNumOccurrences())
    return makeError("--ranks-per-machine needs --machine, which says what ranks of one machine share");
  if (ranksPerMachine.getNumOccurrences() && (ranksPerMachine < 1 || ranksPerMachine > maxRanks))
    return makeError("--ranks-per-machine=" + Twine(int(ranksPerMachine)) + ": expected a number from 1 to " + Twine(maxRanks));
  if (!(speed > 0) || !std::isfinite(speed))
    return makeError("--speed: expected a number above 0");
  if (network.empty() && machineFiles.empty())
    network.push_back("2us,4GB/s");
  Expected<std::vector<Link>> links = readNetworks();
  if (!links)
    return links.takeError();
  std::vector<PlanMachine> machines;
  for (const std::string &path : machineFiles) {
    Expected<PlanMachine> machine = readMachineFile(path);
    if (!machine)
      return machine.takeError();
    if (links->empty() && mostRanks > machine->ranksPerMachine && !machine->between)
      return makeError("--machine=" + path + ": " + Twine(mostRanks) + " ranks need several machines of " + Twine(machine->ranksPerMachine) +
                       (machine->ranksPerMachine == 1 ? " rank" : " ranks") + " each: give the --network between these");
    machines.push_back(std::move(*machine));
  }
  if (machines.empty()) {
    machines.push_back(describeOwnMachine());
    machines.back().speed = speed;
  }
  std::vector<NetworkPlan> plans;
  for (const PlanMachine &machine : machines) {
    for (auto [text, link] : zip(network, *links)) {
      plans.push_back({text, machine, {}});
      plans.back().machine.between = link;
    }
    if (links->empty())
      plans.push_back({"", machine, {}});
  }
  return plans;
}

static Error writeOutput(std::string text) {
  OutputFile file{"", std::move(text), nullptr};
  return writeFiles(PlacedFile{chartFile, &file});
}

static int runMeasure() {
  if (!getModels().empty())
    return report(makeError("--measure: takes no model, but '" + getModels().front() + "' is given"), WrongUsage);
  if (Error error = chartFile.empty() ? Error::success() : checkWritable(chartFile))
    return report(std::move(error), AtFault);
  Expected<PlanMachine> machine = measureMachine();
  if (!machine)
    return report(machine.takeError(), AtFault);
  std::string text = formatv("{0:2}", json::Value(toJson(*machine))).str() + "\n";
  if (chartFile.empty()) {
    outs() << text;
    return Done;
  }
  Error error = writeOutput(std::move(text));
  return error ? report(std::move(error), AtFault) : int(Done);
}

static Error writeChart(StringRef model, ArrayRef<NetworkPlan> plans) {
  std::vector<PlanCurve> curves;
  for (const NetworkPlan &plan : plans)
    curves.push_back({plan.machine.name + (plan.network.empty() ? "" : ", " + plan.network), plan.rows});
  return writeOutput(drawPlan(sys::path::filename(model).str() + " on ranks", curves));
}

/// What is wrong with the request besides the model, before that is compiled.
static Error checkRequest() {
  if (getModels().empty())
    return makeError("expected a model, or --measure");
  if (chartFile.empty())
    return Error::success();
  if (!StringRef(chartFile).ends_with(".svg"))
    return makeError("-o " + chartFile + ": expected the name of a picture, .svg");
  return checkWritable(chartFile);
}

int runPlan() {
  if (measure)
    return runMeasure();
  if (Error error = checkRequest())
    return report(std::move(error), WrongUsage);
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  Expected<std::vector<RankCount>> counts = readCounts();
  if (!counts)
    return report(counts.takeError(), WrongUsage);
  Expected<std::vector<NetworkPlan>> plans = listPlans(counts->back().ranks);
  if (!plans)
    return report(plans.takeError(), WrongUsage);
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create();
  if (!pool)
    return report(pool.takeError(), AtFault);
  // What does not depend on the ranks is done once.
  auto graph = std::make_shared<Compilation>();
  options->stopAfter = "graph";
  if (int status = compileOrReport(*options, *graph))
    return status;
  options->stopAfter = "";
  options->graph = std::move(graph);
  std::vector<RankPart> parts;
  for (const RankCount &count : *counts)
    if (int status = measureRank(*options, count.grid, count.ranks, algorithms, (*pool)->context, parts.emplace_back()))
      return status;
  for (NetworkPlan &plan : *plans)
    for (const RankPart &part : parts)
      plan.rows.push_back(predictRow(part, plan.machine));
  if (Error error = chartFile.empty() ? Error::success() : writeChart(options->model, *plans))
    return report(std::move(error), AtFault);
  if (wantsJson())
    printJson(plansToJson(parts, *plans));
  else
    printPlans(parts, *plans);
  return Done;
}

} // namespace kiln
