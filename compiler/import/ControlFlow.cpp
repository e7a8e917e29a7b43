//===- ControlFlow.cpp - Operators with bodies as straight lines -------------===//
//
// A branch whose condition is known is taken at compile time. Otherwise both branches become straight-line code that an nn.choose joins (Alternatives.h). A
// loop whose number of steps is known is unrolled; others become an nn.loop (RolledLoops.cpp).
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ControlFlow.h"
#include "compiler/import/AlignDims.h"
#include "compiler/import/Alternatives.h"
#include "compiler/import/BatchedScan.h"
#include "compiler/import/BeamSearch.h"
#include "compiler/import/Choices.h"
#include "compiler/import/Gradient.h"
#include "compiler/import/GreedySearch.h"
#include "compiler/import/RolledLoops.h"
#include "compiler/import/SequenceValues.h"
#include "compiler/import/SymbolicSizes.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNStructureOps.h"

#include <cmath>

using namespace mlir;

namespace kiln::import {

/// The most steps of an unrolled loop. Loops in each other whose steps together have too many nodes are rolled, too (Node::areTooMany).
static constexpr int64_t mostSteps = 4096;
/// The most steps of an unrolled loop that may end early at run time: each step is launched under its own condition.
static constexpr int64_t mostGuardedSteps = 64;

namespace {
/// The steps of a loop that have been imported one after the other, which a rolled loop may replace.
struct UnrolledSteps {
  explicit UnrolledSteps(Node &node) : node(node), checks(node.sizes().countConstraints()), first(node.countNodes()) {}
  bool areTooMany() const { return node.areTooMany(first); }
  void discard() {
    node.sizes().dropConstraintsSince(checks);
    node.discardNodes(first);
  }

