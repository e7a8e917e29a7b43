//===- QuantizeCommand.cpp - kiln quantize: a model with integers ----------===//
//
// The f32 model runs on samples, its values give the ranges, and the same model is written with QuantizeLinear and DequantizeLinear, or with integer weights
// alone. With a budget, layers stay in f32 until it is met: a form of the model with a switch for each layer measures any choice of layers without another
// compile, and the written model is measured at the end.
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/FoldIntoWeights.h"
#include "compiler/quantize/RaiseOpset.h"
#include "compiler/quantize/Rewrite.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "tools/kiln/quantize/Calibrating.h"
#include "tools/kiln/quantize/QuantizeReport.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;

namespace kiln {

using namespace quantize;

static cl::opt<std::string> modelOutput("o", cl::desc("The model to write"), cl::value_desc("MODEL.onnx"), cl::Required, cl::sub(quantizeCommand));
static cl::opt<std::string> data("data",
    cl::desc("Folder with samples: folders with a file for each input (input_0.npy, input_0.pb or a picture), or files for a single input"),
                                 cl::value_desc("DIR"), cl::sub(quantizeCommand));
static cl::opt<std::string> weights("weights", cl::desc("Quantise weights alone, to int8 or int4; activations stay in f32"), cl::value_desc("TYPE"),
                                    cl::sub(quantizeCommand));
static cl::opt<int64_t> block("block", cl::desc("Weights that share a scale (default: 32 for int4, 0 for int8, which means a whole channel)"),
                              cl::value_desc("N"), cl::init(-1), cl::sub(quantizeCommand));
static cl::opt<bool> perTensor("per-tensor", cl::desc("One scale for all weights of a layer, instead of one for each channel"), cl::sub(quantizeCommand));
static cl::opt<std::string> rounding("rounding", cl::desc("How weights are rounded: nearest, or feedback, which corrects the weights of a product for the "
                                                          "errors of others (default: feedback with --weights and --data, otherwise nearest)"),
                                     cl::value_desc("HOW"), cl::sub(quantizeCommand));
static cl::opt<std::string> activations("activations", cl::desc("Type of 8-bit activations: u8 (default) or s8"), cl::value_desc("TYPE"), cl::init("u8"),
                                        cl::sub(quantizeCommand));
static cl::opt<bool> symmetric("symmetric", cl::desc("Put the zero point of activations in the middle"), cl::sub(quantizeCommand));
static cl::opt<std::string> calibration("calibration", cl::desc("How the range of activations is chosen: minmax (default), percentile, entropy, mse"),
                                        cl::value_desc("HOW"), cl::init("minmax"), cl::sub(quantizeCommand));
static cl::opt<double> percentile("percentile", cl::desc("Percent of the values that the range of --calibration=percentile holds (default: 99.99)"),
                                  cl::value_desc("P"), cl::init(99.99), cl::sub(quantizeCommand));
static cl::opt<double> maxError("max-error", cl::desc("Leave layers in f32 until no output differs by more: rms of the difference, relative to that of "
                                                      "the output"),
                                cl::value_desc("E"), cl::init(HUGE_VAL), cl::sub(quantizeCommand));
static cl::opt<double> minAgreement("min-agreement", cl::desc("Leave layers in f32 until this share of the rows of each output have their largest element in "
                                                              "the same place"),
                                    cl::value_desc("P"), cl::init(0), cl::sub(quantizeCommand));
static cl::opt<bool> sensitivity("sensitivity", cl::desc("Measure each layer by itself, too, as a budget does"), cl::sub(quantizeCommand));
static cl::opt<unsigned> checkCases("check-cases", cl::desc("Number of samples on which errors are measured (default: 16)"), cl::value_desc("N"),
                                    cl::init(16), cl::sub(quantizeCommand));
static cl::opt<std::string> reportFile("report", cl::desc("Write the report as JSON"), cl::value_desc("FILE"), cl::sub(quantizeCommand));

//===- Options -------------------------------------------------------------===//

static std::optional<Calibration> findCalibration(StringRef name) {
  return StringSwitch<std::optional<Calibration>>(name)
      .Case("minmax", Calibration::MinMax)
      .Case("percentile", Calibration::Percentile)
      .Case("entropy", Calibration::Entropy)
      .Case("mse", Calibration::LeastSquares)
      .Default(std::nullopt);
}

static Error checkTypes() {
  if (!weights.empty() && weights != "int8" && weights != "int4")
    return makeError("--weights=" + weights + ": expected int8 or int4");
  if (activations != "u8" && activations != "s8")
    return makeError("--activations=" + activations + ": expected u8 or s8");
  if (!findCalibration(calibration))
    return makeError("--calibration=" + calibration + ": expected minmax, percentile, entropy or mse");
  if (!rounding.empty() && rounding != "nearest" && rounding != "feedback")
    return makeError("--rounding=" + rounding + ": expected nearest or feedback");
  return Error::success();
}

static Error checkNumbers() {
  if (!(percentile > 50 && percentile <= 100))
    return makeError("--percentile: expected a number above 50 and up to 100");
  if (percentile.getNumOccurrences() && calibration != "percentile")
    return makeError("--percentile needs --calibration=percentile");
  if (maxError.getNumOccurrences() && !(maxError > 0 && std::isfinite(maxError)))
    return makeError("--max-error: expected a number above 0");
  if (minAgreement.getNumOccurrences() && !(minAgreement > 0 && minAgreement <= 1))
    return makeError("--min-agreement: expected a number above 0 and up to 1");
  if (checkCases == 0)
    return makeError("--check-cases: expected at least 1");
  if (block.getNumOccurrences() && (block < 0 || block == 1))
    return makeError("--block: expected 0, or at least 2");
  return Error::success();
}

static bool hasBudget() { return maxError.getNumOccurrences() || minAgreement.getNumOccurrences(); }

/// Options that contradict each other.
static Error checkTogether() {
  if (weights.empty() && data.empty())
    return makeError("no samples: give --data DIR, or --weights=int8 or int4 to quantise weights alone");
  if (data.empty() && (hasBudget() || sensitivity || rounding == "feedback"))
    return makeError(Twine(hasBudget() ? "a budget" : sensitivity ? "--sensitivity" : "--rounding=feedback") + " needs samples: give --data DIR");
  if (weights.empty() && block.getNumOccurrences())
    return makeError("--block needs --weights");
  if (perTensor && block > 0)
    return makeError("--per-tensor and --block exclude each other");
  const cl::Option *ofActivations[] = {&activations, &symmetric, &calibration};
  for (const cl::Option *option : ofActivations)
    if (!weights.empty() && option->getNumOccurrences())
      return makeError("--" + option->ArgStr + " concerns activations, which --weights leaves in f32");
  return Error::success();
}

static QuantizeOptions getQuantizeOptions() {
  QuantizeOptions options;
  options.onlyWeights = !weights.empty();
  options.weights.bits = weights == "int4" ? 4 : 8;
  options.weights.isPerTensor = perTensor;
  bool isWhole = perTensor || weights != "int4";
  options.weights.block = block >= 0 ? size_t(block) : isWhole ? 0 : 32;
  options.activations = activations == "s8" ? ActivationType::S8 : ActivationType::U8;
  options.isSymmetric = symmetric;
  options.calibration = *findCalibration(calibration);
  options.percent = percentile;
  return options;
}

//===- One quantisation on its way -----------------------------------------===//

namespace {

class QuantizeRun {
public:
  QuantizeRun(const CompileOptions &options, const kiln_context &context) : options(options), runs(options, context) {
    numbers.options = getQuantizeOptions();
  }

