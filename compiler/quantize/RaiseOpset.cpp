//===- RaiseOpset.cpp - A model in a later operator set ---------------------===//
//
// Most versions of an operator only add element types. The table has the versions that change what a node with the same text means, or how it is written.
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/RaiseOpset.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

using namespace llvm;

namespace kiln::quantize {

/// The oldest operator set whose nodes these rules know.
static constexpr int64_t oldest = 7;

namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// A graph whose nodes are converted.
class Conversion {
public:
  Conversion(ModelGraph &model, onnx::GraphProto &graph, int64_t from, int64_t to, const StringMap<int64_t> &ranks)
      : model(model), graph(graph), from(from), to(to), ranks(ranks) {}

  Error run();

private:
  struct Rule {
    StringRef op;
    /// The version of the operator set that brought the change.
    int64_t since;
    Error (Conversion::*convert)(onnx::NodeProto &);
  };
  static const Rule rules[];

  std::string addInts(onnx::NodeProto &node, StringRef attribute);
  std::string addScalar(onnx::NodeProto &node, StringRef attribute);
  void putInput(onnx::NodeProto &node, int place, const std::string &name);
  Error refuse(const onnx::NodeProto &node, const Twine &reason);

  Error axesToInput(onnx::NodeProto &node);
  Error splitToInput(onnx::NodeProto &node);
  Error countOutputs(onnx::NodeProto &node);
  Error clipToInputs(onnx::NodeProto &node);
  Error padToInputs(onnx::NodeProto &node);
  Error sliceToInputs(onnx::NodeProto &node);
  Error kToInput(onnx::NodeProto &node);
  Error dropRatio(onnx::NodeProto &node);
  Error dropSpatial(onnx::NodeProto &node);
  Error upsampleToResize(onnx::NodeProto &node);
  Error flattenSoftmax(onnx::NodeProto &node);
  Error renameScatter(onnx::NodeProto &node);
  Error nameAlignment(onnx::NodeProto &node);
  Error renameMode(onnx::NodeProto &node);
  Error stop(onnx::NodeProto &node);

  ModelGraph &model;
  onnx::GraphProto &graph;
  int64_t from, to;
  const StringMap<int64_t> &ranks;
  /// The converted nodes so far.
  Nodes result;
};

} // namespace

const Conversion::Rule Conversion::rules[] = {
    {"Upsample", 10, &Conversion::upsampleToResize}, {"Resize", 11, &Conversion::upsampleToResize}, {"Slice", 10, &Conversion::sliceToInputs},
    {"TopK", 10, &Conversion::kToInput},             {"Clip", 11, &Conversion::clipToInputs},       {"Pad", 11, &Conversion::padToInputs},
    {"Scatter", 11, &Conversion::renameScatter},     {"Dropout", 12, &Conversion::dropRatio},       {"BatchNormalization", 9, &Conversion::dropSpatial},
    {"Squeeze", 13, &Conversion::axesToInput},       {"Unsqueeze", 13, &Conversion::axesToInput},   {"ReduceSum", 13, &Conversion::axesToInput},
    {"Split", 13, &Conversion::splitToInput},        {"Split", 18, &Conversion::countOutputs},      {"Softmax", 13, &Conversion::flattenSoftmax},
    {"LogSoftmax", 13, &Conversion::flattenSoftmax}, {"Hardmax", 13, &Conversion::flattenSoftmax},  {"RoiAlign", 16, &Conversion::nameAlignment},
    {"ReduceMax", 18, &Conversion::axesToInput},     {"ReduceMin", 18, &Conversion::axesToInput},   {"ReduceMean", 18, &Conversion::axesToInput},
    {"ReduceProd", 18, &Conversion::axesToInput},    {"ReduceL1", 18, &Conversion::axesToInput},    {"ReduceL2", 18, &Conversion::axesToInput},
    {"ReduceLogSum", 18, &Conversion::axesToInput},  {"ReduceLogSumExp", 18, &Conversion::axesToInput},
    {"ReduceSumSquare", 18, &Conversion::axesToInput}, {"GridSample", 20, &Conversion::renameMode}, {"DFT", 20, &Conversion::stop},
    {"GroupNormalization", 21, &Conversion::stop},   {"Scan", 9, &Conversion::stop},
};

