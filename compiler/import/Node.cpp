//===- Node.cpp - What the file says of a node -------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/BodyImporter.h"
#include "compiler/import/NarrowTypes.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/ConstantData.h"

using namespace mlir;

namespace kiln::import {

Node::Node(BodyImporter &graph, Scope &scope, const onnx::NodeProto &proto, int64_t opset, Location loc)
    : opset(opset), loc(loc), graph(graph), scope(scope), proto(proto), outputs(proto.output_size()) {}

StringRef Node::opType() const { return proto.op_type(); }

unsigned Node::numOutputs() const { return proto.output_size(); }

bool Node::hasOutput(unsigned i) const { return i < numOutputs() && !proto.output(i).empty(); }

OpBuilder &Node::builder() { return graph.builder; }

//===- Bodies --------------------------------------------------------------===//

std::string Node::name() const { return proto.name(); }

std::string Node::describe() const {
  std::string operation = printable(opType());
  if (!proto.name().empty())
    return operation + " '" + printable(scope.prefix + proto.name()) + "'";
  return proto.output().empty() ? operation : operation + " that computes '" + printable(scope.prefix + proto.output(0)) + "'";
}

const onnx::GraphProto *Node::findBody(StringRef name) {
  const onnx::AttributeProto *attribute = find(name, onnx::AttributeProto::GRAPH, "graph");
  return attribute ? &attribute->g() : nullptr;
}

FailureOr<SmallVector<Value>> Node::importBody(const onnx::GraphProto &body, ArrayRef<Value> arguments, const Twine &prefix) {
  FailureOr<SmallVector<Value>> values = graph.importBody(scope, *this, body, arguments, prefix);
  if (mlir::succeeded(values) && llvm::any_of(*values, [](Value value) { return getAlternatives(value).has_value(); }))
    return unsupported("the rank of a result of its body depends on a condition that is known only at run time",
                       "fix the input that it depends on with --bind input=value");
  return values;
}

FailureOr<SmallVector<Value>> Node::importBranch(const onnx::GraphProto &branch) { return graph.importBody(scope, *this, branch, {}, ""); }

LogicalResult Node::setResults(ArrayRef<Value> values) {
  outputs.assign(values.begin(), values.end());
  outputs.resize(numOutputs());
  return failure(failed());
}

std::optional<Value> Node::lookup(StringRef name, std::string &why) { return graph.values.lookup(scope, name, why); }

SymbolicSizes &Node::sizes() { return graph.sizes; }

NamedValues &Node::values() { return graph.values; }

Choices &Node::choices() { return graph.choices; }

size_t Node::countKeptBytes() const { return graph.keptBytes.size(); }

Node::NodeCount Node::countNodes() const { return {graph.nodeCount + graph.discardedNodes, graph.nodeCount}; }

bool Node::areTooMany(NodeCount first) const { return countNodes().imported - first.imported > graph.options.limits.nodes / 8; }

void Node::discardNodes(NodeCount first) {
  int64_t nodes = graph.nodeCount - first.kept;
  if (graph.discardedNodes + nodes > 2 * graph.options.limits.nodes)
    return;
  graph.discardedNodes += nodes;
  graph.nodeCount = first.kept;
}

StringRef Node::verifierMessage() const { return graph.verifierMessage; }

//===- Mistakes ------------------------------------------------------------===//

LogicalResult Node::error(const Twine &text) {
  if (reason.empty())
    reason = text.str();
  return failure();
}

LogicalResult Node::unsupported(const Twine &text, const Twine &wayOut) {
  if (reason.empty()) {
    reason = text.str();
    if (std::string way = wayOut.str(); !way.empty())
      reason += "; " + way;
    unsupportedNode = true;
  }
  return failure();
}

std::optional<std::string> Node::takeFault() {
  return failed() ? std::nullopt : graph.diagnostics.takeFault();
}

LogicalResult Node::fault(StringRef taken) { return graph.diagnostics.fault(taken); }

LogicalResult Node::noteDeadSide(bool holds, StringRef fault) {
  std::string message = "no run can have the condition of " + describe() + " be " + (holds ? "true" : "false") + ": " + fault.str();
  if (graph.options.strict)
    return error(message);
  graph.warn(message);
  return success();
}

Value Node::input(unsigned i) {
  if (hasInput(i))
    return inputs[i];
  (void)error("input " + Twine(i) + " is missing");
  return constantInts({0});
}

LogicalResult Node::result(unsigned i, Value value) {
  if (i < outputs.size())
    outputs[i] = value;
  return success(!failed());
}

//===- Attributes ----------------------------------------------------------===//

using Attribute = onnx::AttributeProto;

const Attribute *Node::resolve(const Attribute &attribute) const {
  if (attribute.ref_attr_name().empty())
    return &attribute;
  for (const Scope *at = &scope; at; at = at->parent)
    if (const Attribute *given = at->attributes.lookup(attribute.ref_attr_name()))
      return given;
  return nullptr;
}

const Attribute *Node::find(StringRef name, int kind, StringRef kindName) {
  asked.insert(name);
  const Attribute *found = nullptr;
  for (const Attribute &attribute : proto.attribute()) {
    if (attribute.name() == name)
      found = &attribute;
  }
  const Attribute *value = found ? resolve(*found) : nullptr;
  if (!value)
    return nullptr;
  // An empty list without a type says nothing about its kind.
  if (int have = getAttributeKind(*value); have != kind && have != Attribute::UNDEFINED) {
    (void)error("attribute '" + name + "' has type " + getAttributeKindName(have) + ", expected " + kindName);
    return nullptr;
  }
  return value;
}

std::optional<int64_t> Node::findInt(StringRef name) {
  const Attribute *attribute = find(name, Attribute::INT, "int");
  return attribute ? std::optional<int64_t>(attribute->i()) : std::nullopt;
}

int64_t Node::requireInt(StringRef name) {
  if (auto value = findInt(name))
    return *value;
  (void)error("attribute '" + name + "' is missing");
  return 0;
}

double Node::getFloat(StringRef name, double fallback) {
  const Attribute *attribute = find(name, Attribute::FLOAT, "float");
  return attribute ? attribute->f() : fallback;
}

std::string Node::getString(StringRef name, StringRef fallback) {
  const Attribute *attribute = find(name, Attribute::STRING, "string");
  return attribute ? attribute->s() : fallback.str();
}

std::optional<SmallVector<int64_t>> Node::findInts(StringRef name) {
  const Attribute *attribute = find(name, Attribute::INTS, "ints");
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

std::optional<SmallVector<double>> Node::findFloats(StringRef name) {
  const Attribute *attribute = find(name, Attribute::FLOATS, "floats");
  if (!attribute)
    return std::nullopt;
  return SmallVector<double>(attribute->floats().begin(), attribute->floats().end());
}

std::optional<SmallVector<std::string>> Node::findStrings(StringRef name) {
  const Attribute *attribute = find(name, Attribute::STRINGS, "strings");
  if (!attribute)
    return std::nullopt;
  return SmallVector<std::string>(attribute->strings().begin(), attribute->strings().end());
}

int64_t Node::narrowType(unsigned i) { return hasInput(i) ? NamedValues::narrowType(scope, proto.input(i)) : 0; }

LogicalResult Node::narrowResult(unsigned i, Value value, int64_t dataType) {
  if (static_cast<int>(i) < proto.output_size())
    scope.narrow[proto.output(static_cast<int>(i))] = dataType;
  return result(i, value);
}

ElementsAttr Node::findTensor(StringRef name) {
  if (llvm::any_of(proto.attribute(), [&](const Attribute &a) { return a.name() == name && a.type() == Attribute::SPARSE_TENSOR; })) {
    const Attribute *sparse = find(name, Attribute::SPARSE_TENSOR, "sparse tensor");
    std::string why;
    ElementsAttr value = sparse ? graph.values.read(sparse->sparse_tensor(), why) : ElementsAttr();
    if (!value)
      (void)error("attribute '" + name + "': " + why);
    return value;
  }
  const Attribute *attribute = find(name, Attribute::TENSOR, "tensor");
  if (!attribute)
    return {};
  std::string why;
  ElementsAttr value = graph.values.read(attribute->t(), why);
  if (value && isNarrowFloat(attribute->t().data_type())) {
    why = "element type " + getDataTypeName(attribute->t().data_type()) + " is not supported";
    value = {};
  }
  if (!value)
    (void)error("attribute '" + name + "': " + why);
  return value;
}

Value Node::tensorAttribute(StringRef name) {
  const Attribute *attribute = find(name, Attribute::TENSOR, "tensor");
  std::string why;
  if (Value texts = attribute ? graph.values.makeStrings(attribute->t(), loc, why) : Value())
    return texts;
  if (!why.empty())
    (void)error("attribute '" + name + "': " + why);
  ElementsAttr value = failed() ? ElementsAttr() : findTensor(name);
  return value ? constant(value) : constantInts({0});
}

bool Node::hasAttribute(StringRef name) const {
  return llvm::any_of(proto.attribute(), [&](const Attribute &a) { return a.name() == name; });
}

void Node::checkAllAsked() {
  if (inputs.size() > inputsAsked)
    (void)error("has " + Twine(inputs.size()) + " inputs, the operator takes at most " + Twine(inputsAsked));
  for (const Attribute &attribute : proto.attribute())
    if (!asked.contains(attribute.name()) && !(opset < 6 && attribute.name() == "consumed_inputs"))
      (void)error("unknown attribute '" + printable(attribute.name()) + "'");
}

//===- Types ---------------------------------------------------------------===//

/// No real model has expressions with more parts, whose every use would take long.
static constexpr unsigned expressionLimit = 400;

static bool isTooComplex(AffineExpr expr) { return nn::hasMoreParts(expr, expressionLimit); }

void Node::checkComputedSize(ArrayRef<AffineExpr> dims, Type elementType) {
  nn::ComputedDims computed = graph.sizes.computed();
  if (!llvm::any_of(dims, [&](AffineExpr dim) { return computed.isIn(dim); }))
    return;
  int64_t bytes = nn::elementBytes(elementType);
  for (AffineExpr dim : dims) {
    AffineExpr most = computed.getUpperBound(dim);
    auto size = most ? nn::getConstantDim(most) : std::nullopt;
    bool isTooLarge = size && (llvm::MulOverflow(bytes, std::max<int64_t>(*size, 0), bytes) || bytes > graph.options.limits.tensorBytes);
    if (most && !isTooLarge)
      continue;
    SmallVector<unsigned> symbols;
    for (AffineExpr each : dims)
      computed.collect(each, symbols);
    // A bound is a promise of memory, and no reason to refuse: the caller gives a closer one.
    bool isLoosened = false;
    for (unsigned symbol : symbols)
      isLoosened |= graph.sizes.loosen(symbol);
    if (isLoosened)
      return;
    if (!most)
      (void)unsupported("the largest size that its result can have is not known", "make dimensions static with --dim");
    else
      (void)error("the result may be too large: the most that it can hold overflows the limit of " + Twine(graph.options.limits.tensorBytes) + " bytes");
    return;
  }
}

RankedTensorType Node::type(ArrayRef<AffineExpr> wanted, Type elementType) {
  DimExprs dims;
  int64_t bytes = nn::elementBytes(elementType);
  if (static_cast<int64_t>(wanted.size()) > graph.options.limits.rank) {
    (void)error("the result would have " + Twine(wanted.size()) + " dimensions, the limit is " + Twine(graph.options.limits.rank));
    wanted = {};
  }
  if (llvm::any_of(wanted, [](AffineExpr dim) { return nn::getConstantDim(dim) == 0; }))
    bytes = 0;
  for (auto [i, dim] : llvm::enumerate(wanted)) {
    dims.push_back(nn::simplifyDim(dim));
    auto size = nn::getConstantDim(dims.back());
    if (size && *size < 0)
      (void)error("dimension " + Twine(i) + " of the result would be " + Twine(*size) + ", which is negative");
    else if (size && *size > 0 && (llvm::MulOverflow(bytes, *size, bytes) || bytes > graph.options.limits.tensorBytes))
      (void)error("the result would be too large: its size overflows the limit of " + Twine(graph.options.limits.tensorBytes) + " bytes");
    else if (isTooComplex(dims.back()))
      (void)unsupported("dimension " + Twine(i) + " of the result is too complex an expression of the symbolic dimensions", "make some static with --dim");
    else
      continue;
    dims.back() = number(1);
    bytes = 1;
  }
  checkComputedSize(dims, elementType);
  return nn::makeTensorType(dims, elementType);
}

int64_t Node::axis(int64_t axis, int64_t rank, StringRef what) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  (void)error(what + " " + Twine(axis) + " is out of range for rank " + Twine(rank));
  return 0;
}

SmallVector<int64_t> Node::axes(ArrayRef<int64_t> list, int64_t rank) {
  SmallVector<int64_t> sorted;
  for (int64_t entry : list) {
    sorted.push_back(axis(entry, rank));
    if (failed())
      return {};
  }
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    (void)error("an axis is given twice: a duplicate");
    return {};
  }
  return sorted;
}

