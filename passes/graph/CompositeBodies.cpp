//===- CompositeBodies.cpp - The bodies that composites are recognised by --===//
//
// nn.elu on the stand-ins %x and 0.731... beside what it decomposes to:
//
//   %w = nn.elu %x {alpha = 0.731...}
//   %r = nn.select (%x < 0), nn.expm1 %x * 0.731..., %x                 (shortened)
//
// A graph that matches the second is an nn.elu of the value at %x, with the number at 0.731... as its alpha.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/CompositeBodies.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNElementwiseOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/NodeNames.h"
#include "dialects/nn/Scalar.h"
#include "passes/graph/Terms.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace {

/// The vocabulary of a spelling: the inputs, the numbers, and the reduction along the composite's rows.
struct Inputs {
  OpBuilder &builder;
  Scalar x, y;
  double alpha = standIns[0], beta = standIns[1];

  Value reduce(ReduceKind kind, const Scalar &value) const {
    auto type = cast<RankedTensorType>(value.value().getType());
    DimExprs dims = getDims(type);
    dims[1] = getAffineConstantExpr(1, type.getContext());
    return ReduceOp::create(builder, builder.getUnknownLoc(), makeTensorType(dims, type.getElementType()), kind, value.value(), ArrayRef<int64_t>{1});
  }
  Scalar over(const Scalar &like, Value small) const {
    return scalar(BroadcastToOp::create(builder, builder.getUnknownLoc(), like.value().getType(), small));
  }
  Scalar scalar(Value value) const { return Scalar(builder, builder.getUnknownLoc(), value, value.getType()); }
  template <typename OpTy, typename... Args> Scalar make(const Scalar &value, Args... args) const {
    return scalar(OpTy::create(builder, builder.getUnknownLoc(), value.value().getType(), value.value(), args...));
  }
  Scalar total(const Scalar &value) const { return over(value, reduce(ReduceKind::Sum, value)); }
};

/// How exporters write a composite that has a body of its own.
struct Spelling {
  StringLiteral composite;
  Scalar (*write)(const Inputs &in);
  /// The composite's numbers when the spelling fixes them.
  SmallVector<double> numbers = {};
};

} // namespace

static ArrayRef<Spelling> getSpellings() {
  static const Spelling spellings[] = {
      {"nn.sigmoid", [](const Inputs &in) { return in.x.like(1.0) / (exp(-in.x) + 1.0); }},
      {"nn.softplus", [](const Inputs &in) { return log(exp(in.x) + 1.0); }},
      {"nn.softplus", [](const Inputs &in) { return max(in.x, 0.0) + log(exp(-abs(in.x)) + 1.0); }},
      {"nn.mish", [](const Inputs &in) { return in.x * tanh(in.make<SoftplusOp>(in.x)); }},
      {"nn.elu", [](const Inputs &in) { return select(in.x < 0.0, (exp(in.x) - 1.0) * in.alpha, in.x); }},
      {"nn.gelu", [](const Inputs &in) { return in.x * 0.5 * (erf(in.x * 0.70710678118654752440) + 1.0); }},
      {"nn.gelu_tanh",
       [](const Inputs &in) { return in.x * 0.5 * (tanh((in.x + in.x * in.x * in.x * 0.044715) * 0.79788456080286535588) + 1.0); }},
      {"nn.gelu_tanh",
       [](const Inputs &in) { return in.x * 0.5 * (tanh(in.x * (in.x * in.x * 0.044715 + 1.0) * 0.79788456080286535588) + 1.0); }},
      {"nn.hard_sigmoid", [](const Inputs &in) { return min(max(in.x + 3.0, 0.0), 6.0) / 6.0; }, {1.0 / 6.0, 0.5}},
      {"nn.hard_swish", [](const Inputs &in) { return in.x * min(max(in.x + 3.0, 0.0), 6.0) / 6.0; }},
      {"nn.selu", [](const Inputs &in) { return select(in.x > 0.0, in.x, (exp(in.x) - 1.0) * in.alpha) * in.beta; }},
      {"nn.celu", [](const Inputs &in) { return max(in.x, 0.0) + min((exp(in.x / in.alpha) - 1.0) * in.alpha, 0.0); }},
      // ONNX's own bodies of these two.
      {"nn.selu",
       [](const Inputs &in) { return select(in.x < 0.0, (exp(in.x) * in.alpha - in.alpha) * in.beta, in.x * in.beta); }},
      {"nn.celu", [](const Inputs &in) { return in.make<EluOp>(in.x / in.alpha, in.builder.getF64FloatAttr(1.0)) * in.alpha; }},
      {"nn.softmax", [](const Inputs &in) { return exp(in.x) / in.total(exp(in.x)); }},
      {"nn.log_softmax", [](const Inputs &in) { return in.x - in.over(in.x, log(in.scalar(in.reduce(ReduceKind::Sum, exp(in.x)))).value()); }},
      {"nn.log_softmax", [](const Inputs &in) { return log(in.make<SoftmaxOp>(in.x, in.builder.getI64IntegerAttr(1))); }},
  };
  return spellings;
}

