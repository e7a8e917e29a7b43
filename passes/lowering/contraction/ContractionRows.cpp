//===- ContractionRows.cpp - What the loops of a contraction walk ----------===//
//
// Dimensions of rows that everything walks evenly are one dimension; how few rows are cut; what the epilogue computes for each column does not depend on them.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/lowering/builder/MovedBytes.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/contraction/ContractionLoops.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/groups/Places.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace kiln {

using namespace nn;

IndexExprs expandRows(KernelBuilder &k, const Contraction &c, ArrayRef<RowDim> rowDims, ArrayRef<AffineExpr> rows) {
  IndexExprs all(c.rows.size(), k.constant(0));
  for (auto [dim, i] : llvm::zip_equal(rowDims, rows))
    all[dim.dim] = i;
  return all;
}

SmallVector<SeenSteps> findSeenSteps(KernelBuilder &k, const Contraction &c, ArrayRef<RowDim> rowDims, const IndexExprs &first, const IndexExprs &last) {
  SmallVector<SeenSteps> seen;
  for (const Border &border : c.borders) {
    AffineExpr extent = c.rows[border.row];
    bool isWhole = llvm::any_of(rowDims, [&](const RowDim &dim) { return dim.dim == border.row && dim.extent == extent; });
    if (!isWhole && getConstantDim(extent) != 1)
      continue;
    AffineExpr zero = k.constant(0), all = c.reduction[border.loop].extent;
    // [from, to) for the last row, which sees the earliest steps, and the first one.
    AffineExpr from = (border.zeros - last[border.row] * border.stride).ceilDiv(border.dilation);
    AffineExpr to = (border.zeros + border.extent - 1 - first[border.row] * border.stride).floorDiv(border.dilation) + 1;
    from = k.index(k.minimum(k.maximum(k.emit(from), k.emit(zero)), k.emit(all)));
    to = k.index(k.maximum(k.minimum(k.emit(to), k.emit(all)), k.emit(from)));
    seen.push_back({border.loop, from, k.index(k.emit(to - from))});
  }
  return seen;
}

std::optional<RestOfRows> copyRest(KernelBuilder &k, const Contraction &c, AffineExpr base, ArrayRef<AffineExpr> offsets) {
  if (!c.rest || getConstantDim(c.rest) == 0)
    return std::nullopt;
  const ReductionLoop &loop = c.reduction.front();
  int64_t together = c.instruction.getDepth(), rows = static_cast<int64_t>(offsets.size());
  // As in memory, whatever the elements are computed in.
  Type stored = cast<MemRefType>(c.lhs.getType()).getElementType();
  auto type = MemRefType::get({rows * together}, stored);
  Value elements = k.named(memref::AllocaOp::create(k.builder(), k.loc(), type, k.builder().getI64IntegerAttr(64)), "rest");
  AffineExpr from = k.index(k.emit(base + loop.extent * loop.lhsStride)), some = k.index(k.emit(c.rest));
  Type element = computeType(stored);
  for (int64_t i = 0; i < rows * together; ++i)
    k.storeBuffer(elements, stored, k.constant(i), k.number(element, 0));
  for (auto [row, offset] : llvm::enumerate(offsets))
    k.loop(k.constant(0), some, 1, "i", [&, row = static_cast<int64_t>(row), offset = offset](AffineExpr i) {
      k.storeBuffer(elements, stored, i + row * together, k.loadBuffer(c.lhs, element, from + offset + i));
    });
  AffineExpr steps = k.index(k.minimum(k.emit(some), k.emitConstant(1)));
  return RestOfRows{elements, steps, k.index(k.emit(loop.extent * loop.rhsStride))};
}

