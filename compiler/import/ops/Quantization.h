//===- Quantization.h - What operators on quantised numbers share ------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_QUANTIZATION_H
#define KILN_COMPILER_IMPORT_OPS_QUANTIZATION_H

#include "compiler/import/Node.h"

namespace kiln::import {

// Each gives some value after an error.

/// A scale or zero point in the shape of `x`: one number, one for each slice along the axis, or one for each block of it.
Value spreadParameter(Node &node, Value parameter, Value x, int64_t axis, int64_t block);

/// Scales and zero points of a product's side: one number, or one for each of its rows or columns (`axis`, -2 or -1), which sides of more dimensions may have
/// in their own rank with 1 in the place of the sum. `like` has the shape of the side or of the result.
Value spreadOnSide(Node &node, Value parameter, Value side, Value like, int64_t axis);

/// Whether inputs at these places have one element each, where they are given.
bool expectNumbers(Node &node, llvm::ArrayRef<std::pair<int, const char *>> inputs);

/// The real numbers (x - zeroPoint) * scale, in the type of the scale. `zeroPoint` may be null. A vector of scales counts along `axis`.
Value buildDequantize(Node &node, Value x, Value scale, Value zeroPoint, int64_t axis = 1);

/// Real numbers as integers of type `to`, with one scale and one zero point, which may be null.
Value buildQuantize(Node &node, Value x, Value scale, Value zeroPoint, Type to);

/// uint8 numbers with the scale and zero point that make the most of the range of the data, as DynamicQuantizeLinear of ONNX has them.
struct DynamicallyQuantized {
  Value bytes, scale, zeroPoint;
};
DynamicallyQuantized quantizeDynamically(Node &node, Value x);

/// The int32 sums of products of bytes with their zero points, which may be null; batch dimensions broadcast.
Value buildQuantizedMatmul(Node &node, Value a, Value b, Value aZero, Value bZero);

/// A sum of products, quantized: both operands' scales, in the shape of the sum, over the result's, and rounded once.
Value requantize(Node &node, Value sum, Value leftScale, Value rightScale, Value scale, Value zeroPoint);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_QUANTIZATION_H
