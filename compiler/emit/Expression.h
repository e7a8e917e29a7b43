//===- Expression.h - C++ expressions -----------------===//
#ifndef KILN_COMPILER_EMIT_EXPRESSION_H
#define KILN_COMPILER_EMIT_EXPRESSION_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"
#include <string>

namespace kiln {

/// How tightly the outermost operator of an expression binds, loosest first.
enum class Binding { Conditional, Bitwise, Compare, Add, Multiply, Unary, Primary };

struct Expression {
  std::string text;
  Binding binding = Binding::Primary;

  /// The text, in parentheses if it binds looser than its context requires.
  std::string at(Binding place) const { return binding < place ? "(" + text + ")" : text; }
};

/// The expression of an operand.
using OperandText = llvm::function_ref<Expression(mlir::Value)>;

/// The C++ type of a scalar or vector value; empty if there is none. Signless integers are signed, masks are int32 lanes, f16 and bf16 are
/// their bits.
std::string cppType(mlir::Type type);
/// The C++ type of an element of a buffer.
std::string cppElementType(mlir::Type type);
/// The unsigned integer type of the same shape.
std::string cppUnsignedType(mlir::Type type);
/// Whether a value of this type is a vector with more than one lane in C++ (a vector of one lane is a scalar there).
bool isCppVector(mlir::Type type);

/// A constant as an expression. Every value is exact.
Expression literal(mlir::TypedAttr value);

/// The value of an operation that computes one value from its operands and touches no memory. Returns an empty text if no rule covers
/// the operation or the type.
Expression writeArith(mlir::Operation *op, OperandText operand);
Expression writeMath(mlir::Operation *op, OperandText operand);
Expression writeVector(mlir::Operation *op, OperandText operand);

/// function(operands...), or function<type>(operands...).
Expression call(const std::string &function, llvm::ArrayRef<std::string> arguments);
Expression callOn(llvm::StringRef function, const std::string &type, mlir::ValueRange operands, OperandText operand);
/// left op right, where equal binding on the left needs no parentheses.
Expression infix(const Expression &left, llvm::StringRef op, const Expression &right, Binding binding);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_EXPRESSION_H
