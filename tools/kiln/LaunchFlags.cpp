//===- LaunchFlags.cpp - Ranks that are processes, for commands that run a model ===//
#include "tools/kiln/LaunchFlags.h"
#include "compiler/Origin.h"
#include "compiler/pipeline/Ranks.h"
#include "compiler/run/LaunchedModel.h"
#include "compiler/run/LibraryFolder.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/Reporting.h"
#include "kiln/runtime.h"
#include "llvm/Support/Process.h"
#include <cmath>

using namespace llvm;

namespace kiln {

static cl::opt<std::string> launcher("launcher",
    cl::desc("How the processes of --ranks were started: openmpi, mpich, or a library with the functions of kiln/launcher.h; none: the ranks are threads of "
             "this process; auto (default): as the environment says"),
    cl::value_desc("auto|none|openmpi|mpich|LIBRARY.so"), cl::init("auto"), cl::sub(runCommand), cl::sub(verifyCommand), cl::sub(benchCommand));
static cl::opt<double> deadline("deadline", cl::desc("Longest time that a process of --ranks waits for another one (default: 300)"), cl::value_desc("SECONDS"),
    cl::init(300), cl::sub(runCommand), cl::sub(verifyCommand), cl::sub(benchCommand));

static Launch *current = nullptr;

Launch *getLaunch() { return current; }

namespace {
/// What an implementation of MPI tells the processes that its mpirun starts.
struct Implementation {
  StringRef name, words;
  const char *size, *rank;
};
} // namespace

static constexpr Implementation implementations[] = {{"openmpi", "Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                                     {"mpich", "MPICH", "PMI_SIZE", "PMI_RANK"}};

/// The one that --launcher names or that has started this process; null for threads, or for a library of the user's.
static const Implementation *findImplementation() {
  for (const Implementation &each : implementations)
    if (launcher == each.name || (launcher == "auto" && sys::Process::GetEnv(each.size)))
      return &each;
  return nullptr;
}

bool isFollower() {
  bool runsOnRanks = hasRanks() && (runCommand || verifyCommand || benchCommand);
  const Implementation *implementation = runsOnRanks ? findImplementation() : nullptr;
  return implementation && sys::Process::GetEnv(implementation->rank).value_or("0") != "0";
}

/// The library by which this process joins the others; empty if the ranks are threads.
static Expected<std::string> findLibrary() {
  const Implementation *implementation = findImplementation();
  if (!implementation)
    return launcher == "auto" || launcher == "none" ? "" : launcher.getValue();
  std::string file = ("kiln/kiln_" + implementation->name + ".so").str(), path = findLibraryFile(file);
  if (path.empty())
    return makeError("the ranks are processes under " + implementation->words + ", but there is no " + file + " in " + libraryFolder() +
                     ": this Kiln was built without that MPI (docs/Ranks.md says how to make the library); --launcher=none runs the ranks as threads");
  return path;
}

/// That the processes are the ranks of the model.
static Error checkSize(const CompileOptions &options, const Launch &launch) {
  if (options.stages.count)
    return makeError("--stages: kiln does not run stages as processes, but a program does (docs/Pipelines.md, \"Under MPI\"); --launcher=none runs all of "
                     "them in this process");
  int64_t ranks = countRanks(options);
  if (ranks == launch.getSize())
    return Error::success();
  std::string started = std::to_string(launch.getSize()) + (launch.getSize() == 1 ? " process was" : " processes were");
  return makeError("the model is cut for " + Twine(ranks) + " ranks, but " + started + " started: mpirun -np " + Twine(ranks) +
                   ", or --launcher=none for ranks that are threads of one process");
}

/// Of which all processes are told alike, so all of them end.
static int refuse(const Launch &launch, Error error) {
  std::string text = toString(std::move(error));
  return launch.getRank() == 0 ? report(makeError(text), WrongUsage) : int(WrongUsage);
}

/// That the others are the same Kiln and were told to do the same: rank 0 tells them all else in messages of this version.
static Error checkOthers(const CompileOptions &options, Launch &launch) {
  std::string command = runCommand ? "run" : benchCommand ? "bench" : "verify";
  for (int64_t number : {countRanks(options), int64_t(options.stages.count)})
    command += " " + std::to_string(number);
  kiln_status status = launch.agree(compilerVersion() + " " + command);
  if (status == KILN_STATUS_RANKS_MISMATCH)
    return makeError("the processes are not all the same version of Kiln with the same command, --ranks and --stages");
  if (status)
    launch.giveUp(makeError(kiln_status_string(status)));
  return Error::success();
}

static int follow(Launch &launch) {
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create();
  if (pool)
    if (Error error = loadGivenFunctions())
      pool = std::move(error);
  if (pool)
    return followRankZero(launch, (*pool)->context);
  launch.giveUp(pool.takeError());
}

/// Of a rank that has not joined the others, for which no other one can speak.
static int reportAlone(Error error) {
  if (!isFollower())
    return report(std::move(error), AtFault);
  printError("rank " + sys::Process::GetEnv(findImplementation()->rank).value_or("") + ": " + toString(std::move(error)));
  return AtFault;
}

int runOnRanks(const CompileOptions &options, function_ref<int()> command) {
  bool isGiven = launcher.getNumOccurrences() && launcher != "none" && launcher != "auto";
  if (options.ranks.empty())
    return isGiven ? report(makeError("--launcher=" + launcher + " needs --ranks or --grid"), WrongUsage) : command();
  if (!(std::isfinite(deadline) && deadline > 0 && deadline < 1e9))
    return report(makeError("--deadline: expected a number of seconds above 0"), WrongUsage);
  Expected<std::string> library = findLibrary();
  if (!library)
    return reportAlone(library.takeError());
  if (library->empty())
    return command();
  Expected<std::unique_ptr<Launch>> launch = Launch::open(*library, int64_t(deadline * 1e9), !isFollower());
  if (!launch)
    return reportAlone(makeError("--launcher: " + toString(launch.takeError())));
  if (Error error = checkOthers(options, **launch))
    return refuse(**launch, std::move(error));
  if (Error error = checkSize(options, **launch))
    return refuse(**launch, std::move(error));
  int status = 0;
  if ((*launch)->getRank() == 0) {
    current = launch->get();
    current->startBeats();
    status = (*launch)->end(command());
    current = nullptr;
    return status;
  }
  status = follow(**launch);
  (*launch)->leave();
  return status;
}

} // namespace kiln