bool Node::expectRank(Value value, int64_t want, StringRef what) {
  if (rank(value) == want)
    return true;
  (void)error(what + " has rank " + Twine(rank(value)) + ", expected " + Twine(want));
  return false;
}

bool Node::unify(AffineExpr a, AffineExpr b, const Twine &what) {
  if (nn::provablyEqual(a, b))
    return true;
  AffineExpr difference = nn::simplifyDim(a - b);
  auto known = nn::getConstantDim(difference);
  // A dimension that is one more than another cannot equal it, whatever the symbols are.
  if (known && *known != 0) {
    (void)error(what + ": " + nn::formatDim(a) + " and " + nn::formatDim(b));
    return false;
  }
  (void)graph.sizes.learn(difference);
  graph.sizes.addConstraint(difference, describe());
  return true;
}

void Node::requireNotNegative(AffineExpr expr, const Twine &what) {
  expr = nn::simplifyDim(expr);
  if (graph.sizes.getFacts().areOrdered(number(0), expr))
    return;
  if (auto value = nn::getConstantDim(expr))
    (void)error(what + " by " + Twine(-*value));
  else
    graph.sizes.requireNotNegative(expr, describe());
}

void Node::requireInRun(AffineExpr expr) {
  if (!graph.sizes.isConditional())
    requireNotNegative(expr, "a dimension is too short");
}

