//===- MergeExchanges.h - Collectives that share a message ------------------===//
#ifndef KILN_PASSES_RANKS_MERGEEXCHANGES_H
#define KILN_PASSES_RANKS_MERGEEXCHANGES_H

#include "passes/ranks/Costs.h"
#include <vector>

namespace kiln {

/// Which collectives become one, the same for all ranks, by their numbers.
struct ExchangeMerges {
  struct Merge {
    std::vector<int64_t> members;
    /// Collectives between the members that need the result of one of them on some rank: all ranks make them behind the merged one.
    std::vector<int64_t> behind;
  };
  std::vector<Merge> list;
  /// For people: how many collectives there are, what is merged, and why others next to each other are not.
  mlir::DictionaryAttr description;
};

/// Decides for the modules of ranks of which each dependence between collectives is in one: a rank at the border of an image needs nothing of what comes over
/// the border.
ExchangeMerges chooseMerges(llvm::ArrayRef<mlir::ModuleOp> ranks, const RankMachine &machine);

/// Merges them in the module of one rank.
void mergeExchanges(mlir::ModuleOp rank, const ExchangeMerges &merges);

} // namespace kiln

#endif // KILN_PASSES_RANKS_MERGEEXCHANGES_H
