//===- ModelGraph.cpp - An ONNX graph that is rewritten --------------------===//
#include "compiler/quantize/ModelGraph.h"
#include "compiler/import/ModelCheck.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

using namespace llvm;

namespace kiln::quantize {

Expected<std::unique_ptr<ModelGraph>> ModelGraph::read(StringRef path) {
  std::unique_ptr<ModelGraph> result(new ModelGraph);
  result->file = std::make_shared<import::ModelFile>(path.str());
  std::vector<std::string> errors;
  import::Diagnostics diagnostics(path.str(), errors);
  if (failed(result->file->load(diagnostics)) || failed(import::checkModel(*result->file, diagnostics)))
    return makeError(errors.front());
  result->proto = result->file->model();
  result->index();
  return std::move(result);
}

std::unique_ptr<ModelGraph> ModelGraph::clone() const {
  std::unique_ptr<ModelGraph> result(new ModelGraph);
  result->file = file;
  result->proto = proto;
  result->index();
  return result;
}

/// A nested graph uses values of the graphs around it by their names.
void ModelGraph::collectUses(const onnx::GraphProto &nested) {
  for (const onnx::NodeProto &node : nested.node()) {
    for (const std::string &input : node.input())
      users[input].push_back(elsewhere);
    for (const std::string &output : node.output())
      names.insert(output);
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        collectUses(attribute.g());
      for (const onnx::GraphProto &graph : attribute.graphs())
        collectUses(graph);
    }
  }
  for (const onnx::ValueInfoProto &output : nested.output())
    users[output.name()].push_back(elsewhere);
}

void ModelGraph::index() {
  producers.clear();
  users.clear();
  constants.clear();
  for (int i = 0; i < graph().node_size(); ++i) {
    const onnx::NodeProto &node = graph().node(i);
    names.insert(node.name());
    for (const std::string &input : node.input())
      if (!input.empty() && (users[input].empty() || users[input].back() != i))
        users[input].push_back(i);
    for (const std::string &output : node.output()) {
      producers[output] = i;
      names.insert(output);
    }
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        collectUses(attribute.g());
      for (const onnx::GraphProto &nested : attribute.graphs())
        collectUses(nested);
    }
  }
  for (const onnx::ValueInfoProto &input : graph().input())
    names.insert(input.name());
  for (const onnx::ValueInfoProto &output : graph().output())
    users[output.name()].push_back(elsewhere);
  for (const onnx::TensorProto &tensor : graph().initializer()) {
    constants[tensor.name()] = &tensor;
    names.insert(tensor.name());
  }
}

int ModelGraph::producer(StringRef value) const {
  auto found = producers.find(value);
  return found == producers.end() ? -1 : found->second;
}

ArrayRef<int> ModelGraph::consumers(StringRef value) const {
  auto found = users.find(value);
  return found == users.end() ? ArrayRef<int>() : ArrayRef<int>(found->second);
}

const onnx::TensorProto *ModelGraph::constant(StringRef value) const { return constants.lookup(value); }

const onnx::TensorProto *ModelGraph::floatConstant(StringRef value) const {
  const onnx::TensorProto *tensor = constant(value);
  return tensor && tensor->data_type() == onnx::TensorProto::FLOAT ? tensor : nullptr;
}

Expected<ArrayRef<char>> ModelGraph::externalBytes(const onnx::TensorProto &tensor) const {
  std::string reason;
  std::optional<ArrayRef<char>> bytes = file->externalBytes(tensor, reason);
  if (!bytes)
    return makeError("tensor '" + tensor.name() + "': " + reason);
  return *bytes;
}

