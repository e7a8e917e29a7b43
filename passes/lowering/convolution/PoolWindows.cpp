//===- PoolWindows.cpp - Max and average pooling ---------------------------===//
//
//   for each output place: the window's bounds inside the input; max or mean over it.
//
// The vector runs over channels that lie side by side. Where there is only one, or each channel has a picture of its own, it runs over the places of a line
// whose windows are all whole, and where some are clipped there is none.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// What is known of a pooling before it is lowered.
struct PoolShape {
  ArrayRef<int64_t> kernel, strides, dilations, pads;
  bool channelsLast;
  DimExprs in, out;

  explicit PoolShape(Operation *op)
      : kernel(cast<Pooling>(op).getKernel()), strides(cast<Windowed>(op).getStrides()), dilations(cast<Windowed>(op).getDilations()),
        pads(cast<Windowed>(op).getPads()), channelsLast(cast<Windowed>(op).getLayout() == Layout::ChannelsLast), in(getDims(op->getOperand(0).getType())),
        out(getDims(op->getResult(0).getType())) {}

  unsigned spatial() const { return kernel.size(); }
  unsigned dim(unsigned i) const { return channelsLast ? 1 + i : 2 + i; }
  /// Whether no window reaches beyond the input.
  bool isWhole(unsigned i) const { return pads[i] == 0 && pads[spatial() + i] == 0 && fits(i); }
  /// Whether the last window ends within the padded input (no ceil_mode overhang).
  bool fits(unsigned i) const {
    auto size = getConstantDim(in[dim(i)] + pads[i] + pads[spatial() + i]), count = getConstantDim(out[dim(i)]);
    if (!size || !count)
      return getConstantDim(in[dim(i)]) == std::nullopt && provablyFloor(i);
    return (*count - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 <= *size;
  }
  /// For symbolic extents: the output is the floor formula itself.
  bool provablyFloor(unsigned i) const {
    AffineExpr expected = (in[dim(i)] + pads[i] + pads[spatial() + i] - (kernel[i] - 1) * dilations[i] - 1).floorDiv(strides[i]) + 1;
    return provablyEqual(expected, out[dim(i)]);
  }
  bool hasOneChannel() const { return getConstantDim(out[channelsLast ? out.size() - 1 : 1]) == 1; }
  /// The dimension that vectors run along, if there is one.
  std::optional<unsigned> vectorDim() const {
    if (channelsLast && !hasOneChannel())
      return out.size() - 1;
    return isWhole(spatial() - 1) ? std::optional(dim(spatial() - 1)) : std::nullopt;
  }
};

struct Pool : PoolShape {
  KernelBuilder &k;
  Operation *op;
  ReduceKind kind;
  Type element;

  Pool(KernelBuilder &k, Operation *op)
      : PoolShape(op), k(k), op(op), kind(isa<MaxPoolOp>(op) ? ReduceKind::Max : ReduceKind::Sum), element(getElementTypeOrSelf(op->getResult(0).getType())) {}

  /// ceil(max(0, expr) / dilation), at most the kernel's extent.
  AffineExpr bound(AffineExpr expr, unsigned i) const {
    Value zero = k.emitConstant(0);
    Value positive = arith::MaxSIOp::create(k.builder(), k.loc(), k.emit(expr), zero);
    AffineExpr steps = k.index(positive);
    steps = k.index(k.emit((steps + (dilations[i] - 1)).floorDiv(dilations[i])));
    return k.index(k.minimum(k.emit(steps), k.emitConstant(kernel[i])));
  }
  /// The window places [first, end) that lie in [low, high) when place p reads `start + p * dilation`.
  std::pair<AffineExpr, AffineExpr> window(AffineExpr outAt, unsigned i, bool padded) const {
    AffineExpr start = outAt * strides[i] - pads[i];
    AffineExpr low = k.constant(padded ? -pads[i] : 0), high = in[dim(i)] + (padded ? pads[spatial() + i] : 0);
    if (isWhole(i) || (padded && fits(i)))
      return {k.constant(0), k.constant(kernel[i])};
    return {bound(low - start, i), bound(high - start, i)};
  }
  /// Whether a place's window may lie in the padding altogether.
  bool mayMiss() const {
    return llvm::any_of(llvm::seq(spatial()), [&](unsigned i) {
      bool isPadded = pads[i] != 0 || pads[spatial() + i] != 0;
      return !fits(i) || (isPadded && (dilations[i] > 1 || pads[i] >= kernel[i] || pads[spatial() + i] >= kernel[i]));
    });
  }
  Value reduceWindow(ArrayRef<AffineExpr> at, ArrayRef<std::pair<AffineExpr, AffineExpr>> windows, IndexExprs &place, Value carried, Lanes lanes) const {
    unsigned i = place.size();
    if (i == spatial()) {
      IndexExprs source(at);
      for (unsigned d = 0; d < spatial(); ++d)
        source[dim(d)] = at[dim(d)] * strides[d] - pads[d] + place[d] * dilations[d];
      return combine(k, kind, element, carried, k.value(op->getOperand(0), source, lanes));
    }
    return k.loop(windows[i].first, windows[i].second, 1, "w", carried, [&](AffineExpr p, ValueRange next) -> SmallVector<Value> {
      place.push_back(p);
      Value result = reduceWindow(at, windows, place, next.front(), lanes);
      place.pop_back();
      return {result};
    }).front();
  }
};
} // namespace