void passOver(TileEmitter &tile, ArrayRef<SeenSteps> seen, AffineExpr &lhsBase, AffineExpr &rhsBase) {
  for (const SeenSteps &steps : seen) {
    ReductionLoop &loop = tile.reduction[steps.loop];
    lhsBase = lhsBase + steps.first * loop.lhsStride;
    rhsBase = rhsBase + steps.first * loop.rhsStride;
    loop.extent = steps.count;
  }
}

SmallVector<RowDim> mergeRows(KernelBuilder &k, const Contraction &c) {
  SmallVector<RowDim> rowDims;
  IndexExprs batch, rows;
  for (size_t i = 0; i < c.batch.size(); ++i)
    batch.push_back(k.placeholder());
  for (size_t i = 0; i < c.rows.size(); ++i)
    rows.push_back(k.placeholder());
  llvm::SetVector<AffineExpr> offsets;
  offsets.insert(c.lhsAt(batch, rows));
  IndexExprs at = c.resultAt(batch, rows, k.placeholder());
  for (Value yielded : k.group().getTerminator()->getOperands()) {
    k.collectOffsets(yielded, at, offsets);
    k.collectStores(yielded, at, offsets);
  }
  for (Value value : c.rowValues)
    k.collectOffsets(value, at, offsets);
  auto stride = [&](AffineExpr offset, unsigned i) { return linearCoefficient(offset, cast<AffineDimExpr>(rows[i]).getPosition()); };
  for (unsigned i = 0; i < c.rows.size(); ++i) {
    if (getConstantDim(c.rows[i]) == 1 && (i + 1 < c.rows.size() || !rowDims.empty()))
      continue;
    AffineExpr lhsStride = stride(offsets.front(), i);
    bool even = !rowDims.empty() && llvm::all_of(offsets, [&](AffineExpr offset) {
      AffineExpr outer = stride(offset, rowDims.back().dim), inner = stride(offset, i);
      return outer && inner && provablyEqual(outer, inner * c.rows[i]);
    });
    if (even)
      rowDims.back() = {simplifyDim(rowDims.back().extent * c.rows[i]), i, lhsStride};
    else
      rowDims.push_back({c.rows[i], i, lhsStride});
  }
  return rowDims;
}

/// Whether a value is computed from numbers that are spread, not only loaded.
static bool isComputed(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastToOp>())
    value = broadcast.getInput();
  return isa_and_nonnull<ScalarBody>(value.getDefiningOp());
}

/// Whether a value is a constant that is spread.
static bool isSpread(KernelBuilder &k, Value value) {
  auto broadcast = value.getDefiningOp<BroadcastToOp>();
  auto argument = broadcast ? dyn_cast<BlockArgument>(broadcast.getInput()) : BlockArgument();
  return argument && k.group().isConstantInput(argument.getArgNumber());
}

SmallVector<Value> findSharedValues(KernelBuilder &k, Value result, const IndexExprs &at, ArrayRef<AffineExpr> varying, bool withConstants) {
  llvm::SetVector<Value> found;
  llvm::DenseSet<Value> behind{result};
  for (Operation &op : k.group().getBody().front().without_terminator()) {
    if (llvm::none_of(op.getOperands(), [&](Value operand) { return behind.contains(operand); }))
      continue;
    behind.insert(op.result_begin(), op.result_end());
    for (Value operand : op.getOperands()) {
      if (behind.contains(operand) || !(isComputed(operand) || (withConstants && isSpread(k, operand))))
        continue;
      llvm::SetVector<AffineExpr> offsets;
      k.collectOffsets(operand, at, offsets);
      auto varies = [&](AffineExpr offset) {
        return llvm::any_of(varying, [&](AffineExpr dim) { return offset.isFunctionOfDim(cast<AffineDimExpr>(dim).getPosition()); });
      };
      if (llvm::none_of(offsets, varies))
        found.insert(operand);
    }
  }
  return found.takeVector();
}

