//===- RolledLoops.cpp - Loops whose number of steps only run time knows -----===//
//
//   y, rows = Scan(state, x)      %y, %rows = nn.loop steps s0 step 1 carries(%state) uses(%x) axes [0] backwards [0] {
//   x of s0 slices           =>   ^bb0(%carried, %outside):  %slice = nn.slice %outside starts (s1, ...)
//                                   ... nn.yield %next, %row }
//
// A condition that is known only at run time is carried as well, together with the number of steps, to which the results' rows are cut.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/RolledLoops.h"
#include "compiler/import/Choices.h"
#include "compiler/import/ControlFlow.h"
#include "compiler/import/DataDims.h"
#include "compiler/import/NamedValues.h"
#include "compiler/import/SymbolicSizes.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/NNStructureOps.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/SaveAndRestore.h"
#include <functional>

using namespace mlir;

namespace kiln::import {

/// The number of steps assumed for a loop without a known limit, which no run reaches.
static constexpr int64_t endlessSteps = int64_t(1) << 40;
static constexpr StringLiteral bindWayOut = "fix the input that it depends on with --bind";

namespace {
/// A loop whose number of steps only run time knows: an nn.loop.
struct RolledLoop {
  /// The most steps, and the number of the present one.
  AffineExpr steps, step;
  /// Whether the model says what the most steps are.
  bool hasLimit = true;
  /// Whether the body gives a condition first, and that before the first step; null: it is true.
  bool isLoop = false;
  Value condition;
  SmallVector<Value> carried;
  /// Where the rows stand that steps give, and whether the first one stands last.
  SmallVector<int64_t> axes, backwards;
  /// Makes what a step gives, from what is carried.
  std::function<FailureOr<SmallVector<Value>>(ArrayRef<Value> carried)> body;
};
} // namespace

/// A value of the graph around a loop as its body sees it: an operation without operands is cloned into the body, other values become arguments.
static Value captureValue(Block &block, Value value, llvm::DenseMap<Value, Value> &inside, SmallVectorImpl<Value> &used) {
  if (Value known = inside.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  bool isRepeated = op && op->getNumOperands() == 0 && op->getNumResults() == 1 && isPure(op);
  if (!isRepeated)
    used.push_back(value);
  return inside[value] = isRepeated ? OpBuilder::atBlockBegin(&block).clone(*op)->getResult(0) : Value(block.addArgument(value.getType(), value.getLoc()));
}

/// Replaces what a body uses of the graph around it; returns the values of its new arguments.
static SmallVector<Value> captureValues(Block &block) {
  llvm::DenseMap<Value, Value> inside;
  SmallVector<Value> used;
  for (Operation &op : llvm::make_early_inc_range(block))
    for (OpOperand &operand : op.getOpOperands())
      if (operand.get().getParentBlock() != &block)
        operand.set(captureValue(block, operand.get(), inside, used));
  return used;
}

/// The next value of a carried value, in the type of the present one.
static Value keepType(Node &node, Value next, Value present) {
  static constexpr StringLiteral wayOut = "make the dimensions static with --dim, or fix the input that it depends on with --bind";
  if (!isa<RankedTensorType>(next.getType()) || node.elementType(next) != node.elementType(present)) {
    (void)node.error("a step changes the type of a carried value");
    return present;
  }
  DimExprs have = node.dims(next), want = node.dims(present);
  if (have.size() != want.size() || !llvm::all_of(llvm::zip(have, want), [](auto pair) { return nn::provablyEqual(std::get<0>(pair), std::get<1>(pair)); })) {
    std::string change = "a step changes a shape, " + describeShape(want) + " to " + describeShape(have);
    (void)node.unsupported(change + ", and the number of steps is known only at run time", wayOut);
    return present;
  }
  return node.reshape(next, want);
}

/// Makes arguments for what a loop carries, the step itself, and what it yields. False: the loop cannot end early.
static FailureOr<bool> importBlock(Node &node, const RolledLoop &rolled, Block &block) {
  OpBuilder &builder = node.builder();
  SmallVector<Value> present;
  for (Value value : rolled.carried)
    present.push_back(block.addArgument(value.getType(), node.loc));
  FailureOr<SmallVector<Value>> values = rolled.body(present);
  if (failed(values) || node.isUnsupported())
    return failure();
  ArrayRef<Value> next = *values;
  Value goesOn = rolled.isLoop ? next.front() : Value();
  next = next.drop_front(rolled.isLoop);
  bool endsEarly = goesOn && !(node.knownScalar(goesOn) == 1 && (!rolled.condition || node.knownScalar(rolled.condition) == 1));
  SmallVector<Value> yielded;
  if (endsEarly) {
    block.insertArgument(0u, RankedTensorType::get({}, builder.getI1Type()), node.loc);
    yielded.push_back(node.reshape(goesOn, {}));
  }
  for (auto [value, argument] : llvm::zip(next, present))
    yielded.push_back(keepType(node, value, argument));
  if (endsEarly) {
    auto type = RankedTensorType::get({}, builder.getI64Type());
    block.addArgument(type, node.loc);
    yielded.push_back(materialize(builder, node.loc, type, Number{rolled.step + 1}));
  }
  for (Value row : next.drop_front(present.size())) {
    if (!isa<RankedTensorType>(row.getType()))
      return node.error("the body gives a sequence to collect");
    yielded.push_back(row);
  }
  nn::YieldOp::create(builder, node.loc, yielded);
  return node.failed() ? FailureOr<bool>(failure()) : FailureOr<bool>(endsEarly);
}

/// Makes the body of a loop. Its values are not visible outside.
static FailureOr<bool> importStep(Node &node, const RolledLoop &rolled, nn::LoopOp loop) {
  OpBuilder &builder = node.builder();
  Operation *around = node.values().enterLoop(loop);
  llvm::SaveAndRestore chosen(node.choices().chosen);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = loop.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  node.sizes().enterConditional();
  FailureOr<bool> endsEarly = importBlock(node, rolled, block);
  node.sizes().leaveConditional();
  node.values().leaveLoop(around);
  return endsEarly;
}

/// Refuses a body whose own symbols would have to be known outside of it.
static LogicalResult checkStep(Node &node, Block &block, size_t states, unsigned firstSymbol, size_t checks, bool endsEarly) {
  auto isOwn = [&](AffineExpr expr) {
    bool found = false;
    expr.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      found |= symbol && symbol.getPosition() >= firstSymbol;
    });
    return found;
  };
  static constexpr StringLiteral wayOut = "make the dimensions static with --dim";
  for (Value row : block.getTerminator()->getOperands().drop_front(states))
    if (llvm::any_of(node.dims(row), isOwn))
      return node.unsupported("the shape of what a step gives is known only in that step, and the number of steps at run time", wayOut);
  ArrayRef<nn::Constraint> added = node.sizes().constraintsSince(checks);
  bool areOfStep = llvm::any_of(added, [&](const nn::Constraint &constraint) { return isOwn(constraint.mustBeZero); });
  if ((endsEarly && !added.empty()) || areOfStep) {
    node.sizes().dropConstraintsSince(checks);
    return node.unsupported("a step needs dimensions to be equal that are not known to be, and the number of steps is known only at run time", wayOut);
  }
  return success();
}

