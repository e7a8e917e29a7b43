//===- BodyMatching.cpp - Whether a graph is a composite's body ------------===//
#include "passes/graph/BodyMatching.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/graph/EvaluateScalar.h"
#include "passes/graph/Terms.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace {

/// One attempt to match. A caller that tries an alternative restores `found`.
class Matcher {
public:
  Matcher(unsigned numInputs, Type type) : type(type) { found.inputs.resize(numInputs); }
  bool match(Value body, Value graph);
  Bindings found;

private:
  bool bind(unsigned input, Value graph);
  bool number(double body, double graph);
  bool product(Value body, double bodySign, Value graph, double graphSign);
  bool products(const Product &body, const Product &graph);
  bool sum(Value body, Value graph);
  bool bounded(Value body, Value graph);
  bool call(Operation *body, Operation *graph);
  bool attributes(Operation *body, Operation *graph);
  bool isAccuracy(Attribute accuracy);
  bool axes(ArrayRef<int64_t> body, ArrayRef<int64_t> graph);
  bool operands(ValueRange body, ValueRange graph);

  template <typename Attempt> bool attempt(Attempt tryIt) {
    Bindings before = found;
    if (tryIt())
      return true;
    found = std::move(before);
    return false;
  }
  /// Pairs the items of two lists in any order.
  template <typename List, typename Pair> bool inAnyOrder(const List &body, const List &graph, Pair pair) {
    return body.size() == graph.size() && place(body, graph, 0, 0, pair);
  }
  template <typename List, typename Pair> bool place(const List &body, const List &graph, size_t next, uint64_t taken, Pair pair) {
    if (next == body.size())
      return true;
    for (size_t i = 0; i < graph.size() && i < 64; ++i)
      if (!(taken >> i & 1) && attempt([&] { return pair(body[next], graph[i]) && place(body, graph, next + 1, taken | uint64_t(1) << i, pair); }))
        return true;
    return false;
  }

  Type type;
};

} // namespace

bool Matcher::bind(unsigned input, Value graph) {
  Value &bound = found.inputs[input];
  if (graph.getType() != type || (bound && bound != graph))
    return false;
  bound = graph;
  return true;
}

/// A number of the body, which may be a stand-in, its negative or its reciprocal.
bool Matcher::number(double body, double graph) {
  auto capture = [&](std::optional<double> &slot, double value) {
    if (slot)
      return isClose(value, *slot);
    slot = value;
    return std::isfinite(value);
  };
  auto is = [&](double stand) { return std::fabs(body - stand) <= 1e-9; };
  for (auto [stand, slot] : llvm::zip(standIns, found.numbers)) {
    if (is(stand) || is(-stand))
      return capture(slot, is(stand) ? graph : -graph);
    if (is(1 / stand))
      return capture(slot, 1 / graph);
  }
  return isClose(graph, body) || graph == roundTo(getElementTypeOrSelf(type), body);
}

bool Matcher::products(const Product &body, const Product &graph) {
  if (body.factors.size() != graph.factors.size() || !number(body.number, graph.number))
    return false;
  // Inputs are matched last, because the other operands determine them.
  SmallVector<Factor> ordered(body.factors);
  llvm::sort(ordered, [](const Factor &a, const Factor &b) { return isa<OpResult>(a.value) && !isa<OpResult>(b.value); });
  return inAnyOrder(ordered, graph.factors, [&](const Factor &a, const Factor &b) { return a.exponent == b.exponent && match(a.value, b.value); });
}

bool Matcher::product(Value body, double bodySign, Value graph, double graphSign) {
  auto tryDepths = [&](Depth inBody, Depth inGraph) {
    Product a = viewProduct(body, inBody), b = viewProduct(graph, inGraph);
    a.number *= bodySign;
    b.number *= graphSign;
    // If neither value is a product, the other forms decide.
    return attempt([&] { return products(a, b); });
  };
  return tryDepths(Depth::Tree, Depth::Tree) || tryDepths(Depth::Root, Depth::Root) || tryDepths(Depth::Tree, Depth::Multiple) ||
         tryDepths(Depth::Tree, Depth::Closed);
}

bool Matcher::sum(Value body, Value graph) {
  if (!isSum(skipBroadcast(graph).getDefiningOp()))
    return false;
  for (Depth depth : {Depth::Tree, Depth::Root}) {
    Sum a = viewSum(body, depth), b = viewSum(graph, depth);
    auto pair = [&](const Term &x, const Term &y) { return product(x.value, x.sign, y.value, y.sign); };
    if (attempt([&] { return number(a.number, b.number) && inAnyOrder(a.terms, b.terms, pair); }))
      return true;
  }
  return false;
}

bool Matcher::bounded(Value body, Value graph) {
  Bounded a = viewBounded(body), b = viewBounded(graph);
  return isClose(b.low, a.low) && isClose(b.high, a.high) && match(a.value, b.value);
}

