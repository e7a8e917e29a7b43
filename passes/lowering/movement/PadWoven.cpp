//===- PadWoven.cpp - Pixels of a few bytes with a border ------------------===//
//
//   out[.., y, x, c] = in[.., y - low, x - low, c], or the border; channels that in lacks are border, too
//
// as the first convolution of a quantised network reads a picture: three channels become four. One vector of pixels of each channel, woven in
// registers, gives as many vectors of the result.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/builder/LaneTranspose.h"
#include "passes/target/choice/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelMatch matchPadWoven(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<PadOp>(anchor);
  unsigned rank = op.getType().getRank();
  if (!op.getType().getElementType().isInteger(8))
    return refuse("it is for bytes");
  if (rank < 3 || op.getMode() != PadMode::Constant || llvm::any_of(op.getInterior(), [](int64_t between) { return between != 0; }))
    return refuse("expected a constant border around pixels");
  auto amount = [&](AffineMap map, unsigned dim) { return getConstantDim(map.getResult(dim)).value_or(-1); };
  auto channels = getConstantDim(getDims(op.getType()).back());
  if (!(channels == 2 || channels == 4) || amount(op.getLow(), rank - 1) != 0 || amount(op.getHigh(), rank - 1) < 1)
    return refuse("expected channels that are filled up to 2 or 4");
  if (amount(op.getLow(), rank - 2) < 0 || amount(op.getHigh(), rank - 2) < 0)
    return refuse("the border is cut off or known at run time only");
  if (isa<BlockArgument>(op.getInput()) || group.getTerminator()->getOperand(0) != op.getResult() || group.getNumResults() != 1)
    return refuse("nothing is computed before the border, or something behind it");
  if (countLanes(group, target) < 4)
    return refuse("the target has no vectors for such elements");
  return accept("padding of pixels: a vector of each channel, interleaved in registers");
}

namespace {
struct WovenPixels {
  KernelBuilder &k;
  mutable PadOp op;
  DimExprs in, out;
  unsigned rank;
  int64_t channels, filled;

  AffineExpr low(unsigned i) const { return op.getLow().getResult(i); }
  Value fill(unsigned lanes) const { return k.broadcast(k.value(op.getValue(), {}), lanes); }
  AffineExpr placeOf(ArrayRef<AffineExpr> line, AffineExpr x) const {
    IndexExprs at(line);
    at[rank - 2] = x;
    at[rank - 1] = k.constant(0);
    return k.index(k.emit(k.resultOffset(0, at)));
  }
  void store(AffineExpr offset, Value value, unsigned lanes) const {
    // A dim that is zero here stands for the lanes.
    AffineExpr lane = k.index(k.emitConstant(0));
    k.storeBuffer(k.resultBuffer(0), op.getType().getElementType(), offset + lane, value, Lanes{cast<AffineDimExpr>(lane).getPosition(), lanes});
  }
  void border(ArrayRef<AffineExpr> line, AffineExpr first, AffineExpr count) const {
    if (getConstantDim(count) == 0)
      return;
    AffineExpr start = placeOf(line, first);
    unsigned lanes = lanesOf(k.target(), op.getType().getElementType());
    k.vectorLoop(simplifyDim(count * channels), lanes, "i", [&](AffineExpr i, Lanes across) { store(start + i, fill(across.count), across.count); });
  }
  void pixels(ArrayRef<AffineExpr> line, const IndexExprs &source) const {
    AffineExpr start = placeOf(line, low(rank - 2));
    k.vectorLoop(in[rank - 2], k.vectorLanes(), "x", [&](AffineExpr x, Lanes lanes) {
      IndexExprs at(source);
      at[rank - 2] = x;
      SmallVector<Value> rows;
      for (int64_t c = 0; c < channels; ++c) {
        at[rank - 1] = k.constant(c);
        rows.push_back(c < filled ? k.value(op.getInput(), at, lanes) : fill(lanes.count));
      }
      AffineExpr first = k.index(k.emit(start + x * channels));
      if (lanes.count == 1) {
        for (auto [c, row] : llvm::enumerate(rows))
          store(first + static_cast<int64_t>(c), row, 1);
        return;
      }
      for (auto [i, woven] : llvm::enumerate(interleaveRows(k, rows)))
        store(first + static_cast<int64_t>(i * lanes.count), woven, lanes.count);
    });
  }
};
} // namespace

FailureOr<LaunchInfo> lowerPadWoven(KernelBuilder &k, Operation *anchor) {
  auto op = cast<PadOp>(anchor);
  DimExprs in = getDims(op.getInput().getType()), out = getDims(op.getType());
  unsigned rank = out.size();
  WovenPixels woven{k, op, in, out, rank, *getConstantDim(out.back()), *getConstantDim(in.back())};
  AffineExpr tasks = forEachTask(k, keepDims(k, out, 0, rank - 2), {}, [&](ArrayRef<AffineExpr> line) {
    IndexExprs source(line);
    OpBuilder &b = k.builder();
    Value inside = arith::ConstantIntOp::create(b, k.loc(), 1, 1), yes = inside;
    for (unsigned i = 0; i + 2 < rank; ++i) {
      source[i] = k.index(k.emit(line[i] - woven.low(i)));
      Value place = k.emit(source[i]);
      Value begins = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::sge, place, k.emitConstant(0));
      Value ends = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::slt, place, k.emit(in[i]));
      inside = arith::AndIOp::create(b, k.loc(), inside, arith::AndIOp::create(b, k.loc(), begins, ends));
    }
    Value outside = arith::XOrIOp::create(b, k.loc(), inside, yes);
    k.branch(inside, [&] {
      woven.border(line, k.constant(0), woven.low(rank - 2));
      woven.pixels(line, source);
      woven.border(line, simplifyDim(in[rank - 2] + woven.low(rank - 2)), op.getHigh().getResult(rank - 2));
    });
    k.branch(outside, [&] { woven.border(line, k.constant(0), out[rank - 2]); });
  });
  return moveInfo(k, tasks);
}

} // namespace kiln
