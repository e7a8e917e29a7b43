//===- Trees.cpp - Ensembles of decision trees --------------------------------===//
//
// Rows go down the trees in nn.tree_ensemble, which gives a number for each block of trees; what comes after it is element-wise.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ops/Trees.h"
#include "compiler/import/ops/Scores.h"
#include "compiler/import/ops/TreeModel.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNCallOps.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Trees whose numbers are added before those of others: enough for a task, and few enough for the cache that one core has for itself.
static constexpr int64_t blockTrees = 64;

namespace {
enum class Join { Average, Sum, Min, Max };
} // namespace

static Value constantTable(Node &node, ArrayRef<int64_t> values) {
  return node.constant(nn::makeConstantOf<int64_t>(RankedTensorType::get({static_cast<int64_t>(values.size())}, node.builder().getI64Type()), values));
}

/// The rows as numbers that splits are compared with: f64 as they are, others as f32.
static Value comparedRows(Node &node) {
  Value x = node.input(0);
  if (!node.expectRank(x, 2, "the input"))
    return x;
  return node.elementType(x).isF64() ? x : node.cast(x, node.builder().getF32Type());
}

/// The columns that trees read must be there.
static bool checkColumns(Node &node, Value x, const Forest &forest) {
  int64_t width = 0;
  for (const TreeTest &test : forest.tests)
    width = std::max(width, test.column + 1);
  auto columns = nn::getConstantDim(node.dims(x)[1]);
  if (columns && *columns < width)
    return (void)node.error("attribute 'nodes_featureids' has the entry " + Twine(width - 1) + ", and the input has " + Twine(*columns) + " columns"), false;
  if (!columns)
    node.requireNotNegative(node.dims(x)[1] - width, "the number of columns less those that the trees read");
  return !node.failed();
}

/// What the trees give each row, [rows, targets].
static Value joinTrees(Node &node, Value x, const Forest &forest, int64_t targets, Join join) {
  if (node.failed() || !checkColumns(node, x, forest))
    return x;
  Type element = node.elementType(x);
  bool isSum = join == Join::Sum || join == Join::Average;
  TreeTables tables = makeTreeTables(forest, element.isF32(), targets, isSum);
  int64_t blocks = llvm::divideCeil(forest.roots.size(), blockTrees);
  AffineExpr rows = node.dims(x)[0];
  Value nodes = constantTable(node, tables.nodes), trees = constantTable(node, tables.trees), leaves = constantTable(node, tables.leaves);
  Value weights = constantFloats(node, tables.weights, element);
  RankedTensorType type = node.type({rows, node.number(blocks), node.number(targets)}, element);
  if (node.failed())
    return x;
  IntegerAttr levels = tables.levels ? node.builder().getI64IntegerAttr(tables.levels) : IntegerAttr();
  Value parts = node.make<TreeEnsembleOp>(type, x, nodes, trees, leaves, weights, tables.words, blockTrees, tables.width, tables.missing, levels,
                                          tables.holdsLeaves, join == Join::Min, join == Join::Max, tables.isStrict, tables.isListed);
  DimExprs dims = {rows, node.number(targets)};
  Value result = blocks == 1 ? node.reshape(parts, dims)
                             : node.reduce(isSum ? ReduceKind::Sum : join == Join::Min ? ReduceKind::Min : ReduceKind::Max, parts, {1}, /*keep=*/false);
  if (join == Join::Average)
    return node.binary<DivOp>(result, node.splatLike(result, forest.roots.size()));
  if (isSum)
    return result;
  // A target that no leaf gives a number.
  Value none = node.splatLike(result, join == Join::Min ? INFINITY : -INFINITY);
  return node.make<SelectOp>(result.getType(), node.compare<EqualOp>(result, none), node.splatLike(result, 0), result);
}

//===- Regressors ----------------------------------------------------------===//

/// TreeEnsemble of ai.onnx.ml 5.
LogicalResult treeEnsemble(Node &node) {
  static constexpr StringLiteral transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  Value x = comparedRows(node);
  int64_t targets = node.getInt("n_targets", 1), join = node.getInt("aggregate_function", 1), after = node.getInt("post_transform", 0);
  if (node.failed())
    return failure();
  auto forest = readTrees(node, targets);
  if (!forest)
    return failure();
  Value result = applyPostTransform(node, joinTrees(node, x, *forest, targets, static_cast<Join>(join)), transforms[after]);
  return node.failed() ? failure() : node.result(node.cast(result, node.elementType(node.input(0))));
}

