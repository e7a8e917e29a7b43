//===- RankSteps.cpp - The steps of a sharded model -------------------------===//
#include "compiler/cut/RankSteps.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/ConstantPart.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Ranks.h"
#include "passes/target/groups/Views.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace kiln::cut {

using namespace nn;

static bool areTwins(const Step &step, const Step &other) {
  return step.hasKernel == other.hasKernel && listStepNodes(step.op) == listStepNodes(other.op) && step.op->getResultTypes() == other.op->getResultTypes();
}

std::string joinRanks(MutableArrayRef<StepGraph> graphs) {
  StepGraph &first = graphs.front();
  for (const StepGraph &graph : graphs.drop_front())
    for (size_t i = 0; i < std::max(first.steps.size(), graph.steps.size()); ++i) {
      bool isSame = i < first.steps.size() && i < graph.steps.size() && areTwins(first.steps[i], graph.steps[i]);
      if (!isSame) {
        const Step &step = i < first.steps.size() ? first.steps[i] : graph.steps[i];
        std::vector<std::string> nodes = listStepNodes(step.op);
        return "the kernels of the ranks differ at " + (nodes.empty() ? "a value of the model" : nodes.front()) + ", so that they have no cuts in common";
      }
      if (first.obstacles[i].empty())
        first.obstacles[i] = graph.obstacles[i];
    }
  return "";
}

/// Whether a collective of all ranks leaves each with the same.
static bool isCompleted(Operation *op, size_t ranks) {
  bool isWhole = false;
  op->walk([&](Operation *inner) {
    bool completes = isCollective(inner) && (getCollectiveKind(inner) == "all_reduce" || getCollectiveKind(inner) == "all_gather");
    isWhole |= completes && getCollectiveRanks(inner).size() == ranks;
  });
  return isWhole;
}

static bool readsPart(Operation *op) {
  bool reads = false;
  auto look = [&](Value value) {
    auto constant = seeThroughReshapes(value).getDefiningOp<ConstantOp>();
    reads |= constant && findPart(constant.getValue());
  };
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      look(operand);
  });
  return reads;
}

llvm::DenseSet<Value> findParts(ArrayRef<StepGraph> graphs, const std::vector<bool> &cutInputs, size_t ranks) {
  llvm::DenseSet<Value> parts;
  auto isPart = [&](Value operand) {
    Value base = seeThroughReshapes(operand);
    auto argument = dyn_cast<BlockArgument>(base);
    return argument ? argument.getArgNumber() < cutInputs.size() && cutInputs[argument.getArgNumber()] : parts.contains(base);
  };
  for (auto [i, step] : llvm::enumerate(graphs.front().steps)) {
    // What differs in the text, such as the offset of a slice, makes a part of what is whole.
    bool differs = llvm::any_of(graphs.drop_front(), [&, i = i](const StepGraph &graph) {
      return !OperationEquivalence::isEquivalentTo(graphs.front().steps[i].op, graph.steps[i].op, OperationEquivalence::ignoreValueEquivalence, nullptr,
                                                   OperationEquivalence::IgnoreLocations);
    });
    bool isCut = differs || readsPart(step.op) || llvm::any_of(step.op->getOperands(), isPart);
    if (!isCut || isCompleted(step.op, ranks))
      continue;
    for (const StepGraph &graph : graphs)
      parts.insert_range(graph.steps[i].op->getResults());
  }
  return parts;
}

} // namespace kiln::cut