/// An nn.loop; its results are what is carried, and behind it the rows; none where it is not supported. What the body uses of the graph around it becomes
/// operands.
static LogicalResult makeLoop(Node &node, RolledLoop &rolled, SmallVectorImpl<Value> &all) {
  OpBuilder &builder = node.builder();
  if (!llvm::all_of(rolled.carried, [](Value value) { return isa<RankedTensorType>(value.getType()); }))
    return node.unsupported("a carried value is a sequence, and the number of steps is known only at run time", bindWayOut);
  size_t checks = node.sizes().countConstraints(), bytes = node.countKeptBytes();
  node.requireNotNegative(rolled.steps, "the number of steps is negative");
  unsigned firstSymbol = node.sizes().size();
  rolled.step = node.computedDim(rolled.steps, node.outputName(0) + "_step");
  if (node.failed())
    return failure();
  AffineMap steps = AffineMap::get(0, nn::countSymbols(rolled.steps), rolled.steps);
  // The types of the results follow from the body.
  auto make = [&](TypeRange types, bool endsEarly, ValueRange carried, ValueRange used) {
    return nn::LoopOp::create(builder, node.loc, types, steps, firstSymbol, endsEarly, carried, used, rolled.axes, rolled.backwards);
  };
  nn::LoopOp draft = make({}, false, {}, {});
  FailureOr<bool> endsEarly = importStep(node, rolled, draft);
  if (failed(endsEarly))
    return failure(node.failed() || !node.isUnsupported());
  Block &block = draft.getBody().front();
  SmallVector<Value> carried = rolled.carried;
  if (*endsEarly) {
    auto condition = RankedTensorType::get({}, builder.getI1Type()), count = RankedTensorType::get({}, builder.getI64Type());
    carried.insert(carried.begin(), rolled.condition ? node.reshape(rolled.condition, {}) : materialize(builder, node.loc, condition, Number{node.number(1)}));
    carried.push_back(materialize(builder, node.loc, count, Number{node.number(0)}));
  }
  if (failed(checkStep(node, block, carried.size(), firstSymbol, checks, *endsEarly)))
    return failure();
  auto limit = nn::getConstantDim(node.sizes().computed().getUpperBound(rolled.steps));
  bool isLimited = !limit || *limit < endlessSteps;
  if (!*endsEarly && !rolled.hasLimit)
    return node.error("the loop never ends: nothing limits its steps, and its condition always holds");
  if (!isLimited && !rolled.axes.empty())
    return node.unsupported("the number of steps is known only at run time, and each gives a row of a result", bindWayOut);
  if (node.countKeptBytes() != bytes)
    return node.unsupported("a step makes strings, and the number of steps is known only at run time");
  SmallVector<Type> types(ValueRange(carried).getTypes());
  for (auto [i, row] : llvm::enumerate(block.getTerminator()->getOperands().drop_front(carried.size()))) {
    DimExprs dims = node.dims(row);
    rolled.axes[i] = node.axis(rolled.axes[i], dims.size() + 1);
    dims.insert(dims.begin() + rolled.axes[i], rolled.steps);
    types.push_back(node.type(dims, node.elementType(row)));
  }
  if (node.failed())
    return failure();
  SmallVector<Value> used = captureValues(block);
  nn::LoopOp loop = make(types, *endsEarly, carried, used);
  loop.getBody().takeBody(draft.getBody());
  draft.erase();
  if (failed(mlir::verify(loop)))
    return node.error(node.verifierMessage());
  SmallVector<Value> results(loop.getResults());
  ArrayRef<Value> rows = ArrayRef(results).drop_front(carried.size());
  llvm::append_range(all, ArrayRef(results).slice(*endsEarly, rolled.carried.size()));
  // Only the rows of the steps that ran.
  AffineExpr count = rolled.steps;
  if (*endsEarly && !rows.empty())
    count = node.choices().computeDim(node, results[carried.size() - 1], rolled.steps, node.outputName(0) + "_steps");
  for (auto [row, axis] : llvm::zip_equal(rows, rolled.axes))
    all.push_back(node.slice(row, axis, node.number(0), count));
  return success();
}

