//===- SymbolCounts.h - Groups that compute symbols, and who needs them -----===//
#ifndef KILN_PASSES_LOWERING_ENTRY_SYMBOLCOUNTS_H
#define KILN_PASSES_LOWERING_ENTRY_SYMBOLCOUNTS_H

#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// The symbol that the group's anchor computes, and the result that is its count.
struct SymbolCount {
  unsigned symbol;
  mlir::Value count;
};
std::optional<SymbolCount> getSymbolCount(nn::GroupOp group);

/// The computed symbols that an operation's types, views and places mention.
llvm::SmallVector<unsigned> getComputedSymbols(mlir::Operation *op, const nn::ComputedDims &dims);

/// A symbol is needed like an operand, but no operand says so: a shape may need a count whose values nobody reads.
class SymbolCounts {
public:
  explicit SymbolCounts(mlir::Block &block);

  bool empty() const { return counts.empty(); }
  /// The counts that `op` needs before it, reshapes and choices included.
  llvm::SmallVector<mlir::Value> getCounts(mlir::Operation *op) const;
  /// Whether `op` computes a count that a constraint mentions.
  bool isChecked(mlir::Operation *op) const;
  /// Puts every operation behind the counts that it needs. False when there is no such order.
  bool sort(mlir::Block &block) const;

private:
  nn::ComputedDims dims;
  llvm::MapVector<unsigned, mlir::Value> counts;
  /// The computed symbols of constraints.
  llvm::SmallVector<unsigned> checked;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_ENTRY_SYMBOLCOUNTS_H
