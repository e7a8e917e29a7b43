//===- FoldIntoWeights.cpp - Factors and sums folded into convolutions -----===//
//
//   c = Conv(x, w)                          y = Conv(x, w * scale, bias)
//   y = BatchNormalization(c, ...)
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/FoldIntoWeights.h"
#include <cmath>
#include <optional>

using namespace llvm;

namespace kiln::quantize {

namespace {

/// y = x * scale + shift for each channel.
struct Affine {
  std::vector<double> scale, shift;
};

} // namespace

static void eraseNodes(ModelGraph &model, const std::vector<bool> &dead) {
  auto &nodes = *model.graph().mutable_node();
  int kept = 0;
  for (int i = 0; i < nodes.size(); ++i)
    if (!dead[i])
      nodes.SwapElements(i, kept++);
  nodes.DeleteSubrange(kept, nodes.size() - kept);
  model.index();
}

void liftConstants(ModelGraph &model) {
  std::vector<bool> dead(model.graph().node_size());
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const onnx::NodeProto &node = model.node(i);
    const onnx::AttributeProto *value = findAttribute(node, "value");
    // A constant that is an output of the graph stays a node: an initializer with an output's name confuses some readers.
    if (node.op_type() != "Constant" || !isDefaultDomain(node) || !value || !value->has_t() || value->t().data_location() ||
        is_contained(map_range(model.graph().output(), [](const onnx::ValueInfoProto &output) { return output.name(); }), node.output(0)))
      continue;
    onnx::TensorProto &tensor = *model.graph().add_initializer();
    tensor = value->t();
    tensor.set_name(node.output(0));
    dead[i] = true;
  }
  eraseNodes(model, dead);
}

