//===- NormalizationRows.cpp - Layer and RMS normalization over rows -------===//
//
//   for each row:  mean = sum x / n;  v = sum (x - mean)^2 / n;  y = (x - mean) * (1 / sqrt(v + epsilon)) * scale + bias
//
// The variance is taken about the mean in a second pass: the row is in the cache, and the one-pass formula loses digits.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Scalar.h"
#include "passes/lowering/Kernels.h"
#include "passes/lowering/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool matchLayerNormRows(GroupOp, Operation *anchor, kernel::TargetAttr, std::string &reason) {
  reason = "kept whole: mean, variance and result in three passes over a row that stays in the cache";
  return isa_and_nonnull<LayerNormOp, RmsNormOp>(anchor);
}

/// The row's length as a number of the compute type.
static Value rowLength(KernelBuilder &k, AffineExpr length, Type element) {
  if (auto constant = getConstantDim(length))
    return k.number(element, *constant);
  Value wide = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getI64Type(), k.emit(length));
  return arith::SIToFPOp::create(k.builder(), k.loc(), computeType(element), wide);
}

namespace {
struct NormRow {
  KernelBuilder &k;
  Operation *anchor;
  Type element;
  AffineExpr length;
  function_ref<IndexExprs(AffineExpr)> at;

  Scalar scalar(Value value) const { return Scalar(k.builder(), k.loc(), value, element); }
  Scalar spread(const Scalar &value, unsigned lanes) const { return scalar(k.broadcast(value.value(), lanes)); }
  bool keep() const { return !isa<BlockArgument>(anchor->getOperand(0)); }
  Scalar load(AffineExpr j, Lanes lanes) const {
    return scalar(keep() ? k.loadResult(0, at(j), lanes) : k.value(anchor->getOperand(0), at(j), lanes));
  }
  Scalar mean(function_ref<Scalar(AffineExpr, Lanes)> body) const {
    Value sum = reduceRow(k, ReduceKind::Sum, element, length, k.vectorLanes(),
                          [&](AffineExpr j, Lanes lanes) { return body(j, lanes).value(); });
    return scalar(sum) / scalar(rowLength(k, length, element));
  }
  /// The first read of the row: a prologue's values are left in the result.
  Scalar first(AffineExpr j, Lanes lanes) const {
    Value x = k.value(anchor->getOperand(0), at(j), lanes);
    if (keep())
      k.store(0, x, at(j), lanes);
    return scalar(x);
  }
};
} // namespace

static void emitRow(const NormRow &row, unsigned axis, double epsilon) {
  KernelBuilder &k = row.k;
  bool centered = isa<LayerNormOp>(row.anchor);
  Scalar zero = row.scalar(k.number(row.element, 0));
  Scalar mean = centered ? row.mean([&](AffineExpr j, Lanes lanes) { return row.first(j, lanes); }) : zero;
  Scalar variance = row.mean([&](AffineExpr j, Lanes lanes) {
    Scalar x = centered ? row.load(j, lanes) - row.spread(mean, lanes.count) : row.first(j, lanes);
    return x * x;
  });
  Scalar inverse = zero.like(1.0) / sqrt(variance + epsilon);
  k.vectorLoop(row.length, k.vectorLanes(), "i", [&](AffineExpr j, Lanes lanes) {
    IndexExprs at = row.at(j);
    Scalar loaded = row.load(j, lanes);
    Scalar x = centered ? loaded - row.spread(mean, lanes.count) : loaded;
    ArrayRef<AffineExpr> within = ArrayRef(at).drop_front(axis);
    Scalar y = x * row.spread(inverse, lanes.count) * row.scalar(k.value(row.anchor->getOperand(1), within, lanes));
    Value result = y.value();
    if (row.anchor->getNumOperands() > 2)
      result = (y + row.scalar(k.value(row.anchor->getOperand(2), within, lanes))).value();
    k.storeResults(row.anchor->getResult(0), result, at, lanes);
  });
}

FailureOr<LaunchInfo> lowerLayerNormRows(KernelBuilder &k, Operation *anchor) {
  DimExprs dims = getDims(anchor->getResult(0).getType());
  unsigned axis = anchor->getAttrOfType<IntegerAttr>("axis").getInt();
  double epsilon = anchor->getAttrOfType<FloatAttr>("epsilon").getValueAsDouble();
  RowShape shape = makeRowShape(k, dims, axis, dims.size() - 1);
  Type element = getElementTypeOrSelf(anchor->getResult(0).getType());
  forEachRow(k, shape, [&](auto at, Lanes) { emitRow({k, anchor, element, shape.length, at}, axis, epsilon); });
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{countTasks(k, shape.tasks), elements * 8, elements * 8};
}

} // namespace kiln
