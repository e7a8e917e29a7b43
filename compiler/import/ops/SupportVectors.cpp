//===- SupportVectors.cpp - Support vector machines ---------------------------===//
#include "compiler/import/ops/SupportVectors.h"
#include "compiler/import/ops/Scores.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNCallOps.h"

#include <numeric>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// What both operators have: vectors [vectors, columns], their coefficients and the kernel that compares rows with them.
class Machine {
public:
  explicit Machine(Node &node) : node(node) {}
  bool read();
  /// Rows as f32.
  Value rows();
  /// The kernel of each row and each of `count` vectors, [rows, count].
  Value compare(Value x, ArrayRef<double> vectors, int64_t count);

  Node &node;
  SmallVector<double> coefficients, rho, vectors;
  std::string kernel, after;
  double gamma = 0, coef0 = 0, degree = 0;
};
} // namespace

bool Machine::read() {
  auto floats = [&](StringRef name) { return node.findFloats(name).value_or(SmallVector<double>()); };
  coefficients = floats("coefficients"), rho = floats("rho"), vectors = floats("support_vectors");
  SmallVector<double> numbers = floats("kernel_params");
  kernel = node.getString("kernel_type", "LINEAR"), after = node.getString("post_transform", "NONE");
  if (node.failed())
    return false;
  if (!llvm::is_contained({"LINEAR", "POLY", "RBF", "SIGMOID"}, kernel))
    return (void)node.error("attribute 'kernel_type' is '" + kernel + "', expected LINEAR, POLY, RBF or SIGMOID"), false;
  if (!numbers.empty() && numbers.size() != 3)
    return (void)node.error("attribute 'kernel_params' has " + Twine(numbers.size()) + " entries, expected 3"), false;
  if (!numbers.empty())
    gamma = numbers[0], coef0 = numbers[1], degree = numbers[2];
  if (coefficients.empty() || rho.empty())
    return (void)node.error("attributes 'coefficients' and 'rho' must have entries"), false;
  return true;
}

Value Machine::rows() {
  Value x = node.cast(node.input(0), node.builder().getF32Type());
  if (node.rank(x) == 1)
    x = node.reshape(x, {node.number(1), node.dims(x)[0]});
  node.expectRank(x, 2, "the input");
  return x;
}

Value Machine::compare(Value x, ArrayRef<double> vectors, int64_t count) {
  int64_t width = vectors.size() / count;
  if (node.failed() || vectors.empty() || vectors.size() % count) {
    (void)node.error(Twine(vectors.size()) + " numbers of vectors are no rows of " + Twine(count));
    return x;
  }
  if (!node.unify(node.dims(x)[1], node.number(width), "the numbers of columns and of elements of a vector differ"))
    return x;
  Value matrix = node.reshape(constantFloats(node, vectors, node.elementType(x)), {node.number(count), node.number(width)});
  if (kernel == "RBF") {
    Value each = node.reshape(x, {node.dims(x)[0], node.number(1), node.number(width)});
    Value apart = node.binary<SubOp>(each, matrix);
    Value distance = node.reduce(ReduceKind::Sum, node.binary<MulOp>(apart, apart), {2}, /*keep=*/false);
    return node.unary<ExpOp>(node.binary<MulOp>(distance, -gamma));
  }
  Value product = node.matmul(x, node.transpose(matrix, {1, 0}));
  if (kernel == "LINEAR")
    return product;
  product = node.binary<AddOp>(node.binary<MulOp>(product, gamma), node.splatLike(product, coef0));
  return kernel == "POLY" ? node.binary<PowOp>(product, degree) : node.unary<TanhOp>(product);
}

LogicalResult svmRegressor(Node &node) {
  Machine machine(node);
  int64_t count = node.getInt("n_supports", 0);
  bool isOneClass = node.getFlag("one_class");
  if (!machine.read())
    return failure();
  Value x = machine.rows(), result;
  if (node.failed())
    return failure();
  if (count == 0) {
    machine.kernel = "LINEAR";
    result = machine.compare(x, machine.coefficients, 1);
  } else {
    if (static_cast<int64_t>(machine.coefficients.size()) != count)
      return node.error("attribute 'coefficients' has " + Twine(machine.coefficients.size()) + " entries for " + Twine(count) + " vectors");
    Value weights = node.reshape(constantFloats(node, machine.coefficients, node.elementType(x)), {node.number(count), node.number(1)});
    result = node.matmul(machine.compare(x, machine.vectors, count), weights);
  }
  result = node.binary<AddOp>(result, node.splatLike(result, machine.rho[0]));
  if (isOneClass && !node.failed()) {
    Value inside = node.compare<GreaterOp>(result, node.splatLike(result, 0));
    result = node.make<SelectOp>(result.getType(), inside, node.splatLike(result, 1), node.splatLike(result, -1));
  } else {
    result = applyPostTransform(node, result, machine.after);
  }
  return node.failed() ? failure() : node.result(result);
}

//===- SVMClassifier -------------------------------------------------------===//

