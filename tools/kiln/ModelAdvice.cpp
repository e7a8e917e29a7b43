//===- ModelAdvice.cpp - Options with which a model compiles ----------------===//
#include "tools/kiln/ModelAdvice.h"
#include "compiler/import/Import.h"
#include "compiler/pipeline/ReadModel.h"
#include "tools/kiln/GivenOptions.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/MLIRContext.h"

using namespace llvm;

namespace kiln {

/// What is tried, in this order: sizes for all dimensions but the first of each input, which is mostly a batch, then for the last ones.
static constexpr int64_t triedSizes[] = {64, 224, 512, 576, 640, 1};

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

static bool isImported(const Trial &trial) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<std::string> ignored;
  return succeeded(importModel(context, trial.import, ignored));
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
  return std::to_string(size) + " is an example that is accepted" + rest + "; the file does not say which size the model was trained with";
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
  for (const Trial &beginning : beginnings)
    for (bool onlyLast : {false, true})
      for (int64_t size : triedSizes) {
        Trial trial = beginning;
        fixShapes(summary, size, onlyLast, trial);
        if (trial.words.size() > beginning.words.size() && isImported(trial))
          return {join(trial.words, " "), (beginning.words.empty() || numbers.empty() ? "" : numbers + "; ") +
                                              describeGround(summary, beginning, size, onlyLast)};
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