KernelMatch matchPoolWindows(GroupOp, Operation *anchor, kernel::TargetAttr) {
  PoolShape pool(anchor);
  auto along = pool.vectorDim();
  if (!along)
    return accept("windows clipped to the input, one element at a time");
  bool isLine = *along == pool.dim(pool.spatial() - 1);
  return accept(isLine ? "whole windows, vectors over the places of a line" : "windows clipped to the input, vectors over channels");
}

static AffineExpr countElements(const Pool &pool, ArrayRef<std::pair<AffineExpr, AffineExpr>> windows) {
  AffineExpr count = pool.k.constant(1);
  for (auto [first, end] : windows)
    count = count * (end - first);
  return count;
}

/// The number of elements that an average divides by, as a number: 1 for a window of no elements, whose average is 0.
static Value emitDivisor(const Pool &pool, ArrayRef<std::pair<AffineExpr, AffineExpr>> windows) {
  KernelBuilder &k = pool.k;
  Value count = k.emit(countElements(pool, windows));
  if (pool.mayMiss())
    count = arith::MaxSIOp::create(k.builder(), k.loc(), count, k.emitConstant(1));
  Value wide = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getI64Type(), count);
  return arith::SIToFPOp::create(k.builder(), k.loc(), computeType(pool.element), wide);
}

/// What a window starts with. The standard does not say what the largest of no elements is: the lowest finite number, as in ONNX Runtime.
static Value emitStart(const Pool &pool, ArrayRef<std::pair<AffineExpr, AffineExpr>> windows, unsigned lanes) {
  KernelBuilder &k = pool.k;
  auto type = dyn_cast<FloatType>(pool.element);
  if (pool.kind != ReduceKind::Max || !type || !pool.mayMiss())
    return reductionIdentity(k, pool.kind, pool.element, lanes);
  OpBuilder &b = k.builder();
  double lowest = APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true).convertToDouble();
  Value empty = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::eq, k.emit(countElements(pool, windows)), k.emitConstant(0));
  Value start = arith::SelectOp::create(b, k.loc(), empty, k.number(type, lowest, 1), reductionIdentity(k, pool.kind, type, 1));
  return k.broadcast(start, lanes);
}

static void emitPlace(const Pool &pool, ArrayRef<AffineExpr> at, Lanes lanes) {
  KernelBuilder &k = pool.k;
  SmallVector<std::pair<AffineExpr, AffineExpr>> windows, counted;
  auto average = dyn_cast<AvgPoolOp>(pool.op);
  for (unsigned i = 0; i < pool.spatial(); ++i) {
    windows.push_back(pool.window(at[pool.dim(i)], i, false));
    if (average)
      counted.push_back(average.getCountIncludePad() ? pool.window(at[pool.dim(i)], i, true) : windows.back());
  }
  IndexExprs place;
  Value result = pool.reduceWindow(at, windows, place, emitStart(pool, windows, lanes.count), lanes);
  if (average) {
    Value count = k.broadcast(emitDivisor(pool, counted), lanes.count);
    result = (Scalar(k.builder(), k.loc(), result, pool.element) / Scalar(k.builder(), k.loc(), count, pool.element)).value();
  }
  k.storeResults(pool.op->getResult(0), result, at, lanes);
}

FailureOr<LaunchInfo> lowerPoolWindows(KernelBuilder &k, Operation *op) {
  Pool pool(k, op);
  auto along = pool.vectorDim();
  unsigned last = along.value_or(pool.out.size() - 1);
  IndexExprs tasks(pool.out);
  tasks.erase(tasks.begin() + last);
  k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
    k.vectorLoop(pool.out[last], along ? k.vectorLanes() : 1, "i", [&](AffineExpr i, Lanes lanes) {
      IndexExprs at(task);
      at.insert(at.begin() + last, i);
      emitPlace(pool, at, lanes);
    });
  });
  AffineExpr work = getNumElements(pool.out, k.context());
  for (int64_t extent : pool.kernel)
    work = work * extent;
  return LaunchInfo{countTasks(k, tasks), work, (getNumElements(pool.in, k.context()) + getNumElements(pool.out, k.context())) * 4};
}

} // namespace kiln
