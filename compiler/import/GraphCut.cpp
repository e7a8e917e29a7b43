//===- GraphCut.cpp - The largest convex groups of a graph ------------------===//
//
// Groups are joined two at a time along an edge until none can be. That reaches the largest ones: of the groups that are inside of a larger convex group, one
// and the first of its successors in the order of the run can always be joined, since what lies between them would come even earlier.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/GraphCut.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace kiln::import {

namespace {
class GraphCut {
public:
  GraphCut(ArrayRef<SmallVector<unsigned, 4>> operands, ArrayRef<int> kinds);
  void join();
  std::vector<std::vector<unsigned>> order() const;

private:
  bool hasWayAround(unsigned from, unsigned to, unsigned last) const;
  void merge(unsigned from, unsigned to);

  ArrayRef<SmallVector<unsigned, 4>> operands;
  ArrayRef<int> kinds;
  std::vector<SmallVector<unsigned, 4>> users;
  /// For each node its group, which has the number of one of its nodes; for each group its nodes.
  std::vector<unsigned> groupOf;
  std::vector<std::vector<unsigned>> members;
};
} // namespace

GraphCut::GraphCut(ArrayRef<SmallVector<unsigned, 4>> operands, ArrayRef<int> kinds) : operands(operands), kinds(kinds), users(operands.size()) {
  for (auto [node, sources] : enumerate(operands)) {
    groupOf.push_back(node);
    members.push_back({static_cast<unsigned>(node)});
    for (unsigned source : sources)
      users[source].push_back(node);
  }
}

/// Whether a path through other groups leads from one to the other, among the nodes up to `last`.
bool GraphCut::hasWayAround(unsigned from, unsigned to, unsigned last) const {
  DenseSet<unsigned> seen = {from};
  SmallVector<unsigned> work;
  auto visit = [&](unsigned group) {
    for (unsigned node : members[group])
      for (unsigned user : users[node])
        if (unsigned next = groupOf[user]; user <= last && !(group == from && next == to) && seen.insert(next).second)
          work.push_back(next);
  };
  for (visit(from); !work.empty();) {
    unsigned group = work.pop_back_val();
    if (group == to)
      return true;
    visit(group);
  }
  return false;
}

void GraphCut::merge(unsigned from, unsigned to) {
  std::vector<unsigned> joined;
  std::merge(members[from].begin(), members[from].end(), members[to].begin(), members[to].end(), std::back_inserter(joined));
  for (unsigned node : members[to])
    groupOf[node] = from;
  members[from] = std::move(joined);
  members[to].clear();
}

void GraphCut::join() {
  bool isFirst = true;
  for (bool isChanged = true; isChanged; isFirst = false) {
    isChanged = false;
    for (auto [node, sources] : enumerate(operands))
      for (unsigned source : sources) {
        unsigned from = groupOf[source], to = groupOf[node];
        // In the first round, what comes behind the node is in no group yet, so that no path comes back from there.
        unsigned last = isFirst ? node : operands.size();
        if (from == to || kinds[node] < 0 || kinds[source] != kinds[node] || hasWayAround(from, to, last))
          continue;
        merge(from, to);
        isChanged = true;
      }
  }
}

std::vector<std::vector<unsigned>> GraphCut::order() const {
  std::vector<DenseSet<unsigned>> waitsFor(members.size());
  // The one whose first node comes first runs first, where there is a choice.
  std::set<std::pair<unsigned, unsigned>> ready;
  std::vector<std::vector<unsigned>> ordered;
  for (auto [node, sources] : enumerate(operands))
    for (unsigned source : sources)
      if (groupOf[source] != groupOf[node])
        waitsFor[groupOf[node]].insert(groupOf[source]);
  for (auto [group, nodes] : enumerate(members))
    if (!nodes.empty() && waitsFor[group].empty())
      ready.insert({nodes.front(), group});
  while (!ready.empty()) {
    unsigned group = ready.begin()->second;
    ready.erase(ready.begin());
    ordered.push_back(members[group]);
    for (unsigned node : members[group])
      for (unsigned user : users[node])
        if (unsigned next = groupOf[user]; next != group && waitsFor[next].erase(group) && waitsFor[next].empty())
          ready.insert({members[next].front(), next});
  }
  return ordered;
}

std::vector<std::vector<unsigned>> cutIntoGroups(ArrayRef<SmallVector<unsigned, 4>> operands, ArrayRef<int> kinds) {
  GraphCut cut(operands, kinds);
  cut.join();
  return cut.order();
}

} // namespace kiln::import
