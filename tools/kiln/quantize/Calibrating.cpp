//===- Calibrating.cpp - The numbers of a quantised model from samples -----===//
#include "tools/kiln/quantize/Calibrating.h"
#include "dialects/nn/NN.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/graph/ObserveValues.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace llvm;

namespace kiln {

using namespace quantize;

int findValueTypes(const CompileOptions &options, ValueTypes &types) {
  CompileOptions import = options;
  import.stopAfter = "import";
  import.observation.everything = true;
  import.targets.resize(1);
  Compilation compilation;
  if (int status = compileOrReport(import, compilation))
    return status;
  mlir::ModuleOp module = *compilation.targets.front().module;
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  for (auto [value, type] : zip_equal(listValues(module, compilation.outputs), main.getResultTypes()))
    if (auto tensor = dyn_cast<mlir::RankedTensorType>(type)) {
      int64_t bytes = sizeof(float);
      for (int64_t size : tensor.getShape())
        bytes *= mlir::ShapedType::isDynamic(size) ? 256 : std::max<int64_t>(size, 1);
      types.ranks[value.name] = tensor.getRank();
      types.bytes[value.name] = bytes;
    }
  return Done;
}

namespace {

/// The samples' values of one group, as outputs of a form of the model.
class GroupRun {
public:
  GroupRun(const CalibrationRequest &request, ArrayRef<std::string> values) : request(request), values(values) {}

