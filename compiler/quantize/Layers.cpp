//===- Layers.cpp - Which nodes can work on 8-bit values -------------------===//
//
// Parameters are attached to values, and 8-bit forms are asked for by the nodes that read them. So a product that stays in f32 reads the value itself, while
// other users of the same value may read its 8-bit form.
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/Layers.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace kiln::quantize {

/// Element-wise operators of which tables are made.
static bool isTabulated(StringRef op) {
  return StringSwitch<bool>(op)
      .Cases({"Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "LeakyRelu", "PRelu", "Tanh", "Elu"}, true)
      .Cases({"Erf", "Gelu", "Abs", "Neg", "Softplus", "Mish", "Swish", "Selu", "Celu", "Exp"}, true)
      .Cases({"Add", "Sub", "Mul", "Div", "Min", "Max"}, true)
      .Default(false);
}

static bool isMoving(const onnx::NodeProto &node) {
  StringRef op = node.op_type();
  if (op == "Resize" || op == "Upsample")
    return getString(node, "mode", "nearest") == "nearest";
  if (op == "MaxPool")
    return node.output_size() == 1;
  // Other padding than zeros would widen the range.
  if (op == "Pad")
    return getString(node, "mode", "constant") != "constant" || (node.input_size() < 3 && getFloat(node, "value", 0) == 0);
  return StringSwitch<bool>(op)
      .Cases({"Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Slice", "Split", "Identity", "DepthToSpace"}, true)
      .Cases({"SpaceToDepth", "GlobalMaxPool", "Gather", "Expand", "Tile"}, true)
      .Default(false);
}

static bool isPooling(const onnx::NodeProto &node) {
  StringRef op = node.op_type();
  return op == "AveragePool" || op == "GlobalAveragePool" || op == "ReduceMean" || op == "Resize" || op == "Upsample";
}

std::optional<WeightPlace> Layers::findWeights(const onnx::NodeProto &node) const {
  if (!isDefaultDomain(node) || node.input_size() < 2)
    return std::nullopt;
  const onnx::TensorProto *weights = model.floatConstant(node.input(1));
  if (!weights || any_of(weights->dims(), [](int64_t size) { return size < 1; }))
    return std::nullopt;
  WeightPlace place;
  StringRef op = node.op_type();
  auto findBias = [&] { return node.input_size() > 2 && model.floatConstant(node.input(2)) ? 2 : -1; };
  if (op == "Conv" && weights->dims_size() >= 3) {
    place.bias = findBias();
  } else if (op == "ConvTranspose" && weights->dims_size() >= 3 && getInt(node, "group", 1) == 1) {
    place.axis = 1;
    place.bias = findBias();
  } else if (op == "Gemm" && weights->dims_size() == 2) {
    place.axis = getInt(node, "transB", 0) ? 0 : 1;
    // With factors, the bias is not a sum of products of the two scales.
    bool isPlain = getFloat(node, "alpha", 1) == 1 && getFloat(node, "beta", 1) == 1;
    place.bias = isPlain ? findBias() : -1;
    if (place.bias > 0 && (model.constant(node.input(2))->dims_size() != 1 || model.constant(node.input(2))->dims(0) != weights->dims(int(place.axis))))
      place.bias = -1;
  } else if (op == "MatMul" && weights->dims_size() == 2) {
    place.axis = 1;
  } else {
    return std::nullopt;
  }
  return place;
}

std::optional<WeightPlace> Layers::getWeights(int node) const {
  return getRole(node) == Role::Weighted ? findWeights(model.node(node)) : std::nullopt;
}

StringRef Layers::getRoot(StringRef value) const {
  auto found = roots.find(value);
  return found == roots.end() ? value : StringRef(found->second);
}

/// A clamp, or the bias of a product, whose input nothing else uses.
bool Layers::isFusedBehind(int index) const {
  const onnx::NodeProto &node = model.node(index);
  StringRef op = node.op_type();
  for (const std::string &input : node.input()) {
    int producer = model.producer(input);
    if (producer < 0 || model.consumers(input).size() != 1)
      continue;
    Role role = getRole(producer);
    bool isSum = role == Role::Weighted || role == Role::Product || role == Role::Fused || (role == Role::Joining && model.node(producer).op_type() == "Add");
    bool isBias = op == "Add" && model.node(producer).op_type() == "MatMul";
    if (isSum && (op == "Relu" || op == "Clip" || isBias))
      return true;
  }
  return false;
}

Role Layers::findElementwiseRole(int index) {
  const onnx::NodeProto &node = model.node(index);
  StringSet<> found;
  SmallVector<int, 2> direct;
  for (auto [i, input] : enumerate(node.input())) {
    if (input.empty() || model.isConstant(input))
      continue;
    StringRef root = getRoot(input);
    found.insert(root);
    if (root == input)
      direct.push_back(int(i));
  }
  if (found.empty())
    return Role::Other;
  if (found.size() == 1) {
    if (isFusedBehind(index))
      return Role::Fused;
    roots[node.output(0)] = found.begin()->first().str();
    inputs[size_t(index)] = direct;
    return Role::Chained;
  }
  if (node.op_type() != "Add" && node.op_type() != "Mul")
    return Role::Other;
  for (auto [i, input] : enumerate(node.input()))
    if (!model.isConstant(input))
      inputs[size_t(index)].push_back(int(i));
  return Role::Joining;
}

Role Layers::findRole(int index) {
  const onnx::NodeProto &node = model.node(index);
  SmallVector<int, 2> &read = inputs[size_t(index)];
  if (findWeights(node)) {
    if (!onlyWeights)
      read = {0};
    return Role::Weighted;
  }
  if (onlyWeights || !isDefaultDomain(node) || node.input_size() == 0 || node.output_size() == 0)
    return Role::Other;
  if (node.op_type() == "MatMul") {
    read = {0, 1};
    return Role::Product;
  }
  if (node.op_type() == "Concat") {
    for (int i = 0; i < node.input_size(); ++i)
      if (!model.isConstant(node.input(i)))
        read.push_back(i);
    return Role::Joining;
  }
  if (isTabulated(node.op_type()) && node.output_size() == 1)
    return findElementwiseRole(index);
  if (model.isConstant(node.input(0)) || !(isMoving(node) || isPooling(node)))
    return Role::Other;
  read = {0};
  return isMoving(node) ? Role::Moving : Role::Pooling;
}

Layers::Layers(const ModelGraph &model, bool onlyWeights) : model(model), onlyWeights(onlyWeights) {
  size_t count = size_t(model.graph().node_size());
  roles.assign(count, Role::Other);
  inputs.resize(count);
  // Nodes come after those that they read, so the roles of these are known.
  for (size_t i = 0; i < count; ++i)
    roles[i] = findRole(int(i));
  all = select(std::vector<bool>(count, false));
}

bool Layers::hasEightBits(StringRef value, const Selection &selection) const {
  int producer = model.producer(getRoot(value));
  return producer >= 0 && selection[size_t(producer)];
}

bool Layers::keepsPlace(int index, const Selection &selection) const {
  if (roles[size_t(index)] == Role::Weighted)
    return true;
  const onnx::NodeProto &node = model.node(index);
  bool isJoin = !is_contained({Role::Moving, Role::Pooling}, getRole(index));
  bool hasSource = isJoin ? any_of(node.input(), [&](const std::string &input) { return hasEightBits(input, selection); })
                          : hasEightBits(node.input(0), selection);
  if (!hasSource)
    return false;
  if (getRole(index) == Role::Product)
    return true;
  bool isUsed = false;
  for (const std::string &output : node.output())
    for (int user : model.consumers(output)) {
      isUsed = true;
      if (user == ModelGraph::elsewhere || !selection[size_t(user)])
        return false;
    }
  return isUsed;
}

Selection Layers::select(const std::vector<bool> &left) const {
  Selection selection(roles.size());
  for (size_t i = 0; i < roles.size(); ++i)
    selection[i] = roles[i] != Role::Other && !left[i];
  for (bool changed = true; changed;) {
    changed = false;
    // From the end, because most nodes lose their place with those that use their results.
    for (size_t i = roles.size(); i-- > 0;)
      if (selection[i] && !keepsPlace(int(i), selection)) {
        selection[i] = false;
        changed = true;
      }
  }
  return selection;
}

StringRef Layers::getParameterRoot(StringRef value) const {
  for (int producer = model.producer(value); producer >= 0 && all[size_t(producer)] && getRole(producer) == Role::Moving; producer = model.producer(value))
    value = model.node(producer).input(0);
  return value;
}

std::vector<int> Layers::listLayers(const Selection &selection) const {
  std::vector<int> layers;
  for (size_t i = 0; i < roles.size(); ++i)
    if (selection[i] && roles[i] != Role::Moving && (roles[i] == Role::Weighted || !inputs[i].empty()))
      layers.push_back(int(i));
  return layers;
}

std::vector<std::string> Layers::listValues(const Selection &selection) const {
  std::vector<std::string> values;
  StringSet<> seen;
  for (size_t i = 0; i < roles.size(); ++i)
    for (int input : inputs[i])
      if (const std::string &value = model.node(int(i)).input(input); selection[i] && seen.insert(value).second)
        values.push_back(value);
  return values;
}

Error checkQuantizable(const ModelGraph &model, const Layers &layers) {
  static const StringRef quantised[] = {"QuantizeLinear",  "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul",
                                        "MatMulInteger",   "ConvInteger",      "MatMulNBits",           "QLinearAdd",  "QGemm",
                                        "QAttention",      "QLinearConcat",    "DynamicQuantizeMatMul", "QLinearMul",  "MatMulIntegerToFloat"};
  for (const onnx::NodeProto &node : model.graph().node())
    if (is_contained(quantised, node.op_type()))
      return makeError("node " + describeNode(node) + ": the model is quantised already");
  for (int i = 0; i < model.graph().node_size(); ++i)
    if (layers.getRole(i) == Role::Weighted)
      return Error::success();
  return makeError("the model has no layer to quantise: no Conv, ConvTranspose, Gemm or MatMul in its main graph has constant f32 weights");
}

} // namespace kiln::quantize
