//===- ModelAdvice.cpp - Options with which a model compiles ----------------===//
#include "tools/kiln/ModelAdvice.h"
#include "compiler/emit/BuildText.h"
#include "compiler/import/Import.h"
#include "compiler/pipeline/ReadModel.h"
#include "tools/kiln/TimeWindows.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/MLIRContext.h"

using namespace llvm;

namespace kiln {

/// What is tried, in this order: sizes for all dimensions but the first of each input, which is mostly a batch, then for the last ones.
static constexpr int64_t triedSizes[] = {64, 224, 512, 576, 640, 1};

static constexpr char trainedSize[] = "; the file does not say which size the model was trained with";

static bool isDynamic(const ModelSummary::Tensor &input) {
  return any_of(input.dims, [](const auto &dim) { return dim.first < 0; });
}

/// An input of one integer, such as a sample rate or a flag, on which branches and shapes may depend.
static bool isNumber(const ModelSummary::Tensor &input) {
  return input.isInteger && input.hasShape && all_of(input.dims, [](const auto &dim) { return dim.first == 1; });
}

/// What the model compares it with, or a likely value.
static std::string guessValue(const ModelSummary::Tensor &input) {
  if (!input.comparedWith.empty())
    return std::to_string(input.comparedWith.front());
  std::string lower = StringRef(input.name).lower();
  return lower == "sr" || StringRef(lower).contains("rate") ? "16000" : "1";
}

namespace {
struct Trial {
  ImportOptions import;
  std::vector<std::string> words;
};
} // namespace

static void bindNumbers(const ModelSummary &summary, Trial &trial) {
  for (const ModelSummary::Tensor &input : summary.inputs)
    if (isNumber(input) && trial.import.bindings.try_emplace(input.name, guessValue(input)).second)
      trial.words.push_back("--bind " + quoteForShell(input.name + "=" + guessValue(input)));
}

/// Dimensions of one name have one size, so the first input that has a name decides.
static void fixShapes(const ModelSummary &summary, int64_t size, bool onlyLast, Trial &trial) {
  std::map<std::string, int64_t> named;
  for (const ModelSummary::Tensor &input : summary.inputs) {
    if (!isDynamic(input) || trial.import.shapes.count(input.name))
      continue;
    std::vector<int64_t> shape;
    for (auto [axis, dim] : enumerate(input.dims)) {
      bool isOne = onlyLast ? axis + 1 < input.dims.size() : axis == 0 && input.dims.size() > 1;
      int64_t own = isOne ? 1 : size;
      if (dim.first < 0 && !dim.second.empty())
        own = named.try_emplace(dim.second, own).first->second;
      shape.push_back(dim.first < 0 ? own : dim.first);
    }
    trial.import.shapes[input.name] = shape;
    std::string text = join(map_range(shape, [](int64_t value) { return std::to_string(value); }), "x");
    trial.words.push_back("--shape " + quoteForShell(input.name + "=" + text));
  }
}

/// Bounds for all dimensions that the model leaves open.
static void boundDims(const ModelSummary &summary, int64_t most, Trial &trial) {
  for (const ModelSummary::Tensor &input : summary.inputs)
    for (auto [axis, dim] : enumerate(input.dims)) {
      std::string name = trial.import.rename(dim.second.empty() ? input.name + "_" + std::to_string(axis) : dim.second);
      if (dim.first < 0 && !trial.import.shapes.count(input.name) && !trial.import.dims.count(name) && trial.import.dimBounds.try_emplace(name, 1, most).second)
        trial.words.push_back("--dim " + quoteForShell(name + "=1.." + std::to_string(most)));
    }
}

namespace {
/// What is known of a model that was imported.
struct Outcome {
  std::string results;
  std::optional<TimeWindows> windows;
};
} // namespace

/// Nothing if the model is refused.
static std::optional<Outcome> importTrial(const Trial &trial) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<std::string> ignored;
  mlir::FailureOr<ImportedModel> model = importModel(context, trial.import, ignored);
  if (failed(model))
    return std::nullopt;
  Outcome outcome;
  outcome.windows = findTimeWindows(*model->module);
  raw_string_ostream text(outcome.results);
  for (auto main : model->module->getOps<mlir::FunctionOpInterface>())
    llvm::interleaveComma(main.getResultTypes(), text);
  return outcome;
}

static bool isImported(const Trial &trial) { return importTrial(trial).has_value(); }

