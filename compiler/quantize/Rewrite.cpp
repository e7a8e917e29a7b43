//===- Rewrite.cpp - Quantised forms of a graph ----------------------------===//
#include "compiler/quantize/Rewrite.h"

using namespace llvm;

namespace kiln::quantize {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

static onnx::NodeProto &addNode(Nodes &nodes, const char *op, ArrayRef<std::string> inputs, const std::string &output) {
  onnx::NodeProto &node = *nodes.Add();
  node.set_op_type(op);
  node.set_name(output + "_" + op);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
  return node;
}

namespace {

/// What both forms do alike: one walk over the nodes, with new ones behind the values that they read.
class Rewriter {
public:
  Rewriter(ModelGraph &model, const Layers &layers, const Quantization &numbers) : model(model), layers(layers), numbers(numbers) {}
  virtual ~Rewriter() = default;

  void run(const Selection &selection);

protected:
  /// Adds the rounded form of a value and returns its name.
  virtual std::string addRounded(const std::string &value) = 0;
  virtual void rewrite(onnx::NodeProto &node, int index) = 0;
  const Parameters &getParameters(StringRef value) const { return numbers.values.at(layers.getParameterRoot(value).str()).parameters; }

  ModelGraph &model;
  const Layers &layers;
  const Quantization &numbers;
  Nodes result;
  /// The rounded forms so far.
  StringMap<std::string> rounded;
};

/// Integers with DequantizeLinear behind them.
class PairRewriter : public Rewriter {
public:
  using Rewriter::Rewriter;

protected:
  std::string addRounded(const std::string &value) override;
  void rewrite(onnx::NodeProto &node, int index) override;

private:
  std::string addWeights(const LayerWeights &weights, const std::string &name);
  std::string addBias(const LayerWeights &weights, const std::string &name);

  /// The names of scale and zero point, by the value that they were chosen for.
  StringMap<std::pair<std::string, std::string>> scales;
};

/// Both forms in f32, and switches between them.
class SwitchRewriter : public Rewriter {
public:
  SwitchRewriter(ModelGraph &model, const Layers &layers, const Quantization &numbers, ArrayRef<int> switched);
  std::vector<std::string> names;

protected:
  std::string addRounded(const std::string &value) override;
  void rewrite(onnx::NodeProto &node, int index) override;

private:
  std::map<int, std::string> switches;
};

} // namespace

void Rewriter::run(const Selection &selection) {
  StringSet<> wanted;
  for (const std::string &value : layers.listValues(selection))
    wanted.insert(value);
  auto round = [&](const std::string &value) {
    if (wanted.contains(value))
      rounded[value] = addRounded(value);
  };
  for (int i = 0, count = model.graph().input_size(); i < count; ++i)
    round(model.graph().input(i).name());
  for (int i = 0; i < model.graph().node_size(); ++i) {
    onnx::NodeProto &node = *model.graph().mutable_node(i);
    std::vector<std::string> outputs(node.output().begin(), node.output().end());
    if (selection[size_t(i)])
      rewrite(node, i);
    else
      *result.Add() = std::move(node);
    for (const std::string &output : outputs)
      round(output);
  }
  model.graph().mutable_node()->Swap(&result);
  model.removeUnused();
}

//===- Pairs ---------------------------------------------------------------===//

std::string PairRewriter::addRounded(const std::string &value) {
  std::string root = layers.getParameterRoot(value).str();
  const Parameters &parameters = getParameters(value);
  auto &[scale, zero] = scales[root];
  if (scale.empty()) {
    char stored = char(parameters.zeroPoint);
    scale = model.addFloats(root + "_scale", {}, parameters.scale);
    zero = model.addBytes(root + "_zero_point", parameters.low < 0 ? onnx::TensorProto::INT8 : onnx::TensorProto::UINT8, {}, StringRef(&stored, 1));
  }
  std::string integers = model.uniqueName(value + "_quantized"), real = model.uniqueName(value + "_dequantized");
  addNode(result, "QuantizeLinear", {value, scale, zero}, integers);
  addNode(result, "DequantizeLinear", {integers, scale, zero}, real);
  return real;
}

/// Two values of 4 bits in a byte, the first in the lower half.
static std::string packNibbles(ArrayRef<int8_t> values) {
  std::string bytes((values.size() + 1) / 2, 0);
  for (size_t i = 0; i < values.size(); ++i)
    bytes[i / 2] = char(uint8_t(bytes[i / 2]) | (uint8_t(values[i]) & 15) << (i % 2 * 4));
  return bytes;
}

std::string PairRewriter::addWeights(const LayerWeights &weights, const std::string &name) {
  std::vector<int8_t> values = fromRows<int8_t>(weights.rows.values, weights.dims, weights.place.axis);
  bool isNarrow = weights.scheme.bits == 4;
  int type = isNarrow ? onnx::TensorProto::INT4 : onnx::TensorProto::INT8;
  std::string bytes = isNarrow ? packNibbles(values) : std::string(values.begin(), values.end());
  std::string integers = model.addBytes(name + "_quantized", type, weights.dims, bytes);
  size_t rows = weights.rows.rows, blocks = weights.scheme.getBlocks(weights.rows.columns);
  std::vector<float> scales = weights.rows.scales;
  std::vector<int64_t> scaleDims;
  if (weights.scheme.block) {
    scaleDims = weights.dims;
    scaleDims[1 - weights.place.axis] = int64_t(blocks);
    scales = fromRows<float>(weights.rows.scales, scaleDims, weights.place.axis);
  } else if (!weights.scheme.isPerTensor) {
    scaleDims = {int64_t(rows)};
  }
  std::string scale = model.addFloats(name + "_scale", scaleDims, scales);
  std::string zeroBytes(isNarrow ? (scales.size() + 1) / 2 : scales.size(), 0);
  std::string zero = model.addBytes(name + "_zero_point", type, scaleDims, zeroBytes);
  std::string real = model.uniqueName(name + "_dequantized");
  onnx::NodeProto &node = addNode(result, "DequantizeLinear", {integers, scale, zero}, real);
  if (!weights.scheme.isPerTensor)
    setInt(node, "axis", int64_t(weights.scheme.block ? 1 - weights.place.axis : weights.place.axis));
  if (weights.scheme.block)
    setInt(node, "block_size", int64_t(weights.scheme.block));
  return real;
}

std::string PairRewriter::addBias(const LayerWeights &weights, const std::string &name) {
  StringRef bytes(reinterpret_cast<const char *>(weights.bias.data()), weights.bias.size() * sizeof(int32_t));
  int64_t count = int64_t(weights.bias.size());
  std::string integers = model.addBytes(name + "_quantized", onnx::TensorProto::INT32, count, bytes);
  std::string scale = model.addFloats(name + "_scale", count, weights.biasScales);
  std::string real = model.uniqueName(name + "_dequantized");
  setInt(addNode(result, "DequantizeLinear", {integers, scale}, real), "axis", 0);
  return real;
}

void PairRewriter::rewrite(onnx::NodeProto &node, int index) {
  for (int input : layers.getQuantizedInputs(index))
    node.set_input(input, rounded.lookup(node.input(input)));
  if (auto weights = numbers.weights.find(index); weights != numbers.weights.end()) {
    const WeightPlace &place = weights->second.place;
    node.set_input(place.weights, addWeights(weights->second, node.input(place.weights)));
    if (!weights->second.bias.empty())
      node.set_input(place.bias, addBias(weights->second, node.input(place.bias)));
  }
  *result.Add() = std::move(node);
}

//===- Switches ------------------------------------------------------------===//

SwitchRewriter::SwitchRewriter(ModelGraph &model, const Layers &layers, const Quantization &numbers, ArrayRef<int> switched)
    : Rewriter(model, layers, numbers) {
  for (int node : switched) {
    onnx::ValueInfoProto &input = *model.graph().add_input();
    input.set_name(model.uniqueName("switch_" + Twine(node)));
    onnx::TypeProto::Tensor &type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::BOOL);
    type.mutable_shape();
    switches[node] = input.name();
    names.push_back(input.name());
  }
}

