//===- ModelBuilding.cpp - The small model of a kernel -------------------------===//
#include "compiler/kernels/ModelBuilding.h"
#include "compiler/import/onnx.pb.h"
#include "compiler/kernels/KernelForm.h"
#include "dialects/nn/RealNumber.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln {

ModelBuilder::ModelBuilder() : model(std::make_unique<onnx::ModelProto>()) {
  constexpr int64_t irVersion = 10, opset = 24;
  model->set_ir_version(irVersion);
  model->add_opset_import()->set_version(opset);
}

ModelBuilder::~ModelBuilder() = default;

void ModelBuilder::addInput(const KernelTensor &tensor) {
  onnx::ValueInfoProto *input = model->mutable_graph()->add_input();
  input->set_name(tensor.name);
  auto *type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(findElementNumber(tensor.element));
  type->mutable_shape();
  for (StringRef dim : tensor.dims) {
    int64_t size;
    auto *proto = type->mutable_shape()->add_dim();
    if (dim.getAsInteger(10, size))
      proto->set_dim_param(dim.str());
    else
      proto->set_dim_value(size);
  }
}

void ModelBuilder::addOutput(const std::string &name) { model->mutable_graph()->add_output()->set_name(name); }

onnx::NodeProto &ModelBuilder::addNode(StringRef op, int64_t domainVersion) {
  auto [domain, name] = op.contains('.') ? op.rsplit('.') : std::pair<StringRef, StringRef>("", op);
  auto isDomain = [domain = domain](const onnx::OperatorSetIdProto &opset) { return opset.domain() == domain; };
  if (none_of(model->opset_import(), isDomain)) {
    onnx::OperatorSetIdProto *opset = model->add_opset_import();
    opset->set_domain(domain.str());
    opset->set_version(domainVersion);
  }
  onnx::NodeProto *node = model->mutable_graph()->add_node();
  node->set_op_type(name.str());
  node->set_domain(domain.str());
  return *node;
}

static onnx::AttributeProto *addAttribute(onnx::NodeProto &node, StringRef name, onnx::AttributeProto::Kind type) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name(name.str());
  attribute->set_type(type);
  return attribute;
}

void ModelBuilder::addInteger(onnx::NodeProto &node, StringRef name, int64_t value) { addAttribute(node, name, onnx::AttributeProto::INT)->set_i(value); }

void ModelBuilder::addReal(onnx::NodeProto &node, StringRef name, double value) {
  addAttribute(node, name, onnx::AttributeProto::FLOAT)->set_f(static_cast<float>(value));
}

void ModelBuilder::addString(onnx::NodeProto &node, StringRef name, StringRef value) {
  addAttribute(node, name, onnx::AttributeProto::STRING)->set_s(value.str());
}

void ModelBuilder::addIntegers(onnx::NodeProto &node, StringRef name, ArrayRef<int64_t> values) {
  onnx::AttributeProto *attribute = addAttribute(node, name, onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute->add_ints(value);
}

std::string ModelBuilder::addConstant(ArrayRef<int64_t> values) {
  onnx::TensorProto *tensor = model->mutable_graph()->add_initializer();
  tensor->set_name("constant_" + std::to_string(model->graph().initializer_size()));
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_dims(static_cast<int64_t>(values.size()));
  for (int64_t value : values)
    tensor->add_int64_data(value);
  return tensor->name();
}

std::string ModelBuilder::addConstant(StringRef number, int element) {
  int64_t integer = 0;
  double real = 0;
  bool isReal = element == onnx::TensorProto::FLOAT || element == onnx::TensorProto::DOUBLE;
  if (!element || (isReal ? !parseReal(number, real) : number.getAsInteger(10, integer)))
    return "";
  onnx::TensorProto *tensor = model->mutable_graph()->add_initializer();
  tensor->set_name("constant_" + std::to_string(model->graph().initializer_size()));
  tensor->set_data_type(element);
  if (element == onnx::TensorProto::FLOAT)
    tensor->add_float_data(static_cast<float>(real));
  else if (element == onnx::TensorProto::DOUBLE)
    tensor->add_double_data(real);
  else if (element == onnx::TensorProto::INT64)
    tensor->add_int64_data(integer);
  else
    tensor->add_int32_data(static_cast<int32_t>(integer));
  return tensor->name();
}

std::string ModelBuilder::serialize() const { return model->SerializeAsString(); }

} // namespace kiln
