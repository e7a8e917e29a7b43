//===- FunctionPrinter.h - Blocks of operations as C++ statements ----------===//
//
// One operation is one statement, or a part of the one statement that uses it. The values that a loop carries are mutable variables; all
// others are const. The printer only decides names and the layout of the text.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_EMIT_FUNCTIONPRINTER_H
#define KILN_COMPILER_EMIT_FUNCTIONPRINTER_H

#include "compiler/emit/Expression.h"
#include "compiler/emit/Identifiers.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace kiln {

/// The name in an operation's location. Names of ONNX nodes, which have parentheses, do not count, and neither does the name of the enclosing
/// function, which its builder used as the default location.
llvm::StringRef givenName(mlir::Operation *op);

class FunctionPrinter {
public:
  virtual ~FunctionPrinter() = default;

  /// Sets the name of a value that the caller declares (a parameter, a global).
  void define(mlir::Value value, std::string name) { names[value] = std::move(name); }
  std::string uniqueName(llvm::StringRef base) { return scope.unique(base); }
  /// The name that an argument's `kernel.name` or its location suggests, or `fallback`; unique in the function.
  std::string nameOf(mlir::Value value, llvm::StringRef fallback);

  /// Prints the tables in which a function looks up bytes.
  void printTables(mlir::Operation *function);

  /// Prints the operations of a block. Reports each operation that no rule covers.
  llvm::LogicalResult printBlock(mlir::Block &block);

  /// The value as text: its name, or its expression if it has a single use. Call it at most as often as the IR uses the value.
  Expression expression(mlir::Value value);
  std::string text(mlir::Value value) { return expression(value).text; }

  /// Whether the printed text mentions the value.
  bool isMentioned(mlir::Value value) const { return mentioned.contains(value); }
  const std::string &body() const { return out; }
  /// The vector types that the text names.
  const std::set<std::string> &vectorTypes() const { return vectors.get(); }

protected:
  /// Prints an operation that is not an expression and not from scf or memref. Fails if there is no rule.
  virtual llvm::LogicalResult printStatement(mlir::Operation *op);
  void line(const llvm::Twine &text);
  void open(const llvm::Twine &text);
  void close(const llvm::Twine &text = "}");
  /// The C++ type of a value, for the text.
  std::string writeType(mlir::Type type) { return vectors.use(cppType(type)); }
  NameScope scope;

private:
  llvm::LogicalResult print(mlir::Operation *op);
  llvm::LogicalResult printValue(mlir::Operation *op);
  Expression writeExpression(mlir::Operation *op);
  Expression writeLoad(mlir::Operation *op);
  Expression address(mlir::Value buffer, mlir::ValueRange indices);
  Expression element(mlir::Value buffer, mlir::ValueRange indices);
  llvm::LogicalResult printFor(mlir::scf::ForOp loop);
  llvm::LogicalResult printIf(mlir::scf::IfOp op);
  llvm::LogicalResult printWhile(mlir::scf::WhileOp loop);
  llvm::LogicalResult printAlloca(mlir::memref::AllocaOp op);
  bool printMemory(mlir::Operation *op);
  void printExternalCall(kernel::CallOp op);
  llvm::LogicalResult printRuntimeCall(kernel::RuntimeCallOp op);
  void printTable(llvm::StringRef type, const std::string &name, llvm::ArrayRef<std::string> entries);
  /// A literal as arguments; nullopt when it has no C++ text.
  std::optional<std::vector<std::string>> writeLiteral(mlir::Attribute literal, unsigned number);

  /// Finds the operations that are printed inside their user, and those that are unused.
  void planBlock(mlir::Block &block);
  /// Declares a variable for a loop-carried value, or reuses the variable of its initial value.
  void carry(mlir::Value start, mlir::Value argument, mlir::Value result, mlir::Operation *loop);
  /// Assigns values to variables, as if simultaneously.
  void assign(llvm::ArrayRef<std::string> variables, mlir::ValueRange values);
  void declare(mlir::Value value, const std::string &name);

  VectorNames vectors;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::DenseMap<mlir::Value, Expression> pending;
  /// Of bytes, by their attributes.
  llvm::DenseMap<mlir::Attribute, std::string> tables;
  llvm::DenseSet<mlir::Value> mentioned;
  /// Mutable variables by their values.
  llvm::DenseSet<mlir::Value> variables;
  llvm::DenseSet<mlir::Operation *> inlined;
  llvm::DenseSet<mlir::Operation *> dead;
  std::string out;
  unsigned depth = 1;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_FUNCTIONPRINTER_H
