//===- StepGraph.cpp - Where a model can be cut into stages ----------------===//
#include "compiler/cut/StepGraph.h"
#include "compiler/Decisions.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/entry/Guards.h"
#include "passes/target/groups/Places.h"
#include "passes/target/groups/Views.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace kiln::cut {

using namespace nn;

int64_t estimateBytes(Type type) {
  MLIRContext *context = type.getContext();
  AffineExpr count = getNumElements(getDims(type), context);
  SmallVector<AffineExpr> typical(countSymbols(count), getAffineConstantExpr(typicalSymbol, context));
  auto number = dyn_cast<AffineConstantExpr>(count.replaceSymbols(typical));
  Type element = getElementTypeOrSelf(type);
  // Elements of less than a byte have one of their own.
  int64_t bytes = element.isIntOrFloat() ? std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8) : 16;
  return (number ? std::max<int64_t>(number.getValue(), 0) : 0) * bytes;
}

std::vector<std::string> listStepNodes(Operation *op) {
  std::vector<std::string> nodes;
  for (StringRef node : listNodes(op->getLoc()))
    nodes.push_back(node.str());
  return nodes;
}

static bool isAlways(const Guard &guard) {
  return llvm::any_of(guard, [](const Path &path) { return path.empty(); });
}

static std::string describeProducer(Operation *op) {
  std::vector<std::string> nodes = listStepNodes(op);
  return nodes.empty() ? std::string("a value of the model") : "the value of " + nodes.back();
}

/// What is in the way of a border at a result of a step, on the side of that step; empty: nothing.
static std::string findObstacle(OpResult result, const Guard &guard) {
  std::string who = describeProducer(result.getOwner());
  Type element = getElementTypeOrSelf(result.getType());
  if (isString(element) || !element.isIntOrFloat())
    return who + " is not of numbers";
  if (!isAlways(guard))
    return who + " is computed only under a condition";
  auto group = dyn_cast<GroupOp>(result.getOwner());
  bool isInside = group && (isView(group) || getPlace(group, group.getInputs().size() + result.getResultNumber()));
  return isInside ? who + " lies inside of a larger buffer" : "";
}

/// The same for a use of it.
static std::string findObstacle(OpOperand &use, Operation *producer) {
  std::string who = describeProducer(producer);
  auto choose = dyn_cast<ChooseOp>(use.getOwner());
  if (choose && use.get() != choose.getCondition())
    return who + " is a branch of an If";
  auto group = dyn_cast<GroupOp>(use.getOwner());
  bool isPart = group && (isView(group) || isInPlace(group, use.getOperandNumber()) || getPlace(group, use.getOperandNumber()));
  return isPart ? "parts of " + who + " are read where they lie" : "";
}

FailureOr<StepGraph> StepGraph::make(func::FuncOp main) {
  StepGraph graph;
  Guards guards;
  Block &block = main.getBody().front();
  if (failed(guards.compute(block)))
    return failure();
  for (Operation &op : block.without_terminator())
    // What nobody needs is not run.
    if (isa<GroupOp, ChooseOp>(op) && !guards.of(&op).empty())
      graph.steps.push_back({&op});
  graph.obstacles.resize(graph.steps.size() + 1);
  graph.crossingBytes.resize(graph.steps.size() + 1);
  graph.liveBytes.resize(graph.steps.size() + 1);
  graph.addSteps(main);
  graph.addValues();
  for (const CrossingValue &value : graph.values) {
    auto result = cast<OpResult>(value.value);
    graph.addObstacle(value.first, value.last, findObstacle(result, guards.of(result.getOwner())));
  }
  graph.forEachUse([&](CrossingValue &value, unsigned step, OpOperand &use) {
    graph.addObstacle(value.first, step, findObstacle(use, value.value.getDefiningOp()));
  });
  return graph;
}

void StepGraph::addSteps(func::FuncOp main) {
  for (Step &step : steps) {
    auto group = dyn_cast<GroupOp>(step.op);
    step.hasKernel = !isa<ChooseOp>(step.op) && !(group && needsNoKernel(group));
    for (Value operand : step.op->getOperands()) {
      Value base = seeThroughReshapes(operand);
      if (!base.getDefiningOp<ConstantOp>() || llvm::is_contained(step.weights, base))
        continue;
      step.weights.push_back(base);
      step.weightsBytes += estimateBytes(base.getType());
    }
  }
}

void StepGraph::addObstacle(unsigned first, unsigned last, StringRef text) {
  for (unsigned at = first + 1; !text.empty() && at <= last; ++at)
    if (obstacles[at].empty())
      obstacles[at] = text.str();
}

void StepGraph::forEachUse(llvm::function_ref<void(CrossingValue &, unsigned, OpOperand &)> call) {
  llvm::DenseMap<Value, size_t> known;
  for (auto [i, value] : llvm::enumerate(values))
    known[value.value] = i;
  for (auto [i, step] : llvm::enumerate(steps))
    for (OpOperand &use : step.op->getOpOperands())
      if (auto found = known.find(seeThroughReshapes(use.get())); found != known.end())
        call(values[found->second], unsigned(i), use);
}

void StepGraph::addValues() {
  for (auto [i, step] : llvm::enumerate(steps))
    for (Value result : step.op->getResults())
      values.push_back({result, unsigned(i), unsigned(i), estimateBytes(result.getType())});
  forEachUse([](CrossingValue &value, unsigned step, OpOperand &) { value.last = std::max(value.last, step); });
  for (const CrossingValue &value : values)
    for (unsigned at = value.first; at <= value.last; ++at) {
      liveBytes[at] += value.bytes;
      if (at > value.first)
        crossingBytes[at] += value.bytes;
    }
}

std::vector<unsigned> StepGraph::listCuts() const {
  std::vector<unsigned> cuts;
  bool isFilled = false;
  unsigned kernelsLeft = llvm::count_if(steps, [](const Step &step) { return step.hasKernel; });
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (isFilled && kernelsLeft && obstacles[i].empty()) {
      cuts.push_back(i);
      isFilled = false;
    }
    isFilled |= step.hasKernel;
    kernelsLeft -= step.hasKernel;
  }
  return cuts;
}

} // namespace kiln::cut
