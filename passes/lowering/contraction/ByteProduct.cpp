//===- ByteProduct.cpp - Matrix products by a step of several products -----===//
//
// Sums of i32 over bytes or of f32 over bf16, by the target's step for them. Constant weights are stored in panels
//   [column / NR, k / D, column % NR, k % D], NR = the tile's columns, D = the step's products for each sum
// so that a step reads the elements of each of its columns side by side; a step of several rows reads [column, k]. A right side that the caller has packed
// lies in the former order; it may have any number of rows, the last of which are beside zeros.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/contraction/ContractionLoops.h"
#include "passes/lowering/contraction/MatmulTiled.h"
#include "passes/target/choice/BoundedWeights.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/StepTile.h"
#include "passes/target/groups/PackedInputs.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static AffineExpr countRows(MatmulOp op) {
  DimExprs extents = getDims(op.getType());
  return simplifyDim(getNumElements(ArrayRef(extents).drop_back(), op.getContext()));
}

static bool isPackedSide(GroupOp group, Value side) {
  auto argument = dyn_cast<BlockArgument>(side);
  return argument && isPackedInput(group, argument.getArgNumber());
}

/// What is in the way of such a kernel; empty when nothing is.
static std::string findFault(GroupOp group, MatmulOp op) {
  auto weight = dyn_cast<BlockArgument>(op.getRhs());
  if (!weight || !(group.isConstantInput(weight.getArgNumber()) || isPackedSide(group, weight)) || op.getRhs().getType().getRank() != 2)
    return "the right side is no constant matrix";
  if (llvm::is_contained(op.getType().getShape(), 0))
    return "the result has no elements";
  auto view = traceLinearView(op.getLhs());
  bool isDense = view && linearCoefficient(view->offset, op.getLhs().getType().getRank() - 1) == getAffineConstantExpr(1, op.getContext());
  return isDense ? "" : "the left side is computed, or its rows do not lie side by side";
}

static kernel::StepAttr findStep(MatmulOp op, kernel::TargetAttr target) {
  Type lhs = op.getLhs().getType().getElementType(), rhs = op.getRhs().getType().getElementType();
  ArrayRef<int64_t> shape = op.getRhs().getType().getShape();
  int64_t products = shape.size() == 2 ? shape[0] : 0, columns = shape.size() == 2 ? shape[1] : 0;
  SumShape sums{getConstantDim(countRows(op)), products, products, columns};
  return chooseBoundedStep(kiln::findStep(target, lhs, rhs, op.getType().getElementType(), sums), op.getRhs(), 0);
}

/// Steps of one row, and panels that depend on no size. Nor is it known how far apart rows lie.
static KernelMatch matchPackedSteps(GroupOp group, MatmulOp op, kernel::TargetAttr target) {
  kernel::StepAttr step = kiln::findStep(target, op.getLhs().getType().getElementType(), op.getRhs().getType().getElementType(), op.getType().getElementType());
  if (!step)
    return refuse(describeMissingStep(op.getLhs().getType(), op.getRhs().getType(), op.getType()));
  if (std::string why = findFault(group, op); !why.empty())
    return refuse(why);
  PlanNumbers numbers = planStepProduct(target, step, std::nullopt, std::nullopt, std::nullopt);
  numbers.tile = toNumbers(limitRows(toTile(numbers.tile)));
  return accept("product whose right side the caller has packed: " + describeStep(step), std::move(numbers));
}

KernelMatch matchGemmSteps(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<MatmulOp>(anchor);
  if (isPackedSide(group, op.getRhs()))
    return matchPackedSteps(group, op, target);
  kernel::StepAttr step = findStep(op, target);
  if (!step)
    return refuse(describeMissingStep(op.getLhs().getType(), op.getRhs().getType(), op.getType()));
  if (std::string why = findFault(group, op); !why.empty())
    return refuse(why);
  ArrayRef<int64_t> shape = op.getRhs().getType().getShape();
  if (shape[0] % step.getDepth() != 0 || shape[0] == 0)
    return refuse("a sum has " + Twine(shape[0]) + " products, expected a multiple of " + Twine(step.getDepth()));
  PlanNumbers numbers = planStepProduct(target, step, getConstantDim(countRows(op)), shape[1], shape[0]);
  return accept("product with constant weights: " + describeStep(step) + describeBounds(step, op.getRhs(), 0), std::move(numbers));
}

std::string findGemmStepFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  auto op = cast<MatmulOp>(anchor);
  bool anyLength = isPackedSide(group, op.getRhs());
  std::string fault = findStepFault(kernel::getTarget(group), plan, op.getLhs().getType().getElementType(), op.getRhs().getType().getElementType(),
                                    op.getType().getElementType(), anyLength ? 0 : op.getRhs().getType().getShape()[0]);
  return fault.empty() ? findBoundsFault(plan, op.getRhs(), 0) : fault;
}

