//===- ConcatCopy.cpp - Concatenation --------------------------------------===//
//
//   for each index before the axis: for each operand: copy its run from the axis on, computing its producers on the way
//
// With nothing before the axis each operand is a task of its own. Operands that their producers put in place are left out (see Places.h).
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/groups/Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
struct Concatenation {
  KernelBuilder &k;
  mutable ConcatOp op;

  void copy(Value operand, AffineExpr start, ArrayRef<AffineExpr> outer) const {
    DimExprs dims = getDims(operand.getType());
    unsigned axis = op.getAxis();
    forEachIndex(k, keepDims(k, dims, axis, dims.size()), mergedReads(k, operand), [&](ArrayRef<AffineExpr> inner, Lanes lanes) {
      IndexExprs from(inner), to;
      std::copy(outer.begin(), outer.begin() + axis, from.begin());
      to = from;
      to[axis] = to[axis] + start;
      k.storeResults(op.getResult(), k.value(operand, from, lanes), to, lanes);
    });
  }
};
} // namespace

FailureOr<LaunchInfo> lowerConcatCopy(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ConcatOp>(anchor);
  Concatenation concatenation{k, op};
  DimExprs dims = getDims(op.getType());
  IndexExprs outer = keepDims(k, dims, 0, op.getAxis());
  // Operands still to be copied, and where each begins. A sum of several sizes is computed once, from the one before it.
  SmallVector<Value> inputs;
  IndexExprs starts;
  AffineExpr end = k.constant(0);
  for (Value operand : op.getInputs()) {
    if (isa<AffineBinaryOpExpr>(end))
      end = k.index(k.emit(end));
    if (!isa<BlockArgument>(operand) || !isInPlace(k.group(), cast<BlockArgument>(operand).getArgNumber())) {
      inputs.push_back(operand);
      starts.push_back(end);
    }
    end = simplifyDim(end + getDim(operand.getType(), op.getAxis()));
  }
  if (getConstantDim(getNumElements(outer, k.context())) == 1) {
    IndexExprs zeros(dims.size(), k.constant(0));
    AffineExpr count = k.constant(inputs.size());
    k.taskLoop(count, [&](ArrayRef<AffineExpr> task) {
      for (auto [i, operand] : llvm::enumerate(inputs)) {
        Value isThis = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::eq, k.emit(task.front()), k.emitConstant(i));
        k.branch(isThis, [&, start = starts[i], source = operand] { concatenation.copy(source, start, zeros); });
      }
    });
    return moveInfo(k, count);
  }
  AffineExpr tasks = forEachTask(k, outer, mergedReads(k, inputs), [&](ArrayRef<AffineExpr> at) {
    for (auto [operand, start] : llvm::zip_equal(inputs, starts))
      concatenation.copy(operand, start, at);
  });
  return moveInfo(k, tasks);
}

} // namespace kiln
