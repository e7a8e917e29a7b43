//===- Learned.cpp - Operators of ai.onnx.ml ---------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Encoders.h"
#include "compiler/import/ops/Maps.h"
#include "compiler/import/ops/Scores.h"
#include "compiler/import/ops/SupportVectors.h"
#include "compiler/import/ops/Trees.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

template <typename T> static Value learnedVector(Node &node, Type element, ArrayRef<T> values) {
  return node.constant(nn::makeConstantOf<T>(RankedTensorType::get({static_cast<int64_t>(values.size())}, element), values));
}

static Value vectorOfFloats(Node &node, ArrayRef<double> values) {
  SmallVector<float> narrow(values.begin(), values.end());
  return learnedVector<float>(node, node.builder().getF32Type(), narrow);
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
  result = applyPostTransform(node, result, after);
  return node.failed() ? failure() : node.result(result);
}

ArrayRef<Operator> getLearnedOperators() {
  static const Operator rows[] = {
      {"ArrayFeatureExtractor", 1, Elements::Data, arrayFeatureExtractor, INT64_MAX, "ai.onnx.ml"},
      {"Binarizer", 1, Elements::Number, binarizer, INT64_MAX, "ai.onnx.ml"},
      {"CastMap", 1, Elements::Sequence, castMap, INT64_MAX, "ai.onnx.ml"},
      {"DictVectorizer", 1, Elements::Sequence, dictVectorizer, INT64_MAX, "ai.onnx.ml"},
      {"FeatureVectorizer", 1, Elements::Number, featureVectorizer, INT64_MAX, "ai.onnx.ml"},
      {"Imputer", 1, Elements::Number, imputer, INT64_MAX, "ai.onnx.ml"},
      {"LinearClassifier", 1, Elements::Number, linearClassifier, INT64_MAX, "ai.onnx.ml"},
      {"LinearRegressor", 1, Elements::Number, linearRegressor, INT64_MAX, "ai.onnx.ml"},
      {"Normalizer", 1, Elements::Number, normalizer, INT64_MAX, "ai.onnx.ml"},
      {"OneHotEncoder", 1, Elements::Data, oneHotEncoder, INT64_MAX, "ai.onnx.ml"},
      {"SVMClassifier", 1, Elements::Number, svmClassifier, INT64_MAX, "ai.onnx.ml"},
      {"SVMRegressor", 1, Elements::Number, svmRegressor, INT64_MAX, "ai.onnx.ml"},
      {"Scaler", 1, Elements::Number, scaler, INT64_MAX, "ai.onnx.ml"},
      {"TreeEnsemble", 5, Elements::Float, treeEnsemble, INT64_MAX, "ai.onnx.ml"},
      {"TreeEnsembleClassifier", 1, Elements::Number, treeEnsembleClassifier, INT64_MAX, "ai.onnx.ml"},
      {"TreeEnsembleRegressor", 1, Elements::Number, treeEnsembleRegressor, INT64_MAX, "ai.onnx.ml"},
      {"ZipMap", 1, Elements::Float, zipMap, INT64_MAX, "ai.onnx.ml"},
  };
  return rows;
}

} // namespace kiln::import