static Expected<std::optional<Affine>> readNormalization(const ModelGraph &model, const onnx::NodeProto &node, size_t channels) {
  std::vector<float> parts[4];
  if (node.output_size() != 1 || getInt(node, "training_mode", 0) || getInt(node, "spatial", 1) != 1 || node.input_size() != 5)
    return std::nullopt;
  for (int i = 0; i < 4; ++i) {
    const onnx::TensorProto *tensor = model.floatConstant(node.input(i + 1));
    if (!tensor)
      return std::nullopt;
    Expected<std::vector<float>> values = model.floats(*tensor);
    if (!values)
      return values.takeError();
    if (values->size() != channels)
      return std::nullopt;
    parts[i] = std::move(*values);
  }
  Affine affine;
  double epsilon = getFloat(node, "epsilon", 1e-5f);
  for (size_t c = 0; c < channels; ++c) {
    double scale = parts[0][c] / std::sqrt(parts[3][c] + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back(parts[1][c] - parts[2][c] * scale);
  }
  return affine;
}

/// Whether the constant has one value, or one for each channel of a tensor of this rank.
static bool isPerChannel(const onnx::TensorProto &tensor, int rank, int64_t channels) {
  int own = tensor.dims_size();
  if (own > rank)
    return false;
  for (int i = 0; i < own; ++i)
    if (int64_t size = tensor.dims(i); size != 1 && (own - i != rank - 1 || size != channels))
      return false;
  return true;
}

static Expected<std::optional<Affine>> readAffine(const ModelGraph &model, const onnx::NodeProto &node, StringRef value, int rank, size_t channels) {
  StringRef op = node.op_type();
  if (op == "BatchNormalization")
    return node.input(0) == value ? readNormalization(model, node, channels) : std::optional<Affine>();
  if ((op != "Add" && op != "Mul" && op != "Sub" && op != "Div") || node.input_size() != 2)
    return std::nullopt;
  bool isFirst = node.input(0) == value;
  const onnx::TensorProto *tensor = model.floatConstant(node.input(isFirst ? 1 : 0));
  if (!tensor || (!isFirst && (op == "Sub" || op == "Div")) || !isPerChannel(*tensor, rank, int64_t(channels)))
    return std::nullopt;
  Expected<std::vector<float>> values = model.floats(*tensor);
  if (!values)
    return values.takeError();
  Affine affine{std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  for (size_t c = 0; c < channels; ++c) {
    double operand = (*values)[values->size() == 1 ? 0 : c];
    if (op == "Mul" || op == "Div")
      affine.scale[c] = op == "Mul" ? operand : 1 / operand;
    else
      affine.shift[c] = op == "Add" ? operand : -operand;
  }
  return affine;
}

/// Whether each weight times its channel's factor is a normal number, or zero because one of the two is.
static bool areRepresented(ArrayRef<float> weights, ArrayRef<double> factors) {
  size_t inner = weights.size() / factors.size();
  return all_of(enumerate(weights), [&](auto weight) {
    double factor = factors[weight.index() / inner];
    return std::isfinite(factor) && (weight.value() == 0 || factor == 0 || std::isnormal(float(weight.value() * factor)));
  });
}

/// Replaces the weights and the bias of a convolution by those with the factors and summands.
static Error applyAffine(ModelGraph &model, int index, const Affine &affine) {
  const onnx::NodeProto &node = model.node(index);
  const onnx::TensorProto &weights = *model.constant(node.input(1));
  Expected<std::vector<float>> values = model.floats(weights);
  if (!values)
    return values.takeError();
  size_t channels = affine.scale.size(), inner = values->size() / channels;
  std::vector<float> bias(channels, 0);
  if (node.input_size() > 2 && !node.input(2).empty()) {
    Expected<std::vector<float>> old = model.floats(*model.constant(node.input(2)));
    if (!old)
      return old.takeError();
    bias = std::move(*old);
  }
  for (size_t c = 0; c < channels; ++c) {
    for (size_t i = 0; i < inner; ++i)
      (*values)[c * inner + i] = float((*values)[c * inner + i] * affine.scale[c]);
    bias[c] = float(bias[c] * affine.scale[c] + affine.shift[c]);
  }
  std::vector<int64_t> dims(weights.dims().begin(), weights.dims().end());
  std::string name = model.addFloats(Twine(nodeName(node)) + "_weight", dims, *values);
  std::string biasName = model.addFloats(Twine(nodeName(node)) + "_bias", int64_t(channels), bias);
  onnx::NodeProto &changed = *model.graph().mutable_node(index);
  changed.set_input(1, name);
  if (changed.input_size() < 3)
    changed.add_input();
  changed.set_input(2, biasName);
  return Error::success();
}

/// Leaves out the empty tensors that stood for no value before operator set 13. ONNX Runtime's optimiser stumbles over them behind 8-bit values.
static void dropEmptyInputs(ModelGraph &model) {
  for (onnx::NodeProto &node : *model.graph().mutable_node())
    for (int i = 1; i < node.input_size() && node.op_type() == "Resize" && isDefaultDomain(node); ++i)
      if (const onnx::TensorProto *tensor = model.constant(node.input(i)); tensor && is_contained(tensor->dims(), 0))
        node.set_input(i, "");
  model.index();
}

Error foldIntoWeights(ModelGraph &model) {
  liftConstants(model);
  dropEmptyInputs(model);
  for (int i = 0; i < model.graph().node_size(); ++i) {
    std::vector<bool> dead(model.graph().node_size());
    const onnx::NodeProto &node = model.node(i);
    if (node.op_type() != "Conv" || !isDefaultDomain(node) || node.input_size() < 2)
      continue;
    const onnx::TensorProto *weights = model.floatConstant(node.input(1));
    bool hasBias = node.input_size() > 2 && !node.input(2).empty();
    ArrayRef<int> users = model.consumers(node.output(0));
    if (!weights || weights->dims_size() < 3 || weights->dims(0) < 1 || (hasBias && !model.floatConstant(node.input(2))) || users.size() != 1 ||
        users[0] < 0)
      continue;
    const onnx::NodeProto &next = model.node(users[0]);
    if (!isDefaultDomain(next))
      continue;
    Expected<std::optional<Affine>> affine = readAffine(model, next, node.output(0), weights->dims_size(), size_t(weights->dims(0)));
    if (!affine)
      return affine.takeError();
    if (!*affine)
      continue;
    Expected<std::vector<float>> numbers = model.floats(*weights);
    if (!numbers)
      return numbers.takeError();
    if (!areRepresented(*numbers, (*affine)->scale))
      continue;
    std::string output = next.output(0);
    dead[users[0]] = true;
    if (Error error = applyAffine(model, i, **affine))
      return error;
    model.graph().mutable_node(i)->set_output(0, output);
    eraseNodes(model, dead);
    --i; // what follows now may fold, too
  }
  model.removeUnused();
  return Error::success();
}

} // namespace kiln::quantize
