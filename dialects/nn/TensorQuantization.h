//===- TensorQuantization.h - Quantised tensors of a model's signature --------===//
//
// What the integers of an argument or result of @main stand for, where constants say it:
//   nn.quantization = {axis = 1 : i64, scales = array<f32: 0.5, 0.25>, zero_points = array<i64: 0, 3>}
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_TENSORQUANTIZATION_H
#define KILN_DIALECTS_NN_TENSORQUANTIZATION_H

#include "mlir/IR/BuiltinAttributes.h"
#include <optional>
#include <vector>

namespace kiln::nn {

/// Integer q stands for the number (q - zero point) * scale.
struct TensorQuantization {
  /// The dimension whose indices have scales of their own; -1: there is one scale for the tensor.
  int64_t axis = -1;
  std::vector<float> scales;
  /// As many.
  std::vector<int64_t> zeroPoints;

  bool operator==(const TensorQuantization &other) const {
    return axis == other.axis && scales == other.scales && zeroPoints == other.zeroPoints;
  }
  mlir::Attribute toAttribute(mlir::MLIRContext *context) const;
};

/// Nullopt if the attribute is malformed.
std::optional<TensorQuantization> readQuantization(mlir::Attribute attribute);

/// What a quantize or dequantize operation with constant scales and zero points says of its integers; nullopt for other operations, and where they differ
/// in more than one dimension.
std::optional<TensorQuantization> describeQuantization(mlir::Operation *op);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_TENSORQUANTIZATION_H
