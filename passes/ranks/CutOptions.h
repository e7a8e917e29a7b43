//===- CutOptions.h - The ways to cut an operation along one axis -----------===//
#ifndef KILN_PASSES_RANKS_CUTOPTIONS_H
#define KILN_PASSES_RANKS_CUTOPTIONS_H

#include "passes/ranks/Costs.h"
#include "passes/ranks/Layouts.h"
#include "passes/ranks/Wishes.h"

#include <string>
#include <vector>

namespace kiln {

/// A way to cut one operation along one axis: the dimension of each operand and result, or `whole`.
struct CutOption {
  llvm::SmallVector<int> operands, results;
  /// Of the operation, and of combining its results.
  double seconds = 0;
  /// What a rank sends to combine results, or for states that others need.
  double sentBytes = 0;
  /// What the rows of neighbours take that windows need of the first operand, and their bytes, unless each rank has all rows.
  double borderSeconds = 0, borderBytes = 0;
};

/// A way to cut an operation that is not possible.
struct RefusedCut {
  /// The operands that would have been cut.
  llvm::SmallVector<bool> operands;
  std::string reason;
};

struct CutOptions {
  /// The first one cuts nothing.
  std::vector<CutOption> list;
  std::vector<RefusedCut> refused;
};

/// A value of which each rank can have any part without work.
bool isAnyPart(mlir::Value value);

/// What the axes of the grid before the current one have cut, value by value and use by use.
struct CutsSoFar {
  llvm::DenseMap<mlir::Value, Cut> values;
  llvm::DenseMap<mlir::OpOperand *, Cut> uses;

  /// Adds the values of a function, whole.
  void add(mlir::func::FuncOp function, const Grid &grid);
  /// What an axis cuts.
  void take(const llvm::DenseMap<mlir::Operation *, CutOption> &options, unsigned axis);
};

/// The ways to cut operations along one axis, and what they cost.
class AxisCuts {
public:
  AxisCuts(const Grid &grid, unsigned axis, const RankMachine &machine, const RankWishes &wishes, const CutsSoFar &cuts)
      : grid(grid), axis(axis), parts(grid.shape[axis]), machine(machine), wishes(wishes), cuts(cuts) {}

  CutOptions listOptions(mlir::Operation *op) const;
  /// Seconds to have a value as `to` says.
  double exchange(mlir::Value value, int from, int to) const;
  /// Seconds to have an operand as the option says, with the rows of neighbours.
  double exchange(mlir::OpOperand &operand, int from, const CutOption &option) const;
  /// What a rank sends for that.
  double sentFor(mlir::Value value, int from, int to) const;
  /// The price of the weights that a rank keeps for an option, in seconds.
  double keptSeconds(mlir::Operation *op, const CutOption &option) const;

  const Grid &grid;
  unsigned axis;
  int64_t parts;
  const RankMachine &machine;
  const RankWishes &wishes;

private:
  void addLoopOptions(mlir::Operation *op, CutOptions &options) const;
  void addLoop(mlir::Operation *op, unsigned loop, CutOptions &options) const;
  void addSums(mlir::Operation *op, unsigned loop, CutOption option, CutOptions &options) const;
  void addReshapeOptions(mlir::Operation *op, CutOptions &options) const;
  void addWindowOptions(mlir::Operation *op, CutOptions &options) const;
  void addGateOptions(mlir::Operation *op, CutOptions &options) const;
  /// Bytes of what a rank has of a value after the axes before this one.
  double bytesSoFar(mlir::Value value) const;
  /// Why a value of this type, cut so far as `cut` says, cannot be cut at `dim` in equal parts; empty if it can.
  std::string findFault(mlir::Value value, const Cut &cut, int dim) const;
  /// Why an option would cut a dimension of the result into other parts than it has: the first axis makes the largest ones, so the operands have to be cut
  /// along it, too. Empty if they are.
  std::string findOrderFault(mlir::Operation *op, const CutOption &option) const;
  /// Why an option would cut a group of a convolution's channels; empty if it does not.
  std::string findGroupFault(mlir::Operation *op, const CutOption &option) const;

  const CutsSoFar &cuts;
};

} // namespace kiln

#endif // KILN_PASSES_RANKS_CUTOPTIONS_H
