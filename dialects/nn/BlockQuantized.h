//===- BlockQuantized.h - Weights of a few bits in blocks -------------------===//
#ifndef KILN_DIALECTS_NN_BLOCKQUANTIZED_H
#define KILN_DIALECTS_NN_BLOCKQUANTIZED_H

#include "dialects/nn/NNBlockOps.h"
#include <optional>


namespace kiln::nn {

/// Blocks have a multiple of this many weights: kernels read four bytes of each column at once.
inline constexpr int64_t weightsPerBlock = 16;

/// Constant weights of nn.block_quantized_matmul, number by number.
struct BlockWeights {
  int64_t columns, blocks, block, bits;
  /// [columns, blocks, block], from 0 on.
  std::vector<uint8_t> numbers;
  /// [columns, blocks]; empty: the middle of the range.
  std::vector<uint8_t> zeros = {};

  /// Drops zero points that are all in the middle of the range.
  void simplifyZeros();
  mlir::ElementsAttr makeWeight(mlir::MLIRContext *context) const;
  /// Null without zero points.
  mlir::ElementsAttr makeZeros(mlir::MLIRContext *context) const;
};

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_BLOCKQUANTIZED_H
