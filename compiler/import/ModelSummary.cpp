//===- ModelSummary.cpp - What an ONNX file says of itself ------------------===//
#include "compiler/import/ModelSummary.h"
#include "compiler/import/ModelCheck.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kiln {

static ModelSummary::Tensor describe(const onnx::ValueInfoProto &value) {
  ModelSummary::Tensor result{import::printable(value.name()), ""};
  const onnx::TypeProto &type = value.type();
  if (!type.has_tensor_type()) {
    result.type = type.has_sequence_type()   ? "sequence"
                  : type.has_map_type()      ? "map"
                  : type.has_optional_type() ? "optional"
                  : type.value_case()        ? "not a tensor"
                                             : "no type";
    return result;
  }
  const onnx::TypeProto::Tensor &tensor = type.tensor_type();
  std::string element = import::getDataTypeName(tensor.elem_type());
  result.isTensor = true;
  result.isInteger = is_contained({onnx::TensorProto::INT64, onnx::TensorProto::INT32}, tensor.elem_type());
  result.hasShape = tensor.has_shape();
  if (!tensor.has_shape()) {
    result.type = element + " of any shape";
    return result;
  }
  std::vector<std::string> texts;
  for (const auto &dim : tensor.shape().dim()) {
    result.dims.push_back({dim.has_dim_value() ? dim.dim_value() : -1, import::printable(dim.dim_param())});
    auto &[size, name] = result.dims.back();
    texts.push_back(size >= 0 ? std::to_string(size) : name.empty() ? "?" : name);
  }
  result.type = element + "[" + join(texts, ",") + "]";
  return result;
}

/// Of an initializer, wherever its data are.
static int64_t countBytes(const onnx::TensorProto &tensor) {
  int64_t bits = import::getDataTypeBits(tensor.data_type()), count = 1;
  for (int64_t size : tensor.dims())
    if (size < 0 || MulOverflow(count, size, count) || count > (int64_t(1) << 50))
      return 0;
  return (count * bits + 7) / 8;
}

/// Inputs of one integer decide between branches where the model compares them, which says what they may be.
static void findComparisons(const onnx::ModelProto &model, ModelSummary &summary) {
  StringMap<int64_t> constants;
  auto addConstant = [&](const std::string &name, const onnx::TensorProto &tensor) {
    if (tensor.data_type() == onnx::TensorProto::INT64 && tensor.int64_data_size() == 1)
      constants[name] = tensor.int64_data(0);
    else if (tensor.data_type() == onnx::TensorProto::INT64 && tensor.raw_data().size() == sizeof(int64_t))
      constants[name] = support::endian::read64le(tensor.raw_data().data());
  };
  for (const auto &tensor : model.graph().initializer())
    addConstant(tensor.name(), tensor);
  import::forEachNode(model.graph().node(), [&](const onnx::NodeProto &node) {
    for (const auto &attribute : node.attribute())
      if (node.op_type() == "Constant" && attribute.name() == "value" && node.output_size() == 1)
        addConstant(node.output(0), attribute.t());
  });
  import::forEachNode(model.graph().node(), [&](const onnx::NodeProto &node) {
    for (ModelSummary::Tensor &input : summary.inputs)
      for (int side = 0; node.op_type() == "Equal" && node.input_size() == 2 && side < 2; ++side)
        if (auto constant = constants.find(node.input(1 - side)); node.input(side) == input.name && constant != constants.end())
          input.comparedWith.push_back(constant->second);
  });
}

LogicalResult readModelSummary(const std::string &path, ModelSummary &summary, std::vector<std::string> &errors) {
  import::Diagnostics diagnostics(path, errors);
  import::ModelFile file(path);
  if (failed(file.load(diagnostics)))
    return failure();
  const onnx::ModelProto &model = file.model();
  summary.irVersion = model.ir_version();
  summary.producer = import::printable(model.producer_name() + (model.producer_version().empty() ? "" : " " + model.producer_version()));
  for (const auto &opset : model.opset_import())
    summary.opsets.push_back(import::printable(opset.domain().empty() ? "ai.onnx" : opset.domain()) + " " + std::to_string(opset.version()));
  for (const auto &entry : model.metadata_props())
    summary.metadata.push_back({import::printable(entry.key()), import::printable(entry.value(), std::string::npos)});
  StringSet<> initialized;
  for (const auto &tensor : model.graph().initializer()) {
    initialized.insert(tensor.name());
    summary.weightsBytes += countBytes(tensor);
  }
  for (const auto &input : model.graph().input())
    if (!initialized.contains(input.name()))
      summary.inputs.push_back(describe(input));
  for (const auto &output : model.graph().output())
    summary.outputs.push_back(describe(output));
  import::forEachNode(model.graph().node(), [&](const onnx::NodeProto &node) {
    ++summary.nodes;
    StringRef domain = import::canonicalDomain(node.domain());
    ++summary.operators[import::printable((domain.empty() ? "" : domain.str() + ".") + node.op_type())];
  });
  summary.functions = model.functions_size();
  findComparisons(model, summary);
  return success();
}

} // namespace kiln
