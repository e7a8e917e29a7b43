//===- BodyMatching.cpp - Whether a graph is a composite's body ------------===//
#include "passes/graph/BodyMatching.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/NodeNames.h"
#include "passes/graph/EvaluateScalar.h"
#include "passes/graph/Terms.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace {

/// One attempt to match. A caller that tries an alternative restores `found`.
class Matcher {
public:
  Matcher(unsigned numInputs, Type type, bool explains = false) : type(type), explains(explains) { found.inputs.resize(numInputs); }
  bool match(Value body, Value graph);
  Bindings found;
  /// Operations of the graph that match, in the attempt that is going on; and how the attempt that came furthest ended. Only kept to explain.
  SmallVector<Operation *> matched;
  Mismatch furthest;

private:
  bool bind(unsigned input, Value graph);
  bool number(double body, double graph, Value at);
  bool product(Value body, double bodySign, Value graph, double graphSign);
  bool products(const Product &body, const Product &graph, Value at);
  bool sum(Value body, Value graph);
  bool bounded(Value body, Value graph);
  bool call(Operation *body, Operation *graph);
  bool attributes(Operation *body, Operation *graph);
  bool isAccuracy(Attribute accuracy);
  bool axes(ArrayRef<int64_t> body, ArrayRef<int64_t> graph, Value at);
  bool operands(ValueRange body, ValueRange graph);

  template <typename Attempt> bool attempt(Attempt tryIt) {
    Bindings before = found;
    size_t steps = matched.size();
    if (tryIt())
      return true;
    found = std::move(before);
    matched.truncate(steps);
    return false;
  }
  /// Ends an attempt at `at`, a value of the graph.
  template <typename Describe> bool fail(Value at, Describe describe) {
    if (explains && (furthest.what.empty() || matched.size() > furthest.matched.size()))
      furthest = {matched, at, describe(), false};
    return false;
  }
  void step(Operation *op) {
    if (explains && !llvm::is_contained(matched, op))
      matched.push_back(op);
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
  bool explains;
};

} // namespace

static std::string toText(double number) { return llvm::to_string(llvm::format("%g", number)); }

/// The operation that gives a value, as `nn.add of sum(Add)`.
static std::string nameOf(Value value) {
  Operation *op = skipBroadcast(value).getDefiningOp();
  if (!op)
    return "an input";
  llvm::SetVector<StringRef> nodes = listNodes(op->getLoc());
  return op->getName().getStringRef().str() + (nodes.empty() ? "" : " of " + llvm::join(nodes, " "));
}

bool Matcher::bind(unsigned input, Value graph) {
  Value &bound = found.inputs[input];
  if (bound && bound != graph)
    return fail(graph, [&] { return nameOf(graph) + " is read where another place reads " + nameOf(bound) + ", expected the same value"; });
  if (graph.getType() != type)
    return fail(graph, [&] { return nameOf(graph) + " has another type or shape than the result"; });
  bound = graph;
  return true;
}

