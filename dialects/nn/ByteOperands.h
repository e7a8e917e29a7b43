//===- ByteOperands.h - The sides of products of bytes ---------------------===//
//
// Both sides are bytes that are counted from some number: the left one from its zero point, each column of the weights from a number that makes them signed
// bytes. With (a - za) of the left side and (v - r) of a column, where v are the signed bytes and r is what is left of the column's zero point,
//
//   sum of (a - za) * (v - r) = sum of a * v - za * (sum of v) - r * (sum of (a - za))
//
// Constant weights are counted from their zero point where the differences are signed bytes. Then r is zero, and nothing has to be summed in a run.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_BYTEOPERANDS_H
#define KILN_DIALECTS_NN_BYTEOPERANDS_H

#include "dialects/nn/NN.h"
#include "mlir/IR/Builders.h"
#include <optional>
#include <vector>

namespace kiln::nn {

/// From here on a sum of products of bytes may leave 32 bits.
inline constexpr int64_t mostProducts = 65536;

//===- Zero points ---------------------------------------------------------===//

/// Whether all elements along a dimension are the same. False means not proven.
bool isRepeatedAlong(mlir::Value value, unsigned dim);

/// Whether a value differs along dimension `axis` only. False means not proven.
bool differsOnlyAlong(mlir::Value value, unsigned axis);

/// The first elements along a dimension, which stays with size one; all of them as a tensor of rank 0 if the value is the same everywhere.
mlir::Value takeFirst(mlir::OpBuilder &builder, mlir::Value value, unsigned dim);

/// The numbers for each index of `axis`, along which alone the value differs, as a vector; or the only number, as a tensor of rank 0.
mlir::Value takeColumns(mlir::OpBuilder &builder, mlir::Value value, unsigned axis);

/// A tensor whose only number, or whose numbers for each index of `axis`, are spread to a type.
mlir::Value spreadAlong(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value numbers, mlir::RankedTensorType type, unsigned axis);

//===- Sides ---------------------------------------------------------------===//

/// The left side in the bytes that the target multiplies, and its zero point in the same count.
struct ByteOperand {
  mlir::Value value, zero;
};

/// Bytes of the other signedness with another beginning: -128 is 0.
mlir::Value toSignedness(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type byte);
mlir::Value toSigned(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// The bytes of left sides: those of the first step of the target that multiplies bytes by signed ones.
mlir::Type leftByte(mlir::OpBuilder &builder, mlir::Operation *op);

/// The operand with a border of its zero point, which is a tensor of rank 0.
mlir::Value padOperand(mlir::OpBuilder &builder, mlir::Location loc, const ByteOperand &operand, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high);

/// Constant weights, each column counted from a number of its own.
struct ByteWeights {
  mlir::RankedTensorType type;
  std::vector<int8_t> values;
  /// Of each column.
  llvm::SmallVector<int64_t> sums;
  /// Zero points in the same count, as i32 for each column or for all; null if there are none.
  mlir::Value rest;
};

/// Whether readWeights has a result. `axis` counts the columns.
bool areByteWeights(mlir::Value weight, mlir::Value zero, unsigned axis);
std::optional<ByteWeights> readWeights(mlir::OpBuilder &builder, mlir::Value weight, mlir::Value zero, unsigned axis);

/// Appends `more` zeros to each run along dimension `axis`.
void padWeights(ByteWeights &weights, unsigned axis, int64_t more);

/// The number of zeros that make it a multiple of the bytes that one sum takes.
int64_t missingBytes(int64_t size);

mlir::Value makeWeights(mlir::OpBuilder &builder, mlir::Location loc, const ByteWeights &weights);

//===- Sums ----------------------------------------------------------------===//

/// The integers as i32.
mlir::Value toWide(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// The sums of the operand without its zero point along a dimension, which stays with size one. The zero point has the same size there, or rank 0.
mlir::Value sumWithoutZero(mlir::OpBuilder &builder, mlir::Location loc, const ByteOperand &operand, unsigned dim);

/// Sums the first `length` elements of rows: a product with a column of ones, which takes the steps that bytes have. The length is known.
mlir::Value sumRows(mlir::OpBuilder &builder, mlir::Location loc, const ByteOperand &rows, int64_t length);

/// sum - zero * times, of a zero point that is spread.
mlir::Value subtractTimes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum, mlir::Value zero, int64_t times);

/// sum - a * b, all of i32, where both are spread to the shape of the sum.
mlir::Value subtractProduct(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum, mlir::Value a, mlir::Value b);

/// sum - zero * (the sums of the weights), whose columns lie along `axis` of the result. The zero point has rank 0, or is spread.
mlir::Value subtractZero(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum, mlir::Value zero, llvm::ArrayRef<int64_t> sums, unsigned axis);

//===- Products of wider numbers -------------------------------------------===//

/// The fastest type in which sums of so many products of differences of bytes are exact.
mlir::Type sumType(mlir::OpBuilder &builder, mlir::AffineExpr products);

/// value - zero in a wider type.
mlir::Value centre(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value zero, mlir::Type wide);

/// A product in the type of sums.
mlir::Value toSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, mlir::Value product);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_BYTEOPERANDS_H
