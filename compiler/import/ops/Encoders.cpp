//===- Encoders.cpp - What prepares features for classifiers ------------------===//
#include "compiler/import/ops/Encoders.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/ops/Scores.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNRuntimeOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Elements that equal `replaced`, or are NaN as it is, become that of their column, or the only one.
LogicalResult imputer(Node &node) {
  Value x = node.input(0);
  auto floats = node.findFloats("imputed_value_floats");
  auto integers = node.findInts("imputed_value_int64s");
  double replacedFloat = node.getFloat("replaced_value_float", 0);
  int64_t replacedInteger = node.getInt("replaced_value_int64", 0);
  bool isReal = isa<FloatType>(node.elementType(x));
  size_t count = isReal ? floats.value_or(SmallVector<double>()).size() : integers.value_or(SmallVector<int64_t>()).size();
  if (node.failed())
    return failure();
  if (count == 0)
    return node.error(Twine("attribute '") + (isReal ? "imputed_value_floats" : "imputed_value_int64s") + "' is missing or empty");
  if (node.rank(x) < 1)
    return node.error("the input has rank 0, expected at least 1");
  if (count > 1 && !node.unify(node.dims(x).back(), node.number(count), "the numbers of columns and of imputed values differ"))
    return failure();
  Value values = isReal ? constantFloats(node, *floats, node.elementType(x)) : node.cast(node.constantInts(*integers), node.elementType(x)), hit;
  if (isReal && std::isnan(replacedFloat))
    hit = node.unary<NotOp>(node.compare<EqualOp>(x, x));
  else if (isReal)
    hit = node.compare<EqualOp>(x, node.splatLike(x, replacedFloat));
  else
    hit = node.compare<EqualOp>(x, node.cast(node.constantInts({replacedInteger}), node.elementType(x)));
  if (node.failed())
    return failure();
  return node.result(node.make<SelectOp>(x.getType(), hit, node.broadcastTo(values, node.dims(x)), x));
}

/// Whether one of the truth values along a dimension is true.
static Value isOneOf(Node &node, Value hits, int64_t dim) {
  Value most = node.reduce(ReduceKind::Max, node.cast(hits, node.builder().getI64Type()), {dim}, /*keep=*/false);
  return node.compare<GreaterOp>(most, node.splatLike(most, 0));
}

/// Each element becomes a row that is 1 at its category. Numbers are compared as integers. With `zeros` of 0, a run with another category ends.
LogicalResult oneHotEncoder(Node &node) {
  Value x = node.input(0);
  auto texts = node.findStrings("cats_strings");
  auto numbers = node.findInts("cats_int64s");
  bool ignoresOthers = node.getFlag("zeros", true), isText = nn::isString(node.elementType(x));
  size_t count = isText ? texts.value_or(SmallVector<std::string>()).size() : numbers.value_or(SmallVector<int64_t>()).size();
  if (node.failed())
    return failure();
  if (count == 0)
    return node.error(Twine("attribute '") + (isText ? "cats_strings" : "cats_int64s") + "' is missing or empty");
  Type i64 = node.builder().getI64Type();
  DimExprs one = node.dims(x), all = one;
  one.push_back(node.number(1));
  all.push_back(node.number(count));
  int64_t last = all.size() - 1;
  Value place, wanted;
  if (isText) {
    Value keys = node.strings(*texts, node.number(count));
    if (node.failed())
      return failure();
    place = node.make<StringFindOp>(node.type(node.dims(x), i64), x, keys.getDefiningOp<StringsOp>().getValuesAttr());
    wanted = node.iota(all, last, i64);
  } else {
    place = node.cast(x, i64);
    wanted = node.broadcastTo(node.constantInts(*numbers), all);
  }
  Value hit = node.compare<EqualOp>(node.broadcastTo(node.reshape(place, one), all), wanted);
  if (!ignoresOthers)
    expectInRun(node, isOneOf(node, hit, last), "unknown_category");
  return node.failed() ? failure() : node.result(node.cast(hit, node.builder().getF32Type()));
}