/// A number of the body, which may be a stand-in, its negative or its reciprocal.
bool Matcher::number(double body, double graph, Value at) {
  auto differs = [&](StringRef expected) {
    return fail(at, [&] { return nameOf(at) + " has the number " + toText(graph) + ", expected " + (expected.empty() ? toText(body) : expected.str()); });
  };
  auto capture = [&](std::optional<double> &slot, double value) {
    if (slot)
      return isClose(value, *slot) || differs("that of another place");
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
  return isClose(graph, body) || graph == roundTo(getElementTypeOrSelf(type), body) || differs("");
}

bool Matcher::products(const Product &body, const Product &graph, Value at) {
  if (size_t count = graph.factors.size(), expected = body.factors.size(); count != expected)
    return fail(at, [&] { return nameOf(at) + " has " + std::to_string(count) + " factors other than numbers, expected " + std::to_string(expected); });
  if (!number(body.number, graph.number, at))
    return false;
  if (Operation *op = skipBroadcast(at).getDefiningOp(); isProduct(op))
    step(op);
  // Inputs are matched last, because the other operands determine them.
  SmallVector<Factor> ordered(body.factors);
  llvm::sort(ordered, [](const Factor &a, const Factor &b) { return isa<OpResult>(a.value) && !isa<OpResult>(b.value); });
  return inAnyOrder(ordered, graph.factors, [&](const Factor &a, const Factor &b) {
    if (a.exponent == b.exponent)
      return match(a.value, b.value);
    return fail(b.value, [&] { return nameOf(b.value) + " has the exponent " + toText(b.exponent) + ", expected " + toText(a.exponent); });
  });
}

bool Matcher::product(Value body, double bodySign, Value graph, double graphSign) {
  auto tryDepths = [&](Depth inBody, Depth inGraph) {
    Product a = viewProduct(body, inBody), b = viewProduct(graph, inGraph);
    a.number *= bodySign;
    b.number *= graphSign;
    // If neither value is a product, the other forms decide.
    return attempt([&] { return products(a, b, graph); });
  };
  return tryDepths(Depth::Tree, Depth::Tree) || tryDepths(Depth::Root, Depth::Root) || tryDepths(Depth::Tree, Depth::Multiple) ||
         tryDepths(Depth::Tree, Depth::Closed);
}

bool Matcher::sum(Value body, Value graph) {
  Operation *op = skipBroadcast(graph).getDefiningOp();
  if (!isSum(op))
    return fail(graph, [&] { return nameOf(graph) + " is in the place of a sum"; });
  for (Depth depth : {Depth::Tree, Depth::Root}) {
    Sum a = viewSum(body, depth), b = viewSum(graph, depth);
    auto pair = [&](const Term &x, const Term &y) { return product(x.value, x.sign, y.value, y.sign); };
    auto terms = [&] {
      if (size_t count = b.terms.size(), expected = a.terms.size(); count != expected)
        return fail(graph, [&] {
          return nameOf(graph) + " has " + std::to_string(count) + " addends other than numbers, expected " + std::to_string(expected);
        });
      step(op);
      return inAnyOrder(a.terms, b.terms, pair);
    };
    if (attempt([&] { return number(a.number, b.number, graph) && terms(); }))
      return true;
  }
  return false;
}

bool Matcher::bounded(Value body, Value graph) {
  Bounded a = viewBounded(body), b = viewBounded(graph);
  if (!isClose(b.low, a.low) || !isClose(b.high, a.high))
    return false;
  if (Operation *op = skipBroadcast(graph).getDefiningOp(); isBounded(op))
    step(op);
  return match(a.value, b.value);
}

bool Matcher::operands(ValueRange body, ValueRange graph) {
  return body.size() == graph.size() && llvm::all_of(llvm::zip(body, graph), [&](auto pair) { return match(std::get<0>(pair), std::get<1>(pair)); });
}

/// The reduced dimensions are a parameter of the composite, the same everywhere in its body.
bool Matcher::axes(ArrayRef<int64_t> body, ArrayRef<int64_t> graph, Value at) {
  if (!found.axes)
    found.axes = llvm::to_vector(graph);
  if (!body.empty() && *found.axes == graph)
    return true;
  auto list = [](ArrayRef<int64_t> axes) { return llvm::join(llvm::map_range(axes, [](int64_t axis) { return std::to_string(axis); }), ", "); };
  return fail(at, [&] { return nameOf(at) + " is along dimension " + list(graph) + ", expected " + list(*found.axes) + " as before"; });
}

/// All exps of a composite have the same accuracy.
bool Matcher::isAccuracy(Attribute accuracy) {
  if (!found.accuracy)
    found.accuracy = accuracy;
  return found.accuracy == accuracy;
}

bool Matcher::attributes(Operation *body, Operation *graph) {
  Value at = graph->getResult(0);
  auto differs = [&](StringAttr name) {
    return fail(at, [&] { return nameOf(at) + " has another '" + name.str() + "' than expected"; });
  };
  // An attribute that the body leaves at its default must be so in the graph, too. Discardable attributes do not count.
  for (NamedAttribute named : graph->getAttrs())
    if (!body->hasAttr(named.getName()) && !graph->getDiscardableAttr(named.getName()))
      return differs(named.getName());
  return llvm::all_of(body->getAttrDictionary(), [&](NamedAttribute named) {
    Attribute want = named.getValue(), have = graph->getAttr(named.getName());
    if (auto wanted = dyn_cast<DenseI64ArrayAttr>(want))
      return have && axes(wanted, cast<DenseI64ArrayAttr>(have), at);
    if (named.getName() == "accuracy")
      return isAccuracy(have) || differs(named.getName());
    if (named.getName() == "axis")
      return have && axes({cast<IntegerAttr>(want).getInt()}, {cast<IntegerAttr>(have).getInt()}, at);
    if (auto wanted = dyn_cast<FloatAttr>(want))
      return have && number(wanted.getValueAsDouble(), cast<FloatAttr>(have).getValueAsDouble(), at);
    return want == have || differs(named.getName());
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
  if (want.name != have.name)
    return fail(graph->getResult(0), [&] { return nameOf(graph->getResult(0)) + " is in the place of " + want.name.str(); });
  if (!attributes(body, graph))
    return false;
  step(graph);
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
    return have ? number(*want, *have, graph) : fail(graph, [&] { return nameOf(graph) + " is no constant, expected a number"; });
  }
  Operation *bodyOp = skipBroadcast(body).getDefiningOp(), *graphOp = skipBroadcast(graph).getDefiningOp();
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(body));
  // Any value is a product, with 1 as its number.
  if (isFloat && isProduct(bodyOp))
    return product(body, 1.0, graph, 1.0);
  if (!graphOp)
    return fail(graph, [&] { return "an input is in the place of " + bodyOp->getName().getStringRef().str(); });
  if (!isFloat)
    return call(bodyOp, graphOp);
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

Mismatch kiln::explainMismatch(Value body, unsigned numInputs, Value root) {
  Matcher matcher(numInputs, root.getType(), /*explains=*/true);
  if (!matcher.match(body, root))
    return std::move(matcher.furthest);
  return {std::move(matcher.matched), root, "", /*isWhole=*/true};
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
