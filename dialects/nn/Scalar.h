//===- Scalar.h - Element-wise formulas as plain C++ -----------------------===//
//
// The text of an element-wise operation in NNElementwiseOps.td is written against this class. It builds arith and math operations when its
// values are scalars or vectors, and nn operations when they are tensors, so that one formula is both the kernel and the decomposition.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_SCALAR_H
#define KILN_DIALECTS_NN_SCALAR_H

#include "dialects/kernel/Kernel.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace kiln::nn {

/// The type in which values of an element type are computed inside kernels: f16 and bf16 in f32, unsigned integers as signless ones.
mlir::Type computeType(mlir::Type elementType);

/// f16 and bf16: numbers that are stored in 16 bits and computed with in f32.
bool isHalf(mlir::Type elementType);
/// Whether kernels compute with the elements of a type in f32: those of f32 and halves.
bool computesInF32(mlir::Type type);

/// Elements that a vector register of the target holds in the form in which kernels compute with them: halves as f32, bool as a mask of 32 bits.
/// 1 for what does not run in vectors.
unsigned lanesOf(kernel::TargetAttr target, mlir::Type elementType);

/// The smallest and the largest number of an integer type (or of the elements of a tensor).
double lowestOf(mlir::Type type);
double highestOf(mlir::Type type);

/// How well the exp in an operation is computed; exact when the operation does not say.
kernel::Accuracy accuracyOf(mlir::Operation *op);

class Scalar {
public:
  /// `type` is the operand's tensor type or element type: it tells signedness, which the kernel's signless integers do not.
  /// `accuracy` is that of every exp computed from it.
  Scalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type type, kernel::Accuracy accuracy = kernel::Accuracy::Exact);

  mlir::Value value() const { return held; }
  /// A constant of this value's type (and shape, on vectors and tensors).
  Scalar like(double number) const;
  mlir::Type elementType() const { return element; }

  Scalar operator+(const Scalar &y) const;
  Scalar operator-(const Scalar &y) const;
  Scalar operator*(const Scalar &y) const;
  Scalar operator/(const Scalar &y) const;
  Scalar operator&(const Scalar &y) const;
  Scalar operator|(const Scalar &y) const;
  Scalar operator^(const Scalar &y) const;
  Scalar operator-() const;
  Scalar operator~() const;
  Scalar operator<(const Scalar &y) const;
  Scalar operator<=(const Scalar &y) const;
  Scalar operator>(const Scalar &y) const { return y < *this; }
  Scalar operator>=(const Scalar &y) const { return y <= *this; }
  Scalar operator==(const Scalar &y) const;

  Scalar operator+(double y) const { return *this + like(y); }
  Scalar operator-(double y) const { return *this - like(y); }
  Scalar operator*(double y) const { return *this * like(y); }
  Scalar operator/(double y) const { return *this / like(y); }
  Scalar operator<(double y) const { return *this < like(y); }
  Scalar operator>(double y) const { return *this > like(y); }

  friend Scalar floorMod(const Scalar &x, const Scalar &y);
  friend Scalar truncMod(const Scalar &x, const Scalar &y);
  friend Scalar pow(const Scalar &x, const Scalar &y);
  /// NaN in either operand gives NaN.
  friend Scalar min(const Scalar &x, const Scalar &y);
  friend Scalar max(const Scalar &x, const Scalar &y);
  friend Scalar select(const Scalar &condition, const Scalar &x, const Scalar &y);
  friend Scalar shiftLeft(const Scalar &x, const Scalar &y);
  friend Scalar shiftRight(const Scalar &x, const Scalar &y);
  friend Scalar isNan(const Scalar &x);
  friend Scalar sign(const Scalar &x);
  friend Scalar sigmoid(const Scalar &x);
  friend Scalar tanhOfSoftplus(const Scalar &x);
  friend Scalar abs(const Scalar &x);
  /// Conversion as ONNX Cast; `type` is a tensor or element type.
  friend Scalar castTo(const Scalar &x, mlir::Type type);
  /// The same bits as another type of the same width.
  friend Scalar bitsAs(const Scalar &x, mlir::Type type);
  /// To the nearest integer, halves to the even one, plus the zero point, saturated.
  friend Scalar quantizeTo(const Scalar &x, const Scalar &zero, mlir::Type type);
  /// Bytes by a table of 256 bytes.
  friend Scalar lookUp(const Scalar &x, llvm::ArrayRef<int8_t> table, mlir::Type type);

#define KILN_SCALAR_FUNCTION(name) friend Scalar name(const Scalar &x);
#include "dialects/nn/ScalarFunctions.def"
#undef KILN_SCALAR_FUNCTION

private:
  bool isTensor() const;
  bool isFloat() const;
  bool isUnsigned() const;
  bool isBool() const;
  Scalar with(mlir::Value value) const { return Scalar(builder, loc, value, element, accuracy); }
  /// The result of a function, which is given the accuracy if it is or has an exp.
  Scalar approximate(mlir::Operation *op) const;
  Scalar withBool(mlir::Value value) const;
  template <typename TensorOp, typename FloatOp, typename IntOp, typename UnsignedOp>
  Scalar binary(const Scalar &y) const;
  Scalar compare(const Scalar &y, int floatPredicate, int signedPredicate, int unsignedPredicate) const;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value held;
  mlir::Type element;
  kernel::Accuracy accuracy;
};

inline Scalar min(const Scalar &x, double y) { return min(x, x.like(y)); }
inline Scalar max(const Scalar &x, double y) { return max(x, x.like(y)); }
/// Declared at namespace scope so that the formulas find them by name.
Scalar castTo(const Scalar &x, mlir::Type type);
Scalar bitsAs(const Scalar &x, mlir::Type type);
Scalar quantizeTo(const Scalar &x, const Scalar &zero, mlir::Type type);
Scalar lookUp(const Scalar &x, llvm::ArrayRef<int8_t> table, mlir::Type type);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_SCALAR_H
