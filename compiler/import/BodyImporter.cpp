//===- BodyImporter.cpp - The nodes of graphs and bodies ---------------------===//
#include "compiler/import/BodyImporter.h"
#include "compiler/import/ControlFlow.h"
#include "compiler/import/DefinitionUse.h"
#include "compiler/import/Delegates.h"
#include "compiler/import/ExternCalls.h"
#include "compiler/import/FunctionLibraries.h"
#include "compiler/import/ModelCheck.h"
#include "compiler/import/NarrowTypes.h"
#include "compiler/import/NodeOrder.h"
#include "compiler/import/Operators.h"
#include "compiler/import/SequenceValues.h"
#include "compiler/import/WayOut.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"
#include "compiler/import/ops/Convolution.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace kiln::import {

std::string describeNode(const onnx::NodeProto &proto, size_t index, StringRef prefix) {
  std::string name = proto.name().empty() ? "#" + std::to_string(index) : "'" + printable(prefix) + printable(proto.name()) + "'";
  return "node " + name + " (" + printable(proto.op_type()) + ")";
}

Location nodeLocation(MLIRContext &context, const onnx::NodeProto &proto, size_t index, StringRef prefix) {
  std::string name = proto.name().empty() ? "#" + std::to_string(index) : printable(proto.name());
  return NameLoc::get(StringAttr::get(&context, printable(prefix) + name + "(" + printable(proto.op_type()) + ")"));
}

LogicalResult BodyImporter::gatherInputs(Scope &scope, Node &node, bool &isPoisoned) {
  for (const std::string &name : node.proto.input()) {
    if (name.empty() || NamedValues::isAbsent(scope, name)) {
      node.inputs.push_back({});
      continue;
    }
    std::string reason;
    std::optional<Value> value = values.lookup(scope, name, reason);
    if (!value)
      return node.error("input " + reason);
    isPoisoned |= !*value;
    node.inputs.push_back(choices.taken.resolve(*value));
  }
  return success();
}

LogicalResult BodyImporter::bindOutputs(Scope &scope, Node &node, StringRef where) {
  for (auto [i, name] : llvm::enumerate(node.proto.output())) {
    if (name.empty())
      continue;
    if (i < node.outputs.size() && !node.outputs[i] && !node.isUnsupported())
      return diagnostics.error(where + ": output " + Twine(i) + " ('" + printable(name) + "') is not one that the operator has");
    // A program gets outputs of one rank.
    bool isOutput = &scope == main && llvm::is_contained(llvm::map_range(graph.output(), [](const auto &output) { return output.name(); }), name);
    if (std::optional<int64_t> rank = isOutput ? node.declaredRank(i) : std::nullopt; rank && node.outputs[i])
      node.outputs[i] = settleRank(node, node.outputs[i], *rank);
    if (node.failed() && !node.isUnsupported())
      return diagnostics.error(where + ": " + node.message());
    scope.values[name] = node.outputs[i];
    // A node that is imported twice may be declared as what it is on one side.
    if (node.outputs[i] && tails == 0 && failed(values.checkDeclared(scope, name, node.outputs[i], where)))
      return failure();
    if (options.exposeNodes && node.outputs[i] && isa<RankedTensorType>(node.outputs[i].getType()) && !sizes.isConditional())
      nodeValues.push_back({scope.prefix + name, cast<NameLoc>(node.loc).getName().str(), node.outputs[i]});
  }
  return success();
}

//===- Nodes ---------------------------------------------------------------===//

/// The names of a graph's or body's outputs.
static SmallVector<StringRef> listOutputs(const onnx::GraphProto &graph) {
  return llvm::map_to_vector(graph.output(), [](const onnx::ValueInfoProto &output) { return StringRef(output.name()); });
}

LogicalResult BodyImporter::importGraphNodes(Scope &scope, ArrayRef<const onnx::NodeProto *> nodes) {
  main = &scope;
  return importNodes(scope, nodes, listOutputs(graph));
}

/// The nodes on which outputs depend.
static llvm::DenseSet<const onnx::NodeProto *> findNeeded(ArrayRef<const onnx::NodeProto *> nodes, ArrayRef<StringRef> outputs) {
  llvm::StringSet<> names;
  names.insert_range(outputs);
  llvm::DenseSet<const onnx::NodeProto *> needed;
  for (const onnx::NodeProto *node : llvm::reverse(nodes)) {
    if (llvm::none_of(node->output(), [&](const std::string &name) { return names.contains(name); }))
      continue;
    needed.insert(node);
    forEachUse(*node, [&](StringRef name) { names.insert(name); });
  }
  return needed;
}

