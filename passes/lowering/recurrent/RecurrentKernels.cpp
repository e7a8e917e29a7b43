//===- RecurrentKernels.cpp - Kernels of recurrent layers -----------------===//
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

template <typename Op>
static KernelMatch matchSteps(GroupOp, Operation *anchor, kernel::TargetAttr) {
  auto op = cast<Op>(anchor);
  if (std::string why = findCellFault(op.getActivations(), op.getRecurrence().getType()); !why.empty())
    return refuse(why);
  if (isa<RnnOp>(anchor))
    return accept("all steps in one kernel: recurrent weights in blocks of units, directions and batch rows in parallel");
  return accept("all steps in one kernel: gates fused, recurrent weights stored gate beside gate, directions and batch rows in parallel");
}

ArrayRef<KernelRow> getRecurrentKernels() {
  static const KernelRow rows[] = {
      KernelRow{"lstm_steps", computes<LstmOp>, matchSteps<LstmOp>, lowerLstmSteps}.loading(loadsStates),
      KernelRow{"gru_steps", computes<GruOp>, matchSteps<GruOp>, lowerGruSteps}.loading(loadsStates),
      KernelRow{"rnn_steps", computes<RnnOp>, matchSteps<RnnOp>, lowerRnnSteps}.loading(loadsStates),
  };
  return rows;
}

} // namespace kiln