/// Where windows over time leave samples unread with a size that is accepted: the largest size that fills the windows and has the same results.
static std::optional<Advice> fillWindows(const ModelSummary &summary, const Trial &beginning, int64_t size, bool onlyLast) {
  auto attempt = [&](int64_t other) {
    Trial trial = beginning;
    fixShapes(summary, other, onlyLast, trial);
    return std::pair(trial, importTrial(trial));
  };
  std::optional<Outcome> first = attempt(size).second;
  if (!first || !first->windows || first->windows->unread == 0)
    return std::nullopt;
  int64_t stride = first->windows->stride;
  std::optional<Advice> best;
  for (int64_t other = size - first->windows->unread; other > 0 && other <= 64 * stride; other += stride) {
    auto [trial, outcome] = attempt(other);
    if (!outcome || outcome->results != first->results)
      break;
    best = Advice{join(trial.words, " "), std::to_string(other) + " fills the windows of a convolution with stride " + std::to_string(stride) +
                                              ", and no larger size that does has the same results" + trainedSize};
  }
  return best;
}

/// Whether the model tells the values of its integers, and which other sizes would do: what they mean is known to whoever trained it.
static std::string describeGround(const ModelSummary &summary, const Trial &beginning, int64_t size, bool onlyLast) {
  constexpr int64_t mostWeights = int64_t(1) << 26;
  std::vector<std::string> others;
  for (int64_t other : triedSizes) {
    if (other <= size || summary.weightsBytes > mostWeights)
      continue;
    Trial trial = beginning;
    fixShapes(summary, other, onlyLast, trial);
    if (isImported(trial))
      others.push_back(std::to_string(other));
  }
  std::string rest = others.empty() ? "" : ", and so are " + join(others, ", ");
  return std::to_string(size) + " is an example that is accepted" + rest + trainedSize;
}

static std::string describeNumbers(const ModelSummary &summary) {
  for (const ModelSummary::Tensor &input : summary.inputs)
    if (isNumber(input) && !input.comparedWith.empty())
      return "the model compares " + input.name + " with " +
             join(map_range(input.comparedWith, [](int64_t value) { return std::to_string(value); }), ", ");
  return "";
}

Advice findMissingOptions(const CompileOptions &options, const ModelSummary &summary) {
  constexpr int64_t mostWeights = int64_t(1) << 30;
  if (summary.weightsBytes > mostWeights)
    return {};
  Trial given;
  given.import = makeImportOptions(options);
  given.import.broadcasts = ImportOptions::Broadcasts::Equal;
  Trial bound = given;
  bindNumbers(summary, bound);
  std::string numbers = bound.words.empty() ? "" : describeNumbers(summary);
  if (!bound.words.empty() && isImported(bound))
    return {join(bound.words, " "), numbers};
  if (none_of(summary.inputs, isDynamic))
    return {};
  // Where the model compares an integer with a constant, that constant chooses a branch, and sizes need not fit the other one.
  std::vector<Trial> beginnings = {given};
  if (!bound.words.empty())
    beginnings.insert(numbers.empty() ? beginnings.end() : beginnings.begin(), bound);
  // A model with bounds is for all sizes within them.
  for (const Trial &beginning : beginnings)
    for (int64_t most : {4096, 512, 64}) {
      Trial trial = beginning;
      boundDims(summary, most, trial);
      std::string before = beginning.words.empty() || numbers.empty() ? "" : numbers + "; ";
      if (trial.words.size() > beginning.words.size() && isImported(trial))
        return {join(trial.words, " "), before + "sizes up to " + std::to_string(most) + " are an example of bounds that are accepted"};
    }
  for (const Trial &beginning : beginnings)
    for (bool onlyLast : {false, true})
      for (int64_t size : triedSizes) {
        Trial trial = beginning;
        fixShapes(summary, size, onlyLast, trial);
        if (trial.words.size() == beginning.words.size() || !isImported(trial))
          continue;
        std::string before = beginning.words.empty() || numbers.empty() ? "" : numbers + "; ";
        if (std::optional<Advice> filling = fillWindows(summary, beginning, size, onlyLast))
          return {filling->options, before + filling->ground};
        return {join(trial.words, " "), before + describeGround(summary, beginning, size, onlyLast)};
      }
  return {};
}

std::vector<std::string> listPictures(const ModelSummary &summary) {
  auto isSide = [](int64_t size) { return size < 0 || size >= 16; };
  std::vector<std::string> names;
  for (const ModelSummary::Tensor &input : summary.inputs) {
    StringRef type = input.type;
    if (input.dims.size() != 4 || !is_contained({"float", "float16", "uint8"}, type.split('[').first))
      continue;
    auto size = [&](size_t axis) { return input.dims[axis].first; };
    bool isFirst = is_contained({1, 3, 4}, size(1)) && isSide(size(2)) && isSide(size(3));
    bool isLast = is_contained({1, 3, 4}, size(3)) && isSide(size(1)) && isSide(size(2));
    if (isFirst || isLast)
      names.push_back(input.name);
  }
  return names;
}

} // namespace kiln