bool Matcher::operands(ValueRange body, ValueRange graph) {
  return body.size() == graph.size() && llvm::all_of(llvm::zip(body, graph), [&](auto pair) { return match(std::get<0>(pair), std::get<1>(pair)); });
}

/// The reduced dimensions are a parameter of the composite, the same everywhere in its body.
bool Matcher::axes(ArrayRef<int64_t> body, ArrayRef<int64_t> graph) {
  if (!found.axes)
    found.axes = llvm::to_vector(graph);
  return !body.empty() && *found.axes == graph;
}

/// All exps of a composite have the same accuracy.
bool Matcher::isAccuracy(Attribute accuracy) {
  if (!found.accuracy)
    found.accuracy = accuracy;
  return found.accuracy == accuracy;
}

bool Matcher::attributes(Operation *body, Operation *graph) {
  // An attribute that the body leaves at its default must be so in the graph, too. Discardable attributes do not count.
  for (NamedAttribute named : graph->getAttrs())
    if (!body->hasAttr(named.getName()) && !graph->getDiscardableAttr(named.getName()))
      return false;
  return llvm::all_of(body->getAttrDictionary(), [&](NamedAttribute named) {
    Attribute want = named.getValue(), have = graph->getAttr(named.getName());
    if (auto wanted = dyn_cast<DenseI64ArrayAttr>(want))
      return have && axes(wanted, cast<DenseI64ArrayAttr>(have));
    if (named.getName() == "accuracy")
      return isAccuracy(have);
    if (named.getName() == "axis")
      return have && axes({cast<IntegerAttr>(want).getInt()}, {cast<IntegerAttr>(have).getInt()});
    if (auto wanted = dyn_cast<FloatAttr>(want))
      return have && number(wanted.getValueAsDouble(), cast<FloatAttr>(have).getValueAsDouble());
    return want == have;
  });
}

namespace {
struct Spelled {
  StringRef name;
  SmallVector<Value> operands;
};
} // namespace

/// The operation's name and operands; of two spellings of a comparison or a choice, one.
static Spelled spell(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  StringRef name = op->getName().getStringRef();
  if (isa<GreaterOp, GreaterEqualOp>(op)) {
    std::swap(operands[0], operands[1]);
    name = isa<GreaterOp>(op) ? LessOp::getOperationName() : LessEqualOp::getOperationName();
  }
  if (isa<SelectOp>(op))
    if (auto inverse = skipBroadcast(operands[0]).getDefiningOp<NotOp>()) {
      operands[0] = inverse.getX();
      std::swap(operands[1], operands[2]);
    }
  return {name, operands};
}

bool Matcher::call(Operation *body, Operation *graph) {
  Spelled want = spell(body), have = spell(graph);
  if (want.name != have.name || !attributes(body, graph))
    return false;
  if (attempt([&] { return operands(want.operands, have.operands); }))
    return true;
  if (!body->hasTrait<OpTrait::IsCommutative>() && !isa<EqualOp>(body))
    return false;
  std::swap(have.operands[0], have.operands[1]);
  return operands(want.operands, have.operands);
}

bool Matcher::match(Value body, Value graph) {
  if (auto input = dyn_cast<BlockArgument>(body))
    return bind(input.getArgNumber(), graph);
  if (std::optional<double> want = getSplatNumber(body)) {
    std::optional<double> have = getSplatNumber(graph);
    return have && number(*want, *have);
  }
  Operation *bodyOp = skipBroadcast(body).getDefiningOp(), *graphOp = skipBroadcast(graph).getDefiningOp();
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(body));
  // Any value is a product, with 1 as its number.
  if (isFloat && isProduct(bodyOp))
    return product(body, 1.0, graph, 1.0);
  if (!graphOp || !isFloat)
    return graphOp && call(bodyOp, graphOp);
  if (isSum(bodyOp))
    return sum(body, graph);
  if (isBounded(bodyOp))
    return bounded(body, graph);
  return call(bodyOp, graphOp);
}

std::optional<Bindings> kiln::matchBody(Value body, unsigned numInputs, Value root) {
  Matcher matcher(numInputs, root.getType());
  bool isMatch = matcher.match(body, root) && !llvm::is_contained(matcher.found.inputs, Value());
  return isMatch ? std::optional(std::move(matcher.found)) : std::nullopt;
}

llvm::SetVector<Operation *> kiln::chainOf(Operation *root, ValueRange inputs) {
  llvm::SetVector<Operation *> ops;
  ops.insert(root);
  for (size_t i = 0; i < ops.size() && ops.size() < 64; ++i)
    for (Value operand : ops[i]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && !llvm::is_contained(inputs, operand) && !isa<ConstantOp, SplatOp>(op))
        ops.insert(op);
  return ops;
}

Location kiln::chainLocation(Operation *root, ValueRange inputs) {
  SmallVector<Operation *> ordered = chainOf(root, inputs).takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return FusedLoc::get(root->getContext(), llvm::map_to_vector(ordered, [](Operation *op) { return op->getLoc(); }));
}
