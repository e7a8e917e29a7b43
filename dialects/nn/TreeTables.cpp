//===- TreeTables.cpp - Decision trees as tables of nodes and leaves -------===//
#include "dialects/nn/TreeTables.h"
#include "dialects/nn/FullTrees.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;

namespace kiln::nn {

/// Trees that runtime/include/kiln/trees.h sends one row down at a time.
static constexpr int64_t streams = 16;

namespace {
/// A node or leaf in its place within a tree.
struct Item {
  int64_t branch, level;
  int64_t left = 0, right = 0;
};

class TableMaker {
public:
  TableMaker(const Forest &forest, bool isF32, int64_t targets, bool isSum) : forest(forest), isF32(isF32), targets(targets), isSum(isSum) {}
  TreeTables make();

private:
  void chooseWords();
  void fillTables();
  bool isUniform(bool strict) const;
  std::vector<Item> place(int64_t root);
  void addNode(const Item &item);
  void addLeaves(ArrayRef<Item> items, int64_t tree);
  void addWeights(int64_t leaf);

  const Forest &forest;
  bool isF32;
  int64_t targets;
  bool isSum;
  TreeTables tables;
  /// Tests above each test that are not placed yet, the levels above it, and its place.
  std::vector<int64_t> above, levels, places;
  std::vector<int64_t> slots;
};
} // namespace

uint32_t makeTreeKey(const TreeTest &test) {
  constexpr uint32_t always = ~uint32_t(0);
  uint8_t left = test.leftOutcomes() & (Less | Equal | Greater);
  if (left & Greater)
    return always;
  // Zeros of both signs are equal.
  uint32_t bits = llvm::bit_cast<uint32_t>(static_cast<float>(test.split) + 0.0f), sign = uint32_t(1) << 31;
  uint32_t key = bits & sign ? ~bits : bits | sign;
  return left & Equal ? key : key - 1;
}

/// Whether a test asks whether a number is below, or not above, a split, which is no NaN.
static bool isOrdered(const TreeTest &test, bool isStrict) {
  return (test.leftOutcomes() & (Less | Equal | Greater)) == (isStrict ? Less : Less | Equal) && !std::isnan(test.split);
}

/// Whether one comparison does for all tests, and copies of a row can tell where NaN goes: they have infinity for it, which goes left of no finite split.
bool TableMaker::isUniform(bool strict) const {
  return llvm::all_of(forest.tests, [&](const TreeTest &test) {
    return isOrdered(test, strict) && std::isfinite(isF32 ? static_cast<float>(test.split) : test.split);
  });
}

void TableMaker::chooseWords() {
  bool left = false, right = false, haveKeys = isF32;
  for (const TreeTest &test : forest.tests) {
    tables.width = std::max(tables.width, test.column + 1);
    (test.missingGoesLeft() ? left : right) = true;
    haveKeys &= isOrdered(test, false) || isOrdered(test, true);
  }
  // Only nodes of three words say where both of their children are.
  bool isShared = llvm::any_of(above, [](int64_t tests) { return tests > 1; });
  haveKeys &= !isShared;
  bool loose = !isShared && isUniform(false), strict = !isShared && isUniform(true);
  tables.missing = !left || !(haveKeys || loose || strict) ? 0 : right ? 2 : 1;
  // No tree has more nodes than all trees together, but that would make nodes of large forests larger than they need be: places are counted.
  constexpr int64_t most = 1 << 16;
  haveKeys &= tables.width * (tables.missing == 2 ? 2 : 1) <= most;
  if (haveKeys && fillFullTables(forest, targets, isSum, tables))
    return;
  bool isShort = haveKeys && llvm::all_of(forest.roots, [&](int64_t root) { return static_cast<int64_t>(place(root).size()) <= most; });
  tables.words = isShort ? 1 : loose || strict ? 2 : 3;
  tables.isStrict = tables.words == 2 && !loose;
  if (tables.words == 3)
    tables.missing = 0;
}

/// The nodes and leaves of a tree in the order of the table, each behind all that lead to it.
std::vector<Item> TableMaker::place(int64_t root) {
  std::vector<Item> items = {{root, 0}};
  auto arrive = [&](int64_t branch, int64_t level) {
    if (branch >= 0) {
      levels[branch] = std::max(levels[branch], level);
      if (--above[branch] > 0)
        return;
      level = levels[branch], places[branch] = items.size();
    }
    items.push_back({branch, level});
  };
  std::vector<std::array<int64_t, 2>> leavesOf;
  for (size_t i = 0; i < items.size(); ++i) {
    leavesOf.push_back({-1, -1});
    if (items[i].branch < 0)
      continue;
    const TreeTest &test = forest.tests[items[i].branch];
    int64_t level = items[i].level + 1;
    for (auto [side, branch] : llvm::enumerate(std::array{test.left(), test.right()})) {
      leavesOf[i][side] = branch < 0 ? static_cast<int64_t>(items.size()) : -1;
      arrive(branch, level);
    }
  }
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].left = items[i].right = i;
    if (items[i].branch < 0)
      continue;
    const TreeTest &test = forest.tests[items[i].branch];
    int64_t left = test.left(), right = test.right();
    items[i].left = left < 0 ? leavesOf[i][0] : places[left];
    items[i].right = right < 0 ? leavesOf[i][1] : places[right];
  }
  // A tree may be placed again.
  for (const Item &item : items)
    if (item.branch >= 0) {
      const TreeTest &test = forest.tests[item.branch];
      for (int64_t branch : {test.whenTrue, test.whenFalse})
        if (branch >= 0)
          ++above[branch];
    }
  return items;
}