/// The columns of all inputs side by side. An input has as many as `inputdimensions` says: further ones are left out, and missing ones zero.
LogicalResult featureVectorizer(Node &node) {
  auto widths = node.findInts("inputdimensions");
  SmallVector<Value> parts;
  if (widths && !widths->empty() && widths->size() != node.numInputs())
    return node.error("attribute 'inputdimensions' has " + Twine(widths->size()) + " entries for " + Twine(node.numInputs()) + " inputs");
  for (unsigned i = 0; i < node.numInputs() && !node.failed(); ++i) {
    Value x = node.cast(node.input(i), node.builder().getF32Type());
    if (node.rank(x) == 1)
      x = node.reshape(x, {node.number(1), node.dims(x)[0]});
    if (!node.expectRank(x, 2, "input " + std::to_string(i)))
      return failure();
    if (widths && !widths->empty()) {
      auto columns = nn::getConstantDim(node.dims(x)[1]);
      int64_t width = (*widths)[i];
      if (!columns)
        return node.unsupported("an input with a symbolic number of columns", "give its size with --bind");
      if (width < 1)
        return node.error("attribute 'inputdimensions' has the entry " + Twine(width) + ", expected a positive number");
      if (*columns > width)
        x = node.slice(x, 1, node.number(0), node.number(width));
      else if (*columns < width)
        x = node.concat({x, node.splat({node.dims(x)[0], node.number(width - *columns)}, node.elementType(x), 0)}, 1);
    }
    parts.push_back(x);
  }
  return node.failed() ? failure() : node.result(node.concat(parts, 1));
}

/// A list of maps from labels to scores stays the tensor of scores: a row is a map, and column i has the number of label i.
LogicalResult zipMap(Node &node) {
  Value x = node.input(0), labels = readClassLabels(node, "classlabels_int64s", "classlabels_strings");
  if (node.failed())
    return failure();
  if (node.rank(x) == 1)
    x = node.reshape(x, {node.number(1), node.dims(x)[0]});
  if (!node.expectRank(x, 2, "the input") || !node.unify(node.dims(x)[1], node.dims(labels)[0], "the numbers of columns and of labels differ"))
    return failure();
  return node.result(x);
}

/// The scores are the rows times the weights of each class, and the label that of the largest one; one row of weights is for the second class of two.
LogicalResult linearClassifier(Node &node) {
  Value x = node.cast(node.input(0), node.builder().getF32Type()), labels = readClassLabels(node, "classlabels_ints", "classlabels_strings");
  auto weights = node.findFloats("coefficients"), intercepts = node.findFloats("intercepts");
  std::string after = node.getString("post_transform", "NONE");
  node.ignore("multi_class");
  if (node.failed())
    return failure();
  int64_t classes = *nn::getConstantDim(node.dims(labels)[0]);
  if (node.rank(x) == 1)
    x = node.reshape(x, {node.number(1), node.dims(x)[0]});
  if (!node.expectRank(x, 2, "the input"))
    return failure();
  // Without intercepts, the columns tell how many classes the weights are for.
  auto columns = nn::getConstantDim(node.dims(x)[1]);
  int64_t rows = intercepts ? intercepts->size() : 0;
  if (rows == 0)
    rows = columns && *columns > 0 && weights ? static_cast<int64_t>(weights->size()) / *columns : classes;
  if (!weights || weights->empty() || rows < 1 || weights->size() % rows || (rows != classes && !(rows == 1 && classes == 2)))
    return node.error("the weights are for " + Twine(rows) + " classes, and there are labels for " + Twine(classes));
  int64_t width = weights->size() / rows;
  if (!node.unify(node.dims(x)[1], node.number(width), "the numbers of columns and of coefficients differ"))
    return failure();
  Type element = node.elementType(x);
  Value matrix = node.reshape(constantFloats(node, *weights, element), {node.number(rows), node.number(width)});
  Value scores = node.matmul(x, node.transpose(matrix, {1, 0})), at;
  if (intercepts && !intercepts->empty())
    scores = node.binary<AddOp>(scores, constantFloats(node, *intercepts, element));
  if (node.failed())
    return failure();
  if (rows == 1 && classes == 2) {
    Value second = node.reshape(node.compare<GreaterOp>(scores, node.splatLike(scores, 0)), {node.dims(scores)[0]});
    at = node.cast(second, node.builder().getI64Type());
    scores = joinBothScores(node, scores, after != "LOGISTIC", after);
  } else {
    at = bestColumn(node, scores);
    scores = applyPostTransform(node, scores, after);
  }
  if (node.failed() || failed(node.result(0, takeLabels(node, labels, at))))
    return failure();
  return node.hasOutput(1) ? node.result(1, scores) : success();
}

} // namespace kiln::import
