//===- ModelCheck.cpp - Whether a model keeps to the format -----------------===//
//
// Runs once before an import and knows no values: what depends on types and shapes is checked where nodes are imported (OperandCheck.cpp).
// Each graph and each function is visited once, so the time is linear in the size of the file.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ModelCheck.h"
#include "compiler/import/BodyImporter.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"

using namespace llvm;

namespace kiln::import {

std::string functionKey(StringRef domain, StringRef name, StringRef overload) {
  return (canonicalDomain(domain) + Twine('\0') + name + Twine('\0') + overload).str();
}

/// The newest format that this importer knows.
static constexpr int64_t newestIr = 14, newestOpset = 28;

namespace {
/// The values of a graph so far, and the graph around it.
struct Names {
  const Names *parent = nullptr;
  StringSet<> defined = {};
  bool isFunction = false;
  /// The node whose body the graph is, for messages.
  std::string where = {};

  bool isVisible(StringRef name) const { return defined.contains(name) || (parent && parent->isVisible(name)); }
};

using Opsets = StringMap<int64_t>;

class ModelChecker {
public:
  ModelChecker(ModelFile &file, Diagnostics &diagnostics) : file(file), diagnostics(diagnostics) {}
  LogicalResult run();
  LogicalResult runOnFunctions();

private:
  LogicalResult checkHeader();
  LogicalResult checkOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports, StringRef where);
  LogicalResult checkFunctions(const Opsets &ofModel);
  LogicalResult checkGraph(const onnx::GraphProto &graph, const Names *parent, const Opsets &opsets, const std::string &around);
  LogicalResult checkTensors(const onnx::GraphProto &graph, Names &names);
  LogicalResult checkDefault(const onnx::TensorProto &tensor, const onnx::TypeProto &declared);
  LogicalResult checkDeclarations(const onnx::GraphProto &graph, const Names &names);
  LogicalResult checkOutputs(const onnx::GraphProto &graph, const Names &names);
  LogicalResult checkNode(const onnx::NodeProto &node, size_t index, Names &names, const Opsets &opsets);
  std::string findFault(const onnx::NodeProto &node, const Names &names, const Opsets &opsets);
  std::string findFaultInCall(const onnx::NodeProto &call, const onnx::FunctionProto &function);
  std::string findFaultInValues(const onnx::AttributeProto &attribute);
  LogicalResult checkFunction(const onnx::FunctionProto &function, const Opsets &ofModel);
  LogicalResult checkRecursion(const onnx::FunctionProto &function);

  ModelFile &file;
  Schemas schemas;
  Diagnostics &diagnostics;
  StringMap<const onnx::FunctionProto *> functions;
  /// Functions whose calls are being followed, and those that are done.
  DenseMap<const onnx::FunctionProto *, bool> followed;
};
} // namespace

//===- Tensors and types ---------------------------------------------------===//

static std::string describeDims(ArrayRef<int64_t> dims) {
  return "[" + llvm::join(llvm::map_range(dims, [](int64_t dim) { return std::to_string(dim); }), ", ") + "]";
}

LogicalResult ModelChecker::checkDefault(const onnx::TensorProto &tensor, const onnx::TypeProto &declared) {
  std::string where = "initializer '" + printable(tensor.name()) + "' ";
  if (declared.value_case() == onnx::TypeProto::VALUE_NOT_SET)
    return success();
  if (!declared.has_tensor_type())
    return diagnostics.error(where + "is a tensor, but the model declares another type");
  const auto &type = declared.tensor_type();
  if (type.elem_type() && type.elem_type() != tensor.data_type())
    return diagnostics.error(where + "has element type " + getDataTypeName(tensor.data_type()) + ", but the model declares type " +
                             getDataTypeName(type.elem_type()));
  if (!type.has_shape())
    return success();
  bool differs = type.shape().dim_size() != tensor.dims_size();
  for (int i = 0; !differs && i < tensor.dims_size(); ++i)
    differs = type.shape().dim(i).has_dim_value() && type.shape().dim(i).dim_value() >= 0 && type.shape().dim(i).dim_value() != tensor.dims(i);
  if (!differs)
    return success();
  SmallVector<int64_t> dims;
  for (const auto &dim : type.shape().dim())
    dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  return diagnostics.error(where + "has shape " + describeDims({tensor.dims().data(), static_cast<size_t>(tensor.dims_size())}) +
                           ", but the model declares shape " + describeDims(dims));
}

