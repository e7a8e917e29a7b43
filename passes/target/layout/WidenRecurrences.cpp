//===- WidenRecurrences.cpp - Recurrent layers of halves, in f32 -----------===//
//
// The recurrent kernels keep their states and sums in f32 vectors. A layer of f16 or bf16 gets casts around it:
//
//   %y, %h = nn.rnn gates(%g) recurrence(%r) hidden(%h0) ... : (tensor<5x1x4xf16>, ...) -> (tensor<5x1x1x4xf16>, tensor<1x1x4xf16>)
//
// becomes
//
//   %wide:2 = nn.rnn gates(%g32) recurrence(%r32) hidden(%h32) ... : (tensor<5x1x4xf32>, ...) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>)
//   %y = nn.cast %wide#0
//
// The casts of weights are folded. States are not rounded from step to step, so results are at least as accurate.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNRecurrentOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_WIDENRECURRENCES
#include "passes/Passes.h.inc"
} // namespace kiln

static Value castTo(OpBuilder &builder, Location loc, Value value, Type element) {
  return CastOp::create(builder, loc, withElementType(cast<RankedTensorType>(value.getType()), element), value);
}

static bool isOfHalves(Value value) { return isHalf(getElementTypeOrSelf(value.getType())); }

static void widen(Operation *op) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isOfHalves(operand.get()))
      operand.set(castTo(builder, op->getLoc(), operand.get(), computeType(getElementTypeOrSelf(operand.get().getType()))));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type element = getElementTypeOrSelf(result.getType());
    result.setType(withElementType(cast<RankedTensorType>(result.getType()), computeType(element)));
    if (result.use_empty())
      continue;
    Value narrow = castTo(builder, op->getLoc(), result, element);
    result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
  }
}

namespace {
struct WidenRecurrencesPass : kiln::impl::WidenRecurrencesBase<WidenRecurrencesPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<RnnOp, LstmOp, GruOp>(op) && isOfHalves(op->getResult(0)))
        widen(op);
    });
  }
};
} // namespace
