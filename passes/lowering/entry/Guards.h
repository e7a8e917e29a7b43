//===- Guards.h - What runs only under a condition -------------------------===//
//
// Both branches of an If stand in straight line before the nn.choose that joins them. What an operation is needed for follows from its uses:
//
//   %a = nn.group(%x) {A}                          launch C
//   %b = nn.group(%x) {B}                    =>    if (c) { launch A } else { launch B }
//   %c = nn.group(%y) {C}
//   %r = nn.choose %c ? %a : %b
//
// So does what stands outside of an If but is used by one branch alone.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_ENTRY_GUARDS_H
#define KILN_PASSES_LOWERING_ENTRY_GUARDS_H

#include "passes/lowering/entry/SymbolCounts.h"
#include "llvm/ADT/DenseSet.h"

namespace kiln {

/// A condition, reshapes seen through, and what it must be.
struct Literal {
  mlir::Value condition;
  bool holds;
  bool operator==(const Literal &other) const { return condition == other.condition && holds == other.holds; }
};

/// Literals that all must be true; those whose conditions are computed under others stand behind these.
using Path = llvm::SmallVector<Literal, 2>;

/// One of the paths must be true: always with an empty path, never without any.
using Guard = llvm::SmallVector<Path, 1>;

/// When each operation of a block is needed.
class Guards {
public:
  /// Also puts what is needed under a condition behind that condition, and branches in one piece. Fails when there is no such order.
  mlir::LogicalResult compute(mlir::Block &block);

  const Guard &of(mlir::Operation *op) const { return needs.find(op)->second; }

private:
  void require(mlir::Value value, const Guard &guard, mlir::Value condition = {}, bool holds = true);
  void add(Guard &guard, Path path);
  void computeNeeds(mlir::Block &block);
  bool schedule(mlir::Operation *op);
  bool scheduleAll(mlir::Block &block);
  void orderLiterals();
  llvm::SmallVector<mlir::Value> getNeeds(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, Guard> needs;
  /// Conditions that need an operation themselves, so that it cannot wait for them.
  llvm::DenseSet<std::pair<mlir::Operation *, mlir::Value>> barred;
  std::optional<std::pair<mlir::Operation *, mlir::Value>> cyclic;
  std::optional<SymbolCounts> counts;
  /// What comes before in the new order; false while its operands are being placed.
  llvm::DenseMap<mlir::Operation *, bool> placed;
  llvm::SmallVector<mlir::Operation *> order;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_ENTRY_GUARDS_H
