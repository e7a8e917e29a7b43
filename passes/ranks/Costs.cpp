//===- Costs.cpp - What work and exchange take ------------------------------===//
#include "passes/ranks/Costs.h"
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNRecurrentOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SymbolBounds.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

using namespace nn;

RankMachine RankMachine::of(kernel::TargetAttr target) {
  // A vector multiplication and addition twice a cycle, at the rate and from a memory that machines of this kind have at least.
  constexpr double cycles = 3e9, memory = 10e9, flopsPerLane = 4;
  unsigned bits = target ? target.getVectorBits() : 128;
  return {cycles * flopsPerLane * (bits / 32.0), memory};
}

/// Few bytes are sent to all in one step; more take two steps, but ranks are called together for them only once.
double RankMachine::allReduce(double bytes, int64_t ranks) const {
  if (bytes <= bytesOfOneStep)
    return latency + bytes * (ranks - 1) / networkBytesPerSecond;
  return reduceScatter(bytes, ranks) + allGather(bytes, ranks) - latency / 2;
}

double RankMachine::allGather(double bytes, int64_t ranks) const { return latency + bytes * (ranks - 1) / ranks / networkBytesPerSecond; }
double RankMachine::reduceScatter(double bytes, int64_t ranks) const { return latency + bytes * (ranks - 1) / ranks / networkBytesPerSecond; }
double RankMachine::allToAll(double bytes, int64_t ranks) const { return latency + bytes * (ranks - 1) / (ranks * ranks) / networkBytesPerSecond; }

double estimateSize(AffineExpr dim, ModuleOp module) {
  if (auto size = getConstantDim(dim))
    return static_cast<double>(*size);
  SmallVector<AffineExpr> sizes;
  for (unsigned i = 0; i < listSymbols(module).size(); ++i) {
    auto [low, high] = getSymbolBounds(module, i);
    sizes.push_back(getAffineConstantExpr(std::clamp(typicalSize, low, std::max(low, high)), dim.getContext()));
  }
  auto size = getConstantDim(simplifyDim(dim.replaceSymbols(sizes)));
  return static_cast<double>(size ? std::max<int64_t>(*size, 0) : typicalSize);
}

static double estimateElements(Value value) {
  auto module = value.getParentRegion()->getParentOfType<ModuleOp>();
  double count = 1;
  for (AffineExpr dim : getDims(value.getType()))
    count *= estimateSize(dim, module);
  return count;
}

double estimateBytes(Value value) { return estimateElements(value) * elementBytes(getElementTypeOrSelf(value.getType())); }

/// Multiplications for each element of the result.
static double estimateDepth(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto perChannel = [&](Value weight, unsigned channels) {
    return estimateElements(weight) / std::max(1.0, estimateSize(getDim(weight.getType(), channels), module));
  };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<MatmulOp, QuantizedMatmulOp>([&](auto product) { return estimateSize(getDims(product.getLhs().getType()).back(), module); })
      .Case([&](BlockQuantizedMatmulOp product) { return estimateSize(getDims(product.getLhs().getType()).back(), module); })
      .Case<ConvOp, QuantizedConvOp>([&](auto conv) { return perChannel(conv.getWeight(), 0); })
      .Case([&](ConvTransposeOp conv) { return perChannel(conv.getWeight(), 1); })
      .Case([&](AttentionOp attention) { return 2 * estimateSize(getDims(attention.getKey().getType()).end()[-2], module); })
      .Case<LstmOp, GruOp, RnnOp>([&](auto layer) { return estimateSize(getDims(layer.getRecurrence().getType()).back(), module); })
      .Default([](Operation *) { return 2.0; });
}

/// Bytes of recurrent weights, which each step reads again if caches do not hold them.
static double estimateRepeats(Operation *op) {
  constexpr double cacheBytes = 1 << 20;
  if (!isa<LstmOp, GruOp, RnnOp>(op) || estimateBytes(op->getOperand(1)) < cacheBytes)
    return 0;
  return estimateBytes(op->getOperand(1)) * (estimateSize(getDim(op->getOperand(0).getType(), 0), op->getParentOfType<ModuleOp>()) - 1);
}

double estimateSeconds(Operation *op, const RankMachine &machine) {
  // Views and constants are parts of kernels, or nothing.
  if (isa<ReshapeOp, ConstantOp, SplatOp, IndexMap, IotaOp, DimValuesOp>(op))
    return 0;
  double flops = 0, bytes = estimateRepeats(op);
  for (Value result : op->getResults()) {
    flops += 2 * estimateDepth(op) * estimateElements(result);
    bytes += estimateBytes(result);
  }
  for (Value operand : op->getOperands())
    if (!isa<GatherOp>(op)) // which reads as much as it writes
      bytes += estimateBytes(operand);
  // What is element-wise becomes a part of a product's kernel, mostly, and its tensors stay in caches.
  bool isProduct = isa<MatmulOp, ConvOp, ConvTransposeOp, BlockQuantizedMatmulOp, QuantizedMatmulOp, QuantizedConvOp>(op);
  double shareOfMemory = isa<ScalarBody>(op) ? 0.1 : isProduct ? 1.0 : 0.3;
  return std::max(flops / machine.flopsPerSecond, shareOfMemory * bytes / machine.bytesPerSecond);
}

} // namespace kiln