static LogicalResult setLoop(Node &node, RolledLoop &rolled) {
  SmallVector<Value> all;
  LogicalResult made = makeLoop(node, rolled, all);
  return failed(made) || all.empty() ? made : node.setResults(all);
}

LogicalResult buildLoop(Node &node, AffineExpr steps, ArrayRef<Value> carried, ArrayRef<int64_t> backwards, LoopBody body, SmallVectorImpl<Value> &results,
                        Value condition) {
  RolledLoop rolled;
  rolled.isLoop = condition != nullptr;
  rolled.condition = condition;
  rolled.steps = steps;
  rolled.carried.assign(carried.begin(), carried.end());
  rolled.axes.assign(backwards.size(), 0);
  rolled.backwards.assign(backwards.begin(), backwards.end());
  rolled.body = [&](ArrayRef<Value> present) { return body(rolled.step, present); };
  return makeLoop(node, rolled, results);
}

/// The most steps of a loop. Only one whose steps give rows needs the caller's bound where nothing else is known.
static AffineExpr boundSteps(Node &node, Value steps, bool givesRows) {
  AffineExpr most = findUpperBound(node, steps);
  return most || givesRows ? most : node.number(endlessSteps);
}

LogicalResult rollLoop(Node &node, const onnx::GraphProto &graph) {
  Value most = node.allInputs()[0];
  RolledLoop rolled;
  rolled.isLoop = true;
  rolled.hasLimit = most != nullptr;
  rolled.condition = node.allInputs()[1];
  rolled.carried.assign(node.allInputs().begin() + 2, node.allInputs().end());
  rolled.axes.assign(graph.output_size() - 1 - rolled.carried.size(), 0);
  rolled.backwards = rolled.axes;
  bool isTensor = most && isa<RankedTensorType>(most.getType());
  auto known = isTensor ? getIntegerContents(most) : std::nullopt;
  if (!rolled.hasLimit)
    rolled.steps = node.number(endlessSteps);
  else if (known && known->size() == 1)
    rolled.steps = known->front();
  else if (!isTensor || !node.elementType(most).isSignlessInteger(64))
    return node.error("the number of steps is not of type int64");
  else if (node.unify(nn::getNumElements(node.dims(most), node.context()), node.number(1), "the number of steps must be one number: elements"))
    rolled.steps = makeDataDim(node, most, boundSteps(node, most, !rolled.axes.empty()), node.outputName(0) + "_trips");
  OpBuilder &builder = node.builder();
  rolled.body = [&](ArrayRef<Value> carried) {
    Value number = materialize(builder, node.loc, RankedTensorType::get({}, builder.getI64Type()), Number{rolled.step});
    Value holds = materialize(builder, node.loc, RankedTensorType::get({}, builder.getI1Type()), Number{node.number(1)});
    SmallVector<Value> arguments{number, holds};
    llvm::append_range(arguments, carried);
    return node.importBody(graph, arguments, node.name() + "/");
  };
  return node.failed() ? failure() : setLoop(node, rolled);
}

Value sliceStep(Node &node, Value scanned, int64_t axis, AffineExpr step) {
  DimExprs dims = node.dims(scanned);
  dims.erase(dims.begin() + axis);
  return node.reshape(node.slice(scanned, axis, step, node.number(1)), dims);
}

/// One step for each slice of inputs whose length only run time knows, or is too large to write all steps out.
LogicalResult rollScan(Node &node, const onnx::GraphProto &graph, const ScanAxes &scan, AffineExpr steps) {
  ArrayRef<Value> inputs = node.allInputs(), scanned = inputs.take_back(scan.axes.size());
  RolledLoop rolled;
  rolled.steps = steps;
  rolled.carried.assign(inputs.begin(), scanned.begin());
  rolled.axes = scan.outAxes;
  rolled.backwards = scan.outBackwards;
  rolled.body = [&](ArrayRef<Value> carried) {
    SmallVector<Value> arguments(carried);
    for (auto [i, value] : llvm::enumerate(scanned))
      arguments.push_back(sliceStep(node, value, scan.axes[i], scan.backwards[i] ? steps - 1 - rolled.step : rolled.step));
    return node.importBody(graph, arguments, node.name() + "/");
  };
  return setLoop(node, rolled);
}

} // namespace kiln::import
