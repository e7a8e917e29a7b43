//===- VerifyCommand.cpp - kiln verify: are the numbers right? -------------===//
//
// With --data: the library's outputs against those recorded in an ONNX backend test folder. Without, and to find out where recorded outputs
// are missed: the results of its kernels against the plainest form of the same model (see NodeComparison.h).
//
//===----------------------------------------------------------------------===//
#include "compiler/files/InputFile.h"
#include "compiler/files/Printable.h"
#include "compiler/run/ChannelsLast.h"
#include "compiler/run/OnnxTensor.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/LaunchFlags.h"
#include "tools/kiln/NodeComparison.h"
#include "tools/kiln/Reporting.h"
#include "tools/kiln/verify/VerifyReport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;

namespace kiln {

static cl::opt<std::string> data("data",
    cl::desc("Folder with input_N.pb and output_N.pb, or with several such folders (test_data_set_N)"), cl::value_desc("DIR"),
                                 cl::sub(verifyCommand));
static cl::opt<double> rtol("rtol", cl::desc("Relative error bound (default: 0.001; between nodes 0.01 for f16 and 0.05 for bf16; "
                                             "more where --compute or --weights-type rounds)"), cl::value_desc("R"),
                            cl::init(-1), cl::sub(verifyCommand));
static cl::opt<double> atol("atol", cl::desc("Absolute error bound (default: 1e-7 against files; between nodes a hundredth of the relative bound, "
                                             "or four roundings of f16 or bf16, times the tensor's largest value)"),
                            cl::value_desc("A"), cl::init(-1), cl::sub(verifyCommand));
static cl::opt<std::string> nodes("nodes", cl::desc("What to compare with the reference: kernels (their results), all (every node, with a kernel "
                                                    "for each), none, or auto (default): kernels, but with --data only if an output differs"),
                                  cl::value_desc("WHICH"), cl::init("auto"), cl::sub(verifyCommand));
static cl::opt<double> steps("steps", cl::desc("Steps by which a value of a quantised tensor may differ (default: 1 in one of 10,000 values, by kernel; "
                                               "for whole models a root mean square of 0.5)"),
                             cl::value_desc("N"), cl::init(-1), cl::sub(verifyCommand));
static cl::opt<bool> plot("plot", cl::desc("Also draw the error of each kernel's result, by its depth in the model"), cl::sub(verifyCommand));
static cl::opt<std::string> wrongValue("debug-wrong", cl::desc("Change a value, to test that it is found"), cl::Hidden, cl::sub(verifyCommand));

using Quantized = std::map<std::string, nn::TensorQuantization>;

namespace {
/// What the outputs of a model are compared by: the scales of those that are quantised, and the bound of what is rounded on request.
struct Expectations {
  Quantized quantized;
  double rounding = 0;
};
} // namespace

/// Whole outputs, in which the errors of many products add up, may be off by so many times the bound of one.
static constexpr double roundedProducts = 8;

/// What a whole model's quantised outputs may differ by: a sum that is added in another order changes some roundings, each of which moves numbers behind it by
/// about what rounding itself does. With --steps, no element may differ by more. Others may be off by `smallest` near zero, and by what is rounded on request.
static Comparison compareOutput(const Tensor &got, const Tensor &want, StringRef name, double smallest, const Expectations &expectations) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), quiet = 0.5;
  StepBounds bounds{{}, -1, steps < 0 ? infinity : double(steps), 1, steps < 0 ? quiet : infinity};
  auto found = expectations.quantized.find(name.str());
  double rounding = roundedProducts * expectations.rounding;
  return compareQuantized(got, want, rtol < 0 ? 1e-3 + rounding : rtol, atol < 0 ? std::max(smallest, rounding * getLargest(want)) : atol,
                          found == expectations.quantized.end() ? nullptr : &found->second, bounds);
}

/// Recorded tensors have the model's layouts. Those of the library are given, or null if they are the same.
static Expected<std::vector<Tensor>> moveToLayouts(std::vector<Tensor> tensors, const char *const *layouts) {
  for (size_t i = 0; layouts && i < tensors.size(); ++i) {
    if (!layouts[i])
      continue;
    Expected<Tensor> moved = moveChannelsLast(tensors[i]);
    if (!moved)
      return moved.takeError();
    tensors[i] = std::move(*moved);
  }
  return tensors;
}

