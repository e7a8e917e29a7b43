//===- Scores.cpp - What classifiers and regressors of ai.onnx.ml end with ----===//
#include "compiler/import/ops/Scores.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

Value constantFloats(Node &node, ArrayRef<double> values, Type element) {
  int64_t count = values.size();
  if (element.isF64())
    return node.constant(nn::makeConstantOf<double>(RankedTensorType::get({count}, element), values));
  SmallVector<float> narrow(values.begin(), values.end());
  return node.cast(node.constant(nn::makeConstantOf<float>(RankedTensorType::get({count}, node.builder().getF32Type()), narrow)), element);
}

/// The softmax of what is not zero. A zero stays one.
static Value softmaxOfOthers(Node &node, Value x) {
  auto limit = [&](double value) { return node.splatLike(x, value); };
  Value counts = node.binary<OrOp>(node.compare<GreaterOp>(x, limit(1e-7)), node.compare<LessOp>(x, limit(-1e-7)));
  Value most = node.reduce(ReduceKind::Max, x, {1}, /*keep=*/true);
  Value grown = node.unary<ExpOp>(node.binary<SubOp>(x, most));
  Value small = node.binary<MulOp>(x, node.unary<ExpOp>(node.binary<SubOp>(node.splatLike(most, 0), most)));
  Value terms = node.make<SelectOp>(x.getType(), counts, grown, small);
  Value sum = node.reduce(ReduceKind::Sum, node.make<SelectOp>(x.getType(), counts, grown, limit(0)), {1}, /*keep=*/true);
  Value isZero = node.compare<EqualOp>(sum, node.splatLike(sum, 0));
  return node.binary<DivOp>(terms, node.make<SelectOp>(sum.getType(), isZero, node.splatLike(sum, 1), sum));
}

/// sqrt(2) * erf^-1(2 x - 1).
static Value probit(Node &node, Value x) {
  constexpr double a = 0.147, pi = 3.14159265358979323846;
  Value y = node.binary<SubOp>(node.binary<MulOp>(x, 2.0), node.splatLike(x, 1));
  Value one = node.splatLike(y, 1);
  Value log = node.unary<LogOp>(node.binary<MulOp>(node.binary<SubOp>(one, y), node.binary<AddOp>(one, y)));
  Value v = node.binary<AddOp>(node.binary<MulOp>(log, 0.5), node.splatLike(log, 2 / (pi * a)));
  Value w = node.binary<SubOp>(node.binary<MulOp>(v, v), node.binary<MulOp>(log, 1 / a));
  Value size = node.unary<SqrtOp>(node.binary<SubOp>(node.unary<SqrtOp>(w), v));
  Value isNegative = node.compare<LessOp>(y, node.splatLike(y, 0));
  return node.binary<MulOp>(node.make<SelectOp>(y.getType(), isNegative, node.unary<NegOp>(size), size), 1.4142135623730951);
}

Value applyPostTransform(Node &node, Value scores, StringRef name) {
  if (node.failed() || name == "NONE")
    return scores;
  if (name == "LOGISTIC")
    return node.unary<SigmoidOp>(scores);
  if (name == "SOFTMAX")
    return node.unary<SoftmaxOp>(scores, node.builder().getI64IntegerAttr(1));
  if (name == "SOFTMAX_ZERO")
    return softmaxOfOthers(node, scores);
  if (name == "PROBIT")
    return probit(node, scores);
  (void)node.error("attribute 'post_transform' is '" + name + "', expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT");
  return scores;
}

Value joinBothScores(Node &node, Value score, bool isProbability, StringRef after) {
  Value other = isProbability ? node.binary<SubOp>(node.splatLike(score, 1), score) : node.unary<NegOp>(score);
  Value both = node.failed() ? score : node.concat({other, score}, 1);
  return after == "PROBIT" || after == "LOGISTIC" ? applyPostTransform(node, both, after) : both;
}

Value readClassLabels(Node &node, StringRef integers, StringRef strings) {
  auto numbers = node.findInts(integers);
  auto texts = node.findStrings(strings);
  bool hasNumbers = numbers && !numbers->empty(), hasTexts = texts && !texts->empty();
  if (node.failed())
    return {};
  if (hasNumbers == hasTexts) {
    (void)node.error("expected labels in one of the attributes '" + integers + "' and '" + strings + "'");
    return {};
  }
  return hasTexts ? node.strings(*texts, node.number(texts->size())) : node.constantInts(*numbers);
}

Value takeLabels(Node &node, Value labels, Value at) { return node.make<GatherOp>(node.type(node.dims(at), node.elementType(labels)), labels, at, 0); }

Value bestColumn(Node &node, Value scores) {
  AffineExpr rows = node.dims(scores)[0];
  Value at = node.make<ArgReduceOp>(node.type({rows, node.number(1)}, node.builder().getI64Type()), ReduceKind::Max, scores, 1, /*selectLast=*/false);
  return node.reshape(at, {rows});
}

} // namespace kiln::import
