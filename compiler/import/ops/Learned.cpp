//===- Learned.cpp - Operators of ai.onnx.ml ---------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/ConstantData.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

template <typename T> static Value vectorOf(Node &node, Type element, ArrayRef<T> values) {
  return node.constant(nn::makeConstantOf<T>(RankedTensorType::get({static_cast<int64_t>(values.size())}, element), values));
}

static Value vectorOfFloats(Node &node, ArrayRef<double> values) {
  SmallVector<float> narrow(values.begin(), values.end());
  return vectorOf<float>(node, node.builder().getF32Type(), narrow);
}

//===- Single formulas -----------------------------------------------------===//

/// Columns of the last dimension.
static LogicalResult arrayFeatureExtractor(Node &node) {
  Value x = node.input(0), columns = node.input(1);
  if (node.failed() || node.rank(x) < 1 || !node.elementType(columns).isSignlessInteger(64))
    return node.error("expected an input of rank 1 or more, and int64 columns");
  AffineExpr count = nn::getNumElements(node.dims(columns), node.context());
  DimExprs dims = node.dims(x);
  for (AffineExpr column : getIntegerContents(columns).value_or(DimExprs()))
    if (auto at = nn::getConstantDim(column), size = nn::getConstantDim(dims.back()); at && (*at < 0 || (size && *at >= *size)))
      return node.error("column " + Twine(*at) + " is out of range, the input has " + nn::formatDim(dims.back()));
  if (dims.size() == 1)
    dims.insert(dims.begin(), node.number(1));
  x = node.reshape(x, dims);
  dims.back() = count;
  int64_t last = static_cast<int64_t>(dims.size()) - 1;
  return node.failed() ? failure() : node.result(node.make<GatherOp>(node.type(dims, node.elementType(x)), x, node.reshape(columns, {count}), last));
}

static LogicalResult binarizer(Node &node) {
  Value x = node.input(0);
  double threshold = node.getFloat("threshold", 0);
  // Between two integers, those above it are those above the lower one.
  if (isa<IntegerType>(node.elementType(x)))
    threshold = std::floor(threshold);
  Value above = node.compare<GreaterOp>(x, node.splatLike(x, threshold));
  return node.result(node.cast(above, node.elementType(x)));
}

/// (x - offset) * scale, with one number or one for each column.
static LogicalResult scaler(Node &node) {
  Value x = node.cast(node.input(0), node.builder().getF32Type());
  auto offset = node.findFloats("offset"), scale = node.findFloats("scale");
  if (offset && !offset->empty())
    x = node.binary<SubOp>(x, vectorOfFloats(node, *offset));
  if (scale && !scale->empty())
    x = node.binary<MulOp>(x, vectorOfFloats(node, *scale));
  return node.result(x);
}

/// Rows over their largest size, sum or length. Rows of zeros stay.
static LogicalResult normalizer(Node &node) {
  Value x = node.cast(node.input(0), node.builder().getF32Type());
  std::string norm = node.getString("norm", "MAX");
  if (node.rank(x) < 1)
    return node.error("the input has rank 0, expected at least 1");
  int64_t last = node.rank(x) - 1;
  Value size;
  if (norm == "MAX")
    size = node.reduce(ReduceKind::Max, node.unary<AbsOp>(x), {last}, /*keep=*/true);
  else if (norm == "L1")
    size = node.reduce(ReduceKind::Sum, node.unary<AbsOp>(x), {last}, /*keep=*/true);
  else if (norm == "L2")
    size = node.unary<SqrtOp>(node.reduce(ReduceKind::Sum, node.binary<MulOp>(x, x), {last}, /*keep=*/true));
  else
    return node.error("attribute 'norm' is '" + norm + "', expected MAX, L1 or L2");
  Value isZero = node.compare<EqualOp>(size, node.splatLike(size, 0));
  return node.result(node.binary<DivOp>(x, node.make<SelectOp>(size.getType(), isZero, node.splatLike(size, 1), size)));
}

