//===- SizeChecks.h - Sizes that do not fit into 64 bits -------------------===//
//
// Sizes, offsets and strides are computed in 64 bits. With large dimensions their products would wrap around, so the entry checks, before it computes
// any of them, that no tensor (those inside of kernels among them) is larger than `mostBytes`:
//
//   %size = arith.mulf %rows, %columns : f64
//   %fits = arith.cmpf ole, %size, %most : f64
//   kernel.check %fits, "KILN_STATUS_SIZE_OVERFLOW", "rows * columns * 4 bytes"
//
// The checks compute in f64, which neither wraps around nor loses more than a few bits. Those that always hold, given the bounds of the dimensions, are
// left out.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_ENTRY_SIZECHECKS_H
#define KILN_PASSES_LOWERING_ENTRY_SIZECHECKS_H

#include "dialects/kernel/IndexWidth.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/DimFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// The most bytes of a tensor, and of the workspace. What is added to sizes, such as alignment, leaves them below 2^63.
inline constexpr int64_t mostBytes = nn::mostSize;

/// The status of runs whose sizes are too large. PlanMemory recognises the checks by it: NAME_workspace_size makes them, too.
inline constexpr llvm::StringLiteral sizeOverflowStatus = "KILN_STATUS_SIZE_OVERFLOW";

/// Ends the run unless `size` (f64) is at most `limit`.
void createSizeCheck(mlir::OpBuilder &b, mlir::Location loc, mlir::Value size, int64_t limit, const llvm::Twine &text);

/// An index as f64.
mlir::Value toDouble(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index);

class SizeChecks {
public:
  SizeChecks(mlir::ModuleOp module, const nn::ComputedDims &dims)
      : module(module), dims(dims), limit(kernel::hasNarrowIndices(kernel::getTarget(module)) ? kernel::mostNarrowIndex : mostBytes) {}

  /// All that kernels compute from the types and maps of a function.
  void addFunction(mlir::func::FuncOp function);
  /// A buffer of so many elements; returns the most bytes that it takes.
  double addBuffer(mlir::AffineExpr count, int64_t elementBytes);
  /// A number that is computed in 64 bits.
  void addIndex(mlir::AffineExpr expr);
  /// Whether an expression of symbols, or a part of it, may not fit.
  bool mayOverflow(mlir::AffineExpr expr) const;
  /// Writes the checks that are needed; `symbols` are the dimensions that the caller gives.
  void emit(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange symbols);

private:
  void addTensor(mlir::Type type);
  void addStrides(mlir::AffineExpr expr);
  void addParts(mlir::AffineExpr expr);
  void addProduct(llvm::ArrayRef<mlir::AffineExpr> sizes, double scale, int64_t limit);
  /// Whether all symbols of an expression are the module's.
  bool isKnown(mlir::AffineExpr expr) const;
  double getMost(mlir::AffineExpr expr) const;
  std::string describe(mlir::AffineMap factors, double scale) const;

  mlir::ModuleOp module;
  const nn::ComputedDims &dims;
  /// `mostBytes`, or what indices of 32 bits reach.
  const int64_t limit;
  /// Products that may be too large, and their limits: the largest number that they are multiplied by.
  llvm::MapVector<std::pair<mlir::AffineMap, int64_t>, double> products;
  llvm::DenseMap<mlir::AffineExpr, unsigned> order;
  llvm::DenseSet<mlir::AffineExpr> seen;
  llvm::DenseSet<mlir::Type> types;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_ENTRY_SIZECHECKS_H