  Node &node;
  size_t checks;
  Node::NodeCount first;
};
} // namespace

static LogicalResult inlineIf(Node &node) {
  const onnx::GraphProto *thenBranch = node.findBody("then_branch");
  const onnx::GraphProto *elseBranch = node.findBody("else_branch");
  if (!thenBranch || !elseBranch)
    return node.error("attribute '" + StringRef(thenBranch ? "else_branch" : "then_branch") + "' is missing");
  Value condition = node.input(0);
  if (node.failed())
    return failure();
  auto type = dyn_cast<RankedTensorType>(condition.getType());
  if (!type || !type.getElementType().isInteger(1))
    return node.error("the condition has an element type other than bool");
  if (type.hasStaticShape() && type.getNumElements() != 1)
    return node.error("the condition has " + Twine(type.getNumElements()) + " elements, expected one");
  condition = node.reshape(condition, {});
  auto known = node.knownScalar(condition);
  if (std::optional<bool> holds = known ? std::nullopt : node.choices().taken.find(condition))
    known = *holds;
  for (const onnx::GraphProto *graph : {thenBranch, elseBranch})
    if (graph->input_size() != 0)
      return node.error("the branch has " + Twine(graph->input_size()) + " inputs, expected none");
    else if (graph->output_size() != static_cast<int>(node.numOutputs()))
      return node.error("the branch has " + Twine(graph->output_size()) + " outputs, the node " + Twine(node.numOutputs()));
  auto import = [&](bool holds) { return node.importBranch(holds ? *thenBranch : *elseBranch); };
  // Operations that only one of the branches needs run only if it is taken (passes/lowering/entry/Guards.h).
  if (!known)
    return importSides(node, condition, /*isTail=*/false, import);
  FailureOr<SmallVector<Value>> results = import(*known);
  if (succeeded(results))
    return node.setResults(*results);
  return failure();
}

namespace {
/// A loop between two of its steps.
struct LoopState {
  SmallVector<Value> carried;
  Value condition;
  /// Whether the steps so far all happened; null: they do.
  Value alive;
  std::vector<SmallVector<Value>> scanned;
};
} // namespace

/// The results of the steps, concatenated along a new axis.
static Value stack(Node &node, ArrayRef<Value> steps, int64_t axis) {
  SmallVector<Value> rows;
  for (Value step : steps) {
    DimExprs dims = node.dims(step);
    dims.insert(dims.begin() + axis, node.number(1));
    rows.push_back(node.reshape(step, dims));
  }
  return node.concat(rows, axis);
}

/// The arguments of a loop's body in a step.
static SmallVector<Value> stepArguments(Node &node, int64_t step, ArrayRef<Value> carried) {
  OpBuilder &builder = node.builder();
  Contents number = {{node.number(step)}}, holds = {{node.number(1)}};
  SmallVector<Value> arguments = {materialize(builder, node.loc, RankedTensorType::get({}, builder.getI64Type()), number),
                                  materialize(builder, node.loc, RankedTensorType::get({}, builder.getI1Type()), holds)};
  llvm::append_range(arguments, carried);
  return arguments;
}

/// The scan outputs of a loop without steps: empty tensors, with the shapes that the body gives.
static LogicalResult collectNothing(Node &node, const onnx::GraphProto &graph, SmallVectorImpl<Value> &carried) {
  size_t results = carried.size(), checks = node.sizes().countConstraints();
  node.sizes().enterConditional();
  FailureOr<SmallVector<Value>> values = node.importBody(graph, stepArguments(node, 0, carried), node.name() + "[0]/");
  node.sizes().leaveConditional();
  // The step never runs, so its constraints do not apply.
  node.sizes().dropConstraintsSince(checks);
  if (failed(values) || node.isUnsupported())
    return failure(failed(values));
  for (Value row : ArrayRef(*values).drop_front(1 + results)) {
    if (!isa<RankedTensorType>(row.getType()))
      return node.error("the body gives a sequence to collect");
    DimExprs dims = node.dims(row);
    dims.insert(dims.begin(), node.number(0));
    carried.push_back(node.splat(dims, node.elementType(row), 0));
  }
  return success();
}

/// One step of a loop that may have ended early, in which case the state does not change. `alive` says whether the loop still runs.
static LogicalResult takeStep(Node &node, const onnx::GraphProto &graph, int64_t step, LoopState &state) {
  size_t checks = node.sizes().countConstraints(), results = state.carried.size();
  if (state.alive)
    node.sizes().enterConditional();
  FailureOr<SmallVector<Value>> values = node.importBody(graph, stepArguments(node, step, state.carried), node.name() + "[" + Twine(step) + "]/");
  if (state.alive)
    node.sizes().leaveConditional();
  if (failed(values) || node.isUnsupported())
    return failure(failed(values));
  if (state.alive && node.sizes().countConstraints() != checks) {
    node.sizes().dropConstraintsSince(checks);
    return node.unsupported("a step needs dimensions to be equal that are not known to be, and the number of steps is known only at run time",
                            "make the dimensions static with --dim or --shape, or fix the input that it depends on with --bind");
  }
  state.condition = values->front();
  for (size_t i = 0; i < results && !node.failed(); ++i) {
    Value next = (*values)[1 + i];
    state.carried[i] = state.alive ? node.choices().joinValues(node, state.alive, next, state.carried[i], "a step changes a rank", node.outputName(i)) : next;
  }
  for (auto [rows, row] : llvm::zip_equal(state.scanned, ArrayRef(*values).drop_front(1 + results))) {
    if (!isa<RankedTensorType>(row.getType()))
      return node.error("the body gives a sequence to collect");
    rows.push_back(row);
  }
  return failure(node.failed());
}

/// Unrolls a Loop while its condition holds, at most as often as the first input says. A condition that is known only at run time becomes that of
/// each of the steps.
static LogicalResult unrollLoop(Node &node) {
  const onnx::GraphProto *body = node.findBody("body");
  if (!body || node.allInputs().size() < 2)
    return node.error("has no body, or less than two inputs");
  const onnx::GraphProto &graph = *body;
  LoopState state;
  state.carried.assign(node.allInputs().begin() + 2, node.allInputs().end());
  size_t results = state.carried.size();
  size_t given = graph.output_size();
  if (llvm::is_contained(state.carried, Value()) || given < results + 1 || given - 1 < node.numOutputs())
    return node.error("inputs, outputs and those of the body do not fit each other");
  std::optional<int64_t> most = node.allInputs()[0] ? node.knownScalar(node.allInputs()[0]) : std::optional(std::numeric_limits<int64_t>::max());
  state.condition = node.allInputs()[1];
  UnrolledSteps unrolled(node);
  state.scanned.resize(graph.output_size() - 1 - results);
  for (int64_t step = 0;; ++step) {
    auto goesOn = state.condition ? node.knownScalar(state.condition) : std::optional<int64_t>(1);
    bool isGuarded = !goesOn || state.alive;
    if (!most || step == mostSteps || unrolled.areTooMany() || (isGuarded && (*most > mostGuardedSteps || !state.scanned.empty()))) {
      unrolled.discard();
      return rollLoop(node, graph);
    }
    if (step >= *most || (goesOn && !*goesOn))
      break;
    if (!goesOn) {
      Value condition = node.reshape(state.condition, {});
      state.alive = state.alive ? node.make<nn::ChooseOp>(condition.getType(), state.alive, condition, state.alive) : condition;
    }
    if (failed(takeStep(node, graph, step, state)))
      return failure();
    if (node.isUnsupported())
      return success();
  }
  SmallVector<Value> all = state.carried;
  if (!state.scanned.empty() && state.scanned.front().empty()) {
    if (failed(collectNothing(node, graph, all)) || node.isUnsupported())
      return failure(!node.isUnsupported());
  } else {
    for (const SmallVector<Value> &rows : state.scanned)
      all.push_back(stack(node, rows, 0));
  }
  return node.setResults(all);
}

/// One entry of a list attribute for each of `count` values.
static SmallVector<int64_t> readList(Node &node, StringRef name, size_t count) {
  SmallVector<int64_t> list = node.findInts(name).value_or(SmallVector<int64_t>(count, 0));
  if (list.size() != count)
    (void)node.error("attribute '" + name + "' has " + Twine(list.size()) + " entries, expected " + Twine(count));
  list.resize(count, 0);
  return list;
}

/// One step for each slice of the scanned inputs.
static LogicalResult unrollScan(Node &node) {
  const onnx::GraphProto *body = node.findBody("body");
  if (body && node.opset < 9)
    return unrollBatchedScan(node, *body);
  int64_t scans = node.requireInt("num_scan_inputs"), inputs = static_cast<int64_t>(node.allInputs().size());
  if (!body || node.failed())
    return node.error("has no body");
  const onnx::GraphProto &graph = *body;
  if (scans < 1 || scans > inputs)
    return node.error("num_scan_inputs is " + Twine(scans) + ", expected 1 to " + Twine(inputs));
  int64_t states = inputs - scans;
  if (llvm::is_contained(node.allInputs(), Value()) || graph.output_size() < states || graph.output_size() < static_cast<int>(node.numOutputs()))
    return node.error("inputs, outputs and those of the body do not fit each other");
  size_t rows = graph.output_size() - states;
  ScanAxes scan{readList(node, "scan_input_axes", scans), readList(node, "scan_input_directions", scans), readList(node, "scan_output_axes", rows),
                readList(node, "scan_output_directions", rows)};
  auto &[axes, backwards, outAxes, outBackwards] = scan;
  ArrayRef<Value> scanned = ArrayRef(node.allInputs()).drop_front(states);
  if (!llvm::all_of(scanned, [](Value value) { return isa<RankedTensorType>(value.getType()); }))
    return node.error("a scanned input is a sequence, expected a tensor");
  auto isDirection = [](int64_t direction) { return direction == 0 || direction == 1; };
  if (!llvm::all_of(backwards, isDirection) || !llvm::all_of(outBackwards, isDirection))
    return node.error("a scan direction is neither 0 nor 1");
  AffineExpr length;
  for (auto [axis, value] : llvm::zip_equal(axes, scanned)) {
    axis = node.axis(axis, node.rank(value));
    if (node.failed())
      return failure();
    AffineExpr size = node.sizes().usePinned(node.dims(value)[axis]);
    if (length && !node.unify(length, size, "scanned inputs have different lengths"))
      return failure();
    length = length && nn::getConstantDim(length) ? length : size;
  }
  auto steps = nn::getConstantDim(length);
  if (!steps || *steps < 1 || *steps > mostSteps)
    return rollScan(node, graph, scan, length);
  SmallVector<Value> carried(node.allInputs().begin(), node.allInputs().begin() + states);
  std::vector<SmallVector<Value>> collected(outAxes.size());
  UnrolledSteps unrolled(node);
  for (int64_t step = 0; step < *steps; ++step) {
    if (unrolled.areTooMany()) {
      unrolled.discard();
      return rollScan(node, graph, scan, length);
    }
    SmallVector<Value> arguments = carried;
    for (auto [i, value] : llvm::enumerate(scanned))
      arguments.push_back(sliceStep(node, value, axes[i], node.number(backwards[i] ? *steps - 1 - step : step)));
    FailureOr<SmallVector<Value>> values = node.importBody(graph, arguments, node.name() + "[" + Twine(step) + "]/");
    if (failed(values) || node.isUnsupported())
      return failure(failed(values));
    carried.assign(values->begin(), values->begin() + states);
    if (!llvm::all_of(ArrayRef(*values).drop_front(states), [](Value value) { return isa<RankedTensorType>(value.getType()); }))
      return node.error("the body gives a sequence to collect");
    for (auto [rows, row] : llvm::zip_equal(collected, ArrayRef(*values).drop_front(states)))
      rows.insert(outBackwards[&rows - collected.data()] ? rows.begin() : rows.end(), row);
  }
  SmallVector<Value> all = carried;
  for (auto [axis, rows] : llvm::zip_equal(outAxes, collected))
    all.push_back(stack(node, rows, node.axis(axis, node.rank(rows.front()) + 1)));
  return node.setResults(all);
}

/// One step for each element of the sequences; each result is a sequence of what the steps give.
static LogicalResult mapSequence(Node &node) {
  const onnx::GraphProto *body = node.findBody("body");
  if (!body || node.allInputs().empty() || llvm::is_contained(node.allInputs(), Value()))
    return node.error("has no body, or an input is missing");
  const onnx::GraphProto &graph = *body;
  auto first = getElements(node.allInputs().front());
  if (!first)
    return node.error("expected a sequence, got a tensor");
  if (graph.output_size() < static_cast<int>(node.numOutputs()))
    return node.error("the body has " + Twine(graph.output_size()) + " outputs, the node " + Twine(node.numOutputs()));
  std::vector<SmallVector<Value>> collected(graph.output_size());
  for (size_t step = 0; step < first->size(); ++step) {
    SmallVector<Value> arguments;
    for (Value input : node.allInputs()) {
      auto list = getElements(input);
      if (list && list->size() != first->size())
        return node.error("its sequences have different lengths: " + Twine(first->size()) + " and " + Twine(list->size()));
      arguments.push_back(list ? (*list)[step] : input);
    }
    FailureOr<SmallVector<Value>> values = node.importBody(graph, arguments, node.name() + "[" + Twine(step) + "]/");
    if (failed(values))
      return failure();
    if (node.isUnsupported())
      return success();
    for (auto [list, value] : llvm::zip_equal(collected, *values)) {
      if (!isa<RankedTensorType>(value.getType()))
        return node.error("the body gives a sequence to collect");
      list.push_back(value);
    }
  }
  SmallVector<Value> sequences;
  for (size_t i = 0; i < node.numOutputs(); ++i)
    sequences.push_back(makeSequence(node.builder(), node.loc, collected[i]));
  return node.setResults(sequences);
}

/// softmax(scale * Q K^T) V, where bodies may change the scores before the softmax and the probabilities behind it.
static LogicalResult buildFlexAttention(Node &node) {
  Value query = node.input(0), key = node.input(1), value = node.input(2);
  // Replaces the value by the result of a body. If the body is not supported, the value stays.
  auto change = [&](StringRef name, Value &what) -> LogicalResult {
    const onnx::GraphProto *body = node.hasAttribute(name) ? node.findBody(name) : nullptr;
    if (!body || node.failed())
      return failure(node.failed());
    FailureOr<SmallVector<Value>> changed = node.importBody(*body, {what}, node.name() + "/");
    if (failed(changed) || node.isUnsupported())
      return failure(failed(changed));
    std::string mismatch = ("the body of '" + name + "' does not yield a value of the type that it takes").str();
    if (changed->size() != 1 || !isa<RankedTensorType>(changed->front().getType()) || node.elementType(changed->front()) != node.elementType(what))
      return node.error(mismatch);
    what = alignDims(node, changed->front(), node.dims(what), mismatch);
    return failure(node.failed());
  };
  for (Value operand : {query, key, value})
    if (!node.failed() && (!isa<RankedTensorType>(operand.getType()) || !node.expectRank(operand, 4, "an input")))
      return node.error("expected queries, keys and values [batch, heads, length, size]");
  if (node.failed())
    return failure();
  DimExprs q = node.dims(query), k = node.dims(key);
  auto heads = nn::getConstantDim(q[1]), groups = nn::getConstantDim(k[1]), size = nn::getConstantDim(q[3]);
  if (!heads || !groups || !size || *groups < 1 || *heads % *groups || *size < 1)
    return node.error("query heads must be a static multiple of key and value heads, and their size static");
  // Query heads that share keys become rows of one product.
  Type element = node.elementType(query), wide = element.isF64() ? element : Type(node.builder().getF32Type());
  auto grouped = [&](Value x) {
    DimExprs d = node.dims(x);
    return node.reshape(x, {d[0], k[1], node.number(*heads / *groups) * d[2], d[3]});
  };
  auto apart = [&](Value x) { return node.reshape(x, {q[0], q[1], q[2], node.dims(x)[3]}); };
  double scale = node.getFloat("scale", 1 / std::sqrt(static_cast<double>(*size)));
  Value scores = apart(node.matmul(grouped(node.cast(query, wide)), node.transpose(node.cast(key, wide), {0, 1, 3, 2})));
  scores = node.binary<nn::MulOp>(scores, scale);
  if (failed(change("score_mod", scores)))
    return failure();
  Value shares = node.unary<nn::SoftmaxOp>(scores, node.builder().getI64IntegerAttr(3));
  if (failed(change("prob_mod", shares)) || node.isUnsupported())
    return success(node.isUnsupported());
  return node.result(node.cast(apart(node.matmul(grouped(shares), node.cast(value, wide))), element));
}

ControlFlow findControlFlow(StringRef domain, StringRef name) {
  if (domain == "ai.onnx.preview" && name == "FlexAttention")
    return buildFlexAttention;
  if (domain == "ai.onnx.preview.training" && name == "Gradient")
    return differentiate;
  if (domain == "com.microsoft" && (name == "GreedySearch" || name == "Sampling"))
    return searchGreedily;
  if (domain == "com.microsoft" && (name == "BeamSearch" || name == "WhisperBeamSearch"))
    return searchBeams;
  if (!domain.empty())
    return nullptr;
  return name == "If"            ? inlineIf
         : name == "Loop"        ? unrollLoop
         : name == "Scan"        ? unrollScan
         : name == "SequenceMap" ? mapSequence
                                 : nullptr;
}

} // namespace kiln::import