/// What QuantizeLinear and DequantizeLinear compute, in exact steps of f32.
std::string SwitchRewriter::addRounded(const std::string &value) {
  const Parameters &parameters = getParameters(value);
  auto constant = [&](float number) { return model.addFloats(value + "_number", {}, number); };
  auto step = [&](const char *op, ArrayRef<std::string> inputs) {
    std::string name = model.uniqueName(value + "_step");
    addNode(result, op, inputs, name);
    return name;
  };
  std::string quotient = step("Round", step("Div", {value, constant(parameters.scale)}));
  float low = float(parameters.low - parameters.zeroPoint), high = float(parameters.high - parameters.zeroPoint);
  return step("Mul", {step("Clip", {quotient, constant(low), constant(high)}), constant(parameters.scale)});
}

void SwitchRewriter::rewrite(onnx::NodeProto &node, int index) {
  auto found = switches.find(index);
  if (found == switches.end()) {
    // A node that moves values moves the exact ones: rounding before it or behind it is the same.
    *result.Add() = std::move(node);
    return;
  }
  auto choose = [&](const std::string &yes, const std::string &no, const std::string &output) {
    addNode(result, "Where", {found->second, yes, no}, output);
    return output;
  };
  auto weights = numbers.weights.find(index);
  if (weights == numbers.weights.end()) {
    for (int input : layers.getQuantizedInputs(index))
      node.set_input(input, choose(rounded.lookup(node.input(input)), node.input(input), model.uniqueName(node.input(input) + "_chosen")));
    *result.Add() = std::move(node);
    return;
  }
  const LayerWeights &numbers = weights->second;
  onnx::NodeProto other = node;
  std::string output = node.output(0);
  for (int input : layers.getQuantizedInputs(index))
    other.set_input(input, rounded.lookup(node.input(input)));
  other.set_input(numbers.place.weights, model.addFloats(node.input(1) + "_rounded", numbers.dims, numbers.dequantize()));
  if (!numbers.bias.empty()) {
    std::vector<float> bias;
    for (size_t i = 0; i < numbers.bias.size(); ++i)
      bias.push_back(float(numbers.bias[i]) * numbers.biasScales[i]);
    other.set_input(numbers.place.bias, model.addFloats(output + "_bias", int64_t(bias.size()), bias));
  }
  other.set_name(model.uniqueName(nodeName(node) + "_rounded"));
  other.set_output(0, model.uniqueName(output + "_rounded"));
  node.set_output(0, model.uniqueName(output + "_exact"));
  std::string yes = other.output(0), no = node.output(0);
  *result.Add() = std::move(other);
  *result.Add() = std::move(node);
  choose(yes, no, output);
}

//===- Entry points --------------------------------------------------------===//

void insertPairs(ModelGraph &model, const Layers &layers, const Quantization &numbers, const Selection &selection) {
  PairRewriter(model, layers, numbers).run(selection);
}

std::vector<std::string> insertSwitches(ModelGraph &model, const Layers &layers, const Quantization &numbers, ArrayRef<int> switched) {
  SwitchRewriter rewriter(model, layers, numbers, switched);
  rewriter.run(layers.select(std::vector<bool>(size_t(model.graph().node_size()), false)));
  return rewriter.names;
}

} // namespace kiln::quantize
