//===- RnnSteps.cpp - The steps of a plain recurrent layer as one kernel ---===//
//
//   for each step:  h = f(gates[t] + h R)
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNRecurrentOps.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/recurrent/RecurrentCell.h"

using namespace mlir;

namespace kiln {

using namespace nn;

FailureOr<LaunchInfo> lowerRnnSteps(KernelBuilder &k, Operation *anchor) {
  RecurrentCell cell(k, RecurrentLayer(cast<RnnOp>(anchor), 1));
  return cell.run([](const RowTile &) {}, [&](const RowTile &tile) {
    cell.eachUnit(tile, {0}, [&](unsigned row, AffineExpr i) { return cell.hiddenAt(tile, row, i); },
                  [&](unsigned row, AffineExpr j, Lanes lanes, ArrayRef<Value> products) {
                    Scalar sum = cell.gate(tile, row, 0, j, lanes) + cell.scalar(products[0]);
                    cell.setHidden(row, j, cell.activate(0, sum).value(), lanes);
                  });
  });
}

} // namespace kiln
