//===- ConvDots.cpp - Convolutions with few output channels ----------------===//
//
//   for each block of neighbouring pixels, for each output channel:
//     for each line of the window: the sum of input * weight, for all pixels of the block, in vectors along the taps and channels that lie side by side
//     the sums of the lanes of all pixels, as one vector along the pixels
//
// A register tile has its vectors along the output channels, of which one to four leave most lanes without work. The last layers of decoders are such.
//
// The weight is stored as [out channel, kernel..., in channel].
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/builder/LaneTranspose.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/convolution/ConvTiled.h"
#include "passes/lowering/convolution/OpenConv.h"
#include "passes/target/choice/DotTile.h"
#include "passes/target/choice/Kernels.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Blocks of pixels of a task.
static constexpr int64_t blocksOfTask = 8;

/// Elements that lie side by side in the input for a line of the window.
static int64_t countRun(ConvOp conv) {
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  return elementsPerTap(conv) == shape[1] ? shape[1] * shape.back() : shape[1];
}

/// The largest number where only run time knows them.
static int64_t countPixelsOfLine(ConvOp conv) {
  DimExprs dims = getDims(conv.getType());
  return getConstantDim(dims[dims.size() - 2]).value_or(std::numeric_limits<int64_t>::max());
}

KernelMatch matchConvDots(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  if (std::string why = findTilingFault(group, conv); !why.empty())
    return refuse(why);
  if (conv.getGroups() != 1)
    return refuse("there are " + Twine(conv.getGroups()) + " groups, expected one");
  if (!hasDenseChannels(conv))
    return refuse("the input's channels do not lie side by side");
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  int64_t lanes = chooseDotLanes(target, conv.getType().getElementType(), countRun(conv)), length = ShapedType::getNumElements(shape.drop_front());
  if (lanes < 4)
    return refuse("vectors along the sum would have " + Twine(lanes) + " elements, expected at least 4");
  // A vector of a tile multiplies an element of the sum by a column in each lane.
  if (estimateDots(shape[0], length, lanes) >= static_cast<double>(length))
    return refuse("there are " + Twine(shape[0]) + " output channels, which fill the vectors of a tile better than " + Twine(length) + " products do");
  return accept("channels_last convolution with few output channels: vectors along the sum",
                PlanNumbers{{choosePixelsAtOnce(countPixelsOfLine(conv), lanes), 1, lanes}, {}});
}

std::string findDotsFault(GroupOp, Operation *anchor, kernel::PlanAttr plan) {
  ArrayRef<int64_t> tile = plan.getTile().asArrayRef();
  bool fits = llvm::isPowerOf2_64(tile[2]) && tile[0] <= tile[2] && tile[1] == 1 && tile[2] > 1 && tile[2] <= countRun(cast<ConvOp>(anchor));
  return fits ? "" : "a tile has a vector for each pixel, with at least as many lanes as there are pixels, which a line of the window fills";
}

namespace {
struct DotConv {
  KernelBuilder &k;
  Contraction c;
  SmallVector<RowDim> rowDims;
  int64_t pixels;
  unsigned lanes;

