//===- GraphCutTests.cpp - The largest convex groups of random graphs --------===//
#include "compiler/import/GraphCut.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace kiln::import;

namespace {
using Operands = std::vector<llvm::SmallVector<unsigned, 4>>;

/// What the nodes of `set` lead to, or are led to from, by one step after the other.
std::vector<bool> closure(const Operands &operands, const std::vector<bool> &set, bool forward) {
  std::vector<bool> reached(operands.size());
  for (size_t step = 0; step < operands.size(); ++step)
    for (size_t node = 0; node < operands.size(); ++node)
      for (unsigned source : operands[node]) {
        size_t from = forward ? source : node, to = forward ? node : source;
        if (set[from] || reached[from])
          reached[to] = true;
      }
  return reached;
}

bool isConvex(const Operands &operands, const std::vector<std::vector<unsigned>> &groups, llvm::ArrayRef<size_t> joined) {
  // Groups are nodes here: a path through another group leaves the set, too.
  std::vector<size_t> groupOf(operands.size());
  for (auto [group, nodes] : llvm::enumerate(groups))
    for (unsigned node : nodes)
      groupOf[node] = group;
  Operands edges(groups.size());
  for (size_t node = 0; node < operands.size(); ++node)
    for (unsigned source : operands[node])
      if (groupOf[source] != groupOf[node])
        edges[groupOf[node]].push_back(groupOf[source]);
  std::vector<bool> set(groups.size());
  for (size_t group : joined)
    set[group] = true;
  std::vector<bool> after = closure(edges, set, true), before = closure(edges, set, false);
  for (size_t group = 0; group < groups.size(); ++group)
    if (!set[group] && after[group] && before[group])
      return false;
  return true;
}

void check(const Operands &operands, const std::vector<int> &kinds) {
  auto groups = cutIntoGroups(operands, kinds);
  std::vector<bool> done(operands.size());
  for (const auto &nodes : groups) {
    ASSERT_TRUE(nodes.size() == 1 || kinds[nodes.front()] >= 0);
    for (unsigned node : nodes) {
      ASSERT_EQ(kinds[node], kinds[nodes.front()]);
      ASSERT_FALSE(done[node]);
      for (unsigned source : operands[node])
        ASSERT_TRUE(done[source] || llvm::is_contained(nodes, source)) << "the groups are in no order in which they can run";
    }
    for (unsigned node : nodes)
      done[node] = true;
  }
  ASSERT_TRUE(llvm::all_of(done, [](bool one) { return one; }));
  for (size_t a = 0; a < groups.size(); ++a) {
    ASSERT_TRUE(isConvex(operands, groups, {a}));
    for (size_t b = 0; b < groups.size(); ++b) {
      bool isEdge = llvm::any_of(groups[b], [&](unsigned node) {
        return llvm::any_of(operands[node], [&](unsigned source) { return llvm::is_contained(groups[a], source); });
      });
      if (a != b && isEdge && kinds[groups[a].front()] >= 0 && kinds[groups[a].front()] == kinds[groups[b].front()])
        ASSERT_FALSE(isConvex(operands, groups, {a, b})) << "two groups could be one";
    }
  }
}
} // namespace

TEST(GraphCut, ChainAndBypass) {
  // 0 -> 1 -> 2 with 1 of no delegate, and 0 -> 2: joining 0 and 2 would need the result of 1 in the middle.
  EXPECT_EQ(cutIntoGroups({{}, {0}, {0, 1}}, {0, -1, 0}), (std::vector<std::vector<unsigned>>{{0}, {1}, {2}}));
  EXPECT_EQ(cutIntoGroups({{}, {0}, {0, 1}}, {0, 0, 0}), (std::vector<std::vector<unsigned>>{{0, 1, 2}}));
  // Node 1 is not on the way, so it may run before or after.
  EXPECT_EQ(cutIntoGroups({{}, {}, {0}, {1, 2}}, {0, -1, 0, 0}), (std::vector<std::vector<unsigned>>{{1}, {0, 2, 3}}));
}

TEST(GraphCut, RandomGraphs) {
  std::mt19937 random(7);
  for (int graph = 0; graph < 2000; ++graph) {
    Operands operands(1 + random() % 14);
    std::vector<int> kinds;
    for (size_t node = 0; node < operands.size(); ++node) {
      kinds.push_back(static_cast<int>(random() % 3) - 1);
      for (size_t source = 0; source < node; ++source)
        if (random() % 4 == 0 || (source + 1 == node && random() % 2))
          operands[node].push_back(source);
    }
    check(operands, kinds);
    if (HasFatalFailure())
      FAIL() << "graph " << graph;
  }
}
