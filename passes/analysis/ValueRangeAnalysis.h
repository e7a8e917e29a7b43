//===- ValueRangeAnalysis.h - Ranges of all values of a graph --------------===//
#ifndef KILN_PASSES_ANALYSIS_VALUERANGEANALYSIS_H
#define KILN_PASSES_ANALYSIS_VALUERANGEANALYSIS_H

#include "dialects/nn/NN.h"
#include "passes/analysis/Interval.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"

namespace kiln {

using ValueRangeLattice = mlir::dataflow::Lattice<Interval>;

/// The ranges of the results of nn operations, computed forward from constants, the promised ranges of inputs (nn.range), and operations that bound their
/// results.
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
  /// The whole range of the type if nothing is known.
  Interval get(mlir::Value value) const;

private:
  mlir::DataFlowSolver solver;
};

/// The range of result `index` of an operation, from the ranges of its operands.
Interval inferRange(mlir::Operation *op, unsigned index, llvm::ArrayRef<Interval> operands);

/// The upper bound of dimension `axis` of a type.
int64_t getLargestSize(mlir::Operation *op, mlir::Type type, llvm::ArrayRef<int64_t> axes);

} // namespace kiln

#endif // KILN_PASSES_ANALYSIS_VALUERANGEANALYSIS_H
