//===- RecurrentKernels.cpp - Kernels of recurrent layers -----------------===//
#include "dialects/nn/NNRecurrentOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/lowering/recurrent/RecurrentCell.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// The states before the first step are read once.
static PrologueSupport loadsStates(Operation *anchor, unsigned operand) {
  return operand == 2 || (operand == 3 && isa<LstmOp>(anchor)) ? PrologueSupport::All : PrologueSupport::None;
}

/// Gates that a step multiplies the state for.
template <typename Op>
static constexpr int64_t gateCount = std::is_same_v<Op, LstmOp> ? 4 : std::is_same_v<Op, GruOp> ? 3 : 1;

template <typename Op>
static KernelMatch matchSteps(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<Op>(anchor);
  if (std::string why = findCellFault(op.getActivations(), op.getRecurrence().getType()); !why.empty())
    return refuse(why);
  PlanNumbers numbers = planCell(group, RecurrentLayer(op, gateCount<Op>), target);
  if (isa<RnnOp>(anchor))
    return accept("all steps in one kernel: recurrent weights in blocks of units, directions and batch rows in parallel", std::move(numbers));
  return accept("all steps in one kernel: gates fused, recurrent weights stored gate beside gate, directions and batch rows in parallel",
                std::move(numbers));
}

ArrayRef<KernelRow> getRecurrentKernels() {
  static const KernelRow rows[] = {
      KernelRow{"lstm_steps", computes<LstmOp>, matchSteps<LstmOp>, lowerLstmSteps}.loading(loadsStates).planning(PlanTile | PlanStreams),
      KernelRow{"gru_steps", computes<GruOp>, matchSteps<GruOp>, lowerGruSteps}.loading(loadsStates).planning(PlanTile | PlanStreams),
      KernelRow{"rnn_steps", computes<RnnOp>, matchSteps<RnnOp>, lowerRnnSteps}.loading(loadsStates).planning(PlanTile | PlanStreams),
  };
  return rows;
}

} // namespace kiln
