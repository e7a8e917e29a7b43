//===- ConvDepthwise.cpp - Convolutions of each channel by itself ----------===//
//
//   for each line of output pixels, for each vector of channels, for each block of pixels in the line:
//     for each line of the window: load the pixels under the block once; every tap adds its product to the pixels it belongs to
//
// The weight is stored as [kernel..., channel].
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Kernels.h"
#include "passes/lowering/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Taps of one line of the window that are written out; longer lines run in a loop.
static constexpr int64_t maxUnrolledTaps = 8;

bool matchConvDepthwise(GroupOp group, Operation *anchor, kernel::TargetAttr, std::string &reason) {
  auto conv = dyn_cast_or_null<ConvOp>(anchor);
  if (!conv || conv.getLayout() != Layout::ChannelsLast || llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; }))
    return false;
  if (!conv.getType().getElementType().isF32() || !conv.getInput().getType().getElementType().isF32())
    return false;
  auto weight = dyn_cast<BlockArgument>(conv.getWeight());
  if (!weight || !isa<BlockArgument>(conv.getInput()) || !group.getInputs()[weight.getArgNumber()].getDefiningOp<ConstantOp>())
    return false;
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  reason = "depthwise: vectors along the channels, pixels that share inputs side by side";
  return shape[1] == 1 && shape[0] == static_cast<int64_t>(conv.getGroups());
}

namespace {
struct Depthwise {
  KernelBuilder &k;
  mutable ConvOp op;
  Value input, weight;
  Type element;
  DimExprs inputDims, outputDims;
  ArrayRef<int64_t> window;
  unsigned spatial;
  bool unrolled;

  /// Pixel x of the output line `line` (all dims before the last spatial one), seen through tap `taps`.
  AffineExpr inputAt(ArrayRef<AffineExpr> line, AffineExpr x, ArrayRef<AffineExpr> taps, AffineExpr channel) const {
    IndexExprs at(line);
    at.push_back(x * op.getStrides()[spatial - 1]);
    for (unsigned i = 0; i < spatial; ++i)
      at[i + 1] = (i + 1 < spatial ? at[i + 1] * op.getStrides()[i] : at[i + 1]) + taps[i] * op.getDilations()[i];
    at.push_back(channel);
    return k.elementOffset(cast<BlockArgument>(op.getInput()), at);
  }
  AffineExpr weightAt(ArrayRef<AffineExpr> taps, AffineExpr channel) const {
    IndexExprs dims, at(taps);
    for (int64_t size : window)
      dims.push_back(k.constant(size));
    dims.push_back(outputDims.back());
    at.push_back(channel);
    return k.linearize(dims, at);
  }
  Value multiplyAdd(Value a, Value b, Value sum) const {
    if (isa<VectorType>(a.getType()))
      return vector::FMAOp::create(k.builder(), k.loc(), a, b, sum);
    return arith::AddFOp::create(k.builder(), k.loc(), arith::MulFOp::create(k.builder(), k.loc(), a, b), sum);
  }
  /// One line of the window (or one tap): `taps` ends where the unrolled dim begins.
  SmallVector<Value> line(ArrayRef<AffineExpr> out, AffineExpr x, IndexExprs taps, AffineExpr channel, Lanes lanes, ValueRange carried) const {
    SmallVector<Value> sums(carried);
    llvm::DenseMap<int64_t, Value> pixels;
    int64_t stride = op.getStrides().back(), dilation = op.getDilations().back();
    bool whole = taps.size() + 1 == spatial;
    if (whole)
      taps.push_back(k.constant(0));
    for (int64_t tap = 0; tap < (whole ? window.back() : 1); ++tap) {
      if (whole)
        taps.back() = k.constant(tap);
      Value factor = k.loadBuffer(weight, element, weightAt(taps, channel), lanes);
      for (auto [pixel, sum] : llvm::enumerate(sums)) {
        Value &value = pixels[static_cast<int64_t>(pixel) * stride + tap * dilation];
        if (!value)
          value = k.loadBuffer(input, element, inputAt(out, x + pixel, taps, channel), lanes);
        sum = multiplyAdd(value, factor, sum);
      }
    }
    return sums;
  }
  SmallVector<Value> nest(ArrayRef<AffineExpr> out, AffineExpr x, IndexExprs &taps, AffineExpr channel, Lanes lanes, ValueRange carried) const {
    if (taps.size() + unrolled == spatial)
      return line(out, x, taps, channel, lanes, carried);
    return k.loop(k.constant(0), k.constant(window[taps.size()]), 1, "k", carried, [&](AffineExpr i, ValueRange sums) {
      taps.push_back(i);
      SmallVector<Value> next = nest(out, x, taps, channel, lanes, sums);
      taps.pop_back();
      return next;
    });
  }
  /// Output pixels [x, x + count) of a line.
  void block(ArrayRef<AffineExpr> out, AffineExpr x, unsigned count, AffineExpr channel, Lanes lanes) const {
    IndexExprs taps;
    SmallVector<Value> sums = nest(out, x, taps, channel, lanes, SmallVector<Value>(count, k.number(element, 0, lanes.count)));
    for (auto [pixel, sum] : llvm::enumerate(sums)) {
      IndexExprs at(out);
      at.append({x + pixel, channel});
      k.storeLanes(op.getResult(), sum, at, lanes);
    }
  }
  /// A line in blocks as even as can be.
  void blocks(ArrayRef<AffineExpr> out, AffineExpr channel, Lanes lanes) const {
    int64_t most = k.target().getRegisters() >= 32 ? 8 : 4;
    AffineExpr width = outputDims[spatial];
    auto run = [&](AffineExpr from, AffineExpr to, unsigned count) {
      k.loop(from, to, count, "x", [&](AffineExpr x) { block(out, x, count, channel, lanes); });
    };
    if (auto size = getConstantDim(width)) {
      int64_t number = (*size + most - 1) / most, big = (*size + number - 1) / number, bigEnd = (*size - number * (big - 1)) * big;
      run(k.constant(0), k.constant(bigEnd), big);
      if (bigEnd < *size)
        run(k.constant(bigEnd), width, big - 1);
      return;
    }
    AffineExpr covered = width.floorDiv(most) * most;
    run(k.constant(0), covered, most);
    run(covered, width, 1);
  }
};
} // namespace

