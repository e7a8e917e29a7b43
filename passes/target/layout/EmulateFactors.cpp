//===- EmulateFactors.cpp - Rounded factors, multiplied in f32 --------------===//
//
//   %r = nn.matmul %x, %w : tensor<8x768xf32>, tensor<768x96xf32> -> tensor<8x96xf32>
//
// becomes, if its node has the type bf16,
//
//   %x1 = nn.cast (nn.cast %x : to bf16) : to f32,  %w1 = nn.cast (nn.cast %w : to bf16) : to f32
//   %r = nn.matmul %x1, %w1 : tensor<8x768xf32>, tensor<768x96xf32> -> tensor<8x96xf32>
//
// These are the numbers that a step for bf16 multiplies (RoundFactors.cpp), so the plainest form of a model is a reference for kernels that have such steps.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "passes/Passes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_EMULATEFACTORS
#include "passes/Passes.h.inc"
} // namespace kiln

/// The ONNX node that an operation was made for; empty: none.
static StringRef findNode(Operation *op) {
  StringRef node;
  op->getLoc()->walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    node = name ? name.getName().getValue() : node;
    return name ? WalkResult::interrupt() : WalkResult::advance();
  });
  return node;
}

static Value roundThrough(OpBuilder &builder, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  Value narrow = CastOp::create(builder, value.getLoc(), withElementType(type, element), value);
  return CastOp::create(builder, value.getLoc(), type, narrow);
}

namespace {
struct EmulateFactorsPass : kiln::impl::EmulateFactorsBase<EmulateFactorsPass> {
  using EmulateFactorsBase::EmulateFactorsBase;

  void runOnOperation() override {
    Builder b(&getContext());
    llvm::StringMap<Type> wanted;
    for (StringRef word : types) {
      auto [node, name] = word.rsplit('=');
      Type element = llvm::StringSwitch<Type>(name).Case("bf16", b.getBF16Type()).Case("f16", b.getF16Type()).Default(Type());
      if (node.empty() || !element) {
        kernel::emitRefusal(getOperation()) << "emulated factors '" << word << "': expected NODE=TYPE, where TYPE is bf16 or f16";
        return signalPassFailure();
      }
      wanted[node] = element;
    }
    getOperation().walk([&](Operation *op) {
      auto found = isa<MatmulOp, ConvOp, AttentionOp>(op) ? wanted.find(findNode(op)) : wanted.end();
      if (found == wanted.end())
        return;
      OpBuilder builder(op);
      // Attention has a query, a key and a value.
      for (unsigned side = 0; side < (isa<AttentionOp>(op) ? 3 : 2); ++side)
        if (Value value = op->getOperand(side); getElementTypeOrSelf(value.getType()).isF32())
          op->setOperand(side, roundThrough(builder, value, found->second));
    });
  }
};
} // namespace
