//===- RoundAttention.h - Attention's products of fewer bits, on request ----===//
#ifndef KILN_PASSES_TARGET_LAYOUT_ROUNDATTENTION_H
#define KILN_PASSES_TARGET_LAYOUT_ROUNDATTENTION_H

#include "dialects/kernel/Kernel.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNAttentionOps.h"
#include "llvm/ADT/MapVector.h"
#include <string>

namespace kiln {

/// Gives attention a query, a key and a value of a type that a step of the target multiplies; its result stays f32.
class AttentionRounding {
public:
  explicit AttentionRounding(kernel::TargetAttr target) : target(target) {}
  /// Why the factors stay f32; empty: nothing is in the way.
  std::string findFault(nn::AttentionOp attention, mlir::Type element) const;
  void round(nn::AttentionOp attention, mlir::Type element);

private:
  mlir::Value roundOperand(mlir::Value operand, mlir::Type element);

  kernel::TargetAttr target;
  /// By the value and the type: parts of one product share its cast.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> casts;
};

} // namespace kiln

#endif // KILN_PASSES_TARGET_LAYOUT_ROUNDATTENTION_H