AffineExpr Node::clampLow(AffineExpr expr, AffineExpr least, const Twine &what) {
  if (graph.sizes.getFacts().areOrdered(least, expr) || graph.sizes.getFacts().areOrdered(expr, least))
    return graph.sizes.getFacts().getLarger(expr, least);
  if (graph.sizes.isInRange(expr - least)) {
    requireNotNegative(expr - least, what);
    return nn::simplifyDim(expr);
  }
  return graph.sizes.getFacts().getLarger(expr, least);
}

AffineExpr Node::clampHigh(AffineExpr expr, AffineExpr most, const Twine &what) { return nn::simplifyDim(clampLow(expr * -1, most * -1, what) * -1); }

AffineExpr Node::countFromFront(AffineExpr place, AffineExpr size, const Twine &what) {
  if (graph.sizes.getFacts().areOrdered(number(0), place))
    return place;
  if (graph.sizes.getFacts().areOrdered(place, number(-1)))
    return nn::simplifyDim(size + place);
  if (graph.sizes.isInRange(place)) {
    requireNotNegative(place, what);
    return place;
  }
  return nn::simplifyDim(place + size * nn::getSign(place * -1));
}

const nn::DimFacts &Node::facts() const { return graph.sizes.getFacts(); }

std::optional<int64_t> Node::declaredRank(unsigned i) const {
  const onnx::TypeProto *declared = i < numOutputs() ? scope.declared.lookup(proto.output(i)) : nullptr;
  return declared && declared->tensor_type().has_shape() ? std::optional<int64_t>(declared->tensor_type().shape().dim_size()) : std::nullopt;
}