LogicalResult BodyImporter::importNodes(Scope &scope, ArrayRef<const onnx::NodeProto *> nodes, ArrayRef<StringRef> outputs) {
  std::optional<llvm::DenseSet<const onnx::NodeProto *>> needed;
  for (auto [i, node] : llvm::enumerate(nodes)) {
    size_t unsupported = unsupportedNodes.size();
    bool isWrong = failed(importNode(scope, *node, i));
    if (!isWrong && unsupportedNodes.size() == unsupported)
      continue;
    if (!needed)
      needed = findNeeded(nodes, outputs);
    if (!needed->contains(node) && !options.strict && succeeded(leaveOut(scope, *node, isWrong, unsupported)))
      continue;
    if (isWrong)
      return failure();
  }
  return success();
}

LogicalResult BodyImporter::leaveOut(Scope &scope, const onnx::NodeProto &proto, bool isWrong, size_t unsupported) {
  std::optional<std::string> fault = isWrong ? diagnostics.takeFault() : unsupportedNodes[unsupported];
  if (!fault)
    return failure();
  unsupportedNodes.resize(unsupported);
  for (const std::string &name : proto.output())
    scope.values[name] = {};
  warn("a node that no output needs is left out: " + *fault);
  return success();
}

void BodyImporter::warn(std::string message) {
  if (!llvm::is_contained(warnings, message))
    warnings.push_back(std::move(message));
}

/// Whether the first operand has one of the element types that the row names.
static bool accepts(Elements elements, Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  bool isBool = type.isInteger(1);
  if (nn::isString(type))
    return llvm::is_contained({Elements::String, Elements::Data, Elements::Sequence, Elements::Convertible, Elements::Everything}, elements);
  switch (elements) {
  case Elements::Any:
  case Elements::Data:
  case Elements::Narrow:
  case Elements::Convertible:
  case Elements::Sequence:
  case Elements::Everything:
    return true;
  case Elements::String:
    return false;
  case Elements::Number:
    return !isBool;
  case Elements::Float:
    return !integer;
  case Elements::Signed:
    return !isBool && !(integer && integer.isUnsigned());
  case Elements::Integer:
    return integer && !isBool;
  case Elements::Bool:
    return isBool;
  }
  return false;
}