//===- Parts of nodes ------------------------------------------------------===//

static void addInitializer(onnx::GraphProto &graph, const std::string &name, int type, ArrayRef<int64_t> dims, const void *data, size_t bytes) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (int64_t size : dims)
    tensor.add_dims(size);
  tensor.set_raw_data(data, bytes);
}

/// The attribute as a constant; an empty name if the node does not have it.
std::string Conversion::addInts(onnx::NodeProto &node, StringRef name) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  if (!attribute)
    return "";
  std::vector<int64_t> values(attribute->ints().begin(), attribute->ints().end());
  std::string constant = model.uniqueName(nodeName(node) + "_" + name);
  addInitializer(graph, constant, onnx::TensorProto::INT64, int64_t(values.size()), values.data(), values.size() * sizeof(int64_t));
  removeAttribute(node, name);
  return constant;
}

std::string Conversion::addScalar(onnx::NodeProto &node, StringRef name) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  if (!attribute)
    return "";
  float value = attribute->f();
  std::string constant = model.uniqueName(nodeName(node) + "_" + name);
  addInitializer(graph, constant, onnx::TensorProto::FLOAT, {}, &value, sizeof(value));
  removeAttribute(node, name);
  return constant;
}

void Conversion::putInput(onnx::NodeProto &node, int place, const std::string &name) {
  if (name.empty())
    return;
  while (node.input_size() <= place)
    node.add_input();
  node.set_input(place, name);
}

Error Conversion::refuse(const onnx::NodeProto &node, const Twine &reason) {
  return makeError("node " + describeNode(node) + ": operator set " + Twine(from) + " must be raised to " + Twine(to) + ", but " + reason);
}

//===- Rules ---------------------------------------------------------------===//

Error Conversion::axesToInput(onnx::NodeProto &node) {
  putInput(node, 1, addInts(node, "axes"));
  return Error::success();
}

Error Conversion::splitToInput(onnx::NodeProto &node) {
  putInput(node, 1, addInts(node, "split"));
  return Error::success();
}

Error Conversion::countOutputs(onnx::NodeProto &node) {
  if (node.input_size() < 2 || node.input(1).empty())
    setInt(node, "num_outputs", node.output_size());
  return Error::success();
}

Error Conversion::clipToInputs(onnx::NodeProto &node) {
  putInput(node, 1, addScalar(node, "min"));
  putInput(node, 2, addScalar(node, "max"));
  return Error::success();
}

Error Conversion::padToInputs(onnx::NodeProto &node) {
  putInput(node, 1, addInts(node, "pads"));
  putInput(node, 2, addScalar(node, "value"));
  return Error::success();
}

Error Conversion::sliceToInputs(onnx::NodeProto &node) {
  putInput(node, 1, addInts(node, "starts"));
  putInput(node, 2, addInts(node, "ends"));
  putInput(node, 3, addInts(node, "axes"));
  return Error::success();
}

Error Conversion::kToInput(onnx::NodeProto &node) {
  int64_t k = getInt(node, "k", 1);
  removeAttribute(node, "k");
  std::string name = model.uniqueName(nodeName(node) + "_k");
  addInitializer(graph, name, onnx::TensorProto::INT64, 1, &k, sizeof(k));
  putInput(node, 1, name);
  return Error::success();
}

/// Only training uses the ratio.
Error Conversion::dropRatio(onnx::NodeProto &node) {
  removeAttribute(node, "ratio");
  return Error::success();
}

Error Conversion::dropSpatial(onnx::NodeProto &node) {
  if (getInt(node, "spatial", 1) != 1)
    return refuse(node, "spatial=0 has no counterpart");
  removeAttribute(node, "spatial");
  return Error::success();
}

