//===- DefinitionKernel.cpp - A kernel of a user's definition ------------------===//
#include "compiler/kernels/DefinitionKernel.h"
#include "compiler/definitions/Checker.h"
#include "compiler/definitions/Sizes.h"
#include "compiler/import/onnx.pb.h"
#include "compiler/kernels/ModelBuilding.h"
#include "compiler/run/Tensor.h"
#include "dialects/nn/RealNumber.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace kiln {

using definitions::Access;
using definitions::Definition;
using definitions::Element;
using definitions::Index;
using definitions::IndexExpr;
using definitions::Parameter;

/// The size that `...` stands for.
static constexpr StringLiteral openSize = "elements";

static bool hasOpenType(const Definition &definition) {
  return any_of(definition.parameters, [](const Parameter &parameter) { return parameter.element == Element::Generic; });
}

std::vector<KernelParameter> listParameters(const Definition &definition) {
  std::vector<KernelParameter> parameters;
  if (hasOpenType(definition))
    parameters.push_back({"type", "f32"});
  for (const definitions::Attribute &attribute : definition.attributes) {
    std::string text;
    // As many digits as the attribute of the node keeps.
    raw_string_ostream(text) << format("%.9g", attribute.value.real);
    parameters.push_back({attribute.name, attribute.value.isInteger ? std::to_string(attribute.value.integer) : text});
  }
  return parameters;
}

/// The type's name in headers: f32.
static std::string nameOf(Element element) {
  for (StringRef name : {"f32", "f16", "bf16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"})
    if (findElementNumber(name) == static_cast<int>(element))
      return name.str();
  return "f32";
}

static std::string findValue(const KernelForm &form, StringRef name) {
  auto found = find_if(form.parameters, [&](const KernelParameter &parameter) { return parameter.name == name; });
  return found == form.parameters.end() ? "" : found->value;
}

/// The name of a dimension: the index that alone reads it there and has its size from such a read; otherwise one of its own.
static std::string nameDim(const Definition &definition, const std::vector<Access> &accesses, StringRef parameter, int64_t axis, int64_t rank) {
  auto findIndex = [&](StringRef name) -> const Index * {
    for (const std::vector<Index> *list : {&definition.indices, &definition.reduced})
      for (const Index &index : *list)
        if (!index.isEllipsis && index.name == name)
          return &index;
    return nullptr;
  };
  for (const Access &access : accesses) {
    bool isHere = access.tensor == parameter && (access.axis == axis || access.axis == axis - rank);
    if (!isHere || access.expr->kind != IndexExpr::Kind::Variable)
      continue;
    const Index *index = findIndex(access.expr->name);
    if (index && index->extent && index->extent->kind == IndexExpr::Kind::Dim)
      return index->name;
  }
  return parameter.str() + "_" + std::to_string(axis);
}

/// The dimensions of a parameter. Where `...` stands, there is one dimension.
static std::vector<std::string> nameDims(const Definition &definition, const std::vector<Access> &accesses, const Parameter &parameter) {
  std::vector<std::string> dims;
  if (!parameter.isOpen) {
    for (int64_t axis = 0; axis < parameter.rank; ++axis)
      dims.push_back(nameDim(definition, accesses, parameter.name, axis, parameter.rank));
    return dims;
  }
  // Dimensions behind the `...` are counted from the end.
  int64_t behind = 0;
  for (const Access &access : accesses)
    if (access.tensor == parameter.name)
      behind = std::max(behind, -access.axis);
  int64_t rank = std::max<int64_t>(parameter.rank, 0) + 1;
  for (int64_t axis = 0; axis < rank; ++axis)
    dims.push_back(axis == rank - 1 - behind ? openSize.str() : nameDim(definition, accesses, parameter.name, axis, rank));
  return dims;
}

static Error addAttributes(const Definition &definition, const KernelForm &form, ModelBuilder &builder, onnx::NodeProto &node) {
  for (const definitions::Attribute &attribute : definition.attributes) {
    std::string value = findValue(form, attribute.name);
    int64_t integer = 0;
    double real = 0;
    if (attribute.value.isInteger ? StringRef(value).getAsInteger(10, integer) : !parseReal(value, real))
      return makeError("kernel '" + form.kernel + "': " + attribute.name + "=" + value + ": expected " +
                       (attribute.value.isInteger ? "an integer" : "a number"));
    if (attribute.value.isInteger)
      builder.addInteger(node, attribute.name, integer);
    else
      builder.addReal(node, attribute.name, real);
  }
  return Error::success();
}

/// The result as people read it: its indices, with the sizes that are written.
static KernelTensor describeResult(const Definition &definition, std::string name, std::string element) {
  KernelTensor result{std::move(name), std::move(element), {}};
  for (const Index &index : definition.indices) {
    bool isNamed = index.isEllipsis || !index.extent || index.extent->kind == IndexExpr::Kind::Dim;
    result.dims.push_back(index.isEllipsis ? openSize.str() : isNamed ? index.name : print(*index.extent));
  }
  return result;
}

Error readDefinition(const Definition &definition, KernelForm &form) {
  std::vector<Access> accesses = definitions::listAccesses(definition);
  std::string generic = findValue(form, "type");
  if (hasOpenType(definition) && !findElementNumber(generic))
    return makeError("kernel '" + form.kernel + "': " + describeUnknownType(generic));
  StringSet<> known;
  for (const Parameter &parameter : definition.parameters) {
    KernelTensor input{parameter.name, parameter.element == Element::Generic ? generic : nameOf(parameter.element), nameDims(definition, accesses, parameter)};
    for (const std::string &dim : input.dims)
      if (known.insert(dim).second)
        form.sizes.push_back(dim);
    form.inputs.push_back(std::move(input));
  }
  ModelBuilder builder;
  onnx::NodeProto &node = builder.addNode(definition.domain + "." + definition.name, definition.version);
  for (const KernelTensor &input : form.inputs) {
    builder.addInput(input);
    node.add_input(input.name);
  }
  std::string result = definition.findParameter("result") ? "result_0" : "result";
  node.add_output(result);
  builder.addOutput(result);
  if (Error error = addAttributes(definition, form, builder, node))
    return error;
  form.outputs = {describeResult(definition, result, definition.result == Element::Generic ? generic : nameOf(definition.result))};
  form.model = builder.serialize();
  return Error::success();
}

} // namespace kiln
