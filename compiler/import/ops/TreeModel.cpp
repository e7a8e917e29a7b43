//===- TreeModel.cpp - The trees of a node's attributes -----------------------===//
#include "compiler/import/ops/TreeModel.h"
#include "dialects/nn/ConstantData.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Columns and entries of leaves that the tables of nn.tree_ensemble have room for.
static constexpr int64_t mostColumns = 1 << 30, mostEntries = 1 << 24;

static SmallVector<double> numbersOf(ElementsAttr tensor) {
  SmallVector<double> numbers;
  if (!tensor)
    return numbers;
  nn::ConstantData data(tensor);
  numbers.reserve(data.numElements());
  data.forEachDouble(0, data.numElements(), [&](double number) { numbers.push_back(number); });
  return numbers;
}

SmallVector<double> readNumbers(Node &node, StringRef name) {
  auto listed = node.findFloats(name);
  std::string tensorName = (name + "_as_tensor").str();
  bool hasTensor = node.hasAttribute(tensorName);
  if (hasTensor && listed && !listed->empty())
    (void)node.error("has both '" + name + "' and '" + tensorName + "', expected one");
  return hasTensor ? numbersOf(node.findTensor(tensorName)) : listed.value_or(SmallVector<double>());
}

static SmallVector<int64_t> readIntegers(Node &node, const Twine &name) { return node.findInts(name.str()).value_or(SmallVector<int64_t>()); }

/// A test that is below itself or below the roots of two trees, or -1. A test may be below several others of its tree, as converters write chains that ask for
/// the members of a set. Those that no root reaches lose their branches, so that each edge is of a tree.
static int64_t findFault(Forest &forest) {
  enum State : uint8_t { New, Open, Done };
  std::vector<State> states(forest.tests.size(), New);
  std::vector<int64_t> trees(forest.tests.size(), -1);
  std::vector<std::pair<int64_t, int>> path;
  for (auto [tree, root] : llvm::enumerate(forest.roots)) {
    auto enter = [&, tree = static_cast<int64_t>(tree)](int64_t test) {
      if (test < 0 || (states[test] == Done && trees[test] == tree))
        return true;
      if (states[test] != New)
        return false;
      states[test] = Open, trees[test] = tree;
      path.push_back({test, 0});
      return true;
    };
    if (!enter(root))
      return root;
    while (!path.empty()) {
      auto [test, side] = path.back();
      if (side == 2) {
        states[test] = Done;
        path.pop_back();
        continue;
      }
      ++path.back().second;
      if (int64_t below = side == 0 ? forest.tests[test].whenTrue : forest.tests[test].whenFalse; !enter(below))
        return below;
    }
  }
  for (auto [test, state] : llvm::zip_equal(forest.tests, states))
    if (state == New)
      test.whenTrue = test.whenFalse = ~int64_t(0);
  return -1;
}

//===- Lists over nodes with ids -------------------------------------------===//

namespace {
class ListReader {
public:
  ListReader(Node &node, StringRef stem, int64_t targets) : node(node), stem(stem), targets(targets) {}
  std::optional<Forest> run();

private:
  bool readLists();
  bool readNodes();
  bool readBranch(int64_t at, int64_t to, int64_t &branch);
  bool readLeaves();
  /// "node 5 of tree 0".
  std::string nameOf(int64_t at) const { return ("node " + Twine(nodeIds[at]) + " of tree " + Twine(treeIds[at])).str(); }
  bool fail(const Twine &reason) { return (void)node.error(reason), false; }

  Node &node;
  StringRef stem;
  int64_t targets;
  SmallVector<int64_t> treeIds, nodeIds, columns, trueIds, falseIds, missing;
  SmallVector<double> splits;
  SmallVector<std::string> modes;
  /// Nodes by tree and id; their tests, or ~leaf.
  DenseMap<std::pair<int64_t, int64_t>, int64_t> places;
  std::vector<int64_t> branches;
  Forest forest;
};
} // namespace