FailureOr<LaunchInfo> lowerConvDepthwise(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ConvOp>(anchor);
  ArrayRef<int64_t> weight = op.getWeight().getType().getShape();
  unsigned spatial = op.getStrides().size(), argument = cast<BlockArgument>(op.getWeight()).getArgNumber();
  IndexExprs source{getAffineDimExpr(spatial, k.context()), k.constant(0)};
  SmallVector<int64_t> order(weight.drop_front(2));
  for (unsigned i = 0; i < spatial; ++i)
    source.push_back(getAffineDimExpr(i, k.context()));
  order.push_back(weight[0]);
  k.packConstant(argument, kernel::PackAttr::get(k.context(), order, AffineMap::get(spatial + 1, 0, source, k.context())));
  Depthwise conv{k, op, k.buffer(cast<BlockArgument>(op.getInput()).getArgNumber()), k.buffer(argument), op.getType().getElementType(),
                 getDims(op.getInput().getType()), getDims(op.getType()), weight.drop_front(2), spatial, weight.back() <= maxUnrolledTaps};
  IndexExprs lines(ArrayRef(conv.outputDims).take_front(spatial));
  unsigned lanes = std::max(1u, k.target().lanes(32));
  k.taskLoop(lines, [&](ArrayRef<AffineExpr> line) {
    k.vectorLoop(conv.outputDims.back(), lanes, "channel", [&](AffineExpr channel, Lanes across) { conv.blocks(line, channel, across); });
  });
  AffineExpr elements = getNumElements(conv.outputDims, k.context()), flops = elements * 2;
  for (int64_t size : conv.window)
    flops = flops * size;
  AffineExpr bytes = (elements + getNumElements(conv.inputDims, k.context())) * 4;
  return LaunchInfo{countTasks(k, lines), simplifyDim(flops), simplifyDim(bytes)};
}

} // namespace kiln
