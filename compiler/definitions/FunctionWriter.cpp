//===- FunctionWriter.cpp - Definitions as functions of ONNX ----------------===//
//
//   gate(x; alpha = 1.0)[...] = x[...] * sigmoid(alpha * x[...])
//
// becomes   a = Constant<value_float = @alpha>(), b = CastLike(a, x), c = Mul(b, x), d = Sigmoid(c), y = Mul(x, d).
//
// Values broadcast with each other, so a read brings its dimensions to the definition's order (ReadWriter.cpp), and everything else is a node for a function.
//
//===----------------------------------------------------------------------===//
#include "compiler/definitions/FunctionWriter.h"
#include "compiler/definitions/Checker.h"
#include "compiler/definitions/Functions.h"
#include "compiler/import/onnx.pb.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace llvm;

namespace kiln::definitions {

/// The most nodes of a function: calls of earlier definitions are written out, which can double them with each.
static constexpr int mostNodes = 20000;

FunctionWriter::FunctionWriter(const Definition &definition, onnx::FunctionProto &function, Fault &fault)
    : definition(definition), function(function), fault(fault) {
  for (const Index &index : definition.indices)
    layout.push_back(index.isEllipsis ? "..." : index.name);
  for (const Index &index : definition.reduced)
    layout.push_back(index.name);
}

//===- Nodes ---------------------------------------------------------------===//

onnx::NodeProto *FunctionWriter::addNode(StringRef op, Values inputs) {
  // What is beyond the limit is thrown away.
  isTooLong |= function.node_size() >= mostNodes;
  if (isTooLong)
    function.mutable_node()->DeleteSubrange(mostNodes / 2, function.node_size() - mostNodes / 2);
  onnx::NodeProto *node = function.add_node();
  node->set_op_type(op.str());
  // Some engines want each name once.
  node->set_name(std::to_string(place.line) + ":" + std::to_string(place.column) + "#" + std::to_string(values));
  for (const std::string &input : inputs)
    node->add_input(input);
  // No parameter has a point in its name.
  node->add_output("t." + std::to_string(++values));
  return node;
}

/// Nodes without attributes that are alike become one.
std::string FunctionWriter::add(StringRef op, Values inputs) {
  std::string &value = known[op.str() + "(" + join(inputs, ",") + ")"];
  if (value.empty())
    value = addNode(op, inputs)->output(0);
  return value;
}

void FunctionWriter::setInt(onnx::NodeProto *node, StringRef name, int64_t value) {
  onnx::AttributeProto *attribute = node->add_attribute();
  attribute->set_name(name.str());
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

std::string FunctionWriter::addInts(ArrayRef<int64_t> numbers) {
  std::string key = "ints";
  for (int64_t number : numbers)
    key += " " + std::to_string(number);
  std::string &value = known[key];
  if (!value.empty())
    return value;
  onnx::NodeProto *node = addNode("Constant", {});
  onnx::AttributeProto *attribute = node->add_attribute();
  attribute->set_name("value");
  attribute->set_type(onnx::AttributeProto::TENSOR);
  onnx::TensorProto *tensor = attribute->mutable_t();
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_dims(static_cast<int64_t>(numbers.size()));
  tensor->set_raw_data(numbers.data(), numbers.size() * sizeof(int64_t));
  return value = node->output(0);
}

std::string FunctionWriter::convert(const std::string &value, Element to) {
  if (to == Element::Generic) {
    auto first = find_if(definition.parameters, [](const Parameter &parameter) { return parameter.element == Element::Generic; });
    return add("CastLike", {value, first->name});
  }
  std::string &result = known["Cast " + std::to_string(static_cast<int>(to)) + " " + value];
  if (result.empty()) {
    onnx::NodeProto *node = addNode("Cast", {value});
    setInt(node, "to", static_cast<int>(to));
    result = node->output(0);
  }
  return result;
}

static uint64_t bitsOf(const Literal &literal) {
  uint64_t bits;
  std::memcpy(&bits, literal.isInteger ? static_cast<const void *>(&literal.integer) : &literal.real, sizeof(bits));
  return bits;
}

static std::string describeBits(const Literal &literal) { return (literal.isInteger ? "integer " : "real ") + std::to_string(bitsOf(literal)); }

/// A number in double precision or 64 bits, converted to the type.
std::string FunctionWriter::addConstant(Element element, const Literal &literal) {
  uint64_t bits = bitsOf(literal);
  std::string &value = known[describeBits(literal)];
  if (value.empty()) {
    onnx::NodeProto *node = addNode("Constant", {});
    onnx::AttributeProto *attribute = node->add_attribute();
    attribute->set_name("value");
    attribute->set_type(onnx::AttributeProto::TENSOR);
    attribute->mutable_t()->set_data_type(literal.isInteger ? onnx::TensorProto::INT64 : onnx::TensorProto::DOUBLE);
    attribute->mutable_t()->set_raw_data(&bits, sizeof(bits));
    value = node->output(0);
  }
  bool isRight = element == (literal.isInteger ? Element::I64 : Element::F64);
  return isRight ? value : convert(std::string(value), element);
}

//===- Expressions ---------------------------------------------------------===//

Element FunctionWriter::resolve(const Frame &frame, Element element, Element want) const {
  if (element == Element::Generic)
    element = frame.generic;
  return isLiteralElement(element) ? want : element;
}

Element FunctionWriter::operandType(const Frame &frame, const Expr &expr, Element type) const {
  bool isReal = false;
  for (const Expr &operand : drop_begin(expr.operands, expr.name == "select")) {
    Element own = operand.element == Element::Generic ? frame.generic : operand.element;
    if (!isLiteralElement(own))
      return own;
    isReal |= own == Element::AnyReal;
  }
  Function::Rule rule = findFunction(expr.name)->rule;
  bool isOwn = rule == Function::Rule::Compare || rule == Function::Rule::Test;
  return isOwn ? isReal || rule == Function::Rule::Test ? Element::F32 : Element::I64 : type;
}

/// At the top the value that a use gives; inside of a call a number.
std::string FunctionWriter::emitAttribute(const Attribute &attribute, Element type) {
  std::string &value = known["attribute " + attribute.name];
  if (value.empty()) {
    onnx::NodeProto *node = addNode("Constant", {});
    onnx::AttributeProto *reference = node->add_attribute();
    reference->set_name(attribute.value.isInteger ? "value_int" : "value_float");
    reference->set_type(attribute.value.isInteger ? onnx::AttributeProto::INT : onnx::AttributeProto::FLOAT);
    reference->set_ref_attr_name(attribute.name);
    value = node->output(0);
  }
  bool isRight = type == (attribute.value.isInteger ? Element::I64 : Element::F32);
  return isRight ? value : convert(std::string(value), type);
}

std::string FunctionWriter::emitName(const Frame &frame, const Expr &expr, Element type) {
  const Attribute *attribute = frame.definition->findAttribute(expr.name);
  if (!attribute) {
    Labelled numbers{emitRange(findIndex(expr.name)), {expr.name}};
    carried.insert(expr.name);
    numbers.value = type == Element::I64 ? numbers.value : convert(numbers.value, type);
    return align(numbers);
  }
  if (frame.definition == &definition)
    return emitAttribute(*attribute, type);
  auto given = find_if(*frame.attributes, [&](const NamedLiteral &entry) { return entry.name == expr.name; });
  return addConstant(type, given == frame.attributes->end() ? attribute->value : given->value);
}

std::string FunctionWriter::emitBuiltin(const Frame &frame, const Expr &expr, Element type) {
  Element inner = operandType(frame, expr, type);
  SmallVector<std::string> operands;
  for (auto [i, operand] : enumerate(expr.operands))
    operands.push_back(emit(frame, operand, expr.name == "select" && i == 0 ? Element::Bool : inner));
  place = expr.place;
  StringRef op = findFunction(expr.name)->onnx;
  if (expr.name == "fmod") {
    onnx::NodeProto *node = addNode(op, operands);
    setInt(node, "fmod", 1);
    return node->output(0);
  }
  std::string value = add(op, operands);
  return expr.name == "!=" ? add("Not", {value}) : value;
}

/// The callee's formula with the operands in it, once for the same operands: calls of calls would otherwise be walked twice as often with each.
std::string FunctionWriter::emitCall(const Frame &frame, const Expr &call, Element type) {
  Frame inner{call.callee, {}, &call.attributes, type};
  // Operands decide about the generic type; numbers alone take the wanted one.
  for (auto [parameter, operand] : zip_equal(call.callee->parameters, call.operands))
    if (Element own = resolve(frame, operand.element, Element::AnyReal); parameter.element == Element::Generic && !isLiteralElement(own))
      inner.generic = own;
  if (call.callee->result != Element::Generic && isLiteralElement(inner.generic))
    inner.generic = Element::F32;
  for (auto [parameter, operand] : zip_equal(call.callee->parameters, call.operands))
    inner.operands[parameter.name] = emit(frame, operand, parameter.element == Element::Generic ? inner.generic : parameter.element);
  Element result = resolve(inner, call.callee->result, type);
  std::string key = "call " + std::to_string(reinterpret_cast<uintptr_t>(call.callee)) + " " + std::to_string(static_cast<int>(inner.generic)) + " " +
                    std::to_string(static_cast<int>(result));
  for (const Parameter &parameter : call.callee->parameters)
    key += "," + inner.operands[parameter.name];
  for (const NamedLiteral &given : call.attributes)
    key += ";" + given.name + "=" + describeBits(given.value);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  std::string value = emit(inner, call.callee->body, result);
  return known[key] = value;
}

std::string FunctionWriter::emit(const Frame &frame, const Expr &expr, Element want) {
  if (isTooLong)
    return "";
  Element type = resolve(frame, expr.element, want);
  place = frame.definition == &definition ? expr.place : place;
  switch (expr.kind) {
  case Expr::Kind::Number:
    return addConstant(type, expr.number);
  case Expr::Kind::Name:
    return emitName(frame, expr, type);
  case Expr::Kind::Read: {
    auto operand = frame.operands.find(expr.name);
    return frame.definition == &definition ? emitRead(expr, type) : operand->second;
  }
  case Expr::Kind::Builtin:
    return emitBuiltin(frame, expr, type);
  case Expr::Kind::Call:
    return emitCall(frame, expr, type);
  case Expr::Kind::Convert: {
    const Expr &operand = expr.operands[0];
    Element from = resolve(frame, operand.element, type);
    std::string value = emit(frame, operand, type);
    return from == type ? value : convert(value, type);
  }
  }
  return "";
}

/// A parameter, or the value of a call of whole tensors: a node that calls the earlier definition's function.
std::string FunctionWriter::emitTensor(const Expr &expr) {
  if (expr.kind == Expr::Kind::Name)
    return tensors[expr.tensor] = expr.name;
  std::string &value = tensors[expr.tensor];
  if (!value.empty())
    return value;
  SmallVector<std::string> operands;
  for (const Expr &operand : expr.operands)
    operands.push_back(emitTensor(operand));
  place = expr.place;
  onnx::NodeProto *node = addNode(expr.callee->name, operands);
  node->set_domain(expr.callee->domain);
  for (const NamedLiteral &given : expr.attributes) {
    onnx::AttributeProto *attribute = node->add_attribute();
    attribute->set_name(given.name);
    bool isInteger = expr.callee->findAttribute(given.name)->value.isInteger;
    attribute->set_type(isInteger ? onnx::AttributeProto::INT : onnx::AttributeProto::FLOAT);
    if (isInteger)
      attribute->set_i(given.value.integer);
    else
      attribute->set_f(static_cast<float>(given.value.real));
  }
  return tensors[expr.tensor] = node->output(0);
}

//===- The function ----------------------------------------------------------===//

/// ONNX reduces integers of 8 and 16 bits not at all or not by every operator.
static bool isNarrow(Element element) {
  return element == Element::I8 || element == Element::U8 || element == Element::I16 || element == Element::U16;
}

/// A sum in any type: ONNX's Einsum takes all of them, its ReduceSum does not.
std::string FunctionWriter::emitSum(const std::string &value) {
  std::string from, to;
  for (auto [i, label] : enumerate(layout)) {
    std::string letter = label == "..." ? label : std::string(1, letterOf(i));
    from += letter;
    to += i < definition.indices.size() ? letter : "";
  }
  onnx::NodeProto *node = addNode("Einsum", {value});
  onnx::AttributeProto *attribute = node->add_attribute();
  attribute->set_name("equation");
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(from + "->" + to);
  return node->output(0);
}

std::string FunctionWriter::emitReduction(std::string value) {
  if (definition.reduction == Reduction::Sum && definition.result == Element::Generic && layout.size() <= mostLetters)
    return emitSum(value);
  std::vector<int64_t> axes;
  for (size_t i = definition.reduced.size(); i > 0; --i)
    axes.push_back(-static_cast<int64_t>(i));
  StringRef op = definition.reduction == Reduction::Sum       ? "ReduceSum"
                 : definition.reduction == Reduction::Product ? "ReduceProd"
                 : definition.reduction == Reduction::Max     ? "ReduceMax"
                                                              : "ReduceMin";
  bool widens = isNarrow(definition.result);
  std::string list = addInts(axes), operand = widens ? convert(value, Element::I32) : value;
  onnx::NodeProto *node = addNode(op, {operand, list});
  setInt(node, "keepdims", 0);
  return widens ? convert(node->output(0), definition.result) : node->output(0);
}

/// Puts a number in the place of an index.
static IndexExpr replaceIndex(const IndexExpr &expr, StringRef index, int64_t value) {
  if (expr.kind == IndexExpr::Kind::Variable)
    return expr.name == index ? IndexExpr::constant(value, expr.place) : expr;
  if (expr.operands.empty())
    return expr;
  return IndexExpr::make(expr.kind, replaceIndex(expr.operands[0], index, value), replaceIndex(expr.operands[1], index, value));
}

static void replaceIndex(Expr &expr, StringRef index, int64_t value) {
  if (expr.kind == Expr::Kind::Name && expr.name == index) {
    expr.kind = Expr::Kind::Number;
    expr.number = {expr.place, true, value, static_cast<double>(value)};
  }
  for (IndexItem &item : expr.indices)
    if (!item.isEllipsis)
      item.expr = replaceIndex(item.expr, index, value);
  for (Expr &operand : expr.operands)
    replaceIndex(operand, index, value);
}

std::string FunctionWriter::emitTerms() {
  constexpr size_t mostTerms = 32;
  bool hasWindow = any_of(listAccesses(definition), [](const Access &access) {
    std::vector<std::string> names;
    collectVariables(*access.expr, names);
    return names.size() > 1;
  });
  if (definition.reduction == Reduction::None || !hasWindow)
    return "";
  std::vector<Expr> terms = {definition.body};
  for (const Index &index : definition.reduced) {
    int64_t count = index.extent->kind == IndexExpr::Kind::Number ? index.extent->number : 0;
    if (count < 1 || static_cast<size_t>(count) > mostTerms / terms.size())
      return "";
    std::vector<Expr> next;
    for (const Expr &term : terms)
      for (int64_t value = 0; value < count; ++value)
        replaceIndex(next.emplace_back(term), index.name, value);
    terms = std::move(next);
  }
  layout.resize(definition.indices.size());
  StringRef op = definition.reduction == Reduction::Sum       ? "Add"
                 : definition.reduction == Reduction::Product ? "Mul"
                 : definition.reduction == Reduction::Max     ? "Max"
                                                              : "Min";
  std::string sum;
  for (const Expr &term : terms) {
    std::string value = emit({&definition, {}, nullptr, Element::Generic}, term, definition.result);
    sum = sum.empty() ? value : add(op, {sum, value});
  }
  return sum;
}

/// The header, attributes with their defaults included.
static void writeSignature(const Definition &definition, onnx::FunctionProto &function) {
  function.set_name(definition.name);
  function.set_domain(definition.domain);
  onnx::OperatorSetIdProto *opset = function.add_opset_import();
  opset->set_domain("");
  opset->set_version(functionOpset);
  opset = function.add_opset_import();
  opset->set_domain(definition.domain);
  opset->set_version(definition.version);
  for (const Parameter &parameter : definition.parameters)
    function.add_input(parameter.name);
  for (const Attribute &attribute : definition.attributes) {
    onnx::AttributeProto *proto = function.add_attribute_proto();
    proto->set_name(attribute.name);
    proto->set_type(attribute.value.isInteger ? onnx::AttributeProto::INT : onnx::AttributeProto::FLOAT);
    if (attribute.value.isInteger)
      proto->set_i(attribute.value.integer);
    else
      proto->set_f(static_cast<float>(attribute.value.real));
  }
}

bool FunctionWriter::write() {
  writeSignature(definition, function);
  forEachRead(definition.body, [&](const Expr &read) {
    place = read.place;
    tensors[read.tensor] = read.operands.empty() ? read.name : emitTensor(read.operands[0]);
    for (auto [i, item] : enumerate(read.indices))
      if (item.isEllipsis && ellipsisTensor.empty()) {
        ellipsisTensor = tensors[read.tensor];
        ellipsisFront = static_cast<int64_t>(i);
        ellipsisBack = static_cast<int64_t>(read.indices.size() - i) - 1;
      }
  });
  std::string value = emitProduct(), terms = value.empty() ? emitTerms() : "";
  if (value.empty()) {
    value = terms.empty() ? emit({&definition, {}, nullptr, Element::Generic}, definition.body, definition.result) : terms;
    if (any_of(layout, [&](const std::string &label) { return !carried.count(label); }))
      value = add("Expand", {value, emitFullShape()});
    if (definition.reduction != Reduction::None && terms.empty())
      value = emitReduction(value);
  }
  // The result is a value of its own even where it is a parameter.
  onnx::NodeProto *last = addNode("Identity", {value});
  function.add_output("result");
  last->set_output(0, "result");
  if (definition.findParameter("result"))
    *last->mutable_output(0) = *function.mutable_output(0) = "t.result";
  if (isTooLong)
    fault = {definition.place, "'" + definition.name + "' becomes more than " + std::to_string(mostNodes) + " nodes once its calls are written out"};
  return !isTooLong;
}

bool writeFunction(const Definition &definition, onnx::FunctionProto &function, Fault &fault) {
  return FunctionWriter(definition, function, fault).write();
}

bool writeFunctions(const Library &library, onnx::ModelProto &model, Fault &fault) {
  // The first version whose functions have lists of attributes with defaults.
  constexpr int64_t irVersion = 9;
  model.set_ir_version(irVersion);
  std::map<std::string, int64_t> versions = {{"", functionOpset}};
  for (const Definition &definition : library.getDefinitions()) {
    auto [known, isNew] = versions.try_emplace(definition.domain, definition.version);
    if (known->second != definition.version) {
      fault = {definition.place, "a file of functions has one version of a domain, and '" + definition.domain + "' has versions " +
                                     std::to_string(known->second) + " and " + std::to_string(definition.version)};
      return false;
    }
    if (!writeFunction(definition, *model.add_functions(), fault))
      return false;
  }
  for (const auto &[domain, version] : versions) {
    onnx::OperatorSetIdProto *opset = model.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }
  return true;
}

} // namespace kiln::definitions