/// The weights of each target times the row, and the intercepts.
static LogicalResult linearRegressor(Node &node) {
  Value x = node.cast(node.input(0), node.builder().getF32Type());
  auto weights = node.findFloats("coefficients"), intercepts = node.findFloats("intercepts");
  int64_t targets = node.getInt("targets", 1);
  std::string after = node.getString("post_transform", "NONE");
  if (!node.failed() && after != "NONE")
    return node.unsupported("post_transform " + after, "apply it by operators of its own");
  if (node.failed() || !node.expectRank(x, 2, "the input") || targets < 1 || !weights || weights->size() % targets)
    return node.error("expected an input [rows, columns], and coefficients [targets, columns]");
  if (intercepts && !intercepts->empty() && static_cast<int64_t>(intercepts->size()) != targets)
    return node.error("attribute 'intercepts' has " + Twine(intercepts->size()) + " entries for " + Twine(targets) + " targets");
  int64_t columns = weights->size() / targets;
  if (!node.unify(node.dims(x)[1], node.number(columns), "the numbers of columns and of coefficients differ"))
    return failure();
  Value matrix = node.reshape(vectorOfFloats(node, *weights), {node.number(targets), node.number(columns)});
  Value result = node.matmul(x, node.transpose(matrix, {1, 0}));
  if (intercepts && !intercepts->empty())
    result = node.binary<AddOp>(result, vectorOfFloats(node, *intercepts));
  return node.failed() ? failure() : node.result(result);
}

//===- TreeEnsemble --------------------------------------------------------===//

namespace {
/// All rows go down all trees at once, a step a level. A step compares a feature with a split, and a table says for each node where less,
/// equal, greater and not-a-number lead. Nodes after the inner ones are the leaves, which lead to themselves.
class TreeEnsemble {
public:
  explicit TreeEnsemble(Node &node) : node(node) {}
  LogicalResult run();

private:
  bool read();
  bool addNodes(ArrayRef<int64_t> modes, ElementsAttr splits);
  bool measure();
  Value walk(Value x);
  Value collect(Value at);

  Node &node;
  int64_t inner = 0, leaves = 0, targets = 0, aggregate = 0, depth = 0;
  SmallVector<int64_t> roots, leafTargets;
  SmallVector<double> leafWeights, splitAt;
  SmallVector<int64_t> feature, trueNode, falseNode;
  /// Four entries a node.
  SmallVector<int64_t> next;
};
enum Mode { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Member };
} // namespace

/// Whether less, equal, greater and not-a-number take the true branch.
static std::array<bool, 4> outcomes(int64_t mode, bool missingIsTrue) {
  static constexpr std::array<bool, 4> table[] = {{true, true, false, false}, {true, false, false, false}, {false, true, true, false},
                                                  {false, false, true, false}, {false, true, false, false}, {true, false, true, true}};
  std::array<bool, 4> result = table[mode == Member ? Equal : mode];
  result[3] |= missingIsTrue;
  return result;
}

/// A node that tests for members of a set becomes a chain of nodes that test for one each.
bool TreeEnsemble::addNodes(ArrayRef<int64_t> modes, ElementsAttr splits) {
  auto missing = node.findInts("nodes_missing_value_tracks_true");
  ElementsAttr memberTensor = node.findTensor("membership_values");
  SmallVector<double> members;
  if (memberTensor)
    for (int64_t i = 0; i < memberTensor.getNumElements(); ++i)
      members.push_back(nn::ConstantData(memberTensor).asDouble(i));
  nn::ConstantData split(splits);
  int64_t original = modes.size(), member = 0, extra = original;
  SmallVector<int64_t> chainFeatures, chainNext;
  SmallVector<double> chainSplits;
  // Leaves are numbered after all nodes, those of the chains too: until these are counted, a leaf is a negative number.
  for (int64_t i = 0; i < original; ++i) {
    bool missingIsTrue = missing && i < static_cast<int64_t>(missing->size()) && (*missing)[i] != 0;
    SmallVector<double> tests = {split.asDouble(i)};
    if (modes[i] == Member) {
      for (tests.clear(); member < static_cast<int64_t>(members.size()) && !std::isnan(members[member]); ++member)
        tests.push_back(members[member]);
      ++member;
      if (tests.empty() || member > static_cast<int64_t>(members.size()))
        return (void)node.error("membership_values does not list members, and a NaN after them, for each node that tests for them"), false;
    }
    for (size_t test = 0; test < tests.size(); ++test) {
      bool isLast = test + 1 == tests.size(), isFirst = test == 0;
      int64_t otherwise = isLast ? falseNode[i] : extra++;
      (isFirst ? splitAt : chainSplits).push_back(tests[test]);
      if (!isFirst)
        chainFeatures.push_back(feature[i]);
      for (bool yes : outcomes(modes[i], missingIsTrue))
        (isFirst ? next : chainNext).push_back(yes ? trueNode[i] : otherwise);
    }
  }
  inner = extra;
  feature.append(chainFeatures);
  splitAt.append(chainSplits);
  next.append(chainNext);
  for (int64_t &to : next)
    to = to < 0 ? inner - 1 - to : to;
  for (int64_t leaf = 0; leaf < leaves; ++leaf) {
    next.append(4, inner + leaf);
    feature.push_back(0);
    splitAt.push_back(0);
  }
  return true;
}