  /// Calls `use` with every value of the group, sample by sample.
  int run(function_ref<Error(StringRef name, const Tensor &value)> use) const;

private:
  const CalibrationRequest &request;
  ArrayRef<std::string> values;
};

/// The inputs of products, by their value and how its elements are rows.
struct ProductInput {
  std::string value;
  /// [n, channels, ...] instead of [..., channels].
  bool isChannelsFirst;
  bool operator<(const ProductInput &other) const { return std::tie(value, isChannelsFirst) < std::tie(other.value, other.isChannelsFirst); }
  bool operator==(const ProductInput &other) const { return value == other.value && isChannelsFirst == other.isChannelsFirst; }
};

} // namespace

int GroupRun::run(function_ref<Error(StringRef name, const Tensor &value)> use) const {
  std::vector<std::string> computed;
  for (const std::string &value : values)
    if (request.model.producer(value) >= 0)
      computed.push_back(value);
  RunnableModel observed;
  if (int status = request.samples->compile(request.model, "observed", computed, observed))
    return status;
  Error error = request.samples->run(*observed.loaded, false, {}, [&](const LoadedModel &model, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) -> Error {
    StringSet<> seen;
    auto visit = [&](ArrayRef<kiln_tensor_info> infos, ArrayRef<Tensor> tensors) -> Error {
      for (auto [info, tensor] : zip_equal(infos, tensors))
        if (is_contained(values, info.name) && seen.insert(info.name).second)
          if (Error error = use(info.name, tensor))
            return error;
      return Error::success();
    };
    if (Error error = visit(model.getInputs(), inputs))
      return error;
    return visit(model.getOutputs(), outputs);
  });
  return error ? report(std::move(error), AtFault) : int(Done);
}

/// Lists of at most a gibibyte each, or of one element.
template <typename T> static std::vector<std::vector<T>> makeGroups(ArrayRef<T> items, function_ref<int64_t(const T &)> measure) {
  constexpr int64_t mostBytes = int64_t(1) << 30;
  std::vector<std::vector<T>> groups;
  int64_t bytes = 0;
  for (const T &item : items) {
    int64_t size = measure(item);
    if (groups.empty() || bytes + size > mostBytes) {
      groups.emplace_back();
      bytes = 0;
    }
    groups.back().push_back(item);
    bytes += size;
  }
  return groups;
}

static int64_t countBytes(const CalibrationRequest &request, StringRef value) {
  auto found = request.types.bytes.find(value);
  return found == request.types.bytes.end() ? int64_t(1) << 22 : found->second;
}

//===- Ranges --------------------------------------------------------------===//

static Error addValues(StringRef name, const Tensor &value, const ModelGraph &model, Histogram &histogram) {
  if (value.getType() != KILN_ELEMENT_F32)
    return makeError("value '" + name + "' is " + value.getSignature() + ", expected f32");
  if (histogram.add(ArrayRef(value.as<float>(), size_t(value.getNumElements()))))
    return Error::success();
  int producer = model.producer(name);
  return makeError("value '" + name + "'" + (producer < 0 ? "" : " of node " + describeNode(model.node(producer))) + " has elements that are not finite");
}

static int findRanges(const CalibrationRequest &request, Quantization &numbers) {
  std::vector<std::string> roots;
  StringSet<> seen;
  Selection all = request.layers.select(std::vector<bool>(size_t(request.model.graph().node_size())));
  for (const std::string &value : request.layers.listValues(all))
    if (StringRef root = request.layers.getParameterRoot(value); seen.insert(root).second)
      roots.push_back(root.str());
  for (const std::vector<std::string> &group :
       makeGroups<std::string>(roots, [&](const std::string &value) { return countBytes(request, value); })) {
    std::map<std::string, Histogram> histograms;
    auto add = [&](StringRef name, const Tensor &value) { return addValues(name, value, request.model, histograms[name.str()]); };
    if (int status = GroupRun(request, group).run(add))
      return status;
    for (const std::string &value : group) {
      if (histograms[value].getCount() == 0)
        return report(makeError("value '" + value + "' has no elements in any sample, so it has no range"), AtFault);
      numbers.values[value] = chooseScale(histograms[value], numbers.options);
    }
  }
  return Done;
}

//===- Weights -------------------------------------------------------------===//

/// The rows that a node multiplies by its weights; nullopt if it is no plain product.
static std::optional<ProductInput> findProductInput(const ModelGraph &model, int index) {
  const onnx::NodeProto &node = model.node(index);
  const onnx::TensorProto &weights = *model.constant(node.input(1));
  if (model.isConstant(node.input(0)))
    return std::nullopt;
  if (node.op_type() == "MatMul" || (node.op_type() == "Gemm" && getInt(node, "transA", 0) == 0))
    return ProductInput{node.input(0), false};
  bool isPointwise = node.op_type() == "Conv" && getInt(node, "group", 1) == 1;
  for (int i = 2; i < weights.dims_size(); ++i)
    isPointwise &= weights.dims(i) == 1;
  return isPointwise ? std::optional(ProductInput{node.input(0), true}) : std::nullopt;
}

static Error addProducts(const ProductInput &input, const Tensor &value, InputProducts &products) {
  size_t columns = products.getColumns(), count = size_t(value.getNumElements());
  if (value.getType() != KILN_ELEMENT_F32)
    return makeError("value '" + input.value + "' is " + value.getSignature() + ", expected f32");
  const float *data = value.as<float>();
  for (size_t i = 0; i < count; ++i)
    if (!std::isfinite(data[i]))
      return makeError("value '" + input.value + "' has elements that are not finite");
  if (!input.isChannelsFirst) {
    products.add(ArrayRef(data, count));
    return Error::success();
  }
  size_t batch = size_t(value.getDims()[0]), pixels = batch && columns ? count / batch / columns : 0;
  std::vector<float> rows(pixels * columns);
  for (size_t n = 0; n < batch; ++n) {
    for (size_t c = 0; c < columns; ++c)
      for (size_t p = 0; p < pixels; ++p)
        rows[p * columns + c] = data[(n * columns + c) * pixels + p];
    products.add(rows);
  }
  return Error::success();
}

static float getInputScale(const CalibrationRequest &request, const Quantization &numbers, int node) {
  if (request.layers.getQuantizedInputs(node).empty())
    return 0;
  return numbers.values.at(request.layers.getParameterRoot(request.model.node(node).input(0)).str()).parameters.scale;
}

static int roundWeights(const CalibrationRequest &request, ArrayRef<int> nodes, const InputProducts *products, Quantization &numbers) {
  for (int node : nodes) {
    Expected<LayerWeights> weights = quantizeWeights(request.model, node, *request.layers.getWeights(node), numbers.options,
                                                     getInputScale(request, numbers, node), products);
    if (!weights)
      return report(weights.takeError(), AtFault);
    numbers.weights[node] = std::move(*weights);
  }
  return Done;
}

/// Rounds the weights of plain products with regard to their inputs.
static int roundWithFeedback(const CalibrationRequest &request, const std::map<ProductInput, std::vector<int>> &users, Quantization &numbers) {
  std::vector<ProductInput> inputs;
  for (const auto &[input, nodes] : users)
    inputs.push_back(input);
  auto countColumns = [&](const ProductInput &input) {
    int node = users.at(input).front();
    return request.model.constant(request.model.node(node).input(1))->dims(1 - int(request.layers.getWeights(node)->axis));
  };
  auto countAll = [&](const ProductInput &input) { return countBytes(request, input.value) + countColumns(input) * countColumns(input) * 8; };
  for (const std::vector<ProductInput> &group : makeGroups<ProductInput>(inputs, countAll)) {
    std::map<ProductInput, InputProducts> products;
    std::vector<std::string> values;
    for (const ProductInput &input : group) {
      products.emplace(input, InputProducts(size_t(countColumns(input))));
      if (!is_contained(values, input.value))
        values.push_back(input.value);
    }
    int status = GroupRun(request, values).run([&](StringRef name, const Tensor &value) -> Error {
      for (auto &[input, sums] : products)
        if (input.value == name)
          if (Error error = addProducts(input, value, sums))
            return error;
      return Error::success();
    });
    if (status)
      return status;
    for (const auto &[input, sums] : products)
      if (int status = roundWeights(request, users.at(input), &sums, numbers))
        return status;
  }
  return Done;
}

int calibrate(const CalibrationRequest &request, Quantization &numbers) {
  if (!numbers.options.onlyWeights)
    if (int status = findRanges(request, numbers))
      return status;
  std::vector<int> plain;
  std::map<ProductInput, std::vector<int>> users;
  for (int i = 0; i < request.model.graph().node_size(); ++i) {
    if (!request.layers.getWeights(i))
      continue;
    std::optional<ProductInput> input = request.withFeedback && request.samples ? findProductInput(request.model, i) : std::nullopt;
    if (input)
      users[*input].push_back(i);
    else
      plain.push_back(i);
  }
  if (int status = roundWithFeedback(request, users, numbers))
    return status;
  return roundWeights(request, plain, nullptr, numbers);
}

} // namespace kiln
