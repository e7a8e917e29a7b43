//===- RoundProducts.cpp - Products on the way to integers -----------------===//
//
//   %p = arith.mulf %a, %b                     %p = arith.mulf %a, %b
//   %s = arith.addf %p, %c               =>    %r = kernel.rounded %p
//   %q = kernel.quantize %s, %zero             %s = arith.addf %r, %c
//                                              %q = kernel.quantize %s, %zero
//
// C++ compilers may multiply and add at once where the CPU can. The sum then has other bits, which is allowed of real numbers; but near the middle between two
// integers the result would be another integer, and integers are the same on every target. ONNX rounds each operation, too.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_ROUNDPRODUCTS
#include "passes/Passes.h.inc"
} // namespace kiln

using namespace kiln;

/// The operations from which a value is computed, in loops as well.
static void collect(Value value, llvm::SetVector<Operation *> &found) {
  SmallVector<Value> waiting{value};
  llvm::DenseSet<Value> sums;
  while (!waiting.empty()) {
    Value next = waiting.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (auto loop = dyn_cast_or_null<scf::ForOp>(op)) {
      if (sums.insert(next).second)
        waiting.push_back(loop.getBody()->getTerminator()->getOperand(cast<OpResult>(next).getResultNumber()));
      continue;
    }
    bool isComputed = op && isa<FloatType>(getElementTypeOrSelf(op->getResult(0))) && op->getNumRegions() == 0;
    if (isComputed && found.insert(op))
      llvm::append_range(waiting, op->getOperands());
  }
}

namespace {
struct RoundProducts : kiln::impl::RoundProductsBase<RoundProducts> {
  void runOnOperation() override {
    llvm::SetVector<Operation *> found;
    getOperation().walk([&](kernel::QuantizeOp op) { collect(op.getX(), found); });
    llvm::DenseMap<Value, Value> rounded;
    for (Operation *op : found) {
      if (!isa<arith::AddFOp, arith::SubFOp>(op))
        continue;
      for (OpOperand &operand : op->getOpOperands()) {
        auto product = operand.get().getDefiningOp<arith::MulFOp>();
        if (!product)
          continue;
        Value &once = rounded[operand.get()];
        if (!once) {
          OpBuilder builder(product);
          builder.setInsertionPointAfter(product);
          once = kernel::RoundedOp::create(builder, product.getLoc(), product.getType(), product);
        }
        operand.set(once);
      }
    }
  }
};
} // namespace
