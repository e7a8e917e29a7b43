//===- NormalizationRows.cpp - Layer and RMS normalization over rows -------===//
//
//   for each row:  c = mean of the first vector;  a = sum (x - c) / n;  b = sum (x - c)^2 / n
//                  mean = c + a;  v = b - a * a;  y = (x - mean) * (1 / sqrt(v + epsilon)) * scale + bias
//
// One pass for both sums of a short row. The difference loses no digits that matter when c is near the mean, and it cannot be far from it: of n
// elements whose first k have the mean c, the variance is at least (k / n) (c - mean)^2, so b is at most (1 + n / k) times the variance. Longer
// rows take the mean first and the variance about it in another pass.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/rows/RowWalk.h"
#include "passes/target/choice/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Rows of more elements could lose too many digits in one pass (see above).
static constexpr int64_t longestOnePass = 4096;
/// A row of halves and its factors, or one that is computed and whose results are other elements, is kept in f32 on the stack up to here.
static constexpr int64_t longestNormRow = 4096;

/// The row's length as a number of the compute type.
static Value rowLength(KernelBuilder &k, AffineExpr length, Type element) {
  if (auto constant = getConstantDim(length))
    return k.number(element, *constant);
  Value wide = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getI64Type(), k.emit(length));
  return arith::SIToFPOp::create(k.builder(), k.loc(), computeType(element), wide);
}

namespace {
struct NormRow : RowWalk {
  Operation *anchor;
  /// The factors of halves, which every row reads, in f32. Empty for other elements.
  ArrayRef<Value> wideFactors;

  Scalar spread(const Scalar &value, unsigned count) const { return RowWalk::spread(value.value(), count); }
  /// Sums over the row, divided by its length.
  SmallVector<Scalar> means(unsigned count, function_ref<SmallVector<Value>(AffineExpr, Lanes)> body) const {
    Scalar n = scalar(rowLength(k, length, element));
    return llvm::map_to_vector(reduce(ReduceKind::Sum, count, body), [&](Value sum) { return scalar(sum) / n; });
  }
  /// The mean, and the mean square of what is left without it.
  std::pair<Scalar, Scalar> moments() const {
    bool oneVector = lanes > 1 && isShort();
    Scalar c = oneVector ? firstMean() : means(1, [&](AffineExpr j, Lanes lanes) { return SmallVector<Value>{first(j, lanes)}; })[0];
    if (!oneVector)
      return {c, meanSquare(c, false)};
    SmallVector<Scalar> both = means(2, [&](AffineExpr j, Lanes lanes) {
      Scalar x = scalar(first(j, lanes)) - spread(c, lanes.count);
      return SmallVector<Value>{x.value(), (x * x).value()};
    });
    return {c + both[0], max(both[1] - both[0] * both[0], 0.0)};
  }
  Scalar meanSquare(const Scalar &mean, bool isFirst) const {
    return means(1, [&](AffineExpr j, Lanes lanes) {
      Scalar x = isFirst ? scalar(first(j, lanes)) : scalar(load(j, lanes)) - spread(mean, lanes.count);
      return SmallVector<Value>{(x * x).value()};
    })[0];
  }
  bool isShort() const {
    auto size = getConstantDim(length);
    return size && *size >= lanes && *size <= longestOnePass;
  }
  /// The mean of the first vector.
  Scalar firstMean() const {
    AffineExpr j = k.index(k.emitConstant(0));
    Value x = read(j, Lanes{cast<AffineDimExpr>(j).getPosition(), lanes});
    return scalar(reduceLanes(k, ReduceKind::Sum, getElementTypeOrSelf(x.getType()), x)) * (1.0 / lanes);
  }
  /// Operand `operand`, the scale or the bias, at a place of the row.
  Scalar factor(unsigned operand, AffineExpr j, ArrayRef<AffineExpr> within, Lanes lanes) const {
    return scalar(wideFactors.empty() ? k.value(anchor->getOperand(operand), within, lanes) : k.loadBuffer(wideFactors[operand - 1], element, j, lanes));
  }
};
} // namespace