Expected<std::vector<float>> ModelGraph::floats(const onnx::TensorProto &tensor) const {
  size_t count = 1;
  for (int64_t size : tensor.dims())
    count *= size_t(size);
  std::vector<float> values(tensor.float_data().begin(), tensor.float_data().end());
  ArrayRef<char> bytes(tensor.raw_data().data(), tensor.raw_data().size());
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    Expected<ArrayRef<char>> external = externalBytes(tensor);
    if (!external)
      return external.takeError();
    bytes = *external;
  }
  if (values.empty() && count) {
    if (bytes.size() != count * sizeof(float))
      return makeError("tensor '" + tensor.name() + "' has " + Twine(bytes.size()) + " bytes, expected " + Twine(count * sizeof(float)));
    values.resize(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

std::string ModelGraph::uniqueName(const Twine &stem) {
  std::string name = stem.str();
  for (unsigned i = 2; !names.insert(name).second; ++i)
    name = (stem + "_" + Twine(i)).str();
  return name;
}

std::string ModelGraph::addBytes(const Twine &stem, int dataType, ArrayRef<int64_t> dims, StringRef bytes) {
  onnx::TensorProto &tensor = *graph().add_initializer();
  tensor.set_name(uniqueName(stem));
  tensor.set_data_type(dataType);
  for (int64_t size : dims)
    tensor.add_dims(size);
  tensor.set_raw_data(bytes.data(), bytes.size());
  return tensor.name();
}

std::string ModelGraph::addFloats(const Twine &stem, ArrayRef<int64_t> dims, ArrayRef<float> values) {
  StringRef bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float));
  return addBytes(stem, onnx::TensorProto::FLOAT, dims, bytes);
}

int64_t ModelGraph::opset() const {
  for (const onnx::OperatorSetIdProto &import : proto.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      return import.version();
  return 1;
}

void ModelGraph::removeUnused() {
  index();
  auto isGone = [&](const std::string &name) { return users.find(name) == users.end(); };
  StringSet<> inputs;
  for (const onnx::ValueInfoProto &input : graph().input())
    inputs.insert(input.name());
  StringSet<> removed;
  auto eraseIf = [](auto *list, auto condition) { list->erase(std::remove_if(list->begin(), list->end(), condition), list->end()); };
  for (const onnx::TensorProto &tensor : graph().initializer())
    if (isGone(tensor.name()))
      removed.insert(tensor.name());
  eraseIf(graph().mutable_initializer(), [&](const onnx::TensorProto &tensor) { return removed.contains(tensor.name()); });
  eraseIf(graph().mutable_input(), [&](const onnx::ValueInfoProto &input) { return removed.contains(input.name()); });
  eraseIf(graph().mutable_value_info(), [&](const onnx::ValueInfoProto &value) { return producer(value.name()) < 0; });
  index();
}

Error ModelGraph::embedData() {
  for (onnx::TensorProto &tensor : *graph().mutable_initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
      continue;
    Expected<ArrayRef<char>> bytes = externalBytes(tensor);
    if (!bytes)
      return bytes.takeError();
    tensor.set_raw_data(bytes->data(), bytes->size());
    tensor.clear_external_data();
    tensor.clear_data_location();
  }
  return Error::success();
}

Expected<std::string> ModelGraph::serialize() {
  if (Error error = embedData())
    return std::move(error);
  if (proto.ByteSizeLong() > INT32_MAX)
    return makeError("the model would have more than 2 GiB, which the format does not allow in one file");
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  proto.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node, StringRef name) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t getInt(const onnx::NodeProto &node, StringRef name, int64_t otherwise) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

float getFloat(const onnx::NodeProto &node, StringRef name, float otherwise) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->f() : otherwise;
}

std::string getString(const onnx::NodeProto &node, StringRef name, StringRef otherwise) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->s() : otherwise.str();
}

void setInt(onnx::NodeProto &node, StringRef name, int64_t value) {
  removeAttribute(node, name);
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void removeAttribute(onnx::NodeProto &node, StringRef name) {
  auto *list = node.mutable_attribute();
  list->erase(std::remove_if(list->begin(), list->end(), [&](const onnx::AttributeProto &attribute) { return attribute.name() == name; }), list->end());
}

std::string nodeName(const onnx::NodeProto &node) { return node.name().empty() && node.output_size() ? node.output(0) : node.name(); }

std::string describeNode(const onnx::NodeProto &node) { return "'" + nodeName(node) + "' (" + node.op_type() + ")"; }

bool isDefaultDomain(const onnx::NodeProto &node) { return node.domain().empty() || node.domain() == "ai.onnx"; }

} // namespace kiln::quantize