bool ListReader::readLists() {
  treeIds = readIntegers(node, "nodes_treeids"), nodeIds = readIntegers(node, "nodes_nodeids"), columns = readIntegers(node, "nodes_featureids");
  trueIds = readIntegers(node, "nodes_truenodeids"), falseIds = readIntegers(node, "nodes_falsenodeids");
  missing = readIntegers(node, "nodes_missing_value_tracks_true");
  splits = readNumbers(node, "nodes_values");
  modes = node.findStrings("nodes_modes").value_or(SmallVector<std::string>());
  for (StringRef name : {"nodes_hitrates", "nodes_hitrates_as_tensor"})
    node.ignore(name);
  if (node.failed())
    return false;
  size_t count = treeIds.size();
  if (count == 0)
    return fail("attribute 'nodes_treeids' is missing or empty");
  for (auto [name, size] : {std::pair("nodes_nodeids", nodeIds.size()), {"nodes_featureids", columns.size()}, {"nodes_truenodeids", trueIds.size()},
                            {"nodes_falsenodeids", falseIds.size()}, {"nodes_values", splits.size()}, {"nodes_modes", modes.size()}})
    if (size != count)
      return fail(Twine("attributes 'nodes_treeids' and '") + name + "' have " + Twine(count) + " and " + Twine(size) + " entries, expected as many");
  if (!missing.empty() && missing.size() != count)
    return fail("attributes 'nodes_treeids' and 'nodes_missing_value_tracks_true' have " + Twine(count) + " and " + Twine(missing.size()) +
                " entries, expected as many");
  return true;
}

/// The outcomes that take the true branch; 0 for a leaf, 255 for an unknown mode.
static uint8_t outcomesOf(StringRef mode) {
  return llvm::StringSwitch<uint8_t>(mode)
      .Case("LEAF", 0)
      .Case("BRANCH_LEQ", Less | Equal)
      .Case("BRANCH_LT", Less)
      .Case("BRANCH_GTE", Equal | Greater)
      .Case("BRANCH_GT", Greater)
      .Case("BRANCH_EQ", Equal)
      .Case("BRANCH_NEQ", Less | Greater | Unordered)
      .Default(255);
}

bool ListReader::readBranch(int64_t at, int64_t to, int64_t &branch) {
  auto found = places.find({treeIds[at], to});
  if (found == places.end())
    return fail(nameOf(at) + " leads to node " + Twine(to) + ", which the tree does not have");
  branch = branches[found->second];
  return true;
}

bool ListReader::readNodes() {
  int64_t count = treeIds.size(), leaves = 0;
  DenseMap<int64_t, int64_t> roots;
  places.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    // These two stand for empty places in the map.
    auto isUsual = [](int64_t id) { return id > INT64_MIN && id < INT64_MAX - 1; };
    if (!isUsual(treeIds[i]) || !isUsual(nodeIds[i]) || !isUsual(trueIds[i]) || !isUsual(falseIds[i]))
      return fail("attributes 'nodes_treeids' and 'nodes_nodeids' have ids that are no numbers of nodes");
    if (!places.try_emplace({treeIds[i], nodeIds[i]}, i).second)
      return fail(nameOf(i) + " is listed twice");
    uint8_t outcomes = outcomesOf(modes[i]);
    if (outcomes == 255)
      return fail(nameOf(i) + " has the mode '" + modes[i] + "', expected BRANCH_LEQ, _LT, _GTE, _GT, _EQ, _NEQ or LEAF");
    if (outcomes && (columns[i] < 0 || columns[i] >= mostColumns))
      return fail(nameOf(i) + " compares column " + Twine(columns[i]));
    branches.push_back(outcomes ? forest.tests.size() : ~leaves++);
    if (outcomes)
      forest.tests.push_back({columns[i], splits[i], static_cast<uint8_t>(outcomes | (!missing.empty() && missing[i] ? Unordered : 0)), 0, 0});
    if (roots.try_emplace(treeIds[i], i).second)
      forest.roots.push_back(branches[i]);
  }
  forest.leafBegins.assign(leaves + 1, 0);
  for (int64_t i = 0; i < count; ++i)
    if (branches[i] >= 0) {
      TreeTest &test = forest.tests[branches[i]];
      if (!readBranch(i, trueIds[i], test.whenTrue) || !readBranch(i, falseIds[i], test.whenFalse))
        return false;
    }
  if (int64_t fault = findFault(forest); fault >= 0)
    return fail(nameOf(llvm::find(branches, fault) - branches.begin()) + " is below itself, expected a tree");
  return true;
}

