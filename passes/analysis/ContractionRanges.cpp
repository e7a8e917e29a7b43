//===- ContractionRanges.cpp - Ranges of matrix products and convolutions --===//
#include "dialects/nn/ConstantData.h"
#include "passes/analysis/ValueRangeAnalysis.h"

#include <cmath>

using namespace mlir;

namespace kiln {

using namespace nn;

/// Roundings beside those of the sum itself that a kernel may add, those of Winograd's transforms included.
static constexpr double extraRoundings = 4096;

namespace {
/// What one output channel's weights sum to: the positive ones and the negative ones.
struct WeightSums {
  std::vector<double> positive, negative;
  bool finite = true;
  explicit WeightSums(int64_t channels) : positive(channels, 0), negative(channels, 0) {}
  void add(int64_t channel, double weight) {
    finite &= std::isfinite(weight);
    (weight > 0 ? positive : negative)[channel] += weight;
  }
};
} // namespace

/// The sums over all products of an output: [K, N] has a column for each, [out, in, kernel...] a slice.
static WeightSums sumWeights(Operation *op, ElementsAttr weight) {
  ConstantData data(weight);
  auto shape = cast<ShapedType>(weight.getType()).getShape();
  int64_t elements = data.numElements();
  bool isMatrix = isa<MatmulOp>(op);
  // A batch of right sides: a column of each.
  int64_t columns = isMatrix ? shape.back() : 1, rows = isMatrix ? shape[shape.size() - 2] : std::max<int64_t>(1, elements / std::max<int64_t>(1, shape[0]));
  WeightSums sums(isMatrix ? std::max<int64_t>(1, elements / std::max<int64_t>(1, rows * columns)) * columns : shape[0]);
  for (int64_t i = 0; i < elements; ++i)
    sums.add(isMatrix ? i / (rows * columns) * columns + i % columns : i / rows, data.asDouble(i));
  return sums;
}

static int64_t countProducts(Operation *op) {
  Type weight = op->getOperand(1).getType();
  int64_t rank = cast<RankedTensorType>(weight).getRank();
  if (isa<MatmulOp>(op))
    return getLargestSize(op, weight, {rank - 2});
  return getLargestSize(op, weight, llvm::to_vector(llvm::seq<int64_t>(1, rank)));
}

Interval inferContractionRange(Operation *op, Interval input, Interval weight) {
  Type element = getElementTypeOrSelf(op->getResult(0));
  Interval full = getFullRange(element);
  int64_t count = countProducts(op);
  if (!input.isBounded() || !weight.isBounded() || weight.nan || count > (int64_t(1) << 32))
    return full;
  if (isa<ConvOp>(op))
    // Padding adds zeros.
    input = Interval::join(input, {0, 0, input.nan});
  Interval sum = multiply(multiply(input, weight), {static_cast<double>(count), static_cast<double>(count)});
  double magnitude = input.magnitude() * weight.magnitude() * count;
  if (ElementsAttr constant = getConstant(op->getOperand(1))) {
    WeightSums sums = sumWeights(op, constant);
    sum = Interval();
    magnitude = 0;
    for (auto [positive, negative] : llvm::zip_equal(sums.positive, sums.negative)) {
      sum = Interval::join(sum, {positive * input.low + negative * input.high, positive * input.high + negative * input.low});
      magnitude = std::max(magnitude, (positive - negative) * input.magnitude());
    }
  }
  if (!isa<FloatType>(element))
    return {sum.low, sum.high};
  double error = element.isF64() ? 0x1p-52 : 0x1p-23, limit = element.isF64() ? 0x1p1000 : 0x1p110;
  // Transforms and partial sums stay far from overflow, or nothing is known.
  if (!(magnitude < limit))
    return full;
  Interval range = widen({sum.low, sum.high, input.nan}, 0, magnitude * error * (count + extraRoundings));
  return range;
}

} // namespace kiln
