//===- RecurrentKernels.cpp - Kernels of recurrent layers -----------------===//
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// The states before the first step are read once.
static PrologueSupport loadsStates(Operation *anchor, unsigned operand) {
  return operand == 2 || (operand == 3 && isa<LstmOp>(anchor)) ? PrologueSupport::All : PrologueSupport::None;
}

ArrayRef<KernelRow> getRecurrentKernels() {
  static const KernelRow rows[] = {
      KernelRow{"lstm_steps", computes<LstmOp>, matchLstmSteps, lowerLstmSteps}.loading(loadsStates),
      KernelRow{"gru_steps", computes<GruOp>, matchGruSteps, lowerGruSteps}.loading(loadsStates),
      KernelRow{"rnn_steps", computes<RnnOp>, matchRnnSteps, lowerRnnSteps}.loading(loadsStates),
  };
  return rows;
}

} // namespace kiln