/// Entries in any order become lists of leaves. What a node that compares would give is left out.
bool ListReader::readLeaves() {
  SmallVector<int64_t> ids = readIntegers(node, stem + "_ids"), nodes = readIntegers(node, stem + "_nodeids"), trees = readIntegers(node, stem + "_treeids");
  std::string weightsName = (stem + "_weights").str();
  SmallVector<double> weights = readNumbers(node, weightsName);
  if (node.failed())
    return false;
  if (ids.size() != nodes.size() || ids.size() != trees.size() || ids.size() != weights.size())
    return fail("attributes '" + stem + "_ids', '" + stem + "_nodeids', '" + stem + "_treeids' and '" + stem + "_weights' have " + Twine(ids.size()) + ", " +
                Twine(nodes.size()) + ", " + Twine(trees.size()) + " and " + Twine(weights.size()) + " entries, expected as many");
  std::vector<int64_t> leafOf(ids.size(), -1);
  for (size_t i = 0; i < ids.size(); ++i) {
    auto found = places.find({trees[i], nodes[i]});
    if (found == places.end())
      return fail("attribute '" + stem + "_nodeids' names node " + Twine(nodes[i]) + " of tree " + Twine(trees[i]) + ", which does not exist");
    if (ids[i] < 0 || ids[i] >= targets)
      return fail("attribute '" + stem + "_ids' has the entry " + Twine(ids[i]) + ", expected 0 to " + Twine(targets - 1));
    if (int64_t branch = branches[found->second]; branch < 0) {
      leafOf[i] = ~branch;
      if (++forest.leafBegins[~branch + 1] >= mostEntries)
        return fail(nameOf(found->second) + " has more than " + Twine(mostEntries - 1) + " weights");
    }
  }
  for (size_t leaf = 1; leaf < forest.leafBegins.size(); ++leaf)
    forest.leafBegins[leaf] += forest.leafBegins[leaf - 1];
  std::vector<int64_t> next(forest.leafBegins);
  forest.leafTargets.resize(forest.leafBegins.back());
  forest.leafWeights.resize(forest.leafBegins.back());
  for (size_t i = 0; i < ids.size(); ++i)
    if (leafOf[i] >= 0) {
      int64_t at = next[leafOf[i]]++;
      forest.leafTargets[at] = ids[i], forest.leafWeights[at] = weights[i];
    }
  return true;
}

std::optional<Forest> ListReader::run() {
  if (!readLists() || !readNodes() || !readLeaves())
    return std::nullopt;
  return std::move(forest);
}

std::optional<Forest> readListedTrees(Node &node, StringRef stem, int64_t targets) { return ListReader(node, stem, targets).run(); }

//===- TreeEnsemble of ai.onnx.ml 5 ----------------------------------------===//

namespace {
class EnsembleReader {
public:
  EnsembleReader(Node &node, int64_t targets) : node(node), targets(targets) {}
  std::optional<Forest> run();

private:
  bool readLeaves();
  bool addTests(int64_t at, uint8_t outcomes);
  bool addChain(int64_t at, bool missingIsTrue);
  bool fail(const Twine &reason) { return (void)node.error(reason), false; }

  Node &node;
  int64_t targets, count = 0, nextMember = 0;
  SmallVector<int64_t> columns, trueIds, falseIds;
  SmallVector<double> splits, members;
  /// Tests of chains, which stand behind the nodes.
  std::vector<TreeTest> chains;
  Forest forest;
};
constexpr int64_t memberMode = 6;
} // namespace

bool EnsembleReader::readLeaves() {
  SmallVector<int64_t> ids = readIntegers(node, "leaf_targetids");
  forest.leafTargets.assign(ids.begin(), ids.end());
  SmallVector<double> weights = numbersOf(node.findTensor("leaf_weights"));
  forest.leafWeights.assign(weights.begin(), weights.end());
  bool isInside = llvm::all_of(forest.leafTargets, [&](int64_t target) { return target >= 0 && target < targets; });
  if (node.failed() || weights.size() != forest.leafTargets.size() || !isInside)
    return fail("n_targets and the lists of leaves do not fit each other");
  for (size_t leaf = 0; leaf <= weights.size(); ++leaf)
    forest.leafBegins.push_back(leaf);
  return true;
}

