//===- Expression.h - C++ expressions -----------------===//
#ifndef KILN_COMPILER_EMIT_EXPRESSION_H
#define KILN_COMPILER_EMIT_EXPRESSION_H

#include "compiler/emit/CppTypes.h"
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

/// A constant as an expression. Every value is exact. The types that it names go to `used`, unless the expression is only a question.
Expression literal(mlir::TypedAttr value, VectorNames *used = nullptr);

/// What the expression of an operation is made of: the expressions of its operands, and the types that it names.
class OperandText {
public:
  OperandText(llvm::function_ref<Expression(mlir::Value)> expression, VectorNames &used) : expression(expression), used(used) {}

  Expression operator()(mlir::Value value) const { return expression(value); }
  /// cppType and cppUnsignedType, for the text of the expression; to only ask, call these.
  std::string type(mlir::Type type) const { return used.use(cppType(type)); }
  std::string unsignedType(mlir::Type type) const { return used.use(cppUnsignedType(type)); }
  Expression literal(mlir::TypedAttr value) const { return kiln::literal(value, &used); }

private:
  llvm::function_ref<Expression(mlir::Value)> expression;
  VectorNames &used;
};

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