bool TreeEnsemble::read() {
  auto ints = [&](StringRef name) { return node.findInts(name).value_or(SmallVector<int64_t>()); };
  ElementsAttr splits = node.findTensor("nodes_splits"), modeTensor = node.findTensor("nodes_modes"), weights = node.findTensor("leaf_weights");
  roots = ints("tree_roots"), leafTargets = ints("leaf_targetids"), feature = ints("nodes_featureids");
  trueNode = ints("nodes_truenodeids"), falseNode = ints("nodes_falsenodeids");
  SmallVector<int64_t> trueLeaf = ints("nodes_trueleafs"), falseLeaf = ints("nodes_falseleafs");
  targets = node.getInt("n_targets", 1), aggregate = node.getInt("aggregate_function", 1);
  node.ignore("nodes_hitrates");
  if (node.getInt("post_transform", 0) != 0 && !node.failed())
    (void)node.unsupported("a post_transform", "apply it by operators of its own");
  int64_t count = feature.size();
  if (!node.failed() && (!splits || !modeTensor || !weights || splits.getNumElements() != count || modeTensor.getNumElements() != count))
    (void)node.error("nodes_splits, nodes_modes and nodes_featureids must have one entry for each node, and leaf_weights be given");
  for (ArrayRef<int64_t> list : {ArrayRef(trueNode), ArrayRef(falseNode), ArrayRef(trueLeaf), ArrayRef(falseLeaf)})
    if (!node.failed() && static_cast<int64_t>(list.size()) != count)
      (void)node.error("the lists of nodes have different lengths");
  if (node.failed())
    return false;
  leaves = weights.getNumElements();
  if (aggregate < 0 || aggregate > 3 || targets < 1 || leaves != static_cast<int64_t>(leafTargets.size()) ||
      llvm::any_of(leafTargets, [&](int64_t target) { return target < 0 || target >= targets; }))
    return (void)node.error("aggregate_function, n_targets and the lists of leaves do not fit each other"), false;
  SmallVector<int64_t> modes;
  for (int64_t i = 0; i < count; ++i) {
    modes.push_back(nn::ConstantData(modeTensor).asInt(i));
    for (auto [to, isLeaf] : {std::pair(&trueNode[i], trueLeaf[i]), std::pair(&falseNode[i], falseLeaf[i])}) {
      if (*to < 0 || *to >= (isLeaf ? leaves : count) || modes[i] < 0 || modes[i] > Member)
        return (void)node.error("node " + Twine(i) + " has an unknown branch or mode"), false;
      *to = isLeaf ? -1 - *to : *to;
    }
  }
  for (int64_t i = 0; i < leaves; ++i)
    leafWeights.push_back(nn::ConstantData(weights).asDouble(i));
  if (roots.empty() || llvm::any_of(roots, [&](int64_t root) { return root < 0 || root >= count; }))
    return (void)node.error("attribute 'tree_roots' has no entry, or one that is no node"), false;
  return addNodes(modes, splits) && measure();
}

/// The depth: level after level, until only leaves are left.
bool TreeEnsemble::measure() {
  static constexpr int64_t limit = 256;
  llvm::SmallDenseSet<int64_t> level(roots.begin(), roots.end());
  while (llvm::any_of(level, [&](int64_t at) { return at < inner; })) {
    if (++depth > limit)
      return (void)node.unsupported("trees of more than " + Twine(limit) + " levels", "use shallower trees"), false;
    llvm::SmallDenseSet<int64_t> below;
    for (int64_t at : level)
      if (at < inner)
        below.insert(next.begin() + 4 * at, next.begin() + 4 * at + 4);
    level = below;
  }
  return true;
}