/// Which attributes a stand-in can be found for.
static bool isNumber(StringRef attribute) {
  return llvm::is_contained({"alpha", "beta", "gamma", "lambda", "bias", "epsilon"}, attribute);
}

static bool hasScale(StringRef composite) { return composite == "nn.layer_norm" || composite == "nn.rms_norm"; }

/// Whether a body can be matched with graphs: all its values must have one shape.
static bool isRecognized(RegisteredOperationName name) {
  if (!name.hasInterface<Decomposable>() && !name.hasInterface<ScalarBody>())
    return false;
  if (hasScale(name.getStringRef()))
    return true;
  // A clamp by numbers is as simple as its parts.
  bool isComposite = name.hasInterface<Decomposable>() || llvm::is_contained({"nn.relu", "nn.prelu"}, name.getStringRef());
  return isComposite && (name.hasTrait<OpTrait::OneOperand>() || name.hasTrait<OpTrait::NOperands<2>::Impl>()) &&
         name.hasTrait<OpTrait::SameOperandsAndResultType>();
}

/// A builder at the end of the block, which has no parent that would know the context.
static OpBuilder builderAtEnd(Block *block, MLIRContext *context) {
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(block);
  return builder;
}

/// The composite on stand-ins.
static CompositeBody startBody(RegisteredOperationName name, ArrayRef<double> numbers, int64_t p) {
  CompositeBody body{std::make_unique<Block>(), nullptr, {}};
  OpBuilder builder = builderAtEnd(body.block.get(), name.getContext());
  Location loc = builder.getUnknownLoc();
  // f64 keeps all digits of the stand-ins.
  auto type = RankedTensorType::get({2, 3, 5}, builder.getF64Type());
  OperationState state(loc, name);
  bool isUnary = hasScale(name.getStringRef()) || name.hasTrait<OpTrait::OneOperand>();
  for (int i = 0; i < (isUnary ? 1 : 2); ++i)
    state.operands.push_back(body.block->addArgument(type, loc));
  if (hasScale(name.getStringRef()))
    state.operands.push_back(SplatOp::create(builder, loc, RankedTensorType::get({3, 5}, type.getElementType()), builder.getF64FloatAttr(1.0)));
  state.addTypes(type);
  size_t next = 0;
  for (StringAttr attribute : name.getAttributeNames())
    if (isNumber(attribute))
      state.addAttribute(attribute, builder.getF64FloatAttr(numbers[next++]));
    else if (attribute == "axes")
      state.addAttribute(attribute, builder.getDenseI64ArrayAttr({1}));
    else if (attribute == "axis" || attribute == "p")
      state.addAttribute(attribute, builder.getI64IntegerAttr(attribute == "p" ? p : 1));
  body.whole = builder.create(state);
  return body;
}

static Value buildParts(const CompositeBody &body) {
  OpBuilder builder = builderAtEnd(body.block.get(), body.whole->getContext());
  if (auto composite = dyn_cast<Decomposable>(body.whole)) {
    FailureOr<SmallVector<Value>> parts = composite.decompose(builder);
    return succeeded(parts) ? parts->front() : Value();
  }
  return cast<ScalarBody>(body.whole).buildScalar(builder, body.whole->getLoc(), body.whole->getOperands());
}

