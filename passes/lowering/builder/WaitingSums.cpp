//===- WaitingSums.cpp - Sums that wait in memory for what follows ---------===//
#include "passes/lowering/builder/WaitingSums.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNElementwiseOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool hasLongFunction(GroupOp group) {
  return llvm::any_of(group.getBody().front(), [](Operation &op) {
    return isa<Approximate, TanhOp, ErfOp, ErfcOp, LogOp, Log1pOp, Expm1Op, SoftplusOp, MishOp, GeluOp, GeluTanhOp, EluOp, SeluOp, CeluOp>(op);
  });
}

void storeSums(KernelBuilder &k, Type element, ArrayRef<Value> sums, unsigned lanes, int64_t together, bool waits,
               function_ref<void(AffineExpr step, ArrayRef<Value> sums)> store) {
  auto count = static_cast<int64_t>(sums.size()), steps = count / together;
  if (!waits || steps == 1 || !k.target().tuned(kernel::Tuned::WaitingSums))
    steps = 0;
  if (steps > 0) {
    Value waiting = k.array("sums", element, steps * together * lanes);
    AffineExpr lane = k.index(k.emitConstant(0));
    Lanes across{cast<AffineDimExpr>(lane).getPosition(), lanes};
    for (int64_t i = 0; i < steps * together; ++i)
      k.storeBuffer(waiting, element, lane + i * lanes, sums[i], across);
    k.loop(k.constant(0), k.constant(steps), 1, "step", [&](AffineExpr step) {
      SmallVector<Value> some;
      for (int64_t i = 0; i < together; ++i)
        some.push_back(k.loadBuffer(waiting, element, (step * together + i) * lanes + lane, across));
      store(step, some);
    });
  }
  for (int64_t i = steps * together; i < count; i += together)
    store(k.constant(i / together), sums.slice(i, std::min(together, count - i)));
}

} // namespace kiln
