//===- Alternatives.cpp - Both sides of a condition that only a run knows ---===//
#include "compiler/import/Alternatives.h"
#include "compiler/import/Choices.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/SymbolicSizes.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace kiln::import {

Value makeAlternatives(OpBuilder &builder, Location loc, const Alternatives &alternatives) {
  SmallVector<Value> parts = {alternatives.condition, alternatives.then, alternatives.otherwise};
  // No other value has a function's type.
  Type type = FunctionType::get(builder.getContext(), ValueRange(parts).getTypes(), {});
  return UnrealizedConversionCastOp::create(builder, loc, type, parts).getResult(0);
}

std::optional<Alternatives> getAlternatives(Value value) {
  auto cast = value && isa<FunctionType>(value.getType()) ? value.getDefiningOp<UnrealizedConversionCastOp>() : UnrealizedConversionCastOp();
  return cast ? std::optional(Alternatives{cast.getOperand(0), cast.getOperand(1), cast.getOperand(2)}) : std::nullopt;
}

//===- What is known on a side ------------------------------------------------===//

/// The most operations that a comparison of two conditions looks at.
static constexpr unsigned mostCompared = 32;

/// Whether two values are computed alike.
static bool areSame(Value a, Value b, unsigned &left) {
  if (a == b || left == 0)
    return a == b;
  --left;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && isPure(x) && x->getNumRegions() == 0 && cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             x, y, [&](Value operand, Value other) { return success(areSame(operand, other, left)); }, nullptr, OperationEquivalence::IgnoreLocations);
}

/// The truth value without what negates or reshapes it, and whether it was negated.
static std::pair<Value, bool> stripCondition(Value condition) {
  bool isNegated = false;
  for (;;) {
    auto negation = condition.getDefiningOp<nn::NotOp>();
    if (!negation && !condition.getDefiningOp<nn::ReshapeOp>())
      return {condition, isNegated};
    isNegated ^= static_cast<bool>(negation);
    condition = condition.getDefiningOp()->getOperand(0);
  }
}

std::optional<bool> TakenSides::find(Value condition) const {
  auto [value, isNegated] = stripCondition(condition);
  for (auto [known, holds] : sides) {
    auto [other, isOtherNegated] = stripCondition(known);
    unsigned left = mostCompared;
    if (areSame(value, other, left))
      return holds != (isNegated != isOtherNegated);
  }
  return std::nullopt;
}

Value TakenSides::resolve(Value value) const {
  while (auto alternatives = getAlternatives(value)) {
    std::optional<bool> holds = find(alternatives->condition);
    if (!holds)
      return value;
    value = *holds ? alternatives->then : alternatives->otherwise;
  }
  return value;
}

//===- Sides --------------------------------------------------------------===//

namespace {
/// One side of a condition.
struct Side {
  SmallVector<Value> values;
  /// Why no run can take it; empty if one can.
  std::string fault;
  /// A run that takes the side fulfils them.
  std::vector<nn::Constraint> constraints;
};
} // namespace

static FailureOr<Side> importSide(Node &node, Value condition, bool holds, function_ref<FailureOr<SmallVector<Value>>(bool)> import) {
  SymbolicSizes &sizes = node.sizes();
  size_t checks = sizes.countConstraints();
  sizes.enterConditional();
  node.choices().taken.enter(condition, holds);
  FailureOr<SmallVector<Value>> values = import(holds);
  node.choices().taken.leave();
  sizes.leaveConditional();
  Side side;
  if (succeeded(values)) {
    side.values = *values;
    llvm::append_range(side.constraints, sizes.constraintsSince(checks));
  } else if (std::optional<std::string> fault = node.takeFault()) {
    side.fault = *fault;
  } else {
    return failure();
  }
  sizes.dropConstraintsSince(checks);
  return side;
}

/// Has a run that takes the side check what it demands.
static void checkSide(Node &node, Value condition, bool holds, const Side &side) {
  if (node.failed() || (side.fault.empty() && side.constraints.empty()))
    return;
  OpBuilder &builder = node.builder();
  auto truth = RankedTensorType::get({}, builder.getI1Type()), integer = RankedTensorType::get({}, builder.getI64Type());
  Value isRight = materialize(builder, node.loc, truth, Number{node.number(side.fault.empty())});
  Value yes = materialize(builder, node.loc, truth, Number{node.number(1)});
  bool isComputed = false;
  for (const nn::Constraint &constraint : side.constraints) {
    isComputed |= node.sizes().computed().isIn(constraint.mustBeZero);
    Value number = materialize(builder, node.loc, integer, Number{constraint.mustBeZero});
    isRight = node.binary<nn::AndOp>(isRight, node.compare<nn::EqualOp>(number, node.splatLike(number, 0)));
  }
  Value then = holds ? isRight : yes, otherwise = holds ? yes : isRight;
  // A size that a side computes exists only if a run takes it.
  isRight = isComputed ? node.make<nn::ChooseOp>(truth, condition, then, otherwise) : node.make<nn::SelectOp>(truth, condition, then, otherwise);
  expectInRun(node, isRight, holds ? "if_so" : "if_not", side.constraints.empty() ? node.describe() : side.constraints.front().node);
}