AffineExpr Node::computedDim(AffineExpr bound, const Twine &name) {
  AffineExpr most = bound ? graph.sizes.computed().getUpperBound(nn::simplifyDim(bound)) : AffineExpr();
  if (bound && (!most || isTooComplex(most))) {
    (void)unsupported("the largest size that its result can have is not known", "make dimensions static with --dim");
    most = number(0);
  }
  return graph.sizes.addComputed(printable(name.str()), most);
}

void Node::keepBytes(Value bytes, const Twine &name) { graph.keptBytes.emplace_back(printable(name.str()), bytes); }

SqueezedDims &Node::squeezed() { return graph.sizes.getSqueezed(); }

const Limits &Node::limits() const { return graph.options.limits; }

std::string Node::outputName(unsigned i) const {
  if (i < numOutputs() && !proto.output(i).empty())
    return scope.prefix + proto.output(i);
  return scope.prefix + (proto.name().empty() ? proto.op_type() : proto.name());
}

std::optional<DimExprs> Node::declaredDims(unsigned i) const {
  // Shapes given on the command line may contradict the declared ones.
  if (i >= numOutputs() || !graph.options.shapes.empty())
    return std::nullopt;
  const onnx::TypeProto *declared = scope.declared.lookup(proto.output(i));
  if (!declared || !declared->tensor_type().has_shape() || declared->tensor_type().shape().dim_size() > graph.options.limits.rank)
    return std::nullopt;
  DimExprs dims;
  for (const auto &dim : declared->tensor_type().shape().dim()) {
    bool isSymbol = graph.sizes.isKnown(dim.dim_param());
    if (dim.has_dim_value() ? dim.dim_value() < 0 : !isSymbol)
      return std::nullopt;
    dims.push_back(dim.has_dim_value() ? number(dim.dim_value()) : graph.sizes.get(dim.dim_param()));
  }
  return dims;
}

