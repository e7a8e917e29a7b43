//===- WeightRounding.h - Weights in fewer bits, and the error of that -------===//
#ifndef KILN_PASSES_GRAPH_WEIGHTROUNDING_H
#define KILN_PASSES_GRAPH_WEIGHTROUNDING_H

#include "dialects/nn/BlockQuantized.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <string>

namespace kiln {

/// How far rounded weights are from the given ones.
struct WeightError {
  /// Sums of squares: of the differences, and of the weights.
  double squares = 0, power = 0;
  /// The largest difference and the largest weight.
  double largest = 0, top = 0;

  void add(double weight, double rounded);
  void add(const WeightError &other);
  /// "rms error 1.7e-03 of the weights' rms, largest 3.9e-03 of the largest weight".
  std::string describe() const;
};

/// Rounded weights: those of `value`, times `scale` if there is one.
struct RoundedWeights {
  /// Why they cannot be rounded so; empty: they are.
  std::string fault = {};
  mlir::ElementsAttr value = {}, scale = {};
  WeightError error = {};
};

/// Constant f32 numbers as f16 or bf16, each the nearest. Not those beyond f16's range, or that are not finite.
RoundedWeights roundToHalves(mlir::ElementsAttr weights, mlir::Type half);

/// As i8, with the scale of f32 that makes 127 of the largest number of each index of dimension `axis`. `scaleShape` is that of the scales.
RoundedWeights roundToBytes(mlir::ElementsAttr weights, unsigned axis, llvm::ArrayRef<int64_t> scaleShape);

/// A matrix as the weights of nn.block_quantized_matmul of 4 bits: [N, blocks, block / 2] with scales [N, blocks], of f16 where that holds them. `sumAxis` is
/// the one of the sum, whose length is a multiple of `block`.
RoundedWeights roundToBlocks(mlir::ElementsAttr weights, unsigned sumAxis, int64_t block);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_WEIGHTROUNDING_H