/// The body with the smaller composites in it raised, as they are in a graph by the time the body is looked for.
static std::optional<CompositeBody> raiseInside(const CompositeBody &body, function_ref<Operation *(OpBuilder &, Operation *)> raiseFirst) {
  CompositeBody raised{std::make_unique<Block>(), nullptr, {}};
  IRMapping map;
  for (BlockArgument argument : body.block->getArguments())
    map.map(argument, raised.block->addArgument(argument.getType(), argument.getLoc()));
  OpBuilder builder = builderAtEnd(raised.block.get(), body.whole->getContext());
  for (Operation &op : *body.block)
    builder.clone(op, map);
  raised.whole = map.lookup(body.whole->getResult(0)).getDefiningOp();
  raised.parts = map.lookup(body.parts);
  bool hasChanged = false;
  auto isRoot = [&](Operation *op) { return op == raised.whole || op == raised.parts.getDefiningOp(); };
  SmallVector<Operation *> steps = llvm::map_to_vector(*raised.block, [](Operation &op) { return &op; });
  for (auto [i, op] : llvm::enumerate(steps)) {
    builder.setInsertionPoint(op);
    Operation *inner = isRoot(op) ? nullptr : raiseFirst(builder, op);
    if (!inner)
      continue;
    hasChanged = true;
    op->replaceAllUsesWith(inner);
    // Operations that only the raised one used must not prevent the next match.
    for (Operation *&before : llvm::reverse(MutableArrayRef(steps).take_front(i + 1)))
      if (before && before->use_empty() && !isRoot(before)) {
        before->erase();
        before = nullptr;
      }
  }
  return hasChanged ? std::optional(std::move(raised)) : std::nullopt;
}

static int64_t countSteps(const CompositeBody &body) { return chainOf(body.parts.getDefiningOp(), {}).size(); }

/// Bodies that leave less open come first: a body with a number to choose may be another one when that number is 1. Of these, larger ones.
static void sortBodies(std::vector<CompositeBody> &bodies) {
  auto rank = [](const CompositeBody &body) {
    int64_t open = body.block->getNumArguments() +
                   llvm::count_if(body.whole->getAttrs(), [](NamedAttribute named) { return isa<FloatAttr>(named.getValue()); });
    return std::tuple(open, -countSteps(body), body.whole->getName().getStringRef());
  };
  llvm::sort(bodies, [&](const CompositeBody &a, const CompositeBody &b) { return rank(a) < rank(b); });
}

std::vector<CompositeBody> kiln::buildCompositeBodies(MLIRContext *context) {
  std::vector<CompositeBody> bodies;
  auto add = [&](CompositeBody body, auto build) {
    body.parts = build(body);
    if (body.parts && body.parts.getDefiningOp())
      bodies.push_back(std::move(body));
  };
  for (RegisteredOperationName name : context->getRegisteredOperationsByDialect("nn")) {
    if (!isRecognized(name))
      continue;
    bool hasPower = llvm::any_of(name.getAttributeNames(), [](StringAttr attribute) { return attribute == "p"; });
    for (int64_t p = 1; p <= (hasPower ? 2 : 1); ++p)
      add(startBody(name, standIns, p), buildParts);
  }
  for (const Spelling &spelling : getSpellings()) {
    auto name = RegisteredOperationName::lookup(spelling.composite, context);
    ArrayRef<double> numbers = spelling.numbers.empty() ? ArrayRef<double>(standIns) : spelling.numbers;
    add(startBody(*name, numbers, 1), [&](const CompositeBody &body) {
      OpBuilder builder = builderAtEnd(body.block.get(), body.whole->getContext());
      Value x = body.block->getArgument(0);
      Scalar scalar(builder, builder.getUnknownLoc(), x, x.getType());
      return spelling.write({builder, scalar, scalar}).value();
    });
  }
  sortBodies(bodies);
  std::vector<CompositeBody> more;
  auto raiseFirst = [&](OpBuilder &builder, Operation *op) -> Operation * {
    for (const std::vector<CompositeBody> &known : {std::cref(bodies), std::cref(more)})
      for (const CompositeBody &body : known)
        if (Operation *whole = body.raise(builder, op))
          return whole;
    return nullptr;
  };
  SmallVector<const CompositeBody *> bySize = llvm::map_to_vector(bodies, [](const CompositeBody &body) { return &body; });
  llvm::sort(bySize, [](const CompositeBody *a, const CompositeBody *b) { return countSteps(*a) < countSteps(*b); });
  for (const CompositeBody *body : bySize)
    if (auto raised = raiseInside(*body, raiseFirst))
      more.push_back(std::move(*raised));
  llvm::move(more, std::back_inserter(bodies));
  sortBodies(bodies);
  return bodies;
}

/// An intermediate value of the whole shape that has other users, for which it would be computed anyway; null: none.
static Operation *findShared(Operation *root, ValueRange inputs) {
  llvm::SetVector<Operation *> chain = chainOf(root, inputs);
  Type type = root->getResult(0).getType();
  auto *shared = llvm::find_if(chain, [&](Operation *op) {
    bool isFree = op == root || isa<BroadcastToOp>(op) || getDims(op->getResult(0).getType()) != getDims(type);
    return !isFree && !llvm::all_of(op->getUsers(), [&](Operation *user) { return chain.contains(user); });
  });
  return shared == chain.end() ? nullptr : *shared;
}

