//===- DepthwiseRows.h - What depthwise kernels for few registers share ----===//
//
// Those of targets whose step multiplies rows side by side (kiln/rows.h).
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_CONVOLUTION_DEPTHWISEROWS_H
#define KILN_PASSES_LOWERING_CONVOLUTION_DEPTHWISEROWS_H

#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// The target's step of rows side by side for the types of a convolution; null if it has none.
kernel::StepAttr findRowStep(nn::ConvOp conv, kernel::TargetAttr target);
/// What is in the way of such a kernel, whose step is `step` and which computes `together` channels at a time; empty when nothing is.
std::string findRowsFault(nn::GroupOp group, nn::ConvOp conv, kernel::StepAttr step, int64_t together);
/// Calls a function of kiln/depthwise.h for the types of `step`.
void callDepthwise(KernelBuilder &k, kernel::StepAttr step, llvm::StringRef suffix, llvm::ArrayRef<mlir::Value> operands);
/// A task for each line of the result, whose elements are sums of `taps` products.
LaunchInfo launchLines(KernelBuilder &k, nn::ConvOp op, int64_t taps, llvm::function_ref<void(llvm::ArrayRef<mlir::AffineExpr>)> line);

/// Stores sums. What the epilogue has for a channel whatever the pixel is, it loads once for the pixels of a line.
class ChannelSums {
public:
  ChannelSums(KernelBuilder &k, nn::ConvOp op);
  /// From here on, the sums are those of `count` channels from the loop variable `channel` on, in vectors of `lanes`. `line`: all before the pixel.
  void begin(llvm::ArrayRef<mlir::AffineExpr> line, mlir::AffineExpr channel, int64_t count, unsigned lanes);
  /// Stores the results of a pixel, whose sums are in an array.
  void store(mlir::Value sums, llvm::ArrayRef<mlir::AffineExpr> pixel);

private:
  KernelBuilder &k;
  nn::ConvOp op;
  mlir::AffineExpr channel;
  int64_t count = 0;
  unsigned lanes = 1;
  /// The values of the epilogue, and what they are for each vector of channels.
  llvm::SmallVector<mlir::Value> shared;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> known;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONVOLUTION_DEPTHWISEROWS_H
