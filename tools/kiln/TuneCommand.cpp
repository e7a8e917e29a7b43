//===- TuneCommand.cpp - kiln tune: measured choices of kernels ------------===//
//
// Each alternative is measured inside the whole model: variant n of the model takes the n-th choice for every piece of work that has one. A few variants
// and the model's own choices run in turns, round by round, and a choice is judged by its ratio to the model's own in the same round.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/ChooseWinograd.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/KernelTable.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "tools/kiln/tune/TuneProgress.h"
#include "tools/kiln/tune/Variant.h"
#include "compiler/Decisions.h"
#include "compiler/files/Printable.h"
#include "compiler/run/Latency.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace llvm;

namespace kiln {

static cl::opt<std::string> profileOutput("o", cl::desc("The profile to write"), cl::value_desc("FILE"), cl::Required, cl::sub(tuneCommand));
static cl::opt<unsigned> rounds("rounds", cl::desc("Number of measurements of each variant (default: 7)"), cl::value_desc("N"),
    cl::init(7), cl::sub(tuneCommand));
static cl::opt<double> minGain("min-gain", cl::desc("Fraction of its time that a choice must save to be used (default: 0.03)"), cl::value_desc("PART"),
                               cl::init(0.03), cl::sub(tuneCommand));

/// Variants of the model that are loaded at a time, besides the model's own: each has its weights.
static constexpr size_t variantsAtOnce = 3;
/// Microseconds below which the clock says nothing of a kernel.
static constexpr double shortest = 1;

namespace {

/// What several groups compute alike.
struct Work {
  std::string name;
  std::vector<ProfileEntry> choices;
  /// The ONNX nodes of each launch.
  std::set<std::string> nodes;
  /// For each choice, the ratios of its times to those of the model's own choice, and the latter's microseconds.
  std::vector<std::vector<double>> ratios;
  std::vector<double> own;
};

} // namespace

/// The distinct pieces of work of a model that can be done in several ways, and the target. `byForm`: the convolutions that have another form than the
/// direct one, which is chosen first, and alone: the kernels of two forms have nothing to compare.
static int collectWork(CompileOptions options, bool byForm, std::vector<Work> &works, std::string &target) {
  options.stopAfter = "target";
  Compilation compilation;
  if (int status = compileOrReport(options, compilation))
    return status;
  kernel::TargetAttr attribute = kernel::getTarget(*compilation.targets.front().module);
  target = attribute.describeUnit();
  std::map<std::string, Work> found;
  compilation.targets.front().module->walk([&](nn::GroupOp group) {
    SmallVector<kernel::PlanAttr> choices = byForm ? listForms(group, attribute) : listChoices(group, attribute);
    if (choices.size() < 2)
      return;
    mlir::Operation *anchor = getAnchor(group);
    std::string name = byForm ? describeForms(anchor->getOperand(0).getType(), anchor->getResult(0).getType()) : describeWork(group);
    Work &work = found[name];
    work.choices.clear();
    for (kernel::PlanAttr choice : choices)
      work.choices.push_back(makeEntry(target, name, choice));
    SetVector<StringRef> nodes = listNodes(group.getLoc());
    work.nodes.insert(join(nodes, " "));
    // Filters are transformed by a launch of their own.
    if (byForm)
      work.nodes.insert(join(listNodes(anchor->getLoc()), " "));
  });
  for (auto &[name, work] : found) {
    works.push_back(std::move(work));
    works.back().name = name;
    works.back().ratios.resize(works.back().choices.size());
  }
  return Done;
}

/// Compiles the model with choice number `choice` wherever there is one.
static int prepare(CompileOptions options, ArrayRef<Work> works, size_t choice, std::unique_ptr<Variant> &variant) {
  for (const Work &work : works)
    if (choice < work.choices.size())
      options.choices.push_back(work.choices[choice]);
  return Variant::load(options, variant);
}

static double sumOf(const Work &work, const std::map<std::string, double> &times) {
  double sum = 0;
  for (const std::string &nodes : work.nodes)
    if (auto found = times.find(nodes); found != times.end())
      sum += found->second;
  return sum;
}

/// Runs the model's own choices and the variants in turns, and adds their ratios to `works`. `first` is the choice of the first variant.
static Error race(MutableArrayRef<std::unique_ptr<Variant>> variants, size_t first, const kiln_context &context, MutableArrayRef<Work> works,
                  TuneProgress &progress) {
  for (unsigned round = 0; round < rounds && !progress.isInterrupted(); ++round) {
    progress.begin();
    std::vector<std::map<std::string, double>> times(variants.size());
    for (size_t i = 0; i < variants.size(); ++i) {
      size_t place = (i + round) % variants.size();
      Expected<std::map<std::string, double>> measured = variants[place]->measureKernels(context);
      if (!measured)
        return measured.takeError();
      times[place] = std::move(*measured);
    }
    for (Work &work : works) {
      double own = sumOf(work, times.front());
      if (own <= 0)
        continue;
      work.own.push_back(own);
      for (size_t i = 1; i < variants.size() && first + i - 1 < work.choices.size(); ++i)
        work.ratios[first + i - 1].push_back(sumOf(work, times[i]) / own);
    }
    progress.end(TuneProgress::Round);
  }
  return Error::success();
}

/// The choice that is faster than the model's own; none if there is none.
static std::optional<ProfileEntry> judge(const Work &work) {
  size_t best = 0;
  double ratio = 1 - minGain, own = findMedian(work.own);
  for (size_t choice = 1; choice < work.choices.size(); ++choice)
    if (double measured = findMedian(work.ratios[choice]); measured > 0 && measured < ratio)
      best = choice, ratio = measured;
  if (best == 0 || own < shortest)
    return std::nullopt;
  ProfileEntry entry = work.choices[best];
  entry.defaultMicroseconds = own;
  entry.microseconds = own * ratio;
  return entry;
}

/// "gemm_tiled 4x3 vectors".
static std::string describeChoice(const ProfileEntry &entry) {
  std::string text = entry.kernel;
  if (entry.winograd)
    text += formatv(" {0}x{0}", entry.winograd).str();
  if (!entry.tile.empty())
    text += formatv(" {0}x{1} vectors", entry.tile[0], entry.tile[1]).str();
  return text + (entry.chunk ? " chunks of " + std::to_string(entry.chunk) + " bytes" : "");
}

/// Says of each piece of work what was found as soon as all of its choices are measured: those below `measured`.
static void tellPieces(ArrayRef<Work> works, size_t measuredBefore, size_t measured, size_t &told, TuneProgress &progress) {
  for (const Work &work : works) {
    if (work.choices.size() > measured || work.choices.size() <= measuredBefore)
      continue;
    std::string count = "[" + std::to_string(++told) + "/" + std::to_string(works.size()) + "] ";
    if (std::optional<ProfileEntry> entry = judge(work))
      progress.tell(count + work.name + ": " + describeChoice(*entry) + formatv(", {0:f1} us, was {1:f1} us", entry->microseconds,
                                                                                entry->defaultMicroseconds).str());
    else
      progress.tell(count + work.name + ": nothing is faster than what is chosen without a profile");
  }
}

/// Milliseconds of a whole run with the model's own choices, and with those of the profile.
static Expected<std::pair<double, double>> compare(ArrayRef<std::unique_ptr<Variant>> variants, const kiln_context &context) {
  std::vector<double> times[2];
  for (unsigned round = 0; round < rounds; ++round)
    for (unsigned i = 0; i < 2; ++i) {
      unsigned place = (i + round) % 2;
      Expected<double> milliseconds = variants[place]->measureRun(context);
      if (!milliseconds)
        return milliseconds.takeError();
      times[place].push_back(*milliseconds);
    }
  return std::pair(findMedian(times[0]), findMedian(times[1]));
}

static void printEntries(ArrayRef<ProfileEntry> entries, size_t works, std::pair<double, double> milliseconds) {
  if (wantsJson()) {
    printJson(json::Object{{"profile", profileOutput}, {"works", int64_t(works)}, {"entries", int64_t(entries.size())}, {"default_ms", milliseconds.first},
                           {"ms", milliseconds.second}});
    return;
  }
  if (verbosity() == 0)
    return;
  outs() << format("a run takes %.4f ms with the profile, %.4f ms without\n", milliseconds.second, milliseconds.first);
  outs() << entries.size() << " of " << works << " pieces of work have a faster kernel than the one chosen without a profile\n";
  for (const ProfileEntry &entry : entries) {
    outs() << format("%10.1f us, was %10.1f us  ", entry.microseconds, entry.defaultMicroseconds);
    printLine(outs(), describeChoice(entry) + "  " + entry.work);
  }
}

/// New entries in place of those of the profile that was given for the same work.
static Error writeProfile(const CompileOptions &options, ArrayRef<Work> works, const std::string &target, std::vector<ProfileEntry> entries) {
  if (!options.profile.empty()) {
    Expected<std::vector<ProfileEntry>> old = readProfile(options.profile);
    if (!old)
      return old.takeError();
    for (ProfileEntry &entry : *old)
      if (entry.target != target || none_of(works, [&](const Work &work) { return work.name == entry.work; }))
        entries.push_back(std::move(entry));
  }
  OutputFile profile{"", printProfile(std::move(entries)), nullptr};
  return writeFiles(PlacedFile{profileOutput, &profile});
}

/// Measures all choices, until Ctrl-C, and adds the entries of the best to `entries`.
static int tune(const CompileOptions &options, MutableArrayRef<Work> works, const kiln_context &context, std::vector<ProfileEntry> &entries,
                TuneProgress &progress) {
  size_t choices = 1, told = 0;
  for (const Work &work : works)
    choices = std::max(choices, work.choices.size());
  progress.plan(TuneProgress::Compile, choices);
  progress.plan(TuneProgress::Round, divideCeil(choices - 1, variantsAtOnce) * rounds);
  std::vector<std::unique_ptr<Variant>> variants;
  auto add = [&](ArrayRef<Work> chosen, size_t choice) {
    progress.begin();
    int status = prepare(options, chosen, choice, variants.emplace_back());
    progress.end(TuneProgress::Compile);
    // Ctrl-C ends the programs that a compile runs, too.
    return progress.isInterrupted() ? int(Done) : status;
  };
  if (int status = add({}, 0))
    return status;
  if (StringRef emulator = variants.front()->getEmulator(); !emulator.empty())
    progress.note(emulator.str() + " emulates a CPU, and its times are not those of one: --runner=COMMAND measures on a device");
  for (size_t first = 1; first < choices && !progress.isInterrupted(); first += variantsAtOnce) {
    size_t end = std::min(choices, first + variantsAtOnce);
    variants.resize(1);
    for (size_t choice = first; choice < end && !progress.isInterrupted(); ++choice)
      if (int status = add(works, choice))
        return status;
    if (progress.isInterrupted())
      break;
    // Ctrl-C ends the program of a model, too.
    if (Error error = race(variants, first, context, works, progress)) {
      if (!progress.isInterrupted())
        return report(std::move(error), AtFault);
      consumeError(std::move(error));
    }
    tellPieces(works, first > 1 ? first : 1, progress.isInterrupted() ? 0 : end, told, progress);
  }
  for (const Work &work : works)
    if (std::optional<ProfileEntry> entry = judge(work))
      entries.push_back(*entry);
  return Done;
}

/// Milliseconds of a run without and with the entries.
static int compareWhole(CompileOptions options, ArrayRef<ProfileEntry> entries, const kiln_context &context, std::pair<double, double> &milliseconds) {
  std::vector<std::unique_ptr<Variant>> variants(2);
  if (int status = prepare(options, {}, 0, variants.front()))
    return status;
  options.choices = entries.vec();
  if (int status = prepare(options, {}, 0, variants.back()))
    return status;
  Expected<std::pair<double, double>> compared = compare(variants, context);
  if (!compared)
    return report(compared.takeError(), AtFault);
  milliseconds = *compared;
  return Done;
}

/// The forms of convolutions first, and then the kernels of all work.
static int measureAll(const CompileOptions &plain, MutableArrayRef<Work> forms, std::vector<Work> &kernels, std::string &target,
                      const kiln_context &context, std::vector<ProfileEntry> &entries) {
  TuneProgress progress;
  if (int status = forms.empty() ? int(Done) : tune(plain, forms, context, entries, progress))
    return status;
  if (progress.isInterrupted())
    return Done;
  CompileOptions formed = plain;
  formed.choices = entries;
  if (int status = collectWork(formed, /*byForm=*/false, kernels, target))
    return status;
  return tune(formed, kernels, context, entries, progress);
}

/// After Ctrl-C: the profile has what is measured, and keeps what the given one has of the rest.
static int endEarly(const CompileOptions &options, std::vector<Work> &works, const std::string &target, std::vector<ProfileEntry> entries) {
  constexpr int interrupted = 130; // as shells count it: 128 and the signal
  size_t all = works.size();
  erase_if(works, [](const Work &work) { return work.own.empty(); });
  if (Error error = writeProfile(options, works, target, entries))
    return report(std::move(error), AtFault);
  if (wantsJson())
    printJson(json::Object{{"profile", profileOutput}, {"works", int64_t(all)}, {"entries", int64_t(entries.size())}, {"interrupted", true}});
  else if (verbosity() > 0)
    printLine(outs(), "interrupted: " + profileOutput + " has " + Twine(entries.size()) + (entries.size() == 1 ? " entry" : " entries") + ", of " +
                          Twine(works.size()) + " of " + Twine(all) + " pieces of work that were measured");
  return interrupted;
}

int runTune() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  if (options->targets.size() > 1)
    return report(makeError("--target: tune for one target at a time"), WrongUsage);
  if (!options->specialize.empty())
    return report(makeError("--specialize: tune measures one version; make the dimension static with --dim"), WrongUsage);
  if (rounds == 0)
    return report(makeError("--rounds=0: expected at least one"), WrongUsage);
  if (!(minGain < 1))
    return report(makeError("--min-gain: expected a part below 1"), WrongUsage);
  if (Error error = checkWritable(profileOutput))
    return report(std::move(error), AtFault);
  // The profile says what was measured before; what it says of this model is measured anew.
  CompileOptions plain = *options;
  plain.profile.clear();
  plain.assumeEqual = true;
  std::vector<Work> works, kernels;
  std::string target;
  if (int status = collectWork(plain, /*byForm=*/true, works, target))
    return status;
  // Without Winograd's forms there is nothing to choose from.
  if (plain.accuracy == Accuracy::Strict)
    works.clear();
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create();
  if (!pool)
    return report(pool.takeError(), AtFault);
  const kiln_context &context = (*pool)->context;
  std::vector<ProfileEntry> entries;
  if (int status = measureAll(plain, works, kernels, target, context, entries))
    return status;
  std::move(kernels.begin(), kernels.end(), std::back_inserter(works));
  if (TuneProgress::isInterrupted())
    return endEarly(*options, works, target, std::move(entries));
  if (Error error = writeProfile(*options, works, target, entries))
    return report(std::move(error), AtFault);
  std::pair<double, double> milliseconds;
  if (int status = compareWhole(plain, entries, context, milliseconds))
    return status;
  printEntries(entries, works.size(), milliseconds);
  return Done;
}

} // namespace kiln
