//===- Windows.cpp - Convolutions and pools whose images are cut -------------===//
#include "passes/ranks/Windows.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/Ranks.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// The attributes of an operation with windows.
struct Windows {
  Layout layout;
  ArrayRef<int64_t> strides, dilations, pads;
};
} // namespace

static std::optional<Windows> readWindows(Operation *op) {
  auto read = [](auto windowed) { return Windows{windowed.getLayout(), windowed.getStrides(), windowed.getDilations(), windowed.getPads()}; };
  if (isa<ConvOp, MaxPoolOp, AvgPoolOp>(op))
    return read(cast<Windowed>(op));
  if (auto conv = dyn_cast<QuantizedConvOp>(op))
    return read(conv);
  return std::nullopt;
}

bool hasWindows(Operation *op) { return isa<ConvTransposeOp>(op) || readWindows(op); }

/// The size of the window in a spatial dimension.
static int64_t windowSize(Operation *op, unsigned spatial) {
  if (auto pool = dyn_cast<Pooling>(op))
    return pool.getKernel()[spatial];
  return cast<RankedTensorType>(op->getOperand(1).getType()).getDimSize(spatial + 2);
}

/// A transposed convolution whose windows do not overlap: each row makes rows of its own.
static std::optional<WindowCut> findSpreadCut(ConvTransposeOp op, unsigned dim, int64_t size, int64_t resultSize, int64_t parts) {
  unsigned rank = op.getType().getRank(), first = op.getLayout() == Layout::ChannelsFirst ? 2 : 1;
  if (dim < first || dim >= first + rank - 2 || size <= 0 || size % parts != 0)
    return std::nullopt;
  unsigned spatial = dim - first;
  int64_t window = windowSize(op, spatial), stride = op.getStrides()[spatial];
  bool isApart = !ShapedType::isDynamic(window) && (window - 1) * op.getDilations()[spatial] < stride && resultSize == size * stride;
  if (!isApart || op.getPads()[spatial] != 0 || op.getPads()[rank - 2 + spatial] > 0)
    return std::nullopt;
  return WindowCut{dim, spatial, 0, 0};
}

std::optional<WindowCut> findWindowCut(Operation *op, unsigned dim, int64_t size, int64_t resultSize, int64_t parts) {
  if (auto spread = dyn_cast<ConvTransposeOp>(op))
    return findSpreadCut(spread, dim, size, resultSize, parts);
  std::optional<Windows> windows = readWindows(op);
  if (!windows)
    return std::nullopt;
  unsigned rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank(), first = windows->layout == Layout::ChannelsFirst ? 2 : 1;
  if (dim < first || dim >= first + rank - 2 || size <= 0 || resultSize <= 0 || size % parts != 0 || resultSize % parts != 0)
    return std::nullopt;
  unsigned spatial = dim - first, spatials = rank - 2;
  int64_t window = windowSize(op, spatial), stride = windows->strides[spatial], dilation = windows->dilations[spatial];
  int64_t begin = windows->pads[spatial], end = windows->pads[spatials + spatial], rows = size / parts;
  if (ShapedType::isDynamic(window) || rows != resultSize / parts * stride)
    return std::nullopt;
  int64_t after = std::max<int64_t>(0, (window - 1) * dilation - begin - stride + 1);
  // Rows of the neighbours, not of those behind them; and the padding is what the last part lacks.
  if (begin < 0 || begin > rows || after > rows || end < 0)
    return std::nullopt;
  return WindowCut{dim, spatial, begin, after};
}

/// Rows [start, start + count) of a dimension.
static Value sliceRows(OpBuilder &builder, Location loc, Value value, unsigned dim, int64_t start, int64_t count) {
  DimExprs dims = getDims(value.getType());
  SmallVector<AffineExpr> starts(dims.size(), builder.getAffineConstantExpr(0));
  starts[dim] = builder.getAffineConstantExpr(start);
  dims[dim] = builder.getAffineConstantExpr(count);
  Type type = makeTensorType(dims, cast<RankedTensorType>(value.getType()).getElementType());
  return SliceOp::create(builder, loc, type, value, AffineMapAttr::get(makeSymbolMap(starts, builder.getContext())),
                         builder.getDenseI64ArrayAttr(SmallVector<int64_t>(dims.size(), 1)));
}

Value addNeighbours(OpBuilder &builder, Location loc, Value part, const WindowCut &cut, const Grid &grid, unsigned axis, int64_t rank,
                    int64_t &collectives) {
  auto type = cast<RankedTensorType>(part.getType());
  int64_t index = grid.coordinate(rank, axis), parts = grid.shape[axis], rows = type.getDimSize(cut.dim);
  auto shift = [&](int64_t start, int64_t count, int64_t offset) -> Value {
    Value given = sliceRows(builder, loc, part, cut.dim, start, count);
    return ShiftOp::create(builder, loc, given.getType(), given, builder.getDenseI32ArrayAttr(grid.neighbours(rank, axis)), builder.getI64IntegerAttr(index),
                           builder.getI64IntegerAttr(collectives++), builder.getI64IntegerAttr(offset));
  };
  // Each rank takes part in both exchanges, whether or not it needs what comes.
  SmallVector<Value> pieces = {part};
  if (cut.before) {
    Value rowsBefore = shift(rows - cut.before, cut.before, 1);
    if (index > 0)
      pieces.insert(pieces.begin(), rowsBefore);
  }
  if (cut.after) {
    Value rowsAfter = shift(0, cut.after, -1);
    if (index + 1 < parts)
      pieces.push_back(rowsAfter);
  }
  if (pieces.size() == 1)
    return part;
  DimExprs dims = getDims(type);
  int64_t all = 0;
  for (Value piece : pieces)
    all += cast<RankedTensorType>(piece.getType()).getDimSize(cut.dim);
  dims[cut.dim] = builder.getAffineConstantExpr(all);
  return ConcatOp::create(builder, loc, makeTensorType(dims, type.getElementType()), pieces, builder.getI64IntegerAttr(cut.dim));
}

Value takeRows(OpBuilder &builder, Location loc, Value value, const WindowCut &cut, int64_t parts, int64_t index) {
  int64_t rows = cast<RankedTensorType>(value.getType()).getDimSize(cut.dim) / parts;
  int64_t before = index > 0 ? cut.before : 0, after = index + 1 < parts ? cut.after : 0;
  return sliceRows(builder, loc, value, cut.dim, index * rows - before, before + rows + after);
}

void cutPadding(Operation *op, const WindowCut &cut, int64_t parts, int64_t index) {
  auto change = [&](auto windowed) {
    SmallVector<int64_t> pads(windowed.getPads());
    if (index > 0)
      pads[cut.spatial] = 0;
    if (index + 1 < parts)
      pads[pads.size() / 2 + cut.spatial] = 0;
    windowed.setPads(pads);
  };
  if (auto conv = dyn_cast<QuantizedConvOp>(op))
    change(conv);
  else
    change(cast<Windowed>(op));
}

} // namespace kiln