LogicalResult treeEnsembleRegressor(Node &node) {
  Value x = comparedRows(node);
  int64_t targets = node.getInt("n_targets", 1);
  std::string how = node.getString("aggregate_function", "SUM"), after = node.getString("post_transform", "NONE");
  SmallVector<double> base = readNumbers(node, "base_values");
  auto join = llvm::StringSwitch<std::optional<Join>>(how)
                  .Case("SUM", Join::Sum)
                  .Case("AVERAGE", Join::Average)
                  .Case("MIN", Join::Min)
                  .Case("MAX", Join::Max)
                  .Default(std::nullopt);
  if (node.failed())
    return failure();
  if (!join)
    return node.error("attribute 'aggregate_function' is '" + how + "', expected SUM, AVERAGE, MIN or MAX");
  if (!base.empty() && static_cast<int64_t>(base.size()) != targets)
    return node.error("attribute 'base_values' has " + Twine(base.size()) + " entries for " + Twine(targets) + " targets");
  auto forest = readListedTrees(node, "target", targets);
  if (!forest)
    return failure();
  Value result = joinTrees(node, x, *forest, targets, *join);
  if (!base.empty() && !node.failed())
    result = node.binary<AddOp>(result, constantFloats(node, base, node.elementType(result)));
  result = applyPostTransform(node, result, after);
  return node.failed() ? failure() : node.result(node.cast(result, node.builder().getF32Type()));
}

//===- Classifiers ---------------------------------------------------------===//

/// 1 where the score of the second class of two, which alone gets numbers, is above 0.5, or above 0 if a leaf gives a negative number (ONNX Runtime).
static Value isAbove(Node &node, Value score, bool isPositive) {
  Value isSecond = node.compare<GreaterOp>(score, node.splatLike(score, isPositive ? 0.5 : 0));
  return node.cast(node.reshape(isSecond, {node.dims(score)[0]}), node.builder().getI64Type());
}

/// Leaves that give numbers to the first class of two alone give the score of the second one: both scores (ONNX Runtime).
static Value expandScore(Node &node, Value score, bool isPositive, StringRef after) {
  return joinBothScores(node, score, isPositive && after != "LOGISTIC", after);
}

LogicalResult treeEnsembleClassifier(Node &node) {
  Value x = comparedRows(node), labels = readClassLabels(node, "classlabels_int64s", "classlabels_strings");
  std::string after = node.getString("post_transform", "NONE");
  SmallVector<double> base = readNumbers(node, "base_values");
  if (node.failed())
    return failure();
  int64_t classes = *nn::getConstantDim(node.dims(labels)[0]);
  if (classes < 2)
    return node.unsupported("one class", "the label is the same for each row");
  auto forest = readListedTrees(node, "class", classes);
  if (!forest)
    return failure();
  auto areAll = [&](int64_t target) { return llvm::all_of(forest->leafTargets, [&](int64_t each) { return each == target; }); };
  bool isOne = classes == 2 && base.size() <= 1 && areAll(0), isSecond = classes == 2 && base.empty() && !isOne && areAll(1);
  if (!base.empty() && static_cast<int64_t>(base.size()) != classes && !isOne)
    return node.error("attribute 'base_values' has " + Twine(base.size()) + " entries for " + Twine(classes) + " classes");
  Value scores = joinTrees(node, x, *forest, isOne ? 1 : classes, Join::Sum), at;
  if (!base.empty() && !node.failed())
    scores = node.binary<AddOp>(scores, constantFloats(node, base, node.elementType(scores)));
  if (node.failed())
    return failure();
  bool isPositive = llvm::all_of(forest->leafWeights, [](double weight) { return weight >= 0; });
  if (isOne) {
    at = isAbove(node, scores, isPositive);
    scores = expandScore(node, scores, isPositive, after);
  } else {
    at = isSecond ? isAbove(node, node.slice(scores, 1, node.number(1), node.number(1)), isPositive) : bestColumn(node, scores);
    scores = applyPostTransform(node, scores, after);
  }
  if (node.failed() || failed(node.result(0, takeLabels(node, labels, at))))
    return failure();
  return node.hasOutput(1) ? node.result(1, node.cast(scores, node.builder().getF32Type())) : success();
}

} // namespace kiln::import