LogicalResult ModelChecker::checkTensors(const onnx::GraphProto &graph, Names &names) {
  StringMap<const onnx::TypeProto *> declared;
  for (auto [i, input] : llvm::enumerate(graph.input())) {
    if (input.name().empty())
      return diagnostics.error(names.where + "input " + Twine(i) + " has no name");
    if (!declared.try_emplace(input.name(), &input.type()).second)
      return diagnostics.error(names.where + "input '" + printable(input.name()) + "' is defined twice: a duplicate");
    names.defined.insert(input.name());
  }
  StringSet<> seen;
  for (auto [i, tensor] : llvm::enumerate(graph.initializer())) {
    std::string where = names.where + "initializer '" + printable(tensor.name()) + "'";
    if (tensor.name().empty())
      return diagnostics.error(names.where + "initializer " + Twine(i) + " has no name");
    if (!seen.insert(tensor.name()).second)
      return diagnostics.error(where + " is defined twice: a duplicate");
    names.defined.insert(tensor.name());
  }
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    std::string where = names.where + "initializer '" + printable(tensor.name()) + "'", reason;
    if (!checkTensor(tensor, file, reason))
      return diagnostics.error(where + ": " + reason);
    if (const onnx::TypeProto *type = declared.lookup(tensor.name()); type && failed(checkDefault(tensor, *type)))
      return failure();
  }
  for (auto [i, tensor] : llvm::enumerate(graph.sparse_initializer())) {
    const std::string &name = tensor.values().name();
    std::string where = names.where + "sparse initializer '" + printable(name) + "'", reason;
    if (name.empty())
      return diagnostics.error(names.where + "sparse initializer " + Twine(i) + " has no name");
    if (!seen.insert(name).second)
      return diagnostics.error(where + " is defined twice: a duplicate");
    if (!checkSparseTensor(tensor, file, reason))
      return diagnostics.error(where + ": " + reason);
    names.defined.insert(name);
  }
  return success();
}

/// What is wrong with a type by itself, or an empty text. Some exporters write -1 for a dimension that they do not know.
static std::string findFaultInType(const onnx::TypeProto &type) {
  if (type.has_sequence_type())
    return findFaultInType(type.sequence_type().elem_type());
  if (type.has_optional_type())
    return findFaultInType(type.optional_type().elem_type());
  const auto &tensor = type.tensor_type();
  if (tensor.elem_type() < 0 || tensor.elem_type() > onnx::TensorProto::INT2)
    return "it has the unknown element type " + std::to_string(tensor.elem_type());
  for (auto [i, dim] : llvm::enumerate(tensor.shape().dim()))
    if (dim.dim_value() < -1)
      return "dimension " + std::to_string(i) + " is negative: " + std::to_string(dim.dim_value());
  return "";
}

LogicalResult ModelChecker::checkDeclarations(const onnx::GraphProto &graph, const Names &names) {
  for (const auto *infos : {&graph.input(), &graph.value_info(), &graph.output()})
    for (const onnx::ValueInfoProto &info : *infos) {
      std::string what = infos == &graph.input() ? "input '" : infos == &graph.output() ? "output '" : "value_info of '";
      if (std::string fault = findFaultInType(info.type()); !fault.empty())
        return diagnostics.error(names.where + what + printable(info.name()) + "': " + fault);
    }
  return success();
}

static std::string describeUndefined(StringRef name) {
  return "'" + printable(name) + "' is not defined before its use: no input, initializer or earlier node has that name";
}

LogicalResult ModelChecker::checkOutputs(const onnx::GraphProto &graph, const Names &names) {
  for (auto [i, output] : llvm::enumerate(graph.output())) {
    if (output.name().empty())
      return diagnostics.error(names.where + "output " + Twine(i) + " has no name");
    if (!names.isVisible(output.name()))
      return diagnostics.error(names.where + "output " + describeUndefined(output.name()));
  }
  return success();
}

//===- Nodes ---------------------------------------------------------------===//

std::string ModelChecker::findFaultInValues(const onnx::AttributeProto &attribute) {
  std::string reason;
  bool isRight = !attribute.has_t() || checkTensor(attribute.t(), file, reason);
  for (const onnx::TensorProto &tensor : attribute.tensors())
    isRight = isRight && checkTensor(tensor, file, reason);
  isRight = isRight && (!attribute.has_sparse_tensor() || checkSparseTensor(attribute.sparse_tensor(), file, reason));
  return isRight ? "" : "attribute '" + printable(attribute.name()) + "': " + reason;
}

std::string ModelChecker::findFaultInCall(const onnx::NodeProto &call, const onnx::FunctionProto &function) {
  if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
    return ("has " + Twine(call.input_size()) + " inputs and " + Twine(call.output_size()) + " outputs, but the function has " +
            Twine(function.input_size()) + " and " + Twine(function.output_size()))
        .str();
  StringSet<> known, seen;
  for (const std::string &name : function.attribute())
    known.insert(name);
  for (const auto &attribute : function.attribute_proto())
    known.insert(attribute.name());
  for (const auto &attribute : call.attribute()) {
    std::string what = "attribute '" + printable(attribute.name()) + "'";
    if (!seen.insert(attribute.name()).second)
      return what + " is given twice";
    if (!known.contains(attribute.name()))
      return "unknown " + what + ": the function has none of that name";
  }
  return "";
}