/// A node that asks for the members of a set becomes a chain of tests for one each, which end at the same true branch.
bool EnsembleReader::addChain(int64_t at, bool missingIsTrue) {
  SmallVector<double> set;
  for (; nextMember < static_cast<int64_t>(members.size()) && !std::isnan(members[nextMember]); ++nextMember)
    set.push_back(members[nextMember]);
  if (set.empty() || ++nextMember > static_cast<int64_t>(members.size()))
    return fail("membership_values does not list members, and a NaN after them, for each node that tests for them");
  uint8_t outcomes = Equal | (missingIsTrue ? Unordered : 0);
  for (auto [i, member] : llvm::enumerate(set)) {
    bool isLast = i + 1 == set.size();
    TreeTest test = {columns[at], member, outcomes, trueIds[at], isLast ? falseIds[at] : static_cast<int64_t>(count + chains.size() + (i > 0))};
    if (i == 0)
      forest.tests.push_back(test);
    else
      chains.push_back(test);
  }
  return true;
}

bool EnsembleReader::addTests(int64_t at, uint8_t mode) {
  static constexpr uint8_t outcomes[] = {Less | Equal, Less, Equal | Greater, Greater, Equal, Less | Greater | Unordered};
  forest.tests.push_back({columns[at], splits[at], outcomes[mode], trueIds[at], falseIds[at]});
  return true;
}

std::optional<Forest> EnsembleReader::run() {
  splits = numbersOf(node.findTensor("nodes_splits")), members = numbersOf(node.findTensor("membership_values"));
  ElementsAttr modeTensor = node.findTensor("nodes_modes");
  columns = readIntegers(node, "nodes_featureids"), trueIds = readIntegers(node, "nodes_truenodeids"), falseIds = readIntegers(node, "nodes_falsenodeids");
  SmallVector<int64_t> missing = readIntegers(node, "nodes_missing_value_tracks_true"), trueLeaf = readIntegers(node, "nodes_trueleafs"),
                       falseLeaf = readIntegers(node, "nodes_falseleafs");
  node.ignore("nodes_hitrates");
  count = columns.size();
  auto fits = [&](size_t size) { return static_cast<int64_t>(size) == count; };
  if (node.failed() || !modeTensor || !fits(splits.size()) || !fits(modeTensor.getNumElements()))
    return (void)fail("nodes_splits, nodes_modes and nodes_featureids must have one entry for each node"), std::nullopt;
  if (!fits(trueIds.size()) || !fits(falseIds.size()) || !fits(trueLeaf.size()) || !fits(falseLeaf.size()) || (!missing.empty() && !fits(missing.size())))
    return (void)fail("the lists of nodes have different lengths"), std::nullopt;
  if (!readLeaves())
    return std::nullopt;
  nn::ConstantData modes(modeTensor);
  for (int64_t i = 0; i < count; ++i) {
    int64_t mode = modes.asInt(i);
    for (auto [to, isLeaf] : {std::pair(&trueIds[i], trueLeaf[i]), std::pair(&falseIds[i], falseLeaf[i])}) {
      if (*to < 0 || *to >= (isLeaf ? forest.numLeaves() : count) || mode < 0 || mode > memberMode || columns[i] < 0 || columns[i] >= mostColumns)
        return (void)fail("node " + Twine(i) + " has an unknown branch or mode, or no column"), std::nullopt;
      *to = isLeaf ? ~*to : *to;
    }
    bool missingIsTrue = !missing.empty() && missing[i] != 0;
    if (mode == memberMode ? !addChain(i, missingIsTrue) : !addTests(i, mode))
      return std::nullopt;
    if (missingIsTrue)
      forest.tests.back().outcomes |= Unordered;
  }
  forest.tests.insert(forest.tests.end(), chains.begin(), chains.end());
  SmallVector<int64_t> roots = readIntegers(node, "tree_roots");
  forest.roots.assign(roots.begin(), roots.end());
  if (roots.empty() || llvm::any_of(roots, [&](int64_t root) { return root < 0 || root >= count; }))
    return (void)fail("attribute 'tree_roots' has no entry, or one that is no node"), std::nullopt;
  if (int64_t fault = findFault(forest); fault >= 0)
    return (void)fail("node " + Twine(fault) + " is below itself, or of two trees"), std::nullopt;
  return std::move(forest);
}

std::optional<Forest> readTrees(Node &node, int64_t targets) { return EnsembleReader(node, targets).run(); }

} // namespace kiln::import