/// Whether the composite can run over these dimensions.
static bool areAxesOf(Operation *whole, ArrayRef<int64_t> axes, int64_t rank) {
  if (hasScale(whole->getName().getStringRef()))
    return !axes.empty() && llvm::equal(axes, llvm::seq<int64_t>(rank - axes.size(), rank));
  return !isa<AlongAxis>(whole) || axes.size() == 1;
}

static Attribute bindAttribute(Builder &builder, NamedAttribute named, const Bindings &found) {
  if (named.getName() == "accuracy" && found.accuracy)
    return found.accuracy;
  if (named.getName() == "axis")
    return found.axes ? builder.getI64IntegerAttr(found.axes->front()) : Attribute();
  if (named.getName() == "axes")
    return found.axes ? builder.getDenseI64ArrayAttr(*found.axes) : Attribute();
  auto number = dyn_cast<FloatAttr>(named.getValue());
  const auto *stand = number ? llvm::find(standIns, number.getValueAsDouble()) : standIns.end();
  if (stand == standIns.end())
    return named.getValue();
  std::optional<double> bound = found.numbers[stand - standIns.begin()];
  return bound ? builder.getF64FloatAttr(*bound) : Attribute();
}

/// Bodies whose last operations differ cannot match.
static bool beginsLike(Operation *body, Operation *root) {
  for (auto isKind : {isProduct, isSum, isBounded})
    if (isKind(body) || isKind(root))
      return isKind(body) && isKind(root);
  return body->getName() == root->getName();
}

/// The type of what the body may end in; null if it does not.
static RankedTensorType mayEnd(const CompositeBody &body, Operation *root) {
  auto type = root->getNumResults() == 1 ? dyn_cast<RankedTensorType>(root->getResult(0).getType()) : RankedTensorType();
  bool isOther = !type || !isa<FloatType>(type.getElementType()) || root->getName() == body.whole->getName();
  return isOther || !beginsLike(body.parts.getDefiningOp(), root) ? nullptr : type;
}

std::optional<Mismatch> CompositeBody::explain(Operation *root) const {
  RankedTensorType type = mayEnd(*this, root);
  if (!type)
    return std::nullopt;
  Mismatch mismatch = explainMismatch(parts, block->getNumArguments(), root->getResult(0));
  std::optional<Bindings> found = matchBody(parts, block->getNumArguments(), root->getResult(0));
  if (!found)
    return mismatch;
  if (found->axes && !areAxesOf(whole, *found->axes, type.getRank()))
    mismatch.what = "the reductions are along dimension " + llvm::join(llvm::map_range(*found->axes, [](int64_t axis) { return std::to_string(axis); }), ", ") +
                    (hasScale(whole->getName().getStringRef()) ? ", expected the last ones" : ", expected one");
  else if (Operation *shared = findShared(root, found->inputs))
    mismatch.what = shared->getName().getStringRef().str() + " of " + llvm::join(listNodes(shared->getLoc()), " ") +
                    " has other users, for which it is computed anyway";
  return mismatch;
}

size_t CompositeBody::countOperations() const { return explainMismatch(parts, block->getNumArguments(), parts).matched.size(); }

Operation *CompositeBody::raise(OpBuilder &builder, Operation *root) const {
  RankedTensorType type = mayEnd(*this, root);
  if (!type)
    return nullptr;
  std::optional<Bindings> found = matchBody(parts, block->getNumArguments(), root->getResult(0));
  if (!found || (found->axes && !areAxesOf(whole, *found->axes, type.getRank())) || findShared(root, found->inputs))
    return nullptr;
  OperationState state(chainLocation(root, found->inputs), whole->getName());
  state.addTypes(type);
  for (NamedAttribute named : whole->getAttrDictionary()) {
    Attribute value = bindAttribute(builder, named, *found);
    if (!value)
      return nullptr;
    state.addAttribute(named.getName(), value);
  }
  for (Value operand : whole->getOperands())
    if (auto input = dyn_cast<BlockArgument>(operand)) {
      state.operands.push_back(found->inputs[input.getArgNumber()]);
    } else {
      DimExprs dims = getDims(type);
      auto small = makeTensorType(ArrayRef(dims).take_back(found->axes->size()), type.getElementType());
      state.operands.push_back(SplatOp::create(builder, root->getLoc(), small, FloatAttr::get(type.getElementType(), 1.0)));
    }
  return builder.create(state);
}