SmallVector<Value> findColumnValues(KernelBuilder &k, const Contraction &c) {
  if (!c.instruction || c.rowEpilogue)
    return {};
  IndexExprs batch, rows;
  for (size_t i = 0; i < c.batch.size(); ++i)
    batch.push_back(k.placeholder());
  for (size_t i = 0; i < c.rows.size(); ++i)
    rows.push_back(k.placeholder());
  IndexExprs at = c.resultAt(batch, rows, k.placeholder()), varying(batch);
  varying.append(rows);
  return findSharedValues(k, c.result, at, varying, isRowStep(c.instruction));
}

void forEvenRows(KernelBuilder &k, const EvenRows &rows, AffineExpr block, function_ref<void(AffineExpr start, int64_t count)> body) {
  AffineExpr extent = rows.extent, blocks = k.index(k.emit(rows.blocks)), big = k.index(k.emit(extent.ceilDiv(blocks)));
  AffineExpr before = k.index(k.minimum(k.emit(block), k.emit(extent - blocks * (big - 1))));
  AffineExpr start = k.index(k.emit(block * (big - 1) + before)), next = k.index(k.minimum(k.emit(block + 1), k.emit(extent - blocks * (big - 1))));
  Value count = k.emit(big - 1 + next - before);
  for (int64_t height = rows.most; height > 0; --height)
    k.branch(arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::eq, count, k.emitConstant(height)), [&] { body(start, height); });
}

int64_t countPanelsAtOnce(KernelBuilder &k, const Contraction &c, std::optional<int64_t> rows) {
  int64_t few = k.target().tuned(kernel::Tuned::FewestRows);
  if (!c.allHeights || c.rowEpilogue || c.tileSums || c.depth || (rows && (*rows < 2 || *rows > few)))
    return 1;
  kernel::StepAttr step = c.instruction ? c.instruction : k.target().getPlainStep(computeType(c.element));
  return isRowStep(step) ? 1 : std::max<int64_t>(1, RegisterBudget(k.target(), step).vectorsOf(few) / c.tile.vectors);
}

AffineExpr chooseChunk(KernelBuilder &k, const Contraction &c, AffineExpr fitting, ArrayRef<RowDim> rowDims) {
  int64_t atOnce = countPanelsAtOnce(k, c, std::nullopt);
  if (atOnce == 1 || rowDims.size() > 1)
    return fitting;
  // 1 or 0.
  AffineExpr areFew = k.constant(1).floorDiv(rowDims.front().extent.floorDiv(k.target().tuned(kernel::Tuned::FewestRows) + 1) + 1);
  return fitting + areFew * (fitting.ceilDiv(atOnce) * atOnce - fitting);
}

void nameTile(KernelBuilder &k, const Contraction &c) {
  auto kernel = k.builder().getBlock()->getParent()->getParentOfType<func::FuncOp>();
  auto algorithm = kernel ? kernel->getAttrOfType<StringAttr>(kernel::algorithmAttrName) : StringAttr();
  std::string ofRows = c.instruction && c.instruction.getRows() > 1 ? " " + c.instruction.getFunction().str() : "";
  if (algorithm)
    kernel->setAttr(kernel::algorithmAttrName,
                    k.builder().getStringAttr(algorithm.str() + " " + Twine(c.tile.rows) + "x" + Twine(c.tile.columns()) + ofRows));
}

int64_t countProducts(const Contraction &c) { return c.depth ? c.depth : c.instruction ? c.instruction.getDepth() : 1; }

LaunchInfo contractionInfo(KernelBuilder &k, const Contraction &c, ArrayRef<AffineExpr> tasks) {
  AffineExpr lhs = getNumElements(c.rows, k.context()) * getNumElements(c.batch, k.context()), depth = k.constant(1);
  for (const ReductionLoop &loop : c.reduction)
    depth = depth * loop.extent;
  return LaunchInfo{countTasks(k, tasks), simplifyDim(lhs * c.columns * depth * (2 * countProducts(c))), countMovedBytes(k)};
}

} // namespace kiln
