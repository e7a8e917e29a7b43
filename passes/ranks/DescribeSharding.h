//===- DescribeSharding.h - How a model is cut, and what is not -------------===//
#ifndef KILN_PASSES_RANKS_DESCRIBESHARDING_H
#define KILN_PASSES_RANKS_DESCRIBESHARDING_H

#include "passes/ranks/CutOptions.h"

namespace kiln {

using OptionMap = llvm::DenseMap<mlir::Operation *, CutOption>;

/// How the operations of a model are cut.
struct ShardingChoice {
  /// Along each axis.
  std::vector<OptionMap> axes;
  CutsSoFar cuts;
  /// What a run takes by estimate, and what the choice would take that has the least time whatever weights a rank has.
  double seconds = 0, unboundSeconds = 0;
  /// The bytes of the model's weights, and of a rank's.
  double weights = 0, kept = 0;
  /// The share that a rank is to have at most.
  double mostShare = 1;

  double share() const { return weights > 0 ? kept / weights : 0; }
  void countWeights(mlir::func::FuncOp function, const Grid &grid);
};

/// For `nn.sharding`: a dictionary with `cuts`, a list of what is done with the operations that are cut, `refused`, a list of the reasons why others or their
/// weights are not, and the numbers of the choice.
mlir::DictionaryAttr describeSharding(mlir::func::FuncOp function, const Grid &grid, const RankMachine &machine, const RankWishes &wishes,
                                      const ShardingChoice &choice);

} // namespace kiln

#endif // KILN_PASSES_RANKS_DESCRIBESHARDING_H