/// The product of such a kernel, but how the right side lies.
static Contraction makeProduct(KernelBuilder &k, MatmulOp op, kernel::StepAttr step) {
  TracedView lhs = *traceLinearView(op.getLhs());
  Contraction c;
  c.result = op.getResult();
  c.element = op.getType().getElementType();
  c.instruction = step;
  c.lhs = k.buffer(lhs.argument);
  c.rhs = k.buffer(cast<BlockArgument>(op.getRhs()).getArgNumber());
  c.rows = getDims(op.getType());
  c.columns = c.rows.pop_back_val();
  c.tile = getTile(k.group());
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
  return c;
}

/// The same with a constant right side, whose steps each have `together` products, packed in panels by `pack`.
static Contraction makeProduct(KernelBuilder &k, MatmulOp op, kernel::StepAttr step, int64_t together,
                               function_ref<kernel::PackAttr(const PackedColumns &)> pack) {
  Contraction c = makeProduct(k, op, step);
  ArrayRef<int64_t> shape = op.getRhs().getType().getShape();
  PackedColumns packed(shape[1], c.tile);
  k.packConstant(cast<BlockArgument>(op.getRhs()).getArgNumber(), pack(packed));
  c.reduction = {{k.constant(shape[0] / together), k.constant(together), k.constant(packed.width * together)}};
  c.panelStride = k.constant(shape[0]);
  return c;
}

static FailureOr<LaunchInfo> lowerPackedSteps(KernelBuilder &k, MatmulOp op) {
  kernel::StepAttr step = getStep(k.group());
  int64_t together = step.getDepth();
  Contraction c = makeProduct(k, op, step);
  int64_t width = c.tile.columns();
  if (failed(setPanels(k.group(), cast<BlockArgument>(op.getRhs()).getArgNumber(), width, together)))
    return failure();
  AffineExpr depth = getDims(op.getRhs().getType()).front();
  c.reduction = {{simplifyDim(depth.floorDiv(together)), k.constant(together), k.constant(width * together)}};
  c.rest = simplifyDim(depth % together);
  c.panelStride = simplifyDim(depth.ceilDiv(together) * together);
  c.allHeights = true;
  return lowerContraction(k, c);
}

FailureOr<LaunchInfo> lowerGemmSteps(KernelBuilder &k, Operation *anchor) {
  auto op = cast<MatmulOp>(anchor);
  if (isPackedSide(k.group(), op.getRhs()))
    return lowerPackedSteps(k, op);
  kernel::StepAttr step = getStep(k.group());
  int64_t together = step.getDepth(), depth = op.getRhs().getType().getShape()[0];
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  return lowerContraction(k, makeProduct(k, op, step, together, [&](const PackedColumns &packed) {
    if (isRowStep(step))
      return kernel::PackAttr::get(k.context(), {packed.panels, packed.width, depth},
                                   AffineMap::get(3, 0, {dim(2), dim(0) * packed.width + dim(1)}, k.context()));
    AffineMap map = AffineMap::get(4, 0, {dim(1) * together + dim(3), dim(0) * packed.width + dim(2)}, k.context());
    return kernel::PackAttr::get(k.context(), {packed.panels, depth / together, packed.width, together}, map);
  }));
}

//===- Steps of several rows -----------------------------------------------===//

KernelMatch matchGemmTileSteps(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<MatmulOp>(anchor);
  kernel::StepAttr step = findTileStep(target, op.getLhs().getType(), op.getRhs().getType(), op.getType());
  if (!step)
    return refuse(describeMissingTileStep(op.getLhs().getType(), op.getRhs().getType()));
  if (isPackedSide(group, op.getRhs()))
    return refuse("panels that a caller packs are for steps of one row");
  if (std::string why = findFault(group, op); !why.empty())
    return refuse(why);
  ArrayRef<int64_t> shape = op.getRhs().getType().getShape();
  std::optional<int64_t> rows = getConstantDim(countRows(op));
  int64_t depth = chooseTileDepth(step, shape[0], shape[0]);
  if (std::string why = findTileFault(step, rows, depth); !why.empty())
    return refuse(why);
  return accept("product with constant weights: " + describeTileStep(step, depth), planTileProduct(target, step, rows, shape[1], depth));
}

/// Weights are stored as [column / NR, k / D, column % NR / 16, k % D / T, column % 16, k % T]: T elements of a sum lie together in a row of a tile.
FailureOr<LaunchInfo> lowerGemmTileSteps(KernelBuilder &k, Operation *anchor) {
  auto op = cast<MatmulOp>(anchor);
  kernel::StepAttr step = getTileStep(k.group());
  int64_t depth = k.group().getPlan()->getDepth(), together = countTogether(step), length = op.getRhs().getType().getShape()[0];
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  Contraction c = makeProduct(k, op, step, depth, [&](const PackedColumns &packed) {
    AffineExpr column = dim(0) * packed.width + dim(2) * step.getLanes() + dim(4);
    AffineMap map = AffineMap::get(6, 0, {dim(1) * depth + dim(3) * together + dim(5), column}, k.context());
    int64_t panels = packed.width / step.getLanes();
    return kernel::PackAttr::get(k.context(), {packed.panels, length / depth, panels, depth / together, step.getLanes(), together}, map);
  });
  c.depth = depth;
  return lowerContraction(k, c);
}

} // namespace kiln