/// The tensors of all inputs or outputs, one file for each input or output of the ONNX model.
static Expected<std::vector<Tensor>> readTensors(StringRef folder, const LoadedModel &model, bool isOutput) {
  std::vector<Tensor> tensors;
  for (auto [i, slot] : enumerate(model.getSlots(isOutput))) {
    if (slot.isBytes()) {
      tensors.emplace_back();
      continue;
    }
    SmallString<128> path(folder);
    sys::path::append(path, (isOutput ? "output_" : "input_") + Twine(i) + ".pb");
    if (slot.list) {
      Expected<std::vector<Tensor>> elements = readListFile(path, *slot.list);
      if (!elements)
        return elements.takeError();
      std::move(elements->begin(), elements->end(), std::back_inserter(tensors));
      continue;
    }
    Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostDataBytes);
    if (!file)
      return makeError(path + ": " + toString(file.takeError()));
    Expected<Tensor> tensor = readOnnxTensor((*file)->getBuffer());
    if (!tensor)
      return makeError(path + ": " + toString(tensor.takeError()));
    tensors.push_back(std::move(*tensor));
  }
  return moveToLayouts(std::move(tensors), isOutput ? model.getInfo().output_layouts : model.getInfo().input_layouts);
}

/// The folder itself, or the test_data_set_N in it by number.
static Expected<std::vector<std::string>> findSets(StringRef folder) {
  std::vector<std::pair<unsigned, std::string>> sets;
  std::error_code error;
  for (sys::fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    StringRef name = sys::path::filename(entry->path());
    unsigned number;
    if (name.starts_with("output_") && name.ends_with(".pb"))
      return std::vector<std::string>{folder.str()};
    if (name.consume_front("test_data_set_") && !name.getAsInteger(10, number))
      sets.emplace_back(number, entry->path());
  }
  if (error)
    return makeError(folder + ": " + error.message());
  if (sets.empty())
    return makeError(folder + ": no output_0.pb and no test_data_set_0 in it");
  llvm::sort(sets);
  std::vector<std::string> paths;
  for (auto &[number, path] : sets)
    paths.push_back(path);
  return paths;
}

/// Runs the library on each data set. Keeps the inputs of the first that goes wrong.
static Error verifyAgainstData(const LoadedModel &model, const CompileOptions &options, const kiln_context &context, std::vector<Verdict> &verdicts,
                               const Expectations &expectations, std::vector<Tensor> &wrongInputs) {
  Expected<std::vector<std::string>> sets = findSets(data);
  if (!sets)
    return sets.takeError();
  for (const std::string &set : *sets) {
    Expected<std::vector<Tensor>> inputs = readTensors(set, model, /*isOutput=*/false);
    if (!inputs)
      return inputs.takeError();
    if (Error error = checkRanges(model, *inputs, options))
      return makeError(set + ": " + toString(std::move(error)));
    Expected<std::vector<Tensor>> expected = readTensors(set, model, /*isOutput=*/true);
    if (!expected)
      return expected.takeError();
    Expected<Execution> execution = prepareRun(model, *inputs);
    Error error = execution ? execution->run(&context) : execution.takeError();
    if (error)
      return makeError(set + ": " + toString(std::move(error)));
    bool wrong = false;
    for (auto [info, got, want] : zip_equal(model.getOutputs(), execution->getOutputs(), *expected)) {
      if (want.getType() == KILN_ELEMENT_UNDEFINED)
        continue;
      verdicts.push_back({sys::path::filename(set).str(), info.name, compareOutput(got, want, info.name, 1e-7, expectations)});
      wrong |= !verdicts.back().comparison.agrees();
    }
    if (wrongInputs.empty() && (wrong || nodes != "auto" || plot))
      wrongInputs = std::move(*inputs);
  }
  return Error::success();
}

/// The library itself against the form whose kernels were compared.
static Error verifyLibrary(const LoadedModel &model, const NodeReport &nodes, ArrayRef<Tensor> inputs, const kiln_context &context,
                           const Expectations &expectations, std::vector<Verdict> &verdicts) {
  Expected<Execution> execution = prepareRun(model, inputs);
  Error error = execution ? execution->run(&context) : execution.takeError();
  if (error)
    return error;
  for (auto [info, got, want] : zip_equal(model.getOutputs(), execution->getOutputs(), nodes.execution->getOutputs().take_front(model.getOutputs().size())))
    verdicts.push_back({"library", info.name, compareOutput(got, want, info.name, 1e-5, expectations)});
  return Error::success();
}

