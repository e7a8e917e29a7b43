//===- OpenConv.h - A convolution as a product, whatever its filters are ---===//
#ifndef KILN_PASSES_LOWERING_CONVOLUTION_OPENCONV_H
#define KILN_PASSES_LOWERING_CONVOLUTION_OPENCONV_H

#include "dialects/nn/NNContractionOps.h"
#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// A channels_last convolution without padding, of whose sizes only the window's are known.
struct OpenConv {
  mutable nn::ConvOp op;
  mlir::BlockArgument input;
  unsigned spatial;
  int64_t groups;
  llvm::SmallVector<int64_t> kernel;
  mlir::AffineExpr inPerGroup, outPerGroup;

  explicit OpenConv(nn::ConvOp conv);
  /// Elements from a row of the product to the next one; nullopt: known at run time only.
  std::optional<int64_t> rowsApart() const;
  /// A place of the window along spatial dim i: elements of the input to the next one.
  mlir::AffineExpr tapStride(KernelBuilder &k, unsigned i) const;
  /// The product but for its right side: pixels of the result are its rows.
  Contraction pixels(KernelBuilder &k) const;
  /// The loops over the window and the channels, of which some are taken together; the panels have them in the same order.
  llvm::SmallVector<ReductionLoop> reduction(KernelBuilder &k, int64_t width, int64_t together) const;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONVOLUTION_OPENCONV_H