std::optional<DimExprs> Node::trustedDims(unsigned i) const {
  auto declared = declaredDims(i);
  return declared && graph.sizes.trustsShapes() ? declared : std::nullopt;
}

/// The most elements of a tensor that decides attributes or sizes of a node.
static constexpr int64_t mostConstants = 65536;

std::optional<DimExprs> Node::findIntegers(Value value) {
  auto tensor = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!tensor || !tensor.getElementType().isInteger())
    return std::nullopt;
  if (auto exprs = getIntegerContents(value))
    return exprs;
  ElementsAttr constant = graph.constants.compute(value);
  if (!constant || constant.getNumElements() > mostConstants)
    return std::nullopt;
  nn::ConstantData data(constant);
  DimExprs exprs;
  for (int64_t n = 0; n < data.numElements(); ++n)
    exprs.push_back(number(data.asInt(n)));
  return exprs;
}

std::optional<int64_t> Node::knownScalar(Value value) {
  auto exprs = findIntegers(value);
  return exprs && exprs->size() == 1 ? nn::getConstantDim(exprs->front()) : std::nullopt;
}

std::optional<DimExprs> Node::knownIntegers(unsigned i, StringRef what) {
  Value value = input(i);
  if (failed())
    return std::nullopt;
  Type element = elementType(value);
  if (!element.isSignlessInteger(64) && !element.isSignlessInteger(32)) {
    std::string text;
    llvm::raw_string_ostream(text) << element;
    (void)error(what + " has type " + text + ", expected int64");
    return std::nullopt;
  }
  auto exprs = findIntegers(value);
  if (!exprs)
    (void)unsupported(what + " is known only at run time", ConstantParts::readsInputs(value) ? "fix the input that it depends on with --bind input=value"
                                                                                              : "make the dimensions that it depends on static with --dim");
  return exprs;
}

std::optional<SmallVector<int64_t>> Node::constantIntegers(unsigned i, StringRef what) {
  auto exprs = knownIntegers(i, what);
  if (!exprs)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (AffineExpr expr : *exprs) {
    auto constant = nn::getConstantDim(expr);
    if (!constant) {
      (void)unsupported(what + " depends on symbolic dimensions", "make them static with --dim");
      return std::nullopt;
    }
    values.push_back(*constant);
  }
  return values;
}

std::optional<SmallVector<double>> Node::constantNumbers(unsigned i, StringRef what) {
  auto numbers = findNumbers(input(i));
  if (!numbers)
    (void)unsupported(what + " is known only at run time", "fix the input that it depends on with --bind input=value");
  return numbers;
}

std::optional<SmallVector<double>> Node::findNumbers(Value value) {
  auto contents = failed() ? std::nullopt : getContents(value);
  ElementsAttr attr = failed() || contents ? ElementsAttr() : graph.constants.compute(value);
  SmallVector<double> numbers;
  if (attr && attr.getNumElements() <= mostConstants) {
    nn::ConstantData data(attr);
    for (int64_t n = 0; n < data.numElements(); ++n)
      numbers.push_back(data.asDouble(n));
    return numbers;
  }
  if (contents && llvm::all_of(*contents, [](const Number &n) { return !n.expr || isa<AffineConstantExpr>(n.expr); })) {
    for (const Number &n : *contents)
      numbers.push_back(n.expr ? static_cast<double>(mlir::cast<AffineConstantExpr>(n.expr).getValue()) : n.real);
    return numbers;
  }
  return std::nullopt;
}

} // namespace kiln::import
