//===- FullTrees.cpp - Tables of full decision trees -----------------------===//
#include "dialects/nn/FullTrees.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::nn {

/// Levels of a part that holds leaves: its thresholds, columns and leaves lie within a page.
static constexpr int64_t partLevels = 6;

static int64_t countPartWords(int64_t levels, bool holdsLeaves) {
  int64_t bytes = (int64_t(1) << levels) * (holdsLeaves ? 10 : 6);
  return llvm::divideCeil(bytes, 8);
}

static int64_t countLevelsAbove(int64_t levels) { return std::max<int64_t>(levels - partLevels, 0); }

int64_t countFullWords(int64_t trees, int64_t levels, bool holdsLeaves) {
  int64_t above = countLevelsAbove(levels), tree = countPartWords(levels - above, holdsLeaves) << above;
  return llvm::alignTo(trees, fullStreams) * (tree + (above ? countPartWords(above, false) : 0));
}

namespace {
class FullMaker {
public:
  FullMaker(const Forest &forest, int64_t targets, bool isSum, TreeTables &tables) : forest(forest), targets(targets), isSum(isSum), tables(tables) {}
  bool make();

private:
  bool chooseLevels();
  bool giveOneNumber() const;
  void fillTree(int64_t tree);
  /// The word at which a part of a tree below the upper levels begins.
  int64_t partBegin(int64_t tree, int64_t part) const {
    return llvm::alignTo(forest.roots.size(), fullStreams) * upperWords + ((tree << above) + part) * partWords;
  }
  void setNode(int64_t tree, int64_t level, int64_t path, const TreeTest &test);
  void setLeaf(int64_t tree, int64_t path, int64_t leaf);
  void set(int64_t word, int64_t byte, uint64_t bits) { tables.nodes[word + byte / 8] |= bits << byte % 8 * 8; }

  const Forest &forest;
  int64_t targets;
  bool isSum;
  TreeTables &tables;
  /// The levels above the parts of a tree, and words of a part and of what is above.
  int64_t above, partWords, upperWords;
  /// The target of each tree if its leaves give one number each.
  std::vector<int64_t> treeTargets;
};
} // namespace

/// The most levels of a tree, if full trees of them are not much larger than these.
bool FullMaker::chooseLevels() {
  constexpr int64_t most = 4;
  int64_t levels = leastFullLevels, leaves = 0;
  treeTargets.assign(forest.roots.size(), -1);
  for (auto [root, target] : llvm::zip_equal(forest.roots, treeTargets)) {
    SmallVector<std::pair<int64_t, int64_t>> open = {{root, int64_t(0)}};
    while (!open.empty()) {
      auto [branch, level] = open.pop_back_val();
      if (levels = std::max(levels, level); levels > mostFullLevels)
        return false;
      if (branch >= 0) {
        open.push_back({forest.tests[branch].left(), level + 1}), open.push_back({forest.tests[branch].right(), level + 1});
        continue;
      }
      ++leaves;
      // -2 stands for several targets.
      for (int64_t entry = forest.leafBegins[~branch]; entry < forest.leafBegins[~branch + 1]; ++entry)
        target = target == -1 || target == forest.leafTargets[entry] ? forest.leafTargets[entry] : -2;
    }
  }
  tables.levels = levels;
  return static_cast<int64_t>(forest.roots.size()) << levels <= most * leaves || levels == leastFullLevels;
}

bool FullMaker::giveOneNumber() const { return isSum && !llvm::is_contained(treeTargets, -2); }

void FullMaker::setNode(int64_t tree, int64_t level, int64_t path, const TreeTest &test) {
  int64_t word, node, nodes;
  if (level < above) {
    word = tree * upperWords, node = (int64_t(1) << level) + path, nodes = int64_t(1) << above;
  } else {
    int64_t within = level - above, part = path >> within;
    word = partBegin(tree, part);
    node = (int64_t(1) << within) + (path & ((int64_t(1) << within) - 1)), nodes = int64_t(1) << (tables.levels - above);
  }
  // A NaN that goes left is looked up among the copies of columns behind the others.
  int64_t column = test.column + (tables.missing == 2 && test.missingGoesLeft() ? tables.width : 0);
  set(word, 4 * node, makeTreeKey(test));
  set(word, 4 * nodes + 2 * node, column);
}

void FullMaker::setLeaf(int64_t tree, int64_t path, int64_t leaf) {
  int64_t begin = forest.leafBegins[leaf], end = forest.leafBegins[leaf + 1];
  if (tables.holdsLeaves) {
    double sum = 0;
    for (int64_t entry = begin; entry < end; ++entry)
      sum += forest.leafWeights[entry];
    int64_t levels = tables.levels - above, nodes = int64_t(1) << levels, part = path >> levels;
    set(partBegin(tree, part), 6 * nodes + 4 * (path & (nodes - 1)), llvm::bit_cast<uint32_t>(static_cast<float>(sum)));
    return;
  }
  int64_t slot = (tree << tables.levels) + path;
  if (tables.isListed) {
    tables.leaves[forest.leafTargets.size() + slot] = begin << 24 | (end - begin);
    return;
  }
  for (int64_t entry = begin; entry < end; ++entry)
    tables.weights[slot * targets + forest.leafTargets[entry]] += forest.leafWeights[entry];
}

void FullMaker::fillTree(int64_t tree) {
  struct Place {
    int64_t branch, level, path;
  };
  // What leads left whatever the row holds.
  const TreeTest always = {0, 0, Less | Equal | Greater, 0, 0};
  SmallVector<Place> open = {{forest.roots[tree], 0, 0}};
  while (!open.empty()) {
    auto [branch, level, path] = open.pop_back_val();
    if (level == tables.levels) {
      setLeaf(tree, path, ~branch);
      continue;
    }
    setNode(tree, level, path, branch < 0 ? always : forest.tests[branch]);
    open.push_back({branch < 0 ? branch : forest.tests[branch].left(), level + 1, 2 * path});
    if (branch >= 0)
      open.push_back({forest.tests[branch].right(), level + 1, 2 * path + 1});
  }
}

bool FullMaker::make() {
  int64_t trees = forest.roots.size();
  if (!chooseLevels()) {
    tables.levels = 0;
    return false;
  }
  tables.holdsLeaves = giveOneNumber();
  above = countLevelsAbove(tables.levels);
  upperWords = above ? countPartWords(above, false) : 0, partWords = countPartWords(tables.levels - above, tables.holdsLeaves);
  tables.nodes.resize(countFullWords(trees, tables.levels, tables.holdsLeaves));
  int64_t slots = trees << tables.levels, before = 0;
  if (tables.holdsLeaves) {
    tables.isListed = false;
  } else if (tables.isListed) {
    tables.leaves = forest.leafTargets, before = forest.leafTargets.size();
    tables.leaves.resize(before + slots), tables.weights = forest.leafWeights;
  } else {
    tables.weights.resize(slots * targets);
  }
  tables.trees.resize(4 * trees);
  for (int64_t tree = 0; tree < trees; ++tree) {
    tables.trees[4 * tree] = std::max<int64_t>(treeTargets[tree], 0), tables.trees[4 * tree + 1] = before + (tree << tables.levels);
    fillTree(tree);
  }
  return true;
}

bool fillFullTables(const Forest &forest, int64_t targets, bool isSum, TreeTables &tables) { return FullMaker(forest, targets, isSum, tables).make(); }

} // namespace kiln::nn
