//===- ByteProduct.cpp - Matrix products by a step of several products -----===//
//
// Sums of i32 over bytes or of f32 over bf16, by the target's step for them. Constant weights are stored in panels
//   [column / NR, k / D, column % NR, k % D], NR = the tile's columns, D = the step's products for each sum
// so that a step reads the elements of each of its columns side by side.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/ContractionLoops.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static AffineExpr countRows(MatmulOp op) {
  DimExprs extents = getDims(op.getType());
  return simplifyDim(getNumElements(ArrayRef(extents).drop_back(), op.getContext()));
}

/// What is in the way of such a kernel; empty when nothing is.
static std::string findFault(GroupOp group, MatmulOp op) {
  auto weight = dyn_cast<BlockArgument>(op.getRhs());
  if (!weight || !group.isConstantInput(weight.getArgNumber()) || op.getRhs().getType().getRank() != 2)
    return "the right side is no constant matrix";
  if (llvm::is_contained(op.getType().getShape(), 0))
    return "the result has no elements";
  auto view = traceLinearView(op.getLhs());
  bool isDense = view && linearCoefficient(view->offset, op.getLhs().getType().getRank() - 1) == getAffineConstantExpr(1, op.getContext());
  return isDense ? "" : "the left side is computed, or its rows do not lie side by side";
}

static kernel::StepAttr findStep(MatmulOp op, kernel::TargetAttr target) {
  return kiln::findStep(target, op.getLhs().getType().getElementType(), op.getRhs().getType().getElementType(), op.getType().getElementType());
}

KernelMatch matchGemmSteps(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<MatmulOp>(anchor);
  kernel::StepAttr step = findStep(op, target);
  if (!step)
    return refuse(describeMissingStep(op.getLhs().getType(), op.getRhs().getType(), op.getType()));
  if (std::string why = findFault(group, op); !why.empty())
    return refuse(why);
  ArrayRef<int64_t> shape = op.getRhs().getType().getShape();
  if (shape[0] % step.getDepth() != 0 || shape[0] == 0)
    return refuse("a sum has " + Twine(shape[0]) + " products, expected a multiple of " + Twine(step.getDepth()));
  PlanNumbers numbers = planStepProduct(target, step, getConstantDim(countRows(op)), shape[1], shape[0]);
  return accept("product with constant weights: " + describeStep(step), std::move(numbers));
}

std::string findGemmStepFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  auto op = cast<MatmulOp>(anchor);
  return findStepFault(kernel::getTarget(group), plan, op.getLhs().getType().getElementType(), op.getRhs().getType().getElementType(),
                       op.getType().getElementType(), op.getRhs().getType().getShape()[0]);
}

FailureOr<LaunchInfo> lowerGemmSteps(KernelBuilder &k, Operation *anchor) {
  auto op = cast<MatmulOp>(anchor);
  TracedView lhs = *traceLinearView(op.getLhs());
  unsigned weight = cast<BlockArgument>(op.getRhs()).getArgNumber();
  ArrayRef<int64_t> shape = op.getRhs().getType().getShape();
  Contraction c;
  c.result = op.getResult();
  c.element = op.getType().getElementType();
  c.instruction = getStep(k.group());
  c.lhs = k.buffer(lhs.argument);
  c.rhs = k.buffer(weight);
  c.rows = getDims(op.getType());
  c.columns = c.rows.pop_back_val();
  c.tile = getTile(k.group());
  PackedColumns packed(shape[1], c.tile);
  int64_t together = c.instruction.getDepth(), steps = shape[0] / together;
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  AffineMap map = AffineMap::get(4, 0, {dim(1) * together + dim(3), dim(0) * packed.width + dim(2)}, k.context());
  k.packConstant(weight, kernel::PackAttr::get(k.context(), {packed.panels, steps, packed.width, together}, map));
  c.reduction = {{k.constant(steps), k.constant(together), k.constant(packed.width * together)}};
  c.panelStride = k.constant(shape[0]);
  c.laneStride = k.constant(1);
  c.padded = c.evenPanels = true;
  AffineExpr zero = k.constant(0);
  c.lhsAt = [zero, offset = lhs.offset](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows) {
    IndexExprs at(rows);
    at.push_back(zero);
    return offset.replaceDims(at);
  };
  c.rhsAt = [zero](ArrayRef<AffineExpr>) { return zero; };
  c.resultAt = [](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows, AffineExpr column) {
    IndexExprs at(rows);
    at.push_back(column);
    return at;
  };
  return lowerContraction(k, c);
}

} // namespace kiln
