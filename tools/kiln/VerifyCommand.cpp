//===- VerifyCommand.cpp - kiln verify: are the numbers right? -------------===//
//
// With --data: against the outputs recorded in an ONNX backend test folder. Without: the model as asked for against the same model compiled
// for any CPU with every composite split into simple operations, on filled inputs.
//
//===----------------------------------------------------------------------===//
#include "compiler/run/Compare.h"
#include "compiler/run/OnnxTensor.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static cl::opt<std::string> data("data", cl::desc("Folder with input_N.pb and output_N.pb, or with such folders (test_data_set_N)"), cl::value_desc("DIR"),
                                 cl::sub(verifyCommand));
static cl::opt<double> rtol("rtol", cl::desc("Relative bound (default: 0.001)"), cl::value_desc("R"), cl::init(1e-3), cl::sub(verifyCommand));
static cl::opt<double> atol("atol", cl::desc("Absolute bound (default: 1e-7 with --data, else 1e-5)"), cl::value_desc("A"), cl::init(-1),
    cl::sub(verifyCommand));

namespace {

/// One output of one data set.
struct Verdict {
  std::string set, output;
  Comparison comparison;
};

} // namespace

static Expected<std::vector<Tensor>> readTensors(StringRef folder, StringRef kind, size_t count) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    SmallString<128> path(folder);
    sys::path::append(path, kind + "_" + Twine(i) + ".pb");
    auto file = MemoryBuffer::getFile(path, false, false);
    if (!file)
      return makeError(path + ": " + file.getError().message());
    Expected<Tensor> tensor = readOnnxTensor((*file)->getBuffer());
    if (!tensor)
      return makeError(path + ": " + toString(tensor.takeError()));
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
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

static Error runOn(const LoadedModel &model, ArrayRef<Tensor> inputs, const kiln_context &context, std::optional<Execution> &execution) {
  Expected<Execution> prepared = Execution::prepare(model, inputs);
  if (!prepared)
    return prepared.takeError();
  execution.emplace(std::move(*prepared));
  return execution->run(&context);
}

static Error verifyAgainstData(const LoadedModel &model, const kiln_context &context, std::vector<Verdict> &verdicts) {
  Expected<std::vector<std::string>> sets = findSets(data);
  if (!sets)
    return sets.takeError();
  for (const std::string &set : *sets) {
    Expected<std::vector<Tensor>> inputs = readTensors(set, "input", model.getInputs().size());
    if (!inputs)
      return inputs.takeError();
    Expected<std::vector<Tensor>> expected = readTensors(set, "output", model.getOutputs().size());
    if (!expected)
      return expected.takeError();
    std::optional<Execution> execution;
    if (Error error = runOn(model, *inputs, context, execution))
      return makeError(set + ": " + toString(std::move(error)));
    for (auto [info, got, want] : zip_equal(model.getOutputs(), execution->getOutputs(), *expected))
      verdicts.push_back({sys::path::filename(set).str(), info.name, compare(got, want, rtol, atol < 0 ? 1e-7 : atol)});
  }
  return Error::success();
}

static Error verifyAgainstReference(const LoadedModel &model, const LoadedModel &reference, const kiln_context &context, std::vector<Verdict> &verdicts) {
  Expected<InputSpecs> specs = getInputSpecs(model);
  if (!specs)
    return specs.takeError();
  Expected<std::vector<Tensor>> inputs = makeInputs(model, *specs, "random");
  if (!inputs)
    return inputs.takeError();
  std::optional<Execution> actual, expected;
  if (Error error = runOn(model, *inputs, context, actual))
    return error;
  if (Error error = runOn(reference, *inputs, KILN_CONTEXT_INIT, expected))
    return makeError("the reference: " + toString(std::move(error)));
  for (auto [info, got, want] : zip_equal(model.getOutputs(), actual->getOutputs(), expected->getOutputs()))
    verdicts.push_back({"", info.name, compare(got, want, rtol, atol < 0 ? 1e-5 : atol)});
  return Error::success();
}

static int printVerdicts(ArrayRef<Verdict> verdicts) {
  size_t wrong = count_if(verdicts, [](const Verdict &verdict) { return !verdict.comparison.agrees(); });
  json::Array list;
  for (const Verdict &verdict : verdicts) {
    const Comparison &comparison = verdict.comparison;
    list.push_back(json::Object{{"set", verdict.set},
                                {"output", verdict.output},
                                {"agrees", comparison.agrees()},
                                {"reason", comparison.reason},
                                {"elements", comparison.elements},
                                {"wrong", comparison.wrong},
                                {"max_absolute", comparison.maxAbsolute},
                                {"max_relative", comparison.maxRelative},
                                {"max_ulp", comparison.maxUlp}});
    if (wantsJson() || (verbosity() == 0 && comparison.agrees()))
      continue;
    outs() << (comparison.agrees() ? "ok    " : "WRONG ") << (verdict.set.empty() ? "" : verdict.set + " ") << verdict.output
           << format(": %lld values, relative error %.3g, %.3g ulp, absolute %.3g", (long long)comparison.elements, comparison.maxRelative,
                     comparison.maxUlp, comparison.maxAbsolute)
           << (comparison.agrees() ? "" : "; " + comparison.reason) << "\n";
  }
  if (wantsJson())
    printJson(json::Object{{"outputs", std::move(list)}, {"wrong", int64_t(wrong)}});
  outs().flush();
  if (wrong && !wantsJson())
    WithColor::error(errs()) << wrong << " of " << verdicts.size() << " outputs are wrong\n";
  return wrong ? AtFault : Done;
}

int runVerify() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  RunnableModel model, reference;
  if (int status = loadOrReport(*options, model))
    return status;
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create();
  if (!pool)
    return report(pool.takeError(), AtFault);
  std::vector<Verdict> verdicts;
  if (!data.empty()) {
    if (Error error = verifyAgainstData(*model.loaded, (*pool)->context, verdicts))
      return report(std::move(error), AtFault);
    return printVerdicts(verdicts);
  }
  options->targets = {"generic"};
  options->decompose = {"all"};
  options->name = std::string(model.loaded->getInfo().name) + "_reference";
  if (int status = loadOrReport(*options, reference))
    return status;
  if (Error error = verifyAgainstReference(*model.loaded, *reference.loaded, (*pool)->context, verdicts))
    return report(std::move(error), AtFault);
  return printVerdicts(verdicts);
}

} // namespace kiln