  int run();

private:
  int readModel();
  int findNumbers();
  int searchBudget();
  int makeModel();
  int leaveOneMore();
  int writeResults();
  std::string explain(size_t layer, const Selection &selection) const;
  Error failBudget() const;
  Selection selectLayers(const std::vector<bool> &leftLayers) const;
  bool hasWeighted(const Selection &selection) const;

  const CompileOptions &options;
  SampleRuns runs;
  Budget budget{maxError, minAgreement};
  std::unique_ptr<ModelGraph> model;
  std::unique_ptr<Layers> layers;
  ValueTypes types;
  Quantization numbers;
  /// The layers, those of them that stay in f32, and what each does by itself, if that was measured.
  std::vector<int> candidates;
  std::vector<bool> left;
  std::vector<Quality> alone;
  /// The written model.
  std::string bytes;
  std::optional<QualityMeter> quality;
};

} // namespace

int QuantizeRun::readModel() {
  Expected<std::unique_ptr<ModelGraph>> read = ModelGraph::read(options.model);
  if (!read)
    return report(read.takeError(), AtFault);
  model = std::move(*read);
  if (int status = findValueTypes(options, types))
    return status;
  liftConstants(*model);
  Error error = checkQuantizable(*model, Layers(*model, numbers.options.onlyWeights));
  if (!error)
    error = raiseOpset(*model, numbers.options.getOpset(), types.ranks);
  // Weights that are stored in integers may have factors behind them; it is 8-bit activations whose ranges must be those of stored values.
  if (!error && !numbers.options.onlyWeights)
    error = foldIntoWeights(*model);
  if (error)
    return report(std::move(error), AtFault);
  layers = std::make_unique<Layers>(*model, numbers.options.onlyWeights);
  candidates = layers->listLayers(layers->select(std::vector<bool>(size_t(model->graph().node_size()))));
  left.assign(candidates.size(), false);
  return Done;
}

int QuantizeRun::findNumbers() {
  if (!data.empty())
    if (int status = runs.prepare(data, checkCases))
      return status;
  bool withFeedback = rounding.empty() ? numbers.options.onlyWeights : rounding == "feedback";
  return calibrate({*model, *layers, types, data.empty() ? nullptr : &runs, withFeedback}, numbers);
}

Selection QuantizeRun::selectLayers(const std::vector<bool> &leftLayers) const {
  std::vector<bool> nodes(size_t(model->graph().node_size()));
  for (auto [i, node] : enumerate(candidates))
    nodes[size_t(node)] = leftLayers[i];
  return layers->select(nodes);
}

bool QuantizeRun::hasWeighted(const Selection &selection) const {
  return any_of(candidates, [&](int node) { return selection[size_t(node)] && layers->getRole(node) == Role::Weighted; });
}

Error QuantizeRun::failBudget() const {
  std::string text;
  raw_string_ostream os(text);
  if (maxError.getNumOccurrences())
    os << format("--max-error=%g", double(maxError));
  if (minAgreement.getNumOccurrences())
    os << format("%s--min-agreement=%g", text.empty() ? "" : " and ", double(minAgreement));
  size_t best = 0;
  for (size_t i = 1; i < alone.size(); ++i)
    if (std::make_pair(alone[i].error, -alone[i].agreement) < std::make_pair(alone[best].error, -alone[best].agreement))
      best = i;
  os << " cannot be met: node " << describeNode(model->node(candidates[best]))
     << format(", the least harmful layer, alone gives an error of %g and an agreement of %g", alone[best].error, alone[best].agreement);
  return makeError(text);
}

int QuantizeRun::searchBudget() {
  std::unique_ptr<ModelGraph> form = model->clone();
  size_t switches = insertSwitches(*form, *layers, numbers, candidates).size();
  RunnableModel switched;
  if (int status = runs.compile(*form, "switched", {}, switched))
    return status;
  auto measure = [&](const std::vector<bool> &quantized) -> Expected<Quality> {
    std::vector<bool> leftLayers = quantized;
    leftLayers.flip();
    Selection selection = selectLayers(leftLayers);
    std::vector<Tensor> states;
    for (size_t i = 0; i < switches; ++i) {
      Expected<Tensor> state = Tensor::create(KILN_ELEMENT_BOOL, {});
      if (!state)
        return state.takeError();
      state->setValue(0, selection[size_t(candidates[i])]);
      states.push_back(std::move(*state));
    }
    Expected<QualityMeter> meter = runs.measure(*switched.loaded, states);
    if (!meter)
      return meter.takeError();
    return meter->get();
  };
  if (!hasBudget()) {
    Expected<std::vector<Quality>> measured = measureAlone(candidates.size(), measure);
    if (!measured)
      return report(measured.takeError(), AtFault);
    alone = std::move(*measured);
    return Done;
  }
  Expected<SearchResult> found = searchLayers(candidates.size(), budget, measure);
  if (!found)
    return report(found.takeError(), AtFault);
  alone = std::move(found->alone);
  left = std::move(found->left);
  return found->isMet ? int(Done) : report(failBudget(), AtFault);
}

/// The written model rounds in other places than the one with switches when two numbers are nearly the same, so its error may be a little larger.
int QuantizeRun::leaveOneMore() {
  size_t worst = candidates.size();
  for (size_t i = 0; i < candidates.size(); ++i)
    if (!left[i] && (worst == candidates.size() || alone[i].error > alone[worst].error))
      worst = i;
  if (worst == candidates.size())
    return report(failBudget(), AtFault);
  left[worst] = true;
  return Done;
}

int QuantizeRun::makeModel() {
  for (;;) {
    Selection selection = selectLayers(left);
    if (!hasWeighted(selection))
      return report(failBudget(), AtFault);
    std::unique_ptr<ModelGraph> form = model->clone();
    insertPairs(*form, *layers, numbers, selection);
    Expected<std::string> serialized = form->serialize();
    if (!serialized)
      return report(serialized.takeError(), AtFault);
    bytes = std::move(*serialized);
    if (data.empty())
      return Done;
    RunnableModel written;
    if (int status = runs.compile(*form, "written", {}, written))
      return status;
    Expected<QualityMeter> meter = runs.measure(*written.loaded, {});
    if (!meter)
      return report(meter.takeError(), AtFault);
    quality = std::move(*meter);
    if (!hasBudget() || budget.isMet(quality->get()))
      return Done;
    if (int status = leaveOneMore())
      return status;
  }
}

std::string QuantizeRun::explain(size_t layer, const Selection &selection) const {
  if (selection[size_t(candidates[layer])])
    return "";
  if (!left[layer])
    return "stays in f32 with what it reads or what reads it";
  return "stays in f32 to meet the budget";
}

int QuantizeRun::writeResults() {
  Selection selection = selectLayers(left);
  QuantizeReport result{*model, *layers, numbers, candidates, {}, {}, alone, quality, {}, 0, 0, 0, bytes.size(), modelOutput};
  for (size_t i = 0; i < candidates.size(); ++i) {
    result.reasons.push_back(explain(i, selection));
    result.left.push_back(!selection[size_t(candidates[i])]);
  }
  for (const onnx::ValueInfoProto &value : model->graph().output())
    result.outputs.push_back(value.name());
  if (!data.empty()) {
    result.samples = runs.getNumCases();
    result.measured = runs.getNumMeasured();
  }
  // With external data, the file alone says little.
  Expected<std::unique_ptr<ModelGraph>> before = ModelGraph::read(options.model);
  if (Error error = before ? (*before)->embedData() : before.takeError())
    return report(std::move(error), AtFault);
  result.bytesBefore = (*before)->proto.ByteSizeLong();
  OutputFile modelFile{"", bytes, nullptr}, jsonFile{"", formatv("{0:2}\n", json::Value(toJson(result))).str(), nullptr};
  std::vector<PlacedFile> files{{modelOutput, &modelFile}};
  if (!reportFile.empty())
    files.push_back({reportFile, &jsonFile});
  if (Error error = writeFiles(files))
    return report(std::move(error), AtFault);
  if (wantsJson())
    printJson(toJson(result));
  else
    printTable(result);
  return Done;
}

int QuantizeRun::run() {
  if (int status = readModel())
    return status;
  if (int status = findNumbers())
    return status;
  if (hasBudget() || sensitivity)
    if (int status = searchBudget())
      return status;
  if (int status = makeModel())
    return status;
  return writeResults();
}

int runQuantize() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  for (Error (*check)() : {checkTypes, checkNumbers, checkTogether})
    if (Error error = check())
      return report(std::move(error), WrongUsage);
  StringRef extension = sys::path::extension(options->model);
  if (extension == ".mlir" || extension == ".mlirbc")
    return report(makeError(options->model + ": kiln quantize needs an ONNX model, not IR"), AtFault);
  for (StringRef path : {StringRef(modelOutput), StringRef(reportFile)})
    if (!path.empty())
      if (Error error = checkWritable(path))
        return report(std::move(error), AtFault);
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create();
  if (!pool)
    return report(pool.takeError(), AtFault);
  return QuantizeRun(*options, (*pool)->context).run();
}

} // namespace kiln