void TableMaker::addNode(const Item &item) {
  bool isLeaf = item.branch < 0;
  const TreeTest *test = isLeaf ? nullptr : &forest.tests[item.branch];
  double split = isLeaf ? std::numeric_limits<double>::quiet_NaN() : test->split;
  uint64_t threshold = isF32 ? llvm::bit_cast<uint32_t>(static_cast<float>(split)) : llvm::bit_cast<uint64_t>(split);
  if (tables.words == 1)
    threshold = isLeaf ? ~uint32_t(0) : makeTreeKey(*test);
  // A NaN that goes left is looked up among the copies of columns behind the others.
  uint64_t column = isLeaf ? 0 : test->column + (tables.missing == 2 && test->missingGoesLeft() ? tables.width : 0);
  uint64_t left = item.left, right = item.right;
  if (tables.words == 1) {
    tables.nodes.push_back(threshold | column << 32 | left << 48);
    return;
  }
  tables.nodes.push_back(threshold);
  if (tables.words == 2) {
    tables.nodes.push_back(column | left << 32);
    return;
  }
  // Bit o of the test says whether outcome o goes left.
  uint64_t outcomes = isLeaf ? 0 : test->leftOutcomes();
  tables.nodes.push_back(column | outcomes << 32);
  tables.nodes.push_back(left | right << 32);
}

void TableMaker::addWeights(int64_t leaf) {
  int64_t begin = leaf < 0 ? 0 : forest.leafBegins[leaf], end = leaf < 0 ? 0 : forest.leafBegins[leaf + 1];
  if (tables.isListed) {
    slots.push_back(begin << 24 | (end - begin));
    return;
  }
  size_t base = tables.weights.size();
  tables.weights.resize(base + targets);
  for (int64_t i = begin; i < end; ++i)
    tables.weights[base + forest.leafTargets[i]] += forest.leafWeights[i];
}

/// Slots begin with the first leaf of a tree: of a full tree, nodes above have none.
void TableMaker::addLeaves(ArrayRef<Item> items, int64_t tree) {
  int64_t first = llvm::find_if(items, [](const Item &item) { return item.branch < 0; }) - items.begin();
  int64_t next = tables.isListed ? forest.leafTargets.size() + slots.size() : tables.weights.size() / targets;
  tables.trees[4 * tree + 1] = next - first;
  for (const Item &item : items.drop_front(first))
    addWeights(item.branch < 0 ? ~item.branch : -1);
}

TreeTables TableMaker::make() {
  above.assign(forest.tests.size(), 0), levels.assign(forest.tests.size(), 0), places.assign(forest.tests.size(), 0);
  for (const TreeTest &test : forest.tests)
    for (int64_t branch : {test.whenTrue, test.whenFalse})
      if (branch >= 0)
        ++above[branch];
  bool isSparse = static_cast<int64_t>(forest.leafTargets.size()) * 2 < forest.numLeaves() * targets;
  tables.isListed = !isSum || (targets > 1 && isSparse);
  chooseWords();
  if (tables.levels == 0)
    fillTables();
  // No operand is empty.
  for (std::vector<int64_t> *table : {&tables.nodes, &tables.leaves})
    table->resize(std::max<size_t>(table->size(), table == &tables.nodes ? tables.words : 1));
  tables.weights.resize(std::max<size_t>(tables.weights.size(), 1));
  return std::move(tables);
}

void TableMaker::fillTables() {
  int64_t count = forest.roots.size();
  tables.trees.resize(4 * count);
  for (int64_t begin = 0; begin < count; begin += streams) {
    int64_t end = std::min(begin + streams, count), most = 0;
    std::vector<std::vector<Item>> group;
    for (int64_t tree = begin; tree < end; ++tree) {
      group.push_back(place(forest.roots[tree]));
      int64_t depth = 0;
      for (const Item &item : group.back())
        depth = std::max(depth, item.level);
      tables.trees[4 * tree + 2] = depth;
      most = std::max(most, depth);
    }
    for (int64_t tree = begin; tree < end; ++tree) {
      ArrayRef<Item> items = group[tree - begin];
      tables.trees[4 * tree] = tables.nodes.size(), tables.trees[4 * tree + 3] = most;
      // Levels only grow, so that the last leaves of the deepest trees need no nodes. Those of chains stand anywhere.
      for (const Item &item : items)
        if (tables.words == 3 || item.level < most)
          addNode(item);
      addLeaves(items, tree);
    }
  }
  if (tables.isListed) {
    tables.leaves = forest.leafTargets;
    tables.leaves.insert(tables.leaves.end(), slots.begin(), slots.end());
    tables.weights = forest.leafWeights;
  }
}

TreeTables makeTreeTables(const Forest &forest, bool isF32, int64_t targets, bool isSum) { return TableMaker(forest, isF32, targets, isSum).make(); }

} // namespace kiln::nn
