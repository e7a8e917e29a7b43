//===- ContractionRanges.cpp - Ranges of matrix products and convolutions --===//
#include "passes/analysis/ContractionRanges.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/ConstantPart.h"
#include "dialects/nn/NNContractionOps.h"
#include "passes/analysis/ValueRangeAnalysis.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Roundings beside those of the sum itself that a kernel may add, those of Winograd's transforms included.
static constexpr double extraRoundings = 4096;

namespace {
/// What one output channel's weights sum to: the positive ones and the negative ones.
struct WeightSums {
  std::vector<double> positive, negative;
  explicit WeightSums(int64_t channels) : positive(channels, 0), negative(channels, 0) {}
  void add(int64_t channel, double weight) {
    positive[channel] += std::max(weight, 0.0);
    negative[channel] += std::min(weight, 0.0);
  }
};
} // namespace

/// The sums over all products of an output: [K, N] has a column for each, [out, in, kernel...] a slice.
static WeightSums sumWeights(Operation *op, ElementsAttr weight) {
  ConstantData data(weight);
  auto shape = cast<ShapedType>(weight.getType()).getShape();
  int64_t elements = data.numElements();
  if (elements == 0)
    return WeightSums(1);
  // A row of a matrix has an element of each column, a slice of filters belongs to one channel. Of a batch of matrices each has columns of its own.
  bool isMatrix = isa<MatmulOp>(op);
  int64_t length = isMatrix ? shape.back() : elements / shape[0], rows = isMatrix ? shape[shape.size() - 2] : 1;
  WeightSums sums(isMatrix ? elements / rows : shape[0]);
  for (int64_t row = 0; row * length < elements; ++row) {
    int64_t channel = isMatrix ? row / rows * length : row, step = isMatrix ? 1 : 0;
    data.forEachDouble(row * length, length, [&](double weight) {
      sums.add(channel, weight);
      channel += step;
    });
  }
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
    // Of a part of the weights, those that other ranks have count as products with zero.
    std::shared_ptr<ConstantPart> part = findPart(constant);
    bool isCut = part && part->getType() == constant.getType();
    if (isCut)
      input = Interval::join(input, {0, 0, input.nan});
    WeightSums sums = sumWeights(op, isCut ? part->getSource() : constant);
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
