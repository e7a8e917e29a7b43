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
// So do depthwise convolutions and products of one column, which read both sides in vectors.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/Scalar.h"
#include "passes/Passes.h"

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

namespace {
struct WidenOperandsPass : kiln::impl::WidenOperandsBase<WidenOperandsPass> {
  void runOnOperation() override {
    // One cast for all users in a block: the first of them is the one that the walk meets first.
    DenseMap<std::pair<Value, Block *>, Value> casts;
    getOperation().walk([&](Operation *op) {
      OpOperand *left = findLeftSide(op);
      auto type = left ? dyn_cast<RankedTensorType>(left->get().getType()) : RankedTensorType();
      if (!type || !isHalf(type.getElementType()) || left->get().getDefiningOp<ConstantOp>())
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