/// The sums of each pair of classes, and which class each votes for. Of pair (i, j), i < j, the vectors of class i have coefficients in row j - 1 and
/// those of class j in row i.
static std::pair<Value, Value> comparePairs(Machine &machine, Value kernels, ArrayRef<int64_t> sizes) {
  Node &node = machine.node;
  int64_t classes = sizes.size(), pairs = classes * (classes - 1) / 2, count = std::accumulate(sizes.begin(), sizes.end(), int64_t(0)), pair = 0;
  SmallVector<double> weights(count * pairs), wins(pairs * classes), losses(pairs * classes);
  SmallVector<int64_t> begins(classes + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), begins.begin() + 1);
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      for (int64_t v = begins[i]; v < begins[i + 1]; ++v)
        weights[v * pairs + pair] = machine.coefficients[(j - 1) * count + v];
      for (int64_t v = begins[j]; v < begins[j + 1]; ++v)
        weights[v * pairs + pair] = machine.coefficients[i * count + v];
      wins[pair * classes + i] = 1, losses[pair * classes + j] = 1;
    }
  Type element = node.elementType(kernels);
  auto matrix = [&](ArrayRef<double> values, int64_t rows, int64_t columns) {
    return node.reshape(constantFloats(node, values, element), {node.number(rows), node.number(columns)});
  };
  Value sums = node.matmul(kernels, matrix(weights, count, pairs));
  sums = node.binary<AddOp>(sums, constantFloats(node, ArrayRef(machine.rho).take_front(pairs), element));
  Value won = node.cast(node.compare<GreaterOp>(sums, node.splatLike(sums, 0)), element);
  Value lost = node.binary<SubOp>(node.splatLike(won, 1), won);
  return {sums, node.binary<AddOp>(node.matmul(won, matrix(wins, pairs, classes)), node.matmul(lost, matrix(losses, pairs, classes)))};
}

/// Probabilities of classes [rows, classes] from the sums of pairs, each of which has a logistic function of its own (libsvm, ONNX Runtime).
static Value couplePairs(Node &node, Value sums, ArrayRef<double> slopes, ArrayRef<double> offsets, int64_t classes) {
  int64_t pairs = classes * (classes - 1) / 2;
  if (static_cast<int64_t>(slopes.size()) != pairs || static_cast<int64_t>(offsets.size()) != pairs) {
    (void)node.error("attributes 'prob_a' and 'prob_b' have " + Twine(slopes.size()) + " and " + Twine(offsets.size()) + " entries, expected " + Twine(pairs) +
                     ", one for each pair of classes");
    return sums;
  }
  Type element = node.elementType(sums);
  Value line = node.binary<AddOp>(node.binary<MulOp>(sums, constantFloats(node, slopes, element)), constantFloats(node, offsets, element));
  Value first = node.binary<SubOp>(node.splatLike(line, 1), node.unary<SigmoidOp>(line));
  first = node.binary<MinimumOp>(node.binary<MaximumOp>(first, node.splatLike(first, 1e-7)), node.splatLike(first, 1 - 1e-7));
  if (node.failed())
    return sums;
  AffineExpr columns = node.number(classes);
  RankedTensorType result = node.type({node.dims(sums)[0], columns}, element), scratch = node.type({node.number(2), columns}, element);
  return CouplePairsOp::create(node.builder(), node.loc, result, scratch, first).getResult();
}

LogicalResult svmClassifier(Node &node) {
  Machine machine(node);
  Value labels = readClassLabels(node, "classlabels_ints", "classlabels_strings");
  SmallVector<int64_t> sizes = node.findInts("vectors_per_class").value_or(SmallVector<int64_t>());
  auto slopes = node.findFloats("prob_a"), offsets = node.findFloats("prob_b");
  bool hasProbabilities = slopes && !slopes->empty();
  if (node.failed() || !machine.read())
    return failure();
  int64_t classes = *nn::getConstantDim(node.dims(labels)[0]), pairs = classes * (classes - 1) / 2;
  Value x = machine.rows(), scores, at;
  if (node.failed())
    return failure();
  if (classes < 2)
    return node.unsupported("one class", "the label is the same for each row");
  if (sizes.empty()) {
    if (classes == 2)
      return node.unsupported("two classes without support vectors", "use LinearClassifier");
    machine.kernel = "LINEAR";
    scores = machine.compare(x, machine.coefficients, classes);
    scores = node.binary<AddOp>(scores, node.splatLike(scores, machine.rho[0]));
    at = bestColumn(node, scores);
    scores = applyPostTransform(node, scores, machine.after);
  } else {
    int64_t count = 0;
    if (static_cast<int64_t>(sizes.size()) != classes)
      return node.error("attribute 'vectors_per_class' has " + Twine(sizes.size()) + " entries for " + Twine(classes) + " classes");
    for (int64_t size : sizes) {
      if (size < 0 || size > static_cast<int64_t>(machine.vectors.size()))
        return node.error("attribute 'vectors_per_class' has the entry " + Twine(size));
      count += size;
    }
    if (count < 1 || static_cast<int64_t>(machine.coefficients.size()) != (classes - 1) * count || static_cast<int64_t>(machine.rho.size()) < pairs)
      return node.error("expected " + Twine((classes - 1) * count) + " coefficients and " + Twine(pairs) + " numbers rho, and there are " +
                        Twine(machine.coefficients.size()) + " and " + Twine(machine.rho.size()));
    Value votes;
    std::tie(scores, votes) = comparePairs(machine, machine.compare(x, machine.vectors, count), sizes);
    at = bestColumn(node, votes);
    bool isProbability = machine.after != "NONE" && machine.after != "LOGISTIC";
    if (hasProbabilities)
      scores = applyPostTransform(node, couplePairs(node, scores, *slopes, offsets.value_or(SmallVector<double>()), classes), machine.after);
    else
      scores = classes == 2 ? joinBothScores(node, scores, isProbability, machine.after) : applyPostTransform(node, scores, machine.after);
  }
  if (node.failed() || failed(node.result(0, takeLabels(node, labels, at))))
    return failure();
  return node.hasOutput(1) ? node.result(1, scores) : success();
}

} // namespace kiln::import
