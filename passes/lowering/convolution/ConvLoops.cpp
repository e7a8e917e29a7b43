//===- ConvLoops.cpp - Convolutions of any layout, type and padding --------===//
//
//   for each element of the result: sum over the window and the group's channels, in getSumType of the result's type; what lies in the padding counts as zero
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/MovedBytes.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// One element of the result.
struct Window {
  KernelBuilder &k;
  mutable ConvOp op;
  Type sumType;
  DimExprs input, weight;
  unsigned spatial;
  unsigned firstSpatial, channelDim;

  /// The coordinate in the input along spatial dim i, moved inside; `inside` is and-ed with whether it was.
  AffineExpr coordinate(unsigned i, AffineExpr out, AffineExpr tap, Value &inside) const {
    AffineExpr padded = out * op.getStrides()[i] + tap * op.getDilations()[i];
    int64_t low = op.getPads()[i], high = op.getPads()[spatial + i];
    if (low == 0 && high == 0)
      return padded;
    OpBuilder &b = k.builder();
    Value at = arith::SubIOp::create(b, k.loc(), k.emit(padded), k.emitConstant(low));
    Value last = k.emit(input[firstSpatial + i] - 1);
    Value moved = arith::MaxSIOp::create(b, k.loc(), k.minimum(at, last), k.emitConstant(0));
    Value same = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::eq, at, moved);
    inside = inside ? arith::AndIOp::create(b, k.loc(), inside, same) : same;
    return k.index(moved);
  }
  Value nest(ArrayRef<AffineExpr> at, AffineExpr group, IndexExprs &taps, Value carried) const {
    if (taps.size() == spatial + 1)
      return product(at, group, taps, carried);
    AffineExpr extent = taps.size() < spatial ? weight[2 + taps.size()] : weight[1];
    return k.loop(k.constant(0), extent, 1, "k", carried, [&](AffineExpr i, ValueRange sum) -> SmallVector<Value> {
      taps.push_back(i);
      Value next = nest(at, group, taps, sum.front());
      taps.pop_back();
      return {next};
    }).front();
  }
  Value product(ArrayRef<AffineExpr> at, AffineExpr group, ArrayRef<AffineExpr> taps, Value carried) const {
    auto typed = [&](Value tensor, ArrayRef<AffineExpr> index) {
      return castTo(Scalar(k.builder(), k.loc(), k.value(tensor, index), getElementTypeOrSelf(tensor.getType())), sumType);
    };
    IndexExprs source(at.size()), weightAt{at[channelDim], taps.back()};
    Value inside;
    source[0] = at[0];
    source[channelDim] = group * weight[1] + taps.back();
    for (unsigned i = 0; i < spatial; ++i) {
      source[firstSpatial + i] = coordinate(i, at[firstSpatial + i], taps[i], inside);
      weightAt.push_back(taps[i]);
    }
    Value x = typed(op.getInput(), source).value();
    if (inside)
      x = arith::SelectOp::create(k.builder(), k.loc(), inside, x, k.number(sumType, 0));
    Value y = (Scalar(k.builder(), k.loc(), x, sumType) * typed(op.getWeight(), weightAt)).value();
    return combine(k, ReduceKind::Sum, sumType, carried, y);
  }
};
} // namespace

FailureOr<LaunchInfo> lowerConvLoops(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ConvOp>(anchor);
  bool last = op.getLayout() == Layout::ChannelsLast;
  DimExprs extents = getDims(op.getType());
  unsigned spatial = op.getStrides().size();
  Type element = op.getType().getElementType();
  DimExprs weight = getDims(op.getWeight().getType());
  Window window{k, op, getSumType(element), getDims(op.getInput().getType()), weight, spatial, last ? 1u : 2u, last ? spatial + 1 : 1u};
  AffineExpr outPerGroup = simplifyDim(weight[0].floorDiv(op.getGroups()));
  if (!getConstantDim(outPerGroup))
    outPerGroup = k.index(k.emit(outPerGroup));
  IndexExprs rows(ArrayRef(extents).drop_back());
  k.taskLoop(rows, [&](ArrayRef<AffineExpr> row) {
    k.loop(k.constant(0), extents.back(), 1, "column", [&](AffineExpr column) {
      IndexExprs at(row), taps;
      at.push_back(column);
      AffineExpr group = op.getGroups() == 1 ? k.constant(0) : k.index(k.emit(at[window.channelDim].floorDiv(outPerGroup)));
      Value sum = window.nest(at, group, taps, reductionIdentity(k, ReduceKind::Sum, window.sumType, 1));
      k.storeResults(op.getResult(), castTo(Scalar(k.builder(), k.loc(), sum, window.sumType), element).value(), at);
    });
  });
  AffineExpr products = getNumElements(extents, k.context());
  for (AffineExpr extent : ArrayRef(weight).drop_front())
    products = products * extent;
  return LaunchInfo{countTasks(k, rows), simplifyDim(products * 2), countMovedBytes(k)};
}

} // namespace kiln