/// A model in stages against the whole one, whose bits it must have.
static int verifyStages(const CompileOptions &whole, const LoadedModel &staged, ArrayRef<Tensor> inputs, const kiln_context &context,
                        std::vector<Verdict> &verdicts) {
  RunnableModel model;
  if (int status = loadOrReport(whole, model))
    return status;
  Expected<Execution> got = prepareRun(staged, inputs), want = prepareRun(*model.loaded, inputs);
  for (Expected<Execution> *execution : {&got, &want})
    if (Error error = *execution ? (*execution)->run(&context) : execution->takeError()) {
      consumeError(got.takeError());
      consumeError(want.takeError());
      return report(std::move(error), AtFault);
    }
  for (auto [info, one, other] : zip_equal(staged.getOutputs(), got->getOutputs(), want->getOutputs())) {
    Comparison comparison = compare(one, other, 0, 0);
    // Strings are pointers, and -0 is equal to 0.
    bool isSame = one.getType() == KILN_ELEMENT_STRING || std::memcmp(one.getData(), other.getData(), one.getByteSize()) == 0;
    if (comparison.agrees() && !isSame)
      comparison.reason = "has other bits than the model in one piece";
    verdicts.push_back({"stages", info.name, comparison});
  }
  return Done;
}

//===- The command ---------------------------------------------------------===//

static int verifyModel(const CompileOptions &options) {
  // What is drawn has to be compared.
  bool comparesNodes = nodes != "auto" || plot;
  RunnableModel model;
  if (int status = loadOrReport(options, model))
    return status;
  CompileOptions whole = options;
  whole.stages = {};
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create();
  if (!pool)
    return report(pool.takeError(), AtFault);
  std::vector<Verdict> verdicts;
  std::vector<Tensor> inputs;
  Expectations expectations{{}, getRoundingBound(options)};
  if (int status = listQuantized(whole, expectations.quantized))
    return status;
  if (!data.empty())
    if (Error error = verifyAgainstData(*model.loaded, options, (*pool)->context, verdicts, expectations, inputs))
      return report(std::move(error), AtFault);
  bool isWrong = !all_of(verdicts, [](const Verdict &verdict) { return verdict.comparison.agrees(); });
  if (nodes == "none" || (!comparesNodes && !data.empty() && !isWrong))
    return printReport(verdicts, nullptr, /*isPlotted=*/false);
  auto makeGivenInputs = [&](const LoadedModel &model) -> Expected<std::vector<Tensor>> {
    Expected<InputSpecs> specs = getInputSpecs(model);
    if (!specs)
      return specs.takeError();
    return makeInputs(model, *specs, "random", options);
  };
  NodeReport found;
  NodeRequest request{nodes == "all", rtol, atol, {}, wrongValue};
  if (steps >= 0)
    request.steps.most = steps, request.steps.share = 1;
  if (int status = compareNodes(whole, request, makeGivenInputs, (*pool)->context, inputs, found))
    return status;
  // Values of 16 bits are rounded elsewhere in the reference, which shows in whatever is computed from them.
  expectations.rounding = std::max(expectations.rounding, getUnitOfValues(*found.execution));
  if (data.empty() && wrongValue.empty())
    if (Error error = verifyLibrary(*model.loaded, found, inputs, (*pool)->context, expectations, verdicts))
      return report(std::move(error), AtFault);
  if (options.stages.count)
    if (int status = verifyStages(whole, *model.loaded, inputs, (*pool)->context, verdicts))
      return status;
  return printReport(verdicts, &found, plot);
}

int runVerify() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  if (!is_contained({"auto", "kernels", "all", "none"}, StringRef(nodes)))
    return report(makeError("--nodes=" + nodes + ": expected auto, kernels, all or none"), WrongUsage);
  for (const cl::opt<double> *bound : {&rtol, &atol, &steps})
    if (bound->getNumOccurrences() && !(*bound >= 0))
      return report(makeError("--" + bound->ArgStr + ": expected a number from 0"), WrongUsage);
  if (data.empty() && nodes == "none")
    return report(makeError("--nodes=none leaves nothing to compare without --data DIR"), WrongUsage);
  if (plot && nodes == "none")
    return report(makeError("--plot draws what kernels compute, which --nodes=none leaves out"), WrongUsage);
  // What ranks have parts of is compared as a whole.
  options->wholeSignature = true;
  return runOnRanks(*options, [&] { return verifyModel(*options); });
}

} // namespace kiln
