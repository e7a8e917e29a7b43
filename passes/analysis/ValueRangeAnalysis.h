//===- ValueRangeAnalysis.h - Ranges of all values of a graph --------------===//
#ifndef KILN_PASSES_ANALYSIS_VALUERANGEANALYSIS_H
#define KILN_PASSES_ANALYSIS_VALUERANGEANALYSIS_H

#include "dialects/nn/NN.h"
#include "passes/analysis/Interval.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"

namespace kiln {

using ValueRangeLattice = mlir::dataflow::Lattice<Interval>;

/// Where the values of nn operations lie, forward from constants, the promised ranges of inputs (nn.range) and what operations themselves bound.
class ValueRangeAnalysis : public mlir::dataflow::SparseForwardDataFlowAnalysis<ValueRangeLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;
  void setToEntryState(ValueRangeLattice *lattice) override;
  llvm::LogicalResult visitOperation(mlir::Operation *op, llvm::ArrayRef<const ValueRangeLattice *> operands,
                                     llvm::ArrayRef<ValueRangeLattice *> results) override;

protected:
  void visitRegionSuccessors(mlir::ProgramPoint *point, mlir::RegionBranchOpInterface branch, mlir::RegionSuccessor successor,
                             llvm::ArrayRef<mlir::dataflow::AbstractSparseLattice *> lattices) override;
};

/// The ranges of a function's values, computed once.
class ValueRanges {
public:
  explicit ValueRanges(mlir::Operation *root);
  /// Everything the type can hold where nothing is known.
  Interval get(mlir::Value value) const;

private:
  mlir::DataFlowSolver solver;
};

/// Where result `index` of an operation lies, given where its operands lie.
Interval inferRange(mlir::Operation *op, unsigned index, llvm::ArrayRef<Interval> operands);
/// The same for matrix products and convolutions: with a constant weight from its sums, else from the number of products.
Interval inferContractionRange(mlir::Operation *op, Interval input, Interval weight);

/// The most elements that dimension `axis` of a type can have: its bound where it depends on symbols.
int64_t getLargestSize(mlir::Operation *op, mlir::Type type, llvm::ArrayRef<int64_t> axes);

} // namespace kiln

#endif // KILN_PASSES_ANALYSIS_VALUERANGEANALYSIS_H