/// Whether the two are numbers that the compiler knows, and not the same.
static bool areDifferentNumbers(Value then, Value otherwise) {
  auto left = getIntegerContents(then), right = getIntegerContents(otherwise);
  return left && right && !llvm::equal(*left, *right, [](AffineExpr a, AffineExpr b) { return nn::provablyEqual(a, b); });
}

/// Whether the values must stay apart.
static bool areApart(Node &node, Value then, Value otherwise, bool keepsNumbers) {
  if (getAlternatives(then) || getAlternatives(otherwise))
    return then != otherwise;
  if (!isa<RankedTensorType>(then.getType()) || !isa<RankedTensorType>(otherwise.getType()))
    return false;
  return node.rank(then) != node.rank(otherwise) || (keepsNumbers && areDifferentNumbers(then, otherwise));
}

LogicalResult importSides(Node &node, Value condition, bool isTail, function_ref<FailureOr<SmallVector<Value>>(bool)> import) {
  FailureOr<Side> then = importSide(node, condition, true, import);
  if (failed(then) || node.isUnsupported())
    return failure(failed(then));
  FailureOr<Side> otherwise = importSide(node, condition, false, import);
  if (failed(otherwise) || node.isUnsupported())
    return failure(failed(otherwise));
  if (!then->fault.empty() && !otherwise->fault.empty())
    return node.fault(then->fault);
  for (const Side *side : {&*then, &*otherwise})
    if (!isTail && !side->fault.empty() && failed(node.noteDeadSide(side == &*then, side->fault)))
      return failure();
  checkSide(node, condition, true, *then);
  checkSide(node, condition, false, *otherwise);
  if (!then->fault.empty() || !otherwise->fault.empty())
    return node.setResults(then->fault.empty() ? then->values : otherwise->values);
  bool isApart = isTail;
  for (auto [value, other] : llvm::zip_equal(then->values, otherwise->values))
    isApart |= areApart(node, value, other, false);
  SmallVector<Value> joined;
  for (auto [i, value, other] : llvm::enumerate(then->values, otherwise->values)) {
    if (node.failed())
      return failure();
    if (value == other || !value || !other)
      joined.push_back(value && other ? value : Value());
    else if (areApart(node, value, other, isApart))
      joined.push_back(makeAlternatives(node.builder(), node.loc, {condition, value, other}));
    else
      joined.push_back(node.choices().joinValues(node, condition, value, other, "its branches give different ranks", node.outputName(i)));
  }
  return node.setResults(joined);
}

//===- Outputs -------------------------------------------------------------===//

namespace {
/// The alternatives of one rank, and whether a run has them, as an i1 of rank 0. Null: no alternative has the rank.
struct Settled {
  Value value, isRight;
};
} // namespace

static Settled settle(Node &node, Value value, int64_t rank) {
  auto truth = RankedTensorType::get({}, node.builder().getI1Type());
  std::optional<Alternatives> sides = getAlternatives(value);
  if (!sides) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    bool isRight = type && type.getRank() == rank;
    return {isRight ? value : Value(), materialize(node.builder(), node.loc, truth, Number{node.number(isRight)})};
  }
  Settled then = settle(node, sides->then, rank), otherwise = settle(node, sides->otherwise, rank);
  if (node.failed())
    return then;
  Value isRight = node.make<nn::ChooseOp>(truth, sides->condition, then.isRight, otherwise.isRight);
  if (!then.value || !otherwise.value)
    return {then.value ? then.value : otherwise.value, isRight};
  return {node.choices().joinValues(node, sides->condition, then.value, otherwise.value, "", node.outputName(0)), isRight};
}

Value settleRank(Node &node, Value value, int64_t rank) {
  if (!getAlternatives(value))
    return value;
  auto [settled, isRight] = settle(node, value, rank);
  if (!settled)
    return value;
  expectInRun(node, isRight, "rank_as_declared");
  return settled;
}

} // namespace kiln::import