/// The old operators compute the coordinates as the newer one does in the mode "asymmetric".
Error Conversion::upsampleToResize(onnx::NodeProto &node) {
  if (node.input_size() != 2)
    return refuse(node, "the factors are not an input");
  if (node.op_type() == "Resize") {
    // Where it shrinks, implementations of the old version differ.
    const onnx::TensorProto *scales = model.floatConstant(node.input(1));
    Expected<std::vector<float>> values = scales ? model.floats(*scales) : std::vector<float>{0};
    if (!values)
      return values.takeError();
    if (any_of(*values, [](float scale) { return scale < 1; }))
      return refuse(node, "the factors are not known to be at least 1");
  }
  std::string scales = node.input(1);
  node.set_op_type("Resize");
  node.set_input(1, "");
  node.add_input(scales);
  auto setText = [&](const char *name, const char *value) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value);
  };
  if (getString(node, "mode", "nearest") == "bilinear")
    return refuse(node, "its mode 'bilinear' has no counterpart");
  setText("coordinate_transformation_mode", "asymmetric");
  setText("nearest_mode", "floor");
  return Error::success();
}

/// Up to version 12 the operator works on a matrix: dimensions from `axis` on are one.
Error Conversion::flattenSoftmax(onnx::NodeProto &node) {
  int64_t axis = getInt(node, "axis", 1);
  auto rank = ranks.find(node.output(0));
  setInt(node, "axis", -1);
  if (axis == -1 || (rank != ranks.end() && (axis == rank->second - 1 || rank->second <= 1)))
    return Error::success();
  std::string input = node.input(0), output = node.output(0), flat = model.uniqueName(output + "_flat"), rows = model.uniqueName(output + "_rows");
  std::string shape = model.uniqueName(output + "_shape");
  auto add = [&](const char *op, std::initializer_list<std::string> inputs, const std::string &to) -> onnx::NodeProto & {
    onnx::NodeProto &added = *result.Add();
    added.set_op_type(op);
    added.set_name(to);
    for (const std::string &name : inputs)
      added.add_input(name);
    added.add_output(to);
    return added;
  };
  add("Shape", {input}, shape);
  setInt(add("Flatten", {input}, flat), "axis", axis);
  onnx::NodeProto &softmax = *result.Add();
  softmax = node;
  softmax.set_input(0, flat);
  softmax.set_output(0, rows);
  node.Clear();
  node.set_op_type("Reshape");
  node.set_name(model.uniqueName(output + "_reshape"));
  node.add_input(rows);
  node.add_input(shape);
  node.add_output(output);
  return Error::success();
}

Error Conversion::renameScatter(onnx::NodeProto &node) {
  node.set_op_type("ScatterElements");
  return Error::success();
}

Error Conversion::nameAlignment(onnx::NodeProto &node) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("coordinate_transformation_mode");
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s("output_half_pixel");
  return Error::success();
}

Error Conversion::renameMode(onnx::NodeProto &node) {
  for (onnx::AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.name() == "mode")
      attribute.set_s(StringSwitch<std::string>(attribute.s()).Case("bilinear", "linear").Case("bicubic", "cubic").Default(attribute.s()));
  return Error::success();
}

Error Conversion::stop(onnx::NodeProto &node) { return refuse(node, "the operator means something else there"); }

Error Conversion::run() {
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        if (Error error = Conversion(model, *attribute.mutable_g(), from, to, ranks).run())
          return error;
      for (onnx::GraphProto &nested : *attribute.mutable_graphs())
        if (Error error = Conversion(model, nested, from, to, ranks).run())
          return error;
    }
    std::string op = node.op_type();
    for (const Rule &rule : rules)
      if (isDefaultDomain(node) && op == rule.op && from < rule.since && rule.since <= to)
        if (Error error = (this->*rule.convert)(node))
          return error;
    *result.Add() = std::move(node);
  }
  graph.mutable_node()->Swap(&result);
  return Error::success();
}

Error raiseOpset(ModelGraph &model, int64_t least, const StringMap<int64_t> &ranks) {
  int64_t from = model.opset();
  // Formats before version 4 want every initializer to be an input, too.
  int64_t version = least >= 21 ? 10 : 7;
  model.proto.set_ir_version(std::max<int64_t>(model.proto.ir_version(), version));
  if (from >= least)
    return Error::success();
  if (from < oldest)
    return makeError("the model has operator set " + Twine(from) + ", which cannot be raised to " + Twine(least) + ": expected at least " + Twine(oldest));
  if (Error error = Conversion(model, model.graph(), from, least, ranks).run())
    return error;
  for (onnx::OperatorSetIdProto &import : *model.proto.mutable_opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      import.set_version(least);
  model.index();
  return Error::success();
}

} // namespace kiln::quantize