/// The leaf [rows, trees] at which each row ends in each tree.
Value TreeEnsemble::walk(Value x) {
  Type i64 = node.builder().getI64Type(), element = node.elementType(x);
  Value features = vectorOf<int64_t>(node, i64, feature), table = vectorOf<int64_t>(node, i64, next);
  Value splits = node.cast(vectorOf<double>(node, node.builder().getF64Type(), splitAt), element);
  DimExprs dims = {node.dims(x)[0], node.number(roots.size())};
  Value at = node.broadcastTo(vectorOf<int64_t>(node, i64, roots), dims);
  auto look = [&](Value from, Value where) { return node.make<GatherOp>(node.type(dims, node.elementType(from)), from, where, 0); };
  for (int64_t level = 0; level < depth && !node.failed(); ++level) {
    Value value = node.make<GatherElementsOp>(node.type(dims, element), x, look(features, at), 1), split = look(splits, at);
    auto choose = [&](Value condition, double yes, Value no) { return node.make<SelectOp>(no.getType(), condition, node.splatLike(no, yes), no); };
    Value outcome = choose(node.compare<GreaterOp>(value, split), 2, node.splat(dims, i64, 3));
    outcome = choose(node.compare<EqualOp>(value, split), 1, outcome);
    outcome = choose(node.compare<LessOp>(value, split), 0, outcome);
    at = look(table, node.binary<AddOp>(node.binary<MulOp>(at, 4.0), outcome));
  }
  return node.binary<SubOp>(at, static_cast<double>(inner));
}

/// The leaves' weights, each into the column of its target.
Value TreeEnsemble::collect(Value at) {
  Type i64 = node.builder().getI64Type(), f64 = node.builder().getF64Type(), element = node.elementType(node.input(0));
  enum { Average, Sum, Min, Max };
  SmallVector<double> weights = leafWeights;
  for (double &weight : weights)
    weight /= aggregate == Average ? static_cast<double>(roots.size()) : 1;
  DimExprs dims = node.dims(at);
  Value weight = node.make<GatherOp>(node.type(dims, element), node.cast(vectorOf<double>(node, f64, weights), element), at, 0);
  Value target = node.make<GatherOp>(node.type(dims, i64), vectorOf<int64_t>(node, i64, leafTargets), at, 0);
  double most = llvm::APFloat::getLargest(cast<FloatType>(element).getFloatSemantics()).convertToDouble();
  Value start = node.splat({dims[0], node.number(targets)}, element, aggregate == Min ? most : aggregate == Max ? -most : 0);
  ScatterReduction how = aggregate == Min ? ScatterReduction::Min : aggregate == Max ? ScatterReduction::Max : ScatterReduction::Add;
  return node.make<ScatterElementsOp>(start.getType(), start, target, weight, 1, how);
}

LogicalResult TreeEnsemble::run() {
  Value x = node.input(0);
  if (!node.expectRank(x, 2, "the input") || !read())
    return failure();
  auto columns = nn::getConstantDim(node.dims(x)[1]);
  if (columns && llvm::any_of(feature, [&](int64_t column) { return column < 0 || column >= *columns; }))
    return node.error("attribute 'nodes_featureids' has an entry outside the input's " + Twine(*columns) + " columns");
  Value leaf = walk(x);
  return node.failed() ? failure() : node.result(collect(leaf));
}

static LogicalResult treeEnsemble(Node &node) { return TreeEnsemble(node).run(); }

ArrayRef<Operator> getLearnedOperators() {
  static const Operator rows[] = {
      {"ArrayFeatureExtractor", 1, Elements::Any, arrayFeatureExtractor, INT64_MAX, "ai.onnx.ml"},
      {"Binarizer", 1, Elements::Number, binarizer, INT64_MAX, "ai.onnx.ml"},
      {"LinearRegressor", 1, Elements::Number, linearRegressor, INT64_MAX, "ai.onnx.ml"},
      {"Normalizer", 1, Elements::Number, normalizer, INT64_MAX, "ai.onnx.ml"},
      {"Scaler", 1, Elements::Number, scaler, INT64_MAX, "ai.onnx.ml"},
      {"TreeEnsemble", 5, Elements::Float, treeEnsemble, INT64_MAX, "ai.onnx.ml"},
  };
  return rows;
}

} // namespace kiln::import