  /// A vector of either side with zeros in front of the last `kept` elements.
  Value keepLast(Value vector, int64_t kept) const {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(lane < lanes - kept ? lane : lanes + lane);
    return vector::ShuffleOp::create(k.builder(), k.loc(), k.number(c.element, 0, lanes), vector, order);
  }
  /// Adds the products from `i` on of a line of the window. The last vector of a line repeats some that the one before has unless `kept` is all.
  SmallVector<Value> addProducts(ArrayRef<AffineExpr> left, AffineExpr right, AffineExpr i, int64_t kept, ValueRange sums) const {
    Lanes along{cast<AffineDimExpr>(i).getPosition(), lanes};
    auto load = [&](Value buffer, AffineExpr at) {
      Value loaded = k.loadBuffer(buffer, c.element, at + i, along);
      return kept == lanes ? loaded : keepLast(loaded, kept);
    };
    Value factor = load(c.rhs, right);
    SmallVector<Value> next;
    for (auto [at, sum] : llvm::zip_equal(left, sums))
      next.push_back(vector::FMAOp::create(k.builder(), k.loc(), load(c.lhs, at), factor, sum));
    return next;
  }
  SmallVector<Value> addLines(unsigned level, ArrayRef<AffineExpr> left, AffineExpr right, ValueRange sums) const {
    const ReductionLoop &loop = c.reduction[level];
    if (level + 1 < c.reduction.size())
      return k.loop(k.constant(0), loop.extent, 1, "line", sums, [&](AffineExpr i, ValueRange carried) {
        auto moved = llvm::map_to_vector(left, [&](AffineExpr at) { return at + i * loop.lhsStride; });
        return addLines(level + 1, moved, right + i * loop.rhsStride, carried);
      });
    int64_t run = *getConstantDim(loop.extent), rest = run % lanes;
    SmallVector<Value> next = k.loop(k.constant(0), k.constant(run - rest), lanes, "k", sums,
                                     [&](AffineExpr i, ValueRange carried) { return addProducts(left, right, i, lanes, carried); });
    return rest ? addProducts(left, right, k.index(k.emitConstant(run - lanes)), rest, next) : next;
  }
  Value takeLanes(Value values, int64_t first, int64_t count) const {
    if (count == lanes)
      return values;
    if (count == 1)
      return vector::ExtractOp::create(k.builder(), k.loc(), values, first);
    return vector::ShuffleOp::create(k.builder(), k.loc(), values, values, llvm::to_vector(llvm::seq<int64_t>(first, first + count)));
  }
  /// One column of `count` pixels, whose sides begin at `left`.
  void storeColumn(IndexExprs rows, ArrayRef<AffineExpr> left, AffineExpr column, int64_t count) const {
    AffineExpr first = rows.back(), right = k.index(k.emit(column * c.panelStride));
    SmallVector<Value> sums = addLines(0, left, right, SmallVector<Value>(count, k.number(c.element, 0, lanes)));
    auto at = [&](int64_t pixel) {
      rows.back() = first + pixel;
      return c.resultAt({}, expandRows(k, c, rowDims, rows), column);
    };
    if (count == 1)
      return k.storeResults(c.result, reduceLanes(k, ReduceKind::Sum, getElementTypeOrSelf(sums.front().getType()), sums.front()), at(0));
    sums.resize(lanes, sums.back());
    Value values = sumEachVector(k, sums);
    for (int64_t pixel = 0, piece; pixel < count; pixel += piece) {
      piece = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(count - pixel)));
      Lanes across{cast<AffineDimExpr>(first).getPosition(), static_cast<unsigned>(piece)};
      k.storeLanes(c.result, takeLanes(values, pixel, piece), at(pixel), across);
    }
  }
  void block(ArrayRef<AffineExpr> outer, AffineExpr first, int64_t count) const {
    IndexExprs rows(outer);
    rows.push_back(first);
    AffineExpr begin = k.index(k.emit(c.lhsAt({}, expandRows(k, c, rowDims, rows))));
    SmallVector<AffineExpr> left;
    for (int64_t pixel = 0; pixel < count; ++pixel)
      left.push_back(begin + rowDims.back().lhsStride * pixel);
    if (getConstantDim(c.columns) == 1)
      return storeColumn(rows, left, k.constant(0), count);
    k.loop(k.constant(0), c.columns, 1, "column", [&](AffineExpr column) { storeColumn(rows, left, column, count); });
  }
  /// The last block ends with the range, and repeats some pixels of the one before.
  void wholeBlocks(ArrayRef<AffineExpr> outer, AffineExpr begin, AffineExpr end) const {
    k.loop(begin, end, pixels, "x", [&](AffineExpr x) {
      AffineExpr start = k.index(k.minimum(k.emit(x), k.emit(end - pixels)));
      block(outer, start, pixels);
    });
  }
  void anyBlocks(ArrayRef<AffineExpr> outer, AffineExpr begin, AffineExpr end) const {
    AffineExpr whole = k.index(k.emit(begin + (end - begin).floorDiv(pixels) * pixels));
    k.loop(begin, whole, pixels, "x", [&](AffineExpr x) { block(outer, x, pixels); });
    k.loop(whole, end, 1, "x", [&](AffineExpr x) { block(outer, x, 1); });
  }
  LaunchInfo run() const {
    IndexExprs extents;
    for (const RowDim &dim : ArrayRef(rowDims).drop_back())
      extents.push_back(dim.extent);
    AffineExpr line = rowDims.back().extent;
    int64_t ofTask = blocksOfTask * pixels;
    std::optional<int64_t> length = getConstantDim(line);
    bool isWhole = length && *length >= pixels;
    // A line that is known leaves its rest to the last task.
    extents.push_back(isWhole ? k.constant(std::max<int64_t>(1, *length / ofTask)) : simplifyDim(line.ceilDiv(ofTask)));
    k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
      AffineExpr begin = k.index(k.emit(task.back() * ofTask)), end = begin + ofTask;
      if (isWhole && *length / ofTask <= 1)
        return wholeBlocks(task.drop_back(), k.constant(0), line);
      if (!isWhole || *length % ofTask == 0)
        return anyBlocks(task.drop_back(), begin, k.index(k.minimum(k.emit(end), k.emit(line))));
      OpBuilder &b = k.builder();
      Value isLast = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::eq, k.emit(task.back()), k.emit(extents.back() - 1));
      wholeBlocks(task.drop_back(), begin, k.index(arith::SelectOp::create(b, k.loc(), isLast, k.emit(line), k.emit(end))));
    });
    return contractionInfo(k, c, extents);
  }
};
} // namespace

FailureOr<LaunchInfo> lowerConvDots(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ConvOp>(anchor);
  OpenConv conv(op);
  unsigned weight = cast<BlockArgument>(op.getWeight()).getArgNumber();
  Contraction c = conv.pixels(k);
  c.rhs = k.buffer(weight);
  c.reduction = conv.reduction(k, 1, 1);
  ArrayRef<int64_t> shape = op.getWeight().getType().getShape();
  SmallVector<int64_t> order{shape[0]};
  IndexExprs source{getAffineDimExpr(0, k.context()), getAffineDimExpr(conv.spatial + 1, k.context())};
  for (unsigned i = 0; i < conv.spatial; ++i) {
    order.push_back(conv.kernel[i]);
    source.push_back(getAffineDimExpr(i + 1, k.context()));
  }
  order.push_back(shape[1]);
  k.packConstant(weight, kernel::PackAttr::get(k.context(), order, AffineMap::get(conv.spatial + 2, 0, source, k.context())));
  c.panelStride = k.constant(ShapedType::getNumElements(shape.drop_front()));
  return DotConv{k, c, mergeRows(k, c), c.tile.rows, static_cast<unsigned>(c.tile.lanes)}.run();
}

} // namespace kiln
