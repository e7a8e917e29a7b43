//===- WidenOperands.cpp - Halves that products read one by one, in f32 ----===//
//
//   %r = nn.matmul %x, %w : tensor<128x768xf16>, tensor<768x768xf16> -> tensor<128x768xf16>
//
// becomes
//
//   %y = nn.cast %x : tensor<128x768xf16> -> tensor<128x768xf32>
//   %r = nn.matmul %y, %w : tensor<128x768xf32>, tensor<768x768xf16> -> tensor<128x768xf16>
//
// A register tile reads its left side element by element, once for each panel of columns; a conversion there would cost more than the product that it
// feeds. The cast mostly fuses with the producer's store. The right side is read in vectors, which are widened as they are loaded: weights keep their size.
// So do depthwise convolutions and products of one column, which read both sides in vectors. Where the target has a step for halves, it reads them as they are.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Kernel.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/Passes.h"
#include "passes/target/choice/StepTile.h"
#include "passes/target/groups/PackedInputs.h"
#include "passes/target/layout/ConvInput.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_WIDENOPERANDS
#include "passes/Passes.h.inc"
} // namespace kiln

/// The operand that a tile reads by elements; null where there is none.
static OpOperand *findLeftSide(Operation *op) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return matmul.getType().getShape().back() == 1 ? nullptr : &matmul.getLhsMutable();
  auto conv = dyn_cast<ConvOp>(op);
  bool isDepthwise = conv && conv.getGroups() > 1 && conv.getWeight().getType().getShape()[1] == 1;
  return conv && !isDepthwise ? &conv.getInputMutable() : nullptr;
}

/// Whether a step of several rows does.
static bool hasTileStep(Operation *op, kernel::TargetAttr target) {
  Value right = op->getOperand(1);
  kernel::StepAttr step = findTileStep(target, op->getOperand(0).getType(), right.getType(), op->getResult(0).getType());
  ArrayRef<int64_t> shape = cast<RankedTensorType>(right.getType()).getShape();
  if (!step || !right.getDefiningOp<ConstantOp>() || (isa<MatmulOp>(op) && shape.size() != 2))
    return false;
  // Rows of a product, pixels of a convolution: those of the result without its columns.
  int64_t unit = isa<ConvOp>(op) ? shape[1] : shape[0], columns = isa<ConvOp>(op) ? shape[0] : shape[1];
  int64_t length = isa<ConvOp>(op) ? countSideBySide(cast<ConvOp>(op), unit) : unit;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<int64_t> rows = type.hasStaticShape() && columns ? std::optional<int64_t>(type.getNumElements() / columns) : std::nullopt;
  return findTileFault(step, rows, chooseTileDepth(step, length, unit)).empty();
}

/// Whether a step of the target multiplies the elements of both sides as they are: the right side must be packed for it, by the caller or as a constant, whose
/// products of a sum must fill steps.
static bool hasStep(Operation *op) {
  Value right = op->getOperand(1);
  auto type = [&](Value value) { return getElementTypeOrSelf(value.getType()); };
  kernel::TargetAttr target = kernel::getTarget(op);
  if (target && hasTileStep(op, target))
    return true;
  kernel::StepAttr step = target ? target.findStep(type(op->getOperand(0)), type(right), computeType(type(op->getResult(0)))) : kernel::StepAttr();
  // Of packed filters it is not known how many channels they have.
  if (step && !step.getFunction().empty() && isPacked(right))
    return isa<MatmulOp>(op);
  if (!step || step.getFunction().empty() || !right.getDefiningOp<ConstantOp>())
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(right.getType()).getShape();
  return isa<ConvOp>(op) ? shape[1] % step.getDepth() == 0 : shape.size() == 2 && shape[0] % step.getDepth() == 0;
}

namespace {
struct WidenOperandsPass : kiln::impl::WidenOperandsBase<WidenOperandsPass> {
  void runOnOperation() override {
    // One cast for all users in a block: the first of them is the one that the walk meets first.
    DenseMap<std::pair<Value, Block *>, Value> casts;
    getOperation().walk([&](Operation *op) {
      OpOperand *left = findLeftSide(op);
      auto type = left ? dyn_cast<RankedTensorType>(left->get().getType()) : RankedTensorType();
      if (!type || !isHalf(type.getElementType()) || left->get().getDefiningOp<ConstantOp>() || hasStep(op))
        return;
      Value &wide = casts[{left->get(), op->getBlock()}];
      if (!wide) {
        OpBuilder builder(op);
        wide = CastOp::create(builder, op->getLoc(), withElementType(type, computeType(type.getElementType())), left->get());
      }
      left->set(wide);
    });
  }
};
} // namespace
