//===- QuantizedProducts.h - Products of quantised numbers in bytes --------===//
//
// A sum of (a - za) * (w - zw) is a sum of a * (w - zw), minus za times the sum of the weights of its column. With constant weights w - zw is a constant and
// the second part an addend for each column, so where w - zw are signed bytes the product itself is that of unsigned by signed bytes, for which CPUs have
// instructions. Where they are not, or where a run computes w or zw, weights are counted from another number, and addends for each column and each row are
// computed, too.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_QUANTIZEDPRODUCTS_H
#define KILN_DIALECTS_NN_QUANTIZEDPRODUCTS_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNQuantizedOps.h"
#include <optional>

namespace kiln::nn {

/// Depths that byte products are written for are multiples of this.
inline constexpr int64_t bytesPerSum = 4;

/// The constant numbers of a value that differs along one dimension only: one of them if it does not differ at all.
std::optional<llvm::SmallVector<double>> getNumbersAlong(mlir::Value value, unsigned axis);

/// The number that a value has everywhere, as a tensor of rank 0 that is made from what is broadcast; null when it may differ.
mlir::Value getUniform(mlir::OpBuilder &builder, mlir::Value value);

/// Whether a value is the same everywhere. False means not proven.
bool isUniform(mlir::Value value);

/// Whether the product decomposes into one of bytes: zero points that are the same along the sum and, of a convolution, constant weights and one zero point of
/// the input. Convolutions whose groups have one channel each need a small window.
bool isByteProduct(QuantizedMatmulOp op);
bool isByteProduct(QuantizedConvOp op);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_QUANTIZEDPRODUCTS_H