std::string ModelChecker::findFault(const onnx::NodeProto &node, const Names &names, const Opsets &opsets) {
  bool isInFunction = false;
  for (const Names *at = &names; at; at = at->parent)
    isInFunction |= at->isFunction;
  for (const std::string &input : node.input())
    if (!input.empty() && !names.isVisible(input))
      return "input " + describeUndefined(input);
  for (const auto &attribute : node.attribute()) {
    std::string fault = findFaultInAttribute(attribute, isInFunction);
    if (fault.empty())
      fault = findFaultInValues(attribute);
    if (!fault.empty())
      return fault;
  }
  StringRef domain = canonicalDomain(node.domain());
  if (const onnx::FunctionProto *function = functions.lookup(functionKey(domain, node.op_type(), node.overload())))
    return findFaultInCall(node, *function);
  auto opset = opsets.find(domain);
  if (opset == opsets.end())
    return "domain '" + printable(domain) + "' is not among the model's opset imports, and no function has this name";
  const Schema *schema = schemas.find(domain, node.op_type(), opset->second);
  std::string fault = schema ? findFaultInCounts(*schema, node) : "";
  return schema && fault.empty() ? findFaultInAttributes(*schema, node, [](const auto &) { return nullptr; }) : fault;
}

LogicalResult ModelChecker::checkNode(const onnx::NodeProto &node, size_t index, Names &names, const Opsets &opsets) {
  auto where = [&] { return describeNode(node, index, "") + ": "; };
  if (std::string fault = findFault(node, names, opsets); !fault.empty())
    return diagnostics.error(where() + fault);
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g() && failed(checkGraph(attribute.g(), &names, opsets, where())))
      return failure();
    for (const onnx::GraphProto &graph : attribute.graphs())
      if (failed(checkGraph(graph, &names, opsets, where())))
        return failure();
  }
  for (const std::string &name : node.output()) {
    if (name.empty())
      continue;
    if (!names.defined.insert(name).second)
      return diagnostics.error(where() + "output '" + printable(name) + "' is already defined; every name may be defined only once (SSA), so this is a " +
                               "duplicate");
    if (names.parent && names.parent->isVisible(name))
      return diagnostics.error(where() + "output '" + printable(name) +
                               "' hides the value of the same name in the enclosing graph; every name may be defined only once (SSA)");
  }
  return success();
}

LogicalResult ModelChecker::checkGraph(const onnx::GraphProto &graph, const Names *parent, const Opsets &opsets, const std::string &around) {
  Names names{parent};
  names.where = around;
  if (failed(checkTensors(graph, names)) || failed(checkDeclarations(graph, names)))
    return failure();
  for (auto [i, node] : llvm::enumerate(graph.node()))
    if (failed(checkNode(node, i, names, opsets)))
      return failure();
  return checkOutputs(graph, names);
}

//===- Functions -----------------------------------------------------------===//

Opsets readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports) {
  Opsets opsets;
  for (const auto &import : imports)
    opsets[canonicalDomain(import.domain())] = import.version();
  return opsets;
}

LogicalResult ModelChecker::checkFunction(const onnx::FunctionProto &function, const Opsets &ofModel) {
  std::string where = "function '" + printable(function.name()) + "'";
  if (function.name().empty())
    return diagnostics.error("a function has no name");
  if (failed(checkOpsets(function.opset_import(), where)))
    return failure();
  Names names;
  names.isFunction = true;
  for (const std::string &input : function.input()) {
    if (input.empty())
      return diagnostics.error(where + ": an input has no name");
    if (!names.defined.insert(input).second)
      return diagnostics.error(where + ": '" + printable(input) + "' stands twice among its inputs");
  }
  StringSet<> attributes;
  for (const std::string &name : function.attribute())
    if (name.empty() || !attributes.insert(name).second)
      return diagnostics.error(where + ": attribute '" + printable(name) + "' is given twice or has no name");
  for (const auto &attribute : function.attribute_proto())
    if (attribute.name().empty() || !attributes.insert(attribute.name()).second)
      return diagnostics.error(where + ": attribute '" + printable(attribute.name()) + "' is given twice or has no name");
  Opsets opsets = function.opset_import_size() ? readOpsets(function.opset_import()) : ofModel;
  for (auto [i, node] : llvm::enumerate(function.node()))
    if (failed(checkNode(node, i, names, opsets)))
      return failure();
  StringSet<> outputs;
  for (const std::string &output : function.output())
    if (!outputs.insert(output).second)
      return diagnostics.error(where + ": '" + printable(output) + "' stands twice among its outputs");
    else if (!names.defined.contains(output))
      return diagnostics.error(where + ": output '" + printable(output) + "' is not defined: no input or node has that name");
  return success();
}

