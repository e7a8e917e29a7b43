//===- TreeTables.h - Decision trees as tables of nodes and leaves ---------===//
#ifndef KILN_DIALECTS_NN_TREETABLES_H
#define KILN_DIALECTS_NN_TREETABLES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace kiln::nn {

/// Which outcomes of comparing a column with a node's split take the true branch.
enum TreeOutcome : uint8_t { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

/// A node that compares. A branch is the number of a node, or ~leaf.
struct TreeTest {
  int64_t column;
  double split;
  uint8_t outcomes;
  int64_t whenTrue, whenFalse;

  /// The left branch is for what is smaller, which is that of the true branch or of the other.
  bool trueIsLeft() const { return outcomes & Less; }
  bool missingGoesLeft() const { return static_cast<bool>(outcomes & Unordered) == trueIsLeft(); }
  int64_t left() const { return trueIsLeft() ? whenTrue : whenFalse; }
  int64_t right() const { return trueIsLeft() ? whenFalse : whenTrue; }
  /// The outcomes that go left.
  uint8_t leftOutcomes() const { return trueIsLeft() ? outcomes : ~outcomes & 15; }
};

/// Trees as import reads them. A test may be below several others of its tree, and is below none of another tree.
struct Forest {
  std::vector<TreeTest> tests;
  /// A test, or ~leaf.
  std::vector<int64_t> roots;
  /// Leaf i gives the entries [leafBegins[i], leafBegins[i + 1]): numbers for targets.
  std::vector<int64_t> leafBegins, leafTargets;
  std::vector<double> leafWeights;

  int64_t numLeaves() const { return leafBegins.empty() ? 0 : static_cast<int64_t>(leafBegins.size()) - 1; }
};

/// The operands and attributes of nn.tree_ensemble. The nodes of a tree stand level by level, the two below a node side by side (of three words: wherever they
/// are), leaves among them as long as another tree of the same 16 has that many levels. `trees` has for each its first word, what to add to a node's index for
/// the slot of its leaf, its levels, and the most levels of the 16. `leaves` of lists has the targets of all entries, then for each slot 2^24 times its first
/// entry, plus how many there are. Where all trees are full or nearly so, they have `levels` (dialects/nn/FullTrees.h).
struct TreeTables {
  int64_t words = 1, width = 1, missing = 0, levels = 0;
  bool isStrict = false, isListed = false, holdsLeaves = false;
  std::vector<int64_t> nodes, trees, leaves;
  std::vector<double> weights;
};

/// What a node of f32 compares for a test: the split as an integer of the same order, which what is larger exceeds. What is equal does, too, if it goes right.
uint32_t makeTreeKey(const TreeTest &test);

/// The tables of a forest whose splits are f32 or f64. Numbers of several leaves are added where `isSum`, so that they may stand for each target.
TreeTables makeTreeTables(const Forest &forest, bool isF32, int64_t targets, bool isSum);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_TREETABLES_H