static void emitRow(const NormRow &row, unsigned axis, double epsilon) {
  KernelBuilder &k = row.k;
  bool centered = isa<LayerNormOp>(row.anchor);
  Scalar zero = row.scalar(k.number(row.element, 0));
  std::pair<Scalar, Scalar> moments = centered ? row.moments() : std::pair(zero, row.meanSquare(zero, true));
  if (centered)
    k.named(moments.first.value(), "mean");
  k.named(moments.second.value(), centered ? "variance" : "mean_square");
  Scalar inverse = zero.like(1.0) / sqrt(moments.second + epsilon);
  k.named(inverse.value(), "inverse");
  k.vectorLoop(row.length, k.resultLanes(), "i", [&](AffineExpr j, Lanes lanes) {
    IndexExprs at = row.at(j);
    Scalar loaded = row.scalar(row.load(j, lanes));
    Scalar x = centered ? loaded - row.spread(moments.first, lanes.count) : loaded;
    ArrayRef<AffineExpr> within = ArrayRef(at).drop_front(axis);
    Scalar y = x * row.spread(inverse, lanes.count) * row.factor(1, j, within, lanes);
    Value result = y.value();
    if (row.anchor->getNumOperands() > 2)
      result = (y + row.factor(2, j, within, lanes)).value();
    k.storeResults(row.anchor->getResult(0), result, at, lanes);
  });
}

/// The scale and the bias in f32, once for all rows of a call.
static SmallVector<Value> widenFactors(KernelBuilder &k, Operation *anchor, const RowShape &shape, unsigned axis) {
  int64_t length = *getConstantDim(shape.length);
  SmallVector<Value> wide;
  for (Value operand : anchor->getOperands().drop_front()) {
    Type element = getElementTypeOrSelf(operand.getType());
    wide.push_back(k.array(wide.empty() ? "scale" : "bias", element, length));
    k.vectorLoop(shape.length, k.vectorLanes(), "i", [&](AffineExpr j, Lanes lanes) {
      IndexExprs at = shape.at(k.constant(0), j, k.constant(0));
      k.storeBuffer(wide.back(), element, j, k.value(operand, ArrayRef(at).drop_front(axis), lanes), lanes);
    });
  }
  return wide;
}

FailureOr<LaunchInfo> lowerLayerNormRows(KernelBuilder &k, Operation *anchor) {
  DimExprs dims = getDims(anchor->getResult(0).getType());
  unsigned axis = cast<AlongAxis>(anchor).getAxis();
  auto whole = dyn_cast<LayerNormOp>(anchor);
  double epsilon = (whole ? whole.getEpsilon() : cast<RmsNormOp>(anchor).getEpsilon()).convertToDouble();
  RowShape shape = makeRowShape(k, dims, axis, dims.size() - 1);
  Type element = getElementTypeOrSelf(anchor->getResult(0).getType());
  bool fitsStack = getConstantDim(shape.length).value_or(longestNormRow + 1) <= longestNormRow;
  bool keepsApart = !isa<BlockArgument>(anchor->getOperand(0)) && !storesElements(k, element);
  SmallVector<Value> factors;
  if (isHalf(element) && fitsStack)
    factors = widenFactors(k, anchor, shape, axis);
  forEachRow(k, shape, [&](auto at, Lanes) {
    Value row = fitsStack && (isHalf(element) || keepsApart) ? k.array("row", element, *getConstantDim(shape.length)) : Value();
    emitRow({{k, anchor->getOperand(0), element, kernel::Accuracy::Exact, shape.length, k.vectorLanes(), at, {}, row}, anchor, factors}, axis, epsilon);
  });
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{countTasks(k, shape.tasks), elements * 8, elements * 8};
}

} // namespace kiln
