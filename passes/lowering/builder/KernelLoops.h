//===- KernelLoops.h - Loops and index arithmetic of one kernel ------------===//
//
// Index expressions are affine: dimension dN is the loop variable that `index(value)` gave out, symbol sN is the module's symbol N.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_KERNELLOOPS_H
#define KILN_PASSES_LOWERING_BUILDER_KERNELLOOPS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// The vectorized direction: lane i of a value stands for loop variable `dim` + i. One lane means a scalar.
struct Lanes {
  unsigned dim = 0;
  unsigned count = 1;
};

class KernelLoops {
public:
  /// Writes at the builder's place. `symbols` are the values of the module's symbols, [begin, end) the tasks of a call.
  KernelLoops(mlir::OpBuilder builder, mlir::Location location, llvm::ArrayRef<mlir::Value> symbols, mlir::Value begin, mlir::Value end);

  mlir::OpBuilder &builder() { return b; }
  mlir::Location loc() const { return location; }
  mlir::MLIRContext *context() const { return b.getContext(); }
  /// Changes whenever a loop or branch begins or ends: a value computed under another number may not be visible.
  unsigned blockNumber() const { return block; }

  /// Makes a loop variable (or any index value) usable in index expressions.
  mlir::AffineExpr index(mlir::Value value);
  mlir::AffineExpr constant(int64_t value) const { return mlir::getAffineConstantExpr(value, b.getContext()); }
  /// The value of an index expression here.
  mlir::Value emit(mlir::AffineExpr expr);
  mlir::Value emitConstant(int64_t value);
  /// The smaller and the larger of two index values.
  mlir::Value minimum(mlir::Value x, mlir::Value y);
  mlir::Value maximum(mlir::Value x, mlir::Value y);

  /// for (i = lower; i < upper; i += step) body(i). The name is the C++ variable's.
  void loop(mlir::AffineExpr lower, mlir::AffineExpr upper, int64_t step, llvm::StringRef name, llvm::function_ref<void(mlir::AffineExpr)> body);
  /// The same with values carried round; `body` returns their next values.
  llvm::SmallVector<mlir::Value> loop(mlir::AffineExpr lower, mlir::AffineExpr upper, int64_t step, llvm::StringRef name, mlir::ValueRange init,
                                      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::AffineExpr, mlir::ValueRange)> body);
  /// Loops over the kernel's task range and splits the task number into row-major coordinates of `extents`.
  void taskLoop(llvm::ArrayRef<mlir::AffineExpr> extents, llvm::function_ref<void(llvm::ArrayRef<mlir::AffineExpr>)> body);
  /// Covers [0, extent) with vectors of `lanes`, then of smaller powers of two; a remainder that is not static is done by single elements.
  void vectorLoop(mlir::AffineExpr extent, unsigned lanes, llvm::StringRef name, llvm::function_ref<void(mlir::AffineExpr, Lanes)> body);
  /// while (condition(state)) state = body(state). Returns the last state.
  llvm::SmallVector<mlir::Value> whileLoop(mlir::ValueRange init, llvm::function_ref<mlir::Value(mlir::ValueRange)> condition,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body);
  /// if (condition) body().
  void branch(mlir::Value condition, llvm::function_ref<void()> body);

  /// A number of this element type (compute type), as a vector when lanes > 1.
  mlir::Value number(mlir::Type elementType, double value, unsigned lanes = 1);
  mlir::Value broadcast(mlir::Value scalar, unsigned lanes);
  /// Sets the name in the C++ text of a value that was just computed; of a loop, of what it carries.
  mlir::Value named(mlir::Value value, llvm::StringRef name);
  /// A fresh loop dimension for analysis only (it has no value).
  mlir::AffineExpr placeholder();

private:
  mlir::OpBuilder b;
  mlir::Location location;
  llvm::SmallVector<mlir::Value> loopValues;
  llvm::SmallVector<mlir::Value> symbols;
  mlir::Value begin, end;
  unsigned block = 0;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_KERNELLOOPS_H
