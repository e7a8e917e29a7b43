//===- OpsCommand.cpp - kiln ops: a file of definitions ----------------------===//
//
// A definition is printed and evaluated as a model of one node, which the rest of the compiler treats like any other.
//
//===----------------------------------------------------------------------===//
#include "compiler/definitions/FunctionWriter.h"
#include "compiler/definitions/Library.h"
#include "compiler/definitions/Sizes.h"
#include "compiler/emit/Temporary.h"
#include "compiler/files/InputFile.h"
#include "compiler/files/Printable.h"
#include "compiler/import/onnx.pb.h"
#include "compiler/run/Npy.h"
#include "dialects/nn/RealNumber.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/ScopeExit.h"

using namespace llvm;

namespace kiln {

using definitions::Definition;
using definitions::Element;
using definitions::Library;

static cl::opt<std::string> definitionFile(cl::Positional, cl::Required, cl::desc("FILE"), cl::sub(opsCommand));
static cl::opt<std::string> functionsOut("onnx", cl::desc("Write the definitions as functions of ONNX, which other engines run"), cl::value_desc("OUT.onnx"),
                                         cl::sub(opsCommand));
static cl::opt<std::string> shown("ir", cl::desc("Print the IR of this operator, applied to tensors of the given shapes"), cl::value_desc("OP"),
                                  cl::sub(opsCommand));
static cl::opt<std::string> evaluated("eval", cl::desc("Apply this operator to the given tensors"), cl::value_desc("OP"), cl::sub(opsCommand));
static cl::list<std::string> operandFiles("input", cl::desc("A parameter's value, a .npy file"), cl::value_desc("PARAMETER=FILE"), cl::sub(opsCommand));
static cl::list<std::string> operandShapes("shape", cl::desc("A parameter's shape for --ir, with its type if it is not float32"),
                                           cl::value_desc("PARAMETER=2x3:int8"), cl::sub(opsCommand));
static cl::list<std::string> attributeValues("attribute", cl::desc("An attribute's value"), cl::value_desc("NAME=NUMBER"), cl::sub(opsCommand));
static cl::opt<std::string> resultFile("o", cl::desc("Where to write the result of --eval"), cl::value_desc("OUT.npy"), cl::sub(opsCommand));

namespace {
/// The operands of the one node.
struct Operand {
  Element element = Element::F32;
  SmallVector<int64_t> dims;
  std::optional<Tensor> value;
};
using Operands = StringMap<Operand>;
} // namespace

static Error readShape(StringRef text, Operands &operands) {
  auto [name, rest] = text.split('=');
  auto [sizes, type] = rest.split(':');
  Operand &operand = operands[name];
  std::optional<Element> element = definitions::findElement(type.empty() ? "float32" : type);
  SmallVector<StringRef> parts;
  sizes.split(parts, 'x', -1, /*KeepEmpty=*/!sizes.empty());
  operand.dims.clear();
  for (StringRef part : parts)
    if (part.getAsInteger(10, operand.dims.emplace_back()) || operand.dims.back() < 0)
      element = std::nullopt;
  if (!element || name.empty() || !text.contains('='))
    return makeError("--shape=" + text + ": expected PARAMETER=2x3 or PARAMETER=2x3:int8");
  operand.element = *element;
  return Error::success();
}

static Error readOperand(StringRef text, Operands &operands) {
  auto [name, path] = text.split('=');
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInputFile(path, mostDataBytes);
  if (!buffer)
    return makeError("--input=" + text + ": " + toString(buffer.takeError()));
  Expected<Tensor> tensor = readNpy((*buffer)->getBuffer());
  if (!tensor)
    return makeError("--input=" + text + ": " + toString(tensor.takeError()));
  operands[name] = {static_cast<Element>(tensor->getType()), SmallVector<int64_t>(tensor->getDims()), std::move(*tensor)};
  return Error::success();
}

/// Attributes become what the definition declares.
static Error addAttributes(const Definition &definition, onnx::NodeProto &node) {
  for (StringRef text : attributeValues) {
    auto [name, value] = text.split('=');
    const definitions::Attribute *attribute = definition.findAttribute(name);
    if (!attribute)
      return makeError("--attribute=" + text + ": '" + definition.name + "' has no such attribute");
    onnx::AttributeProto *proto = node.add_attribute();
    proto->set_name(name.str());
    int64_t integer = 0;
    double real = 0;
    if (attribute->value.isInteger ? value.getAsInteger(10, integer) : !parseReal(value, real))
      return makeError("--attribute=" + text + ": expected " + (attribute->value.isInteger ? "an integer" : "a number"));
    proto->set_type(attribute->value.isInteger ? onnx::AttributeProto::INT : onnx::AttributeProto::FLOAT);
    if (attribute->value.isInteger)
      proto->set_i(integer);
    else
      proto->set_f(static_cast<float>(real));
  }
  return Error::success();
}

/// A model whose only node is the definition.
static Error makeModel(const Definition &definition, const Operands &operands, onnx::ModelProto &model) {
  constexpr int64_t irVersion = 9;
  model.set_ir_version(irVersion);
  onnx::OperatorSetIdProto *opset = model.add_opset_import();
  opset->set_version(definitions::functionOpset);
  opset = model.add_opset_import();
  opset->set_domain(definition.domain);
  opset->set_version(definition.version);
  onnx::NodeProto *node = model.mutable_graph()->add_node();
  node->set_op_type(definition.name);
  node->set_domain(definition.domain);
  node->set_name(definition.name);
  node->add_output(definition.findParameter("result") ? "result.0" : "result");
  for (const definitions::Parameter &parameter : definition.parameters) {
    auto operand = operands.find(parameter.name);
    if (operand == operands.end())
      return makeError("'" + definition.name + "' has a parameter '" + parameter.name + "': give --input or --shape for it");
    node->add_input(parameter.name);
    onnx::ValueInfoProto *input = model.mutable_graph()->add_input();
    input->set_name(parameter.name);
    auto *type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(static_cast<int>(operand->second.element));
    type->mutable_shape();
    for (int64_t dim : operand->second.dims)
      type->mutable_shape()->add_dim()->set_dim_value(dim);
  }
  model.mutable_graph()->add_output()->set_name(node->output(0));
  return addAttributes(definition, *node);
}

static Error writeText(const std::string &path, const std::string &contents) {
  OutputFile file{path, contents, nullptr};
  return writeFiles({{path, &file}});
}

/// Runs the compiled model on the operands.
static int evaluate(const CompileOptions &options, Operands &operands) {
  RunnableModel model;
  if (int status = loadOrReport(options, model))
    return status;
  std::vector<Tensor> inputs;
  for (const kiln_tensor_info &info : model.loaded->getInputs()) {
    std::optional<Tensor> &value = operands[info.name].value;
    if (!value)
      return report(makeError("--eval needs the values of '" + Twine(info.name) + "': give --input"), WrongUsage);
    inputs.push_back(std::move(*value));
  }
  Expected<Execution> execution = prepareRun(*model.loaded, inputs);
  if (!execution)
    return report(execution.takeError(), AtFault);
  kiln_context context = makePlainContext();
  if (Error error = execution->run(&context))
    return report(std::move(error), AtFault);
  const Tensor &result = execution->getOutputs().front();
  if (resultFile.empty()) {
    printLine(outs(), result.getSignature());
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      outs() << result.getValue(i) << "\n";
    return Done;
  }
  std::string contents;
  raw_string_ostream os(contents);
  writeNpy(os, result);
  Error error = writeText(resultFile, contents);
  return error ? report(std::move(error), AtFault) : Done;
}

static int compileOne(const Library &library, StringRef name) {
  auto found = find_if(reverse(library.getDefinitions()), [&](const Definition &definition) { return definition.name == name; });
  if (found == library.getDefinitions().rend())
    return report(makeError(definitionFile + ": defines no '" + name + "'"), AtFault);
  Operands operands;
  for (StringRef text : operandShapes)
    if (Error error = readShape(text, operands))
      return report(std::move(error), WrongUsage);
  for (StringRef text : operandFiles)
    if (Error error = readOperand(text, operands))
      return report(std::move(error), AtFault);
  onnx::ModelProto proto;
  if (Error error = makeModel(*found, operands, proto))
    return report(std::move(error), WrongUsage);
  Expected<std::string> folder = makeTemporaryFolder("for the operator");
  if (!folder)
    return report(folder.takeError(), AtFault);
  auto remove = scope_exit([&] { removeTemporaryFolder(*folder); });
  CompileOptions options;
  options.model = *folder + "/" + found->name + ".onnx";
  options.definitions = {definitionFile};
  if (Error error = writeText(options.model, proto.SerializeAsString()))
    return report(std::move(error), AtFault);
  if (!evaluated.empty())
    return evaluate(options, operands);
  options.stopAfter = "import";
  Compilation compilation;
  if (int status = compileOrReport(options, compilation))
    return status;
  compilation.targets.front().module->print(outs());
  return Done;
}

/// gate(x, w; alpha = 1)[...]: version 1 of acme
static void list(const Library &library) {
  for (const Definition &definition : library.getDefinitions()) {
    std::string text = definition.name + "(";
    for (auto [i, parameter] : enumerate(definition.parameters))
      text += (i ? ", " : "") + parameter.name + (parameter.element == Element::Generic ? "" : ": " + nameElement(parameter.element));
    for (auto [i, attribute] : enumerate(definition.attributes))
      text += (i ? ", " : "; ") + attribute.name;
    text += ")[";
    for (auto [i, index] : enumerate(definition.indices))
      text += (i ? ", " : "") + (index.isEllipsis ? "..." : index.name + " < " + print(*index.extent));
    printLine(outs(), text + "]: version " + Twine(definition.version) + " of " + definition.domain);
  }
  for (const definitions::Extern &external : library.getExterns())
    printLine(outs(), "extern " + external.name + " = " + external.symbol + ": version " + Twine(external.version) + " of " + external.domain);
}

int runOps() {
  std::vector<std::string> errors;
  std::unique_ptr<Library> library = Library::read(definitionFile, errors);
  if (!library)
    return report(errors, AtFault);
  if (!functionsOut.empty()) {
    onnx::ModelProto model;
    definitions::Fault fault;
    if (!definitions::writeFunctions(*library, model, fault))
      return report({library->getSource().describe(fault.place, fault.message)}, AtFault);
    if (Error error = writeText(functionsOut, model.SerializeAsString()))
      return report(std::move(error), AtFault);
  }
  if (!evaluated.empty() || !shown.empty())
    return compileOne(*library, evaluated.empty() ? shown : evaluated);
  if (functionsOut.empty())
    list(*library);
  return Done;
}

} // namespace kiln