static std::string describeType(Type type) {
  if (type.isInteger(1) || nn::isString(type))
    return type.isInteger(1) ? "bool" : "string";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

void BodyImporter::computeConstants(Node &node, const SymbolicSizes::Mark &before, Operation *lastBefore) {
  SmallVector<Value> outputs = llvm::filter_to_vector(node.outputs, [](Value output) { return bool(output); });
  auto isTensor = [](Value output) { return isa<RankedTensorType>(output.getType()); };
  auto isSized = [](Value output) { return cast<RankedTensorType>(output.getType()).hasStaticShape(); };
  auto isDecided = [&](Value input) { return !input || constants.decide(input); };
  if (sizes.size() == before.names || !llvm::all_of(outputs, isTensor) || llvm::all_of(outputs, isSized) || !llvm::all_of(node.inputs, isDecided))
    return;
  std::vector<ElementsAttr> results = constants.computeAll(outputs);
  if (results.empty())
    return;
  SmallVector<Operation *> made;
  for (Operation *op = &*std::prev(builder.getInsertionPoint()); op && op != lastBefore; op = op->getPrevNode())
    made.push_back(op);
  for (auto [output, result] : llvm::zip_equal(outputs, results))
    llvm::replace(node.outputs, output, node.constant(result));
  // Operations that count stay even where nothing reads them.
  for (Operation *op : made)
    if (op->use_empty())
      op->erase();
  sizes.goBackTo(before);
}

LogicalResult BodyImporter::convertNode(Scope &scope, Node &node, const onnx::NodeProto &proto, int64_t opset) {
  StringRef domain = canonicalDomain(proto.domain());
  std::string reason;
  const Operator *row = findOperator(domain, proto.op_type(), opset, reason);
  if (!row) {
    std::string elsewhere = libraries ? libraries->describeElsewhere(domain, proto.op_type()) : "";
    return node.unsupported(reason, elsewhere.empty() ? findWayOut(domain) : StringRef(elsewhere));
  }
  bool takesLists = row->elements == Elements::Sequence || row->elements == Elements::Everything;
  for (Value input : ArrayRef(node.inputs).drop_front(takesLists && !node.inputs.empty() ? 1 : 0))
    if (input && !isa<RankedTensorType>(input.getType()))
      return node.error(isAbsent(input) ? "an input is an optional without a value, expected a tensor" : "an input is a sequence, expected a tensor");
  auto optional = llvm::find_if(proto.input(), [&](const std::string &name) { return scope.optionals.contains(name); });
  if (!takesLists && optional != proto.input().end())
    return node.error("input '" + printable(*optional) + "' is an optional, expected a tensor; OptionalGetElement takes its value");
  if (!takesLists && !node.inputs.empty() && node.inputs[0] && !accepts(row->elements, node.elementType(node.inputs[0]))) {
    Type type = node.elementType(node.inputs[0]);
    std::string fault = "element type " + describeType(type) + " is not one that this operator takes";
    return nn::isString(type) ? node.unsupported(fault, "keep strings to operators that move, compare or split them") : node.error(fault);
  }
  if (row->isComposite)
    enterCall(scope, node, proto, proto.op_type());
  // The row is that of the operator with its channels first.
  bool isChannelsLast = domain == channelsLastDomain && !node.inputs.empty() && node.inputs[0] && node.rank(node.inputs[0]) > 2;
  if (isChannelsLast)
    node.inputs[0] = toChannelsFirst(node, node.inputs[0]);
  if (isChannelsLast && node.hasOutput(1))
    return node.unsupported("a second result of channels that are last", "use the first result only");
  SymbolicSizes::Mark before = sizes.mark();
  Block *block = builder.getInsertionBlock();
  Operation *lastBefore = builder.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(builder.getInsertionPoint());
  LogicalResult converted = row->convert(node);
  if (succeeded(converted) && !node.failed())
    computeConstants(node, before, lastBefore);
  if (isChannelsLast && succeeded(converted) && !node.failed())
    node.outputs[0] = toChannelsLast(node, node.outputs[0]);
  if (row->isComposite) {
    calls.setOutputs(node.outputs);
    calls.leave();
  }
  if (failed(converted) || node.failed())
    return failure();
  node.checkAllAsked();
  for (const std::string &name : proto.output())
    if (!takesLists || proto.op_type() == "Optional")
      (takesLists ? scope.optionals : scope.tensors).insert(name);
  return failure(node.failed());
}

static std::string describeTooManyNodes(int64_t limit) {
  return "the model has more than " + std::to_string(limit) + " nodes once its functions are inlined";
}

LogicalResult BodyImporter::checkNode(Scope &scope, Node &node) {
  const Schema *schema = schemas.find(canonicalDomain(node.proto.domain()), node.opType(), node.opset);
  if (!schema)
    return success();
  // Attributes in a function's body were not checked with the model, because their values come from the call.
  if (llvm::any_of(node.proto.attribute(), [](const auto &attribute) { return !attribute.ref_attr_name().empty(); })) {
    auto resolve = [&](const onnx::AttributeProto &attribute) { return node.resolve(attribute); };
    if (std::string fault = findFaultInAttributes(*schema, node.proto, resolve); !fault.empty())
      return node.error(fault);
  }
  return checkOperands(scope, node, *schema);
}

LogicalResult BodyImporter::convert(Scope &scope, Node &node, const onnx::FunctionProto *function) {
  const onnx::NodeProto &proto = node.proto;
  StringRef domain = canonicalDomain(proto.domain());
  auto opset = scope.opsets.find(domain);
  if (!function && failed(checkNode(scope, node)))
    return failure();
  bool isConversion = false;
  if (std::string ignored; const Operator *row = function ? nullptr : findOperator(domain, proto.op_type(), node.opset, ignored))
    isConversion = llvm::is_contained({Elements::Narrow, Elements::Convertible, Elements::Everything}, row->elements);
  for (unsigned i = 0; i < node.inputs.size() && !isConversion; ++i)
    if (int64_t narrow = node.inputs[i] ? NamedValues::narrowType(scope, proto.input(i)) : 0; isNarrowFloat(narrow))
      return node.unsupported("an input of type " + getDataTypeName(narrow), "convert it with Cast or DequantizeLinear first");
  if (const DelegateGroup *group = function && delegates ? delegates->find(function) : nullptr)
    return importDelegate(scope, node, proto, *function, *group);
  if (function)
    return inlineFunction(scope, node, proto, *function);
  if (opset == scope.opsets.end())
    return node.error("domain '" + printable(domain) + "' is not among the model's opset imports, and no function has this name");
  if (const definitions::Extern *external = libraries ? libraries->findExtern(domain, proto.op_type(), opset->second) : nullptr)
    return importExtern(node, *external, diagnostics);
  if (ControlFlow control = findControlFlow(domain, proto.op_type()))
    return control(node);
  return convertNode(scope, node, proto, opset->second);
}

LogicalResult BodyImporter::importTwice(Scope &scope, Node &node, size_t index, Value condition) {
  ++tails;
  auto leave = llvm::scope_exit([&] { --tails; });
  return importSides(node, condition, /*isTail=*/true, [&](bool) -> FailureOr<SmallVector<Value>> {
    if (failed(importNode(scope, node.proto, index)))
      return failure();
    SmallVector<Value> values;
    for (const std::string &name : node.proto.output()) {
      values.push_back(scope.values.lookup(name));
      node.unsupportedNode |= !name.empty() && !values.back();
    }
    return values;
  });
}

LogicalResult BodyImporter::importNode(Scope &scope, const onnx::NodeProto &proto, size_t index) {
  std::string where = describeNode(proto, index, scope.prefix);
  if (++nodeCount > options.limits.nodes)
    return diagnostics.error(where + ": " + describeTooManyNodes(options.limits.nodes));
  for (auto [count, what] : {std::pair(proto.input_size(), "inputs"), std::pair(proto.output_size(), "outputs")})
    if (count > options.limits.operands)
      return diagnostics.error(where + ": has " + Twine(count) + " " + what + ", the limit is " + Twine(options.limits.operands) +
                               " (--limit=operands=NUMBER)");
  StringRef domain = canonicalDomain(proto.domain());
  auto opset = scope.opsets.find(domain);
  const onnx::FunctionProto *function = functions.find(proto);
  Node node(*this, scope, proto, opset == scope.opsets.end() ? 0 : opset->second, nodeLocation(context, proto, index, scope.prefix));
  bool isPoisoned = false;
  LogicalResult converted = gatherInputs(scope, node, isPoisoned);
  if (succeeded(converted) && isPoisoned) {
    // An input comes from a node that is not supported, so only report whether this one is supported.
    node.unsupportedNode = true;
    std::string reason;
    if (!function && !findControlFlow(domain, proto.op_type()) && !findOperator(domain, proto.op_type(), node.opset, reason))
      unsupportedNodes.push_back(where + ": opset " + std::to_string(node.opset) + ": " + reason);
    return bindOutputs(scope, node, where);
  }
  auto split = llvm::find_if(node.inputs, [](Value input) { return getAlternatives(input).has_value(); });
  if (succeeded(converted))
    converted = split == node.inputs.end() ? convert(scope, node, function) : importTwice(scope, node, index, getAlternatives(*split)->condition);
  if (failed(converted)) {
    if (!diagnostics.empty())
      return failure();
    if (!node.isUnsupported())
      return node.isBeyondLimit ? diagnostics.error(where + ": " + node.message()) : diagnostics.fault(where + ": " + node.message());
    std::string element = node.hasInput(0) && isa<RankedTensorType>(node.inputs[0].getType()) ? ", " + describeType(node.elementType(node.inputs[0])) : "";
    unsupportedNodes.push_back(where + ": opset " + std::to_string(node.opset) + element + ": " + node.message().str());
    node.outputs.assign(node.outputs.size(), Value());
  }
  return bindOutputs(scope, node, where);
}

//===- Functions -----------------------------------------------------------===//

/// The attributes of a call, those of the function around it in the place of references.
static llvm::StringMap<const onnx::AttributeProto *> resolveAttributes(const Scope &scope, const onnx::NodeProto &call) {
  llvm::StringMap<const onnx::AttributeProto *> attributes;
  for (const auto &attribute : call.attribute()) {
    if (attribute.ref_attr_name().empty())
      attributes[attribute.name()] = &attribute;
    else if (const auto *outer = scope.attributes.lookup(attribute.ref_attr_name()))
      attributes[attribute.name()] = outer;
  }
  return attributes;
}

void BodyImporter::enterCall(const Scope &scope, const Node &node, const onnx::NodeProto &call, StringRef name) {
  SmallVector<Value> inputs(node.inputs);
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();
  calls.enter({node.loc, name.str(), node.opset, readParameters(&context, resolveAttributes(scope, call)), inputs, {}});
}

/// The name of the function's composite.
static std::string nameFunction(const onnx::FunctionProto &function) {
  std::string domain = canonicalDomain(function.domain()).str();
  return printable((domain.empty() ? "" : domain + ".") + function.name() + (function.overload().empty() ? "" : ":" + function.overload()));
}

LogicalResult BodyImporter::inlineFunction(Scope &scope, Node &node, const onnx::NodeProto &call, const onnx::FunctionProto &function) {
  if (scope.depth >= options.limits.depth)
    return node.beyondLimit("functions are nested more than " + Twine(options.limits.depth) + " deep: a recursion");
  // Checked before the body is read, because counting nodes that double with each level one by one would take long.
  if (functions.countNodes(function, scope.depth) > options.limits.nodes - nodeCount)
    return node.beyondLimit(describeTooManyNodes(options.limits.nodes));
  Scope body;
  body.isFunction = true;
  body.depth = scope.depth + 1;
  body.prefix = printable(scope.prefix + (call.name().empty() ? function.name() : call.name()), 120) + "/";
  for (auto [i, name] : llvm::enumerate(function.input()))
    if (node.hasInput(i))
      body.values[name] = node.inputs[i];
    else
      body.absent.insert(name);
  // A function without opset imports uses those of the model.
  body.opsets = function.opset_import_size() ? readOpsets(function.opset_import()) : scope.opsets;
  for (const auto &attribute : function.attribute_proto())
    body.attributes[attribute.name()] = &attribute;
  for (const auto &attribute : resolveAttributes(scope, call))
    body.attributes[attribute.first()] = attribute.second;
  if (const definitions::Definition *definition = libraries ? libraries->findDefinition(&function) : nullptr;
      definition && failed(checkDefinitionUse(node, *definition, node.inputs, body.attributes, diagnostics)))
    return failure();
  SmallVector<const onnx::NodeProto *> nodes;
  for (const auto &inner : function.node())
    nodes.push_back(&inner);
  // The group of a delegate is no function of the model's.
  bool isWhole = !delegates || !delegates->find(&function);
  if (isWhole)
    calls.enter({node.loc, nameFunction(function), node.opset, readParameters(&context, body.attributes), node.inputs, {}});
  auto leave = llvm::scope_exit([&] {
    if (isWhole)
      calls.leave();
  });
  if (failed(importNodes(body, nodes, llvm::to_vector_of<StringRef>(function.output()))))
    return failure();
  for (int i = 0; i < call.output_size(); ++i) {
    std::string reason;
    std::optional<Value> value = values.lookup(body, function.output(i), reason);
    if (!value)
      return node.error("output of function '" + printable(function.name()) + "': " + reason);
    node.outputs[i] = *value;
    node.unsupportedNode |= !*value;
    if (int64_t narrow = NamedValues::narrowType(body, function.output(i)))
      scope.narrow[call.output(i)] = narrow;
  }
  if (isWhole)
    calls.setOutputs(node.outputs);
  return success();
}

//===- Bodies --------------------------------------------------------------===//

FailureOr<SmallVector<Value>> BodyImporter::importBody(Scope &scope, Node &node, const onnx::GraphProto &graph, ArrayRef<Value> arguments,
                                                        const Twine &prefix) {
  if (scope.depth >= options.limits.depth)
    return node.beyondLimit("bodies are nested more than " + Twine(options.limits.depth) + " deep");
  if (static_cast<int>(arguments.size()) != graph.input_size())
    return node.error("the body has " + Twine(graph.input_size()) + " inputs, expected " + Twine(arguments.size()));
  Scope body;
  body.parent = &scope;
  body.depth = scope.depth + 1;
  body.opsets = scope.opsets;
  body.prefix = printable((scope.prefix + prefix).str(), 120);
  for (auto [input, argument] : llvm::zip_equal(graph.input(), arguments)) {
    body.values[input.name()] = argument;
    if (input.type().has_optional_type())
      body.optionals.insert(input.name());
  }
  NamedValues::addInitializers(body, graph);
  SmallVector<const onnx::NodeProto *> nodes;
  for (const auto &inner : graph.node())
    nodes.push_back(&inner);
  if (failed(importNodes(body, nodes, listOutputs(graph))))
    return failure();
  SmallVector<Value> results;
  for (const auto &output : graph.output()) {
    std::string reason;
    std::optional<Value> value = values.lookup(body, output.name(), reason);
    if (!value)
      return node.error("output of the body: " + reason);
    results.push_back(*value);
    node.unsupportedNode |= !*value;
  }
  return results;
}

} // namespace kiln::import
