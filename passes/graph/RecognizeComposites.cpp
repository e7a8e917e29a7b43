//===- RecognizeComposites.cpp - Exporters' chains as one operation --------===//
//
//   %m = nn.reduce max %x [1]
//   %e = nn.exp (%x - %m)
//   %s = nn.reduce sum %e [1]
//   %r = %e / %s                       (shortened: broadcasts stand between)
//
// becomes
//
//   %r = nn.softmax %x axis 1
//
// The patterns are in RecognizeActivations.cpp, RecognizeNormalizations.cpp and RecognizeAttention.cpp; here is what they ask of chains.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/graph/ChainMatching.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_RECOGNIZECOMPOSITES
#include "passes/Passes.h.inc"
} // namespace kiln

bool kiln::isClose(std::optional<double> have, double want) { return have && std::fabs(*have - want) <= 1e-4 * std::fabs(want); }

Value kiln::skipBroadcast(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastToOp>();
  return broadcast ? broadcast.getInput() : value;
}

bool Product::isExactly(double wantedNumber, ArrayRef<Value> wanted) const {
  if (!isClose(number, wantedNumber) || factors.size() != wanted.size())
    return false;
  SmallVector<Value> rest(factors);
  for (Value value : wanted) {
    auto *at = llvm::find(rest, value);
    if (at == rest.end())
      return false;
    rest.erase(at);
  }
  return true;
}

static void flattenInto(Product &product, Value value, bool isRoot) {
  if (std::optional<double> number = getSplatNumber(value)) {
    product.number *= *number;
    return;
  }
  Operation *op = value.getDefiningOp();
  if (op && (isRoot || value.hasOneUse())) {
    if (isa<MulOp>(op)) {
      flattenInto(product, op->getOperand(0), false);
      flattenInto(product, op->getOperand(1), false);
      return;
    }
    std::optional<double> number = isa<DivOp, PowOp>(op) ? getSplatNumber(op->getOperand(1)) : std::nullopt;
    if (isa<DivOp>(op) && number) {
      product.number /= *number;
      flattenInto(product, op->getOperand(0), false);
      return;
    }
    if (isa<PowOp>(op) && number && (*number == 2.0 || *number == 3.0)) {
      product.factors.append(static_cast<size_t>(*number), op->getOperand(0));
      return;
    }
  }
  product.factors.push_back(value);
}

Product kiln::flattenProduct(Value root) {
  Product product;
  if (isa<FloatType>(getElementTypeOrSelf(root)))
    flattenInto(product, root, true);
  return product;
}

Location kiln::chainLocation(Operation *root, ValueRange inputs) {
  llvm::SetVector<Operation *> ops;
  ops.insert(root);
  for (size_t i = 0; i < ops.size() && ops.size() < 32; ++i)
    for (Value operand : ops[i]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && !llvm::is_contained(inputs, operand) && !isa<ConstantOp, SplatOp>(op))
        ops.insert(op);
  SmallVector<Operation *> ordered = ops.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return FusedLoc::get(root->getContext(), llvm::map_to_vector(ordered, [](Operation *op) { return op->getLoc(); }));
}

namespace {
struct RecognizeCompositesPass : kiln::impl::RecognizeCompositesBase<RecognizeCompositesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateActivationPatterns(patterns);
    populateNormalizationPatterns(patterns);
    populateAttentionPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