/// Calls inside of branches and loops are followed, too; the file's own nesting bounds the depth of those.
void forEachNode(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, function_ref<void(const onnx::NodeProto &)> visit) {
  for (const onnx::NodeProto &node : nodes) {
    visit(node);
    for (const auto &attribute : node.attribute()) {
      forEachNode(attribute.g().node(), visit);
      for (const onnx::GraphProto &graph : attribute.graphs())
        forEachNode(graph.node(), visit);
    }
  }
}

LogicalResult ModelChecker::checkRecursion(const onnx::FunctionProto &first) {
  // An explicit stack, because a chain of calls may be as long as the file.
  std::vector<std::pair<const onnx::FunctionProto *, bool>> work = {{&first, false}};
  while (!work.empty()) {
    auto [function, isLeft] = work.back();
    work.pop_back();
    if (isLeft) {
      followed[function] = true;
      continue;
    }
    if (!followed.try_emplace(function, false).second)
      continue;
    work.emplace_back(function, true);
    const onnx::FunctionProto *open = nullptr;
    forEachNode(function->node(), [&](const onnx::NodeProto &node) {
      const onnx::FunctionProto *callee = functions.lookup(functionKey(node.domain(), node.op_type(), node.overload()));
      auto found = callee ? followed.find(callee) : followed.end();
      if (found != followed.end() && !found->second)
        open = callee;
      else if (callee && found == followed.end())
        work.emplace_back(callee, false);
    });
    if (open)
      return diagnostics.error("function '" + printable(open->name()) + "' calls itself, by way of '" + printable(function->name()) + "': a recursion");
  }
  return success();
}

LogicalResult ModelChecker::checkFunctions(const Opsets &ofModel) {
  const auto &all = file.model().functions();
  for (const onnx::FunctionProto &function : all)
    if (!functions.try_emplace(functionKey(function.domain(), function.name(), function.overload()), &function).second)
      return diagnostics.error("function '" + printable(function.name()) + "' is defined twice: a duplicate");
  for (const onnx::FunctionProto &function : all)
    if (failed(checkFunction(function, ofModel)) || failed(checkRecursion(function)))
      return failure();
  return success();
}

//===- Header --------------------------------------------------------------===//

LogicalResult ModelChecker::checkOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports, StringRef where) {
  Opsets opsets;
  for (const onnx::OperatorSetIdProto &import : imports) {
    StringRef domain = canonicalDomain(import.domain());
    int64_t version = import.version();
    if (version < 1)
      return diagnostics.error(where + ": opset version " + Twine(version) + " of domain '" + printable(domain) + "' is not valid");
    if (domain.empty() && version > newestOpset)
      return diagnostics.error(where + ": opset " + Twine(version) + " is newer than " + Twine(newestOpset) + ", the newest that is supported");
    auto [entry, isNew] = opsets.try_emplace(domain, version);
    if (!isNew && entry->second != version)
      return diagnostics.error(where + ": opset imports conflict: domain '" + printable(domain) + "' has versions " + Twine(entry->second) + " and " +
                               Twine(version));
  }
  return success();
}

LogicalResult ModelChecker::checkHeader() {
  const onnx::ModelProto &model = file.model();
  if (!model.has_graph())
    return diagnostics.error("the model has no graph: not an ONNX model");
  if (!model.has_ir_version() || model.ir_version() < 1)
    return diagnostics.error("ir_version " + Twine(model.ir_version()) + " is missing or not valid: not an ONNX model");
  if (model.ir_version() > newestIr)
    return diagnostics.error("ir_version " + Twine(model.ir_version()) + " is newer than " + Twine(newestIr) + ", the newest that is supported");
  if (model.opset_import_size() == 0 && model.ir_version() >= 3)
    return diagnostics.error("the model has no opset_import");
  return checkOpsets(model.opset_import(), "model");
}

LogicalResult ModelChecker::run() {
  if (failed(checkHeader()))
    return failure();
  Opsets opsets = readOpsets(file.model().opset_import());
  if (failed(checkFunctions(opsets)))
    return failure();
  return checkGraph(file.model().graph(), nullptr, opsets, "");
}

LogicalResult ModelChecker::runOnFunctions() {
  if (failed(checkOpsets(file.model().opset_import(), "model")))
    return failure();
  return checkFunctions(readOpsets(file.model().opset_import()));
}

LogicalResult checkFunctions(ModelFile &file, Diagnostics &diagnostics) { return ModelChecker(file, diagnostics).runOnFunctions(); }

LogicalResult checkModel(ModelFile &file, Diagnostics &diagnostics) {
  return ModelChecker(file, diagnostics).run();
}

} // namespace kiln::import
