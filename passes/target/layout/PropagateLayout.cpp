//===- PropagateLayout.cpp - Convolution nets in channels_last -------------===//
//
//   %c = nn.conv %x, %w ... layout channels_first : tensor<1x8x4x4xf32>, tensor<16x8x1x1xf32> -> tensor<1x16x4x4xf32>
//   %r = nn.relu %c : tensor<1x16x4x4xf32>
//
// becomes
//
//   %t = nn.transpose %x [0, 2, 3, 1] : tensor<1x8x4x4xf32> -> tensor<1x4x4x8xf32>
//   %c = nn.conv %t, %w ... layout channels_last : tensor<1x4x4x8xf32>, tensor<16x8x1x1xf32> -> tensor<1x4x4x16xf32>
//   %a = nn.relu %c : tensor<1x4x4x16xf32>
//   %r = nn.transpose %a [0, 3, 1, 2] : tensor<1x4x4x16xf32> -> tensor<1x16x4x4xf32>
//
// Convolutions of single pixels in groups, which no other spatial operation is near to, become products. Then every spatial operation gets its own pair of
// transposes; those sink, meet the next ones and cancel; what is left moves up.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/ModelAttributeNames.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/Permute.h"
#include "dialects/nn/Ranks.h"
#include "passes/Passes.h"
#include "passes/graph/PatternReasons.h"
#include "passes/target/layout/MoveTransposes.h"
#include "passes/target/layout/PointwiseProducts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_PROPAGATELAYOUT
#include "passes/Passes.h.inc"
} // namespace kiln

/// Inserts a spatial dimension of size one before the only one.
static Value insertUnitDim(OpBuilder &builder, Location loc, Value value) {
  DimExprs dims = getDims(value.getType());
  dims.insert(dims.begin() + 2, builder.getAffineConstantExpr(1));
  return ReshapeOp::create(builder, loc, makeTensorType(dims, getElementTypeOrSelf(value)), value);
}

/// Makes a one-dimensional channels_first convolution or pool two-dimensional.
static void liftToTwoDims(OpBuilder &builder, Operation *op) {
  builder.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(insertUnitDim(builder, op->getLoc(), operand.get()));
  auto lift = [](ArrayRef<int64_t> values) { return SmallVector<int64_t>{1, values[0]}; };
  auto window = cast<Windowed>(op);
  if (auto pool = dyn_cast<Pooling>(op))
    pool.setKernel(lift(pool.getKernel()));
  window.setStrides(lift(window.getStrides()));
  window.setDilations(lift(window.getDilations()));
  window.setPads({0, window.getPads()[0], 0, window.getPads()[1]});
  Value result = op->getResult(0);
  Type narrow = result.getType();
  DimExprs dims = getDims(narrow);
  dims.insert(dims.begin() + 2, builder.getAffineConstantExpr(1));
  result.setType(makeTensorType(dims, getElementTypeOrSelf(narrow)));
  builder.setInsertionPointAfter(op);
  auto flat = ReshapeOp::create(builder, op->getLoc(), narrow, result);
  result.replaceAllUsesExcept(flat, flat);
}

/// Puts a pair of transposes around a channels_first operation and makes it channels_last.
static void makeChannelsLast(OpBuilder &builder, Operation *op) {
  auto window = cast<Windowed>(op);
  if (window.getLayout() == Layout::ChannelsLast)
    return;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() == 3) {
    liftToTwoDims(builder, op);
    type = cast<RankedTensorType>(op->getResult(0).getType());
  }
  SmallVector<int64_t> there = toChannelsLast(type.getRank()), back = toChannelsFirst(type.getRank());
  builder.setInsertionPoint(op);
  Value input = op->getOperand(0);
  op->setOperand(0, TransposeOp::create(builder, op->getLoc(), permuteType(input.getType(), there), input, there));
  window.setLayout(Layout::ChannelsLast);
  Value result = op->getResult(0);
  result.setType(permuteType(type, there));
  builder.setInsertionPointAfter(op);
  auto restored = TransposeOp::create(builder, op->getLoc(), type, result, back);
  result.replaceAllUsesExcept(restored, restored);
}

/// What sinking and hoisting leave behind: transposes of unit dimensions as reshapes, chains of reshapes and broadcasts as one.
static void simplifyMovement(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  for (StringRef name : {"nn.transpose", "nn.broadcast_to", "nn.reshape"})
    RegisteredOperationName::lookup(name, module.getContext())->getCanonicalizationPatterns(patterns, module.getContext());
  // These make nothing right that was wrong: stopping early would cost speed at most.
  (void)applyPatterns(module, std::move(patterns));
}

static void propagateLayout(ModuleOp module) {
  makePointwiseProducts(module);
  SmallVector<Operation *> spatial;
  module.walk([&](Operation *op) {
    if (isSpatial(op))
      spatial.push_back(op);
  });
  if (spatial.empty())
    return;
  OpBuilder builder(module.getContext());
  for (Operation *op : spatial)
    makeChannelsLast(builder, op);
  for (auto function : module.getOps<func::FuncOp>()) {
    sinkTransposes(function.getBody().front());
    hoistTransposes(function.getBody().front());
  }
  // Only now: a reshape would stop what a transpose of unit dimensions passes.
  simplifyMovement(module);
}

/// Whether a transpose puts the slices that ranks exchange in order, at once or in another shape.
static bool arrangesSlices(TransposeOp op) {
  Value from = op.getInput();
  while (auto reshape = from.getDefiningOp<ReshapeOp>())
    from = reshape.getInput();
  if (from.getDefiningOp() && isCollective(from.getDefiningOp()))
    return true;
  return llvm::any_of(op->getUsers(), [](Operation *user) { return isCollective(user); });
}

namespace {
struct PropagateLayoutPass : kiln::impl::PropagateLayoutBase<PropagateLayoutPass> {
  void runOnOperation() override {
    propagateLayout(getOperation());
    int64_t conversions = 0, slices = 0;
    getOperation().walk([&](TransposeOp op) {
      if (movesData(op.getInput(), op.getPermutation()))
        ++(arrangesSlices(op) ? slices : conversions);
    });
    Builder builder(&getContext());
    getOperation()->setAttr(transposesAttrName, builder.getI64IntegerAttr(conversions));
    if (slices > 0)
      getOperation()->setAttr(sliceCopiesAttrName, builder.getI64IntegerAttr(slices));
  }
};
} // namespace
