//===- PackedContraction.cpp - Products that pack their right side as they run ===//
//
//   for each task = (batch, outer rows, panel of columns, some blocks of rows):
//     for each part of the depth:
//       panel[k, 0..NR) = rhs[k, columns of the panel]           (zeros beyond the last column)
//       for each block of rows: sums[block] += tile of lhs and panel
//     for each block of rows: the epilogue stores its sums
//
// The panel and the sums lie in arrays of the kernel, so that any stride of the right side costs one pass over it, a tile never meets a tail of
// the columns, and the epilogue is a loop. The last block of rows overlaps the one before it; it stores only rows that are its own.
//
// A right side that is constant in fewer bits is made f32 where others are packed. One that is constant f32 lies in panels, whose parts are read where they
// are; each block of rows asks for its share of what is read next. Where only run time knows the rows, fewer than those of a tile multiply it without a panel;
// so do they with one that lies in contiguous rows (but for the last columns, which fill no tile) or columns.
//
// A step of several products takes as many elements of a column side by side (PanelPacking.h). What the depth leaves over is a part of its own, for which
// the left side's elements are copied beside zeros.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/PackedContraction.h"
#include "passes/lowering/contraction/DotContraction.h"
#include "passes/lowering/contraction/ElementPacking.h"
#include "passes/lowering/contraction/PanelPacking.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/RegisterBudget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
class PackedEmitter {
public:
  PackedEmitter(KernelBuilder &k, const Contraction &c, const UnpackedSide *side);
  LaunchInfo run();

private:
  using Task = ArrayRef<AffineExpr>;
  void emitTask(Task batch, IndexExprs rows, AffineExpr column, AffineExpr chunk);
  void emitPart(Task batch, ArrayRef<AffineExpr> rows, AffineExpr column, AffineExpr first, AffineExpr last, AffineExpr start, AffineExpr length);
  void emitRest(Task batch, ArrayRef<AffineExpr> rows, AffineExpr column, AffineExpr first, AffineExpr last);
  void copyRest(AffineExpr from, unsigned count);
  TileEmitter makeTiles(AffineExpr steps, AffineExpr stride) const;
  void pack(AffineExpr from, AffineExpr length);
  void askForNextPart(AffineExpr block) const;
  void widen(AffineExpr from, AffineExpr length);
  void emitParts(Task batch, ArrayRef<AffineExpr> rows, AffineExpr column, AffineExpr first, AffineExpr last);
  void emitInPlace(Task batch, IndexExprs rows, AffineExpr column);
  void emitRowsInPlace(Task batch, IndexExprs rows, AffineExpr column);
  void emitTileInPlace(Task batch, IndexExprs rows, AffineExpr row, int64_t count, AffineExpr first, AffineExpr column, int64_t panels);
  void emitDotsInPlace(Task batch, IndexExprs rows, AffineExpr column);
  void emitUnpacking(Task batch, IndexExprs rows, AffineExpr column, AffineExpr block, AffineExpr start, AffineExpr length);
  void addSum(AffineExpr slot, int64_t row, int64_t column, Value value);
  void emitTiles(Task batch, IndexExprs rows, AffineExpr block, unsigned count, AffineExpr slot, AffineExpr depth, const TileEmitter &tiles);
  void emitTile(Task batch, IndexExprs rows, AffineExpr row, unsigned count, AffineExpr slot, AffineExpr depth, const TileEmitter &tiles,
                AffineExpr last = {});
  void emitLastBlock(Task batch, IndexExprs rows, AffineExpr block, AffineExpr slot, AffineExpr depth, const TileEmitter &tiles);
  /// Stores the sums of a block, or of its first `all` rows.
  void emitEpilogue(Task batch, IndexExprs rows, AffineExpr column, AffineExpr block, AffineExpr slot, AffineExpr all = {});
  AffineExpr firstRow(AffineExpr block);
  std::pair<AffineExpr, IndexExprs> findRows(Task batch, IndexExprs rows, AffineExpr first, int64_t count);
  /// The columns of the last panel of so many; 0 when it is whole, nullopt when that is not known.
  std::optional<int64_t> tailOf(int64_t panelColumns) const {
    auto columns = getConstantDim(c.columns);
    return columns ? std::optional(*columns % panelColumns) : std::nullopt;
  }
  /// A dim that is zero here stands for the lanes.
  void forLanes(function_ref<void(AffineExpr lane, Lanes across)> body) {
    AffineExpr lane = k.index(k.emitConstant(0));
    body(lane, Lanes{cast<AffineDimExpr>(lane).getPosition(), lanes()});
  }
  /// Whether the right side is constant, in another form or in panels.
  bool hasOwnRows() const { return side || c.padded; }
  /// Whether its panels are read where they lie: constants of the sums' type.
  bool hasPanels() const { return c.padded && storedType(c.rhs) == c.element; }
  static constexpr int64_t smallTile = 4;
  /// Rows of the sums of a block: small tiles go beyond its last one.
  int64_t slotRows() const { return hasOwnRows() && !bigBlocks && !isEven() ? llvm::alignTo(blockRows, smallTile) : blockRows; }
  /// Whether rows, or columns, of a right side that is no constant can be multiplied where they lie: elements that vectors take side by side.
  bool areRowsInPlace() const { return !hasOwnRows() && !c.instruction && lanes() > 1 && c.laneStride == k.constant(1); }
  bool areColumnsInPlace() const {
    return !hasOwnRows() && !c.instruction && lanes() > 1 && !areRowsInPlace() && rhsStride == k.constant(1) && lhsStride == k.constant(1);
  }
  /// Panels whose rows are read together where they lie, by the first of their tasks: the sums of a single row fill half of the registers.
  int64_t panelsInPlace() const {
    return areRowsInPlace() && !getConstantDim(extent) ? std::max<int64_t>(1, getHalfOfRegisters(k.target()) / c.tile.vectors) : 1;
  }
  /// The most rows that are multiplied without a panel, where only run time knows how many there are.
  int64_t mostRowsInPlace() const {
    if (getConstantDim(extent))
      return 0;
    return side && side->rowsInPlace ? std::min(side->rowsInPlace->most, blockRows * blocksPerTask) : blockRows - 1;
  }
  bool hasSmallBlocks() const { return bigBlocks && *getConstantDim(extent) % blockRows != 0; }
  /// Whether blocks of rows that only run time knows are cut evenly, each height with a tile of its own.
  bool isEven() const { return side && side->rowsInPlace && !getConstantDim(extent); }
  void forHeights(AffineExpr block, function_ref<void(int64_t count)> body) const;
  unsigned lanes() const { return c.tile.lanes; }
  /// Elements as they lie in a buffer.
  static Type storedType(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }
  Value add(Value x, Value y) const {
    if (isa<FloatType>(c.element))
      return arith::AddFOp::create(k.builder(), k.loc(), x, y);
    return arith::AddIOp::create(k.builder(), k.loc(), x, y);
  }

  KernelBuilder &k;
  const Contraction &c;
  const UnpackedSide *side;
  SmallVector<RowDim> rowDims;
  AffineExpr depth, lhsStride, rhsStride;
  /// Products that a step adds to each sum, the part of the depth that has whole steps, and what it leaves over.
  int64_t together;
  AffineExpr whole, over;
  /// Rows of a block, and of the dimension that blocks cut.
  int64_t blockRows;
  AffineExpr extent;
  /// Blocks before those that have one row less; nullopt: the last block overlaps the one before it.
  std::optional<int64_t> bigBlocks;
  /// The same where only run time knows, and the rows of such a block.
  AffineExpr evenBlocks, evenRows;
  int64_t width, partLength;
  /// Of rows; they share a panel.
  int64_t blocksPerTask;
  bool onePart;
  /// Of the task that is being written: columns from its first one on, the packed panel, the sums of its blocks.
  AffineExpr left;
  Value panel, sums;
  /// Where the part that is multiplied begins in the panel.
  AffineExpr panelStart;
  /// Elements of the left side beside zeros, while the rest of the depth is multiplied.
  Value rest;
};
} // namespace

PackedEmitter::PackedEmitter(KernelBuilder &k, const Contraction &c, const UnpackedSide *side)
    : k(k), c(c), side(side), rowDims(mergeRows(k, c)), depth(c.reduction.front().extent), lhsStride(c.reduction.front().lhsStride),
      rhsStride(c.reduction.front().rhsStride), together(c.instruction ? c.instruction.getDepth() : 1),
      whole(simplifyDim(depth.floorDiv(together) * together)), over(simplifyDim(depth - whole)), blockRows(c.tile.rows), extent(rowDims.back().extent),
      width(c.tile.columns()), partLength(k.group().getPlan()->getDepth() * together), blocksPerTask(k.group().getPlan()->getBlocks()), onePart(false) {
  if (auto count = getConstantDim(extent)) {
    int64_t blocks = std::max<int64_t>(1, llvm::divideCeilSigned(*count, blockRows));
    blockRows = std::max<int64_t>(1, llvm::divideCeilSigned(*count, blocks));
    if (hasOwnRows())
      bigBlocks = *count - blocks * (blockRows - 1);
    // Equal tasks.
    blocksPerTask = llvm::divideCeilSigned(blocks, llvm::divideCeilSigned(blocks, blocksPerTask));
  }
  if (side) {
    partLength = side->length;
    onePart = getConstantDim(depth) == partLength;
  } else if (auto length = getConstantDim(whole)) {
    int64_t parts = std::max<int64_t>(1, llvm::divideCeilSigned(*length, partLength));
    partLength = std::max<int64_t>(together, llvm::alignTo(llvm::divideCeilSigned(*length, parts), together));
    onePart = parts == 1 && getConstantDim(over) == 0;
  }
}

/// The last block starts so that it ends with the last row; a dimension of less than a block has one that starts at 0. Beside a constant right side, each block
/// has rows of its own: blocks of the same rows and of one row less follow each other, or the last one has what is left.
AffineExpr PackedEmitter::firstRow(AffineExpr block) {
  if (isEven())
    return k.index(k.emit(block * (evenRows - 1) + k.index(k.minimum(k.emit(block), k.emit(evenBlocks)))));
  if (hasOwnRows() && !bigBlocks)
    return k.index(k.emit(block * blockRows));
  if (bigBlocks)
    return k.index(k.emit(block * (blockRows - 1) + k.index(k.minimum(k.emit(block), k.emitConstant(*bigBlocks)))));
  Value start = k.minimum(k.emit(block * blockRows), k.emit(extent - blockRows));
  if (!getConstantDim(extent))
    start = arith::MaxSIOp::create(k.builder(), k.loc(), start, k.emitConstant(0));
  return k.index(start);
}

/// Those that blocks have where there are more rows than go without a panel.
void PackedEmitter::forHeights(AffineExpr block, function_ref<void(int64_t count)> body) const {
  int64_t lowest = blockRows;
  for (int64_t rows = mostRowsInPlace() + 1; rows <= blockRows * blockRows; ++rows)
    lowest = std::min(lowest, rows / llvm::divideCeilSigned(rows, blockRows));
  Value isBig = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, k.emit(block), k.emit(evenBlocks));
  Value count = arith::SelectOp::create(k.builder(), k.loc(), isBig, k.emit(evenRows), k.emit(evenRows - 1));
  for (int64_t height = blockRows; height >= lowest; --height)
    k.branch(arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::eq, count, k.emitConstant(height)), [&] { body(height); });
}

/// A constant panel, row by row. What the next part reads, which lies behind this one, is asked for meanwhile.
void PackedEmitter::widen(AffineExpr from, AffineExpr length) {
  k.loop(k.constant(0), length, 1, "k", [&](AffineExpr i) {
    forLanes([&](AffineExpr lane, Lanes across) {
      AffineExpr source = k.index(k.emit(from + i * rhsStride));
      memref::PrefetchOp::create(k.builder(), k.loc(), c.rhs, k.emit(source + partLength * width), false, laterLocality, true);
      for (int64_t v = 0; v < width; v += lanes())
        k.storeBuffer(panel, c.element, i * width + v + lane, k.loadBuffer(c.rhs, c.element, source + v + lane, across), across);
    });
  });
}

void PackedEmitter::pack(AffineExpr from, AffineExpr length) {
  if (c.instruction)
    return packQuads(k, {c.rhs, from, rhsStride, c.laneStride, length, !rest, left, tailOf(width) == 0}, panel, c.tile);
  if (c.padded)
    return widen(from, length);
  packElements(k, {c.rhs, c.element, from, rhsStride, c.laneStride, length, left, tailOf(lanes()) == 0, tailOf(width) == 0}, panel, c.tile);
}

/// The last elements of rows of the left side, beside zeros.
void PackedEmitter::copyRest(AffineExpr from, unsigned count) {
  Type stored = storedType(c.lhs);
  k.loop(k.constant(0), k.constant(count), 1, "row", [&](AffineExpr row) {
    for (int64_t i = 0; i < together; ++i)
      k.storeBuffer(rest, stored, row * together + i, k.number(stored, 0));
    k.loop(k.constant(0), over, 1, "k", [&](AffineExpr i) {
      k.storeBuffer(rest, stored, row * together + i, k.loadBuffer(c.lhs, stored, from + row * rowDims.back().lhsStride + i * lhsStride));
    });
  });
}

/// What a part adds to a row of a block's sums.
void PackedEmitter::addSum(AffineExpr slot, int64_t row, int64_t column, Value value) {
  forLanes([&](AffineExpr lane, Lanes across) {
    AffineExpr at = slot + (row * width + column) + lane;
    if (!onePart)
      value = add(k.loadBuffer(sums, c.element, at, across), value);
    k.storeBuffer(sums, c.element, at, value, across);
  });
}

/// One tile, whose rows beyond `last`, if given, are that one; `start`: elements of a row of the left side before those of the part.
void PackedEmitter::emitTile(Task batch, IndexExprs rows, AffineExpr row, unsigned count, AffineExpr slot, AffineExpr start,
                             const TileEmitter &tiles, AffineExpr last) {
  SmallVector<AffineExpr> offsets;
  auto exists = [&](int64_t r) { return last && r > 0 ? k.index(k.minimum(k.emitConstant(r), k.emit(last))) : k.constant(r); };
  for (int64_t r = 0; r < count; ++r)
    offsets.push_back(rest ? k.constant(r * together) : rowDims.back().lhsStride * exists(r));
  rows.back() = row;
  AffineExpr lhs = c.lhsAt(batch, expandRows(k, c, rowDims, rows)) + start;
  if (rest) {
    copyRest(k.index(k.emit(lhs)), count);
    lhs = k.constant(0);
  }
  auto emit = [&](unsigned vectors) {
    tiles.emit(lhs, offsets, panelStart, Panel{vectors, lanes(), vectors * lanes()}, [&](unsigned r, unsigned column, Value value, unsigned) {
      addSum(slot, r, column, value);
    });
  };
  // A tail of one vector is worth a narrower tile.
  auto tail = tailOf(width);
  if (c.tile.vectors == 1 || (tail && (*tail == 0 || *tail > lanes())))
    return emit(c.tile.vectors);
  auto compare = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(left), k.emitConstant(lanes()));
  };
  k.branch(compare(arith::CmpIPredicate::sgt), [&] { emit(c.tile.vectors); });
  k.branch(compare(arith::CmpIPredicate::sle), [&] { emit(1); });
}

/// A block that may be the last one, whose rows are multiplied by fours; what stands in for rows that do not exist is not stored.
void PackedEmitter::emitLastBlock(Task batch, IndexExprs rows, AffineExpr block, AffineExpr slot, AffineExpr start, const TileEmitter &tiles) {
  AffineExpr row = firstRow(block), count = k.index(k.emit(extent - row));
  auto compare = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(count), k.emitConstant(blockRows));
  };
  k.branch(compare(arith::CmpIPredicate::sge), [&] { emitTile(batch, rows, row, blockRows, slot, start, tiles); });
  k.branch(compare(arith::CmpIPredicate::slt), [&] {
    k.loop(k.constant(0), count, smallTile, "row", [&](AffineExpr i) {
      emitTile(batch, rows, row + i, smallTile, slot + i * width, start, tiles, k.index(k.emit(count - i - 1)));
    });
  });
}

void PackedEmitter::emitTiles(Task batch, IndexExprs rows, AffineExpr block, unsigned count, AffineExpr slot, AffineExpr start, const TileEmitter &tiles) {
  if (getConstantDim(extent))
    return emitTile(batch, rows, firstRow(block), count, slot, start, tiles);
  auto compare = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(extent), k.emitConstant(blockRows));
  };
  if (isEven())
    return forHeights(block, [&](int64_t rowCount) { emitTile(batch, rows, firstRow(block), static_cast<unsigned>(rowCount), slot, start, tiles); });
  if (hasOwnRows())
    return emitLastBlock(batch, rows, block, slot, start, tiles);
  k.branch(compare(arith::CmpIPredicate::sge), [&] { emitTile(batch, rows, firstRow(block), blockRows, slot, start, tiles); });
  k.branch(compare(arith::CmpIPredicate::slt), [&] {
    AffineExpr fours = k.index(k.emit(extent.floorDiv(4) * 4));
    k.loop(k.constant(0), fours, 4, "row", [&](AffineExpr row) { emitTile(batch, rows, row, 4, slot + row * width, start, tiles); });
    k.loop(fours, extent, 1, "row", [&](AffineExpr row) { emitTile(batch, rows, row, 1, slot + row * width, start, tiles); });
  });
}

void PackedEmitter::emitEpilogue(Task batch, IndexExprs rows, AffineExpr column, AffineExpr block, AffineExpr slot, AffineExpr all) {
  AffineExpr start = firstRow(block);
  AffineExpr own = k.constant(0), count = k.constant(blockRows);
  if (all) {
    count = all;
  } else if (isEven()) {
    count = k.index(k.minimum(k.emit(evenRows), k.emit(firstRow(block + 1) - start)));
  } else if (hasOwnRows() && !bigBlocks) {
    count = k.index(k.minimum(k.emit(count), k.emit(extent - start)));
  } else if (!bigBlocks) {
    own = k.index(k.emit(block * blockRows - start));
    count = k.index(k.minimum(k.emitConstant(blockRows), k.emit(extent)));
  } else if (hasSmallBlocks()) {
    Value isBig = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, k.emit(block), k.emitConstant(*bigBlocks));
    count = k.index(arith::SelectOp::create(k.builder(), k.loc(), isBig, k.emitConstant(blockRows), k.emitConstant(blockRows - 1)));
  }
  auto storeRows = [&](AffineExpr valid) {
    k.loop(own, count, 1, "row", [&](AffineExpr row) {
      rows.back() = start + row;
      IndexExprs at = expandRows(k, c, rowDims, rows);
      k.vectorLoop(valid, c.instruction ? k.resultLanes() : k.vectorLanes(), "i", [&](AffineExpr i, Lanes across) {
        Value value = k.loadBuffer(sums, c.element, slot + row * width + i, across);
        k.storeResults(c.result, value, c.resultAt(batch, at, column + i), across);
      });
    });
  };
  auto tail = tailOf(width);
  if (!tail)
    return storeRows(k.index(k.minimum(k.emitConstant(width), k.emit(left))));
  if (*tail == 0 || getConstantDim(c.columns) == *tail)
    return storeRows(k.constant(*tail == 0 ? width : *tail));
  // Known sizes have vectors for their remainder.
  auto compare = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(left), k.emitConstant(width));
  };
  k.branch(compare(arith::CmpIPredicate::sge), [&] { storeRows(k.constant(width)); });
  k.branch(compare(arith::CmpIPredicate::slt), [&] { storeRows(k.constant(*tail)); });
}

/// The tiles of a part with so many steps, each so many elements of the left side behind the one before it.
TileEmitter PackedEmitter::makeTiles(AffineExpr steps, AffineExpr stride) const {
  TileEmitter tiles{k, rest ? rest : c.lhs, panel, c.element, {{steps, stride, k.constant(width * together)}}, k.constant(1)};
  if (c.instruction) {
    tiles.instruction = c.instruction;
    tiles.chainLength = int64_t(1) << 40; // Integers do not round.
  }
  return tiles;
}

/// A block's share of the lines that the next part reads, which lies behind this one, or, behind the last one, the next panel.
void PackedEmitter::askForNextPart(AffineExpr block) const {
  int64_t share = llvm::divideCeilSigned(partLength * width / elementsPerLine, blocksPerTask) * elementsPerLine;
  k.loop(k.constant(0), k.constant(share), elementsPerLine, "i", [&](AffineExpr i) {
    Value at = k.emit(panelStart + partLength * width + block * share + i);
    memref::PrefetchOp::create(k.builder(), k.loc(), c.rhs, at, false, laterLocality, true);
  });
}

void PackedEmitter::emitPart(Task batch, ArrayRef<AffineExpr> rows, AffineExpr column, AffineExpr first, AffineExpr last, AffineExpr start,
                             AffineExpr length) {
  AffineExpr from = side ? AffineExpr() : k.index(k.emit(c.rhsAt(batch) + column * c.panelStride + start * rhsStride));
  if (hasPanels())
    panelStart = from;
  else if (!side)
    pack(from, length);
  TileEmitter tiles = makeTiles(simplifyDim(length.floorDiv(together)), lhsStride * together);
  if (side) {
    emitUnpacking(batch, IndexExprs(rows), column, first, start, length);
    tiles.reduction = side->reduction(length);
  }
  // A part is no longer than a chain.
  if (side || hasPanels())
    tiles.chainLength = std::max(tiles.chainLength, partLength);
  start = side ? k.index(k.emit(side->lhsOffset(start))) : start * lhsStride;
  auto emitBlocks = [&](AffineExpr from, AffineExpr to, unsigned count) {
    k.loop(from, to, 1, "block", [&](AffineExpr block) {
      AffineExpr slot = onePart ? k.constant(0) : k.index(k.emit((block - first) * (slotRows() * width)));
      if (hasPanels())
        askForNextPart(block - first);
      emitTiles(batch, IndexExprs(rows), block, count, slot, start, tiles);
      if (onePart)
        emitEpilogue(batch, IndexExprs(rows), column, block, slot);
    });
  };
  AffineExpr next = side ? k.index(k.emit(first + 1)) : first;
  if (!hasSmallBlocks())
    return emitBlocks(next, last, blockRows);
  emitBlocks(next, k.index(k.minimum(k.emit(last), k.emitConstant(*bigBlocks))), blockRows);
  emitBlocks(k.index(arith::MaxSIOp::create(k.builder(), k.loc(), k.emit(next), k.emitConstant(*bigBlocks))), last, blockRows - 1);
}

/// The first block of rows, whose tile makes the panel for the others.
void PackedEmitter::emitUnpacking(Task batch, IndexExprs rows, AffineExpr column, AffineExpr block, AffineExpr start, AffineExpr length) {
  IndexExprs at(rows);
  at.back() = firstRow(block);
  // The first block of a task may be the last one of all.
  auto exists = [&](int64_t r) {
    return bigBlocks || isEven() || r == 0 ? k.constant(r) : k.index(k.minimum(k.emitConstant(r), k.emit(extent - at.back() - 1)));
  };
  AffineExpr slot = k.constant(0);
  auto unpack = [&](int64_t count) {
    IndexExprs offsets;
    for (int64_t r = 0; r < count; ++r)
      offsets.push_back(rowDims.back().lhsStride * exists(r));
    auto found = side->unpack(panel, column, start, length, k.index(k.emit(c.lhsAt(batch, expandRows(k, c, rowDims, at)))), offsets);
    for (auto [i, sum] : llvm::enumerate(found))
      addSum(slot, static_cast<int64_t>(i) / c.tile.vectors, static_cast<int64_t>(i) % c.tile.vectors * lanes(), sum);
  };
  isEven() ? forHeights(block, unpack) : unpack(blockRows);
  if (onePart)
    emitEpilogue(batch, rows, column, block, slot);
}

/// One step for what the depth leaves over.
void PackedEmitter::emitRest(Task batch, ArrayRef<AffineExpr> rows, AffineExpr column, AffineExpr first, AffineExpr last) {
  rest = k.array("rest", storedType(c.lhs), blockRows * together);
  pack(k.index(k.emit(c.rhsAt(batch) + column * c.panelStride + whole * rhsStride)), over);
  TileEmitter tiles = makeTiles(k.constant(1), k.constant(together));
  k.loop(first, last, 1, "block", [&](AffineExpr block) {
    emitTiles(batch, IndexExprs(rows), block, blockRows, k.index(k.emit((block - first) * (slotRows() * width))), whole * lhsStride, tiles);
  });
  rest = {};
}

void PackedEmitter::emitTask(Task batch, IndexExprs rows, AffineExpr column, AffineExpr chunk) {
  int64_t slotSize = slotRows() * width, slots = onePart ? 1 : blocksPerTask;
  left = k.index(k.emit(c.columns - column));
  panel = hasPanels() ? c.rhs : k.array("panel", c.instruction ? storedType(c.rhs) : c.element, partLength * width);
  panelStart = k.constant(0);
  sums = k.array("sums", c.element, std::max({slots * slotSize, panelsInPlace() * slotSize, mostRowsInPlace() * width}));
  // Without a known first block, C++ compilers do not keep the sums of all blocks in registers from part to part, as they try with a few.
  AffineExpr unknown = side ? column.floorDiv(c.columns.ceilDiv(width) * width) : k.constant(0);
  AffineExpr first = k.index(k.emit(chunk * blocksPerTask + unknown));
  AffineExpr last = k.index(k.minimum(k.emit(first + blocksPerTask), k.emit(extent.ceilDiv(blockRows))));
  if (isEven()) {
    AffineExpr blocks = k.index(k.emit(extent.ceilDiv(blockRows)));
    evenRows = k.index(k.emit(extent.ceilDiv(blocks)));
    evenBlocks = k.index(k.emit(extent - blocks * (evenRows - 1)));
  }
  if (getConstantDim(extent) || !(hasOwnRows() || areRowsInPlace() || areColumnsInPlace()))
    return emitParts(batch, rows, column, first, last);
  auto compare = [&](arith::CmpIPredicate predicate, AffineExpr number, int64_t bound) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(number), k.emitConstant(bound));
  };
  Value areFew = compare(arith::CmpIPredicate::sle, extent, mostRowsInPlace()), areMany = compare(arith::CmpIPredicate::sgt, extent, mostRowsInPlace());
  // Vectors would reach beyond the last row.
  if (areRowsInPlace()) {
    areFew = arith::AndIOp::create(k.builder(), k.loc(), areFew, compare(arith::CmpIPredicate::sge, left, width));
    areMany = arith::OrIOp::create(k.builder(), k.loc(), areMany, compare(arith::CmpIPredicate::slt, left, width));
    areFew = arith::AndIOp::create(k.builder(), k.loc(), areFew, compare(arith::CmpIPredicate::eq, column % (panelsInPlace() * width), 0));
  }
  k.branch(areMany, [&] { emitParts(batch, rows, column, first, last); });
  k.branch(areFew, [&] {
    areRowsInPlace() ? emitRowsInPlace(batch, rows, column) : areColumnsInPlace() ? emitDotsInPlace(batch, rows, column) : emitInPlace(batch, rows, column);
  });
}

/// All rows, where they are fewer than those of a tile, by columns that are contiguous: some at a time share the loads of a row.
void PackedEmitter::emitDotsInPlace(Task batch, IndexExprs rows, AffineExpr column) {
  constexpr int64_t atOnce = 4;
  AffineExpr valid = k.index(k.minimum(k.emitConstant(width), k.emit(left))), whole = k.index(k.emit(valid.floorDiv(atOnce) * atOnce));
  AffineExpr base = k.index(k.emit(c.rhsAt(batch) + column * c.panelStride));
  k.loop(k.constant(0), extent, 1, "row", [&](AffineExpr row) {
    IndexExprs at(rows);
    at.back() = row;
    AffineExpr lhs = k.index(k.emit(c.lhsAt(batch, expandRows(k, c, rowDims, at))));
    auto emit = [&](AffineExpr first, int64_t count) {
      IndexExprs columns;
      for (int64_t i = 0; i < count; ++i)
        columns.push_back(k.index(k.emit(base + (first + i) * c.panelStride)));
      for (auto [i, value] : llvm::enumerate(emitDots(k, c, lhs, columns)))
        k.storeBuffer(sums, c.element, row * width + first + static_cast<int64_t>(i), value);
    };
    k.loop(k.constant(0), whole, atOnce, "column", [&](AffineExpr first) { emit(first, atOnce); });
    k.loop(whole, valid, 1, "column", [&](AffineExpr first) { emit(first, 1); });
  });
  emitEpilogue(batch, rows, column, k.constant(0), k.constant(0));
}

/// All rows of a constant right side, where they are fewer than those of a tile.
void PackedEmitter::emitInPlace(Task batch, IndexExprs rows, AffineExpr column) {
  AffineExpr zero = k.constant(0), fours = k.index(k.emit(extent.floorDiv(4) * 4));
  auto emitRows = [&](AffineExpr row, int64_t count) {
    Panel panel{c.tile.vectors, lanes(), c.tile.columns()};
    auto [lhs, offsets] = findRows(batch, rows, row, count);
    auto put = [&](unsigned r, unsigned piece, Value value, unsigned) {
      forLanes([&](AffineExpr lane, Lanes across) { k.storeBuffer(sums, c.element, (row + r) * width + piece + lane, value, across); });
    };
    TileEmitter tiles{k, c.lhs, c.rhs, c.element, {{depth, lhsStride, rhsStride}}, c.laneStride};
    if (side)
      tiles.storeSums(side->sumInPlace(lhs, offsets, column, panel), panel, put);
    else
      tiles.emit(lhs, offsets, c.rhsAt(batch) + column * c.panelStride, panel, put);
  };
  if (side && side->rowsInPlace) {
    UnpackedSide::RowsInPlace few = *side->rowsInPlace;
    Value isOne = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::sle, k.emit(extent), k.emitConstant(few.ofOneTile));
    AffineExpr blocks = k.index(arith::SelectOp::create(k.builder(), k.loc(), isOne, k.emitConstant(1), k.emit(extent.ceilDiv(few.ofEach))));
    k.loop(zero, blocks, 1, "block", [&](AffineExpr block) { forEvenRows(k, {extent, blocks, few.ofOneTile}, block, emitRows); });
    return emitEpilogue(batch, rows, column, zero, zero, extent);
  }
  k.loop(zero, fours, 4, "row", [&](AffineExpr row) { emitRows(row, 4); });
  k.loop(fours, extent, 1, "row", [&](AffineExpr row) { emitRows(row, 1); });
  emitEpilogue(batch, rows, column, zero, zero);
}

/// The same of a right side in rows, for all whole panels of a group. Rows lie far apart, where each begins a page of memory and hardware looks for no pattern:
/// long pieces of them come faster, and those of the next rows are asked for.
void PackedEmitter::emitRowsInPlace(Task batch, IndexExprs rows, AffineExpr column) {
  AffineExpr zero = k.constant(0), fours = k.index(k.emit(extent.floorDiv(4) * 4));
  AffineExpr end = k.index(k.minimum(k.emit(column + panelsInPlace() * width), k.emit(c.columns.floorDiv(width) * width)));
  auto emitRows = [&](AffineExpr row, int64_t count) {
    int64_t panels = std::max<int64_t>(1, panelsInPlace() / count);
    AffineExpr wide = k.index(k.emit(column + (end - column).floorDiv(panels * width) * (panels * width)));
    k.loop(column, wide, panels * width, "column", [&](AffineExpr first) { emitTileInPlace(batch, rows, row, count, first, column, panels); });
    if (panels > 1)
      k.loop(wide, end, width, "column", [&](AffineExpr first) { emitTileInPlace(batch, rows, row, count, first, column, 1); });
  };
  k.loop(zero, fours, 4, "row", [&](AffineExpr row) { emitRows(row, 4); });
  k.loop(fours, extent, 1, "row", [&](AffineExpr row) { emitRows(row, 1); });
  k.loop(column, end, width, "column", [&](AffineExpr first) {
    left = k.index(k.emit(c.columns - first));
    emitEpilogue(batch, rows, first, zero, k.index(k.emit((first - column) * slotRows())));
  });
}

/// The sums of so many rows and panels from `first` on, which go to the slots of these panels behind that of `column`.
void PackedEmitter::emitTileInPlace(Task batch, IndexExprs rows, AffineExpr row, int64_t count, AffineExpr first, AffineExpr column, int64_t panels) {
  Panel panel{static_cast<unsigned>(panels) * c.tile.vectors, lanes(), static_cast<unsigned>(panels * width)};
  auto [lhs, offsets] = findRows(batch, rows, row, count);
  AffineExpr slot = k.index(k.emit((first - column) * slotRows() + row * width));
  // Long pieces ask for each line once, some rows ahead: twice, as panels do, costs more than it brings.
  constexpr int64_t elementsAhead = 1536;
  SmallVector<int64_t, 3> ahead = choosePrefetches(k.target());
  if (panels > 1 && !ahead.empty())
    ahead = {elementsAhead};
  SmallVector<AffineExpr, 2> rowsAhead;
  for (int64_t elements : ahead)
    rowsAhead.push_back(k.index(k.emit(rhsStride * std::max<int64_t>(1, elements / panel.valid))));
  TileEmitter tiles{k, c.lhs, c.rhs, c.element, {{depth, lhsStride, rhsStride}}, c.laneStride};
  tiles.rowsAhead = rowsAhead;
  tiles.mayStream = panels == 1;
  tiles.emit(lhs, offsets, c.rhsAt(batch) + first * c.panelStride, panel, [&](unsigned r, unsigned piece, Value value, unsigned) {
    int64_t ofPanel = piece / width * slotRows() * width + r * width + piece % width;
    forLanes([&](AffineExpr lane, Lanes across) { k.storeBuffer(sums, c.element, slot + ofPanel + lane, value, across); });
  });
}

/// Where the first of some rows begins in the left buffer, and the offsets of all from there.
std::pair<AffineExpr, IndexExprs> PackedEmitter::findRows(Task batch, IndexExprs rows, AffineExpr first, int64_t count) {
  IndexExprs offsets;
  rows.back() = first;
  for (int64_t r = 0; r < count; ++r)
    offsets.push_back(rowDims.back().lhsStride * r);
  return {k.index(k.emit(c.lhsAt(batch, expandRows(k, c, rowDims, rows)))), offsets};
}

/// All parts of the sum, for some blocks of rows.
void PackedEmitter::emitParts(Task batch, ArrayRef<AffineExpr> rows, AffineExpr column, AffineExpr first, AffineExpr last) {
  int64_t slotSize = slotRows() * width, slots = onePart ? 1 : blocksPerTask;
  if (onePart)
    return emitPart(batch, rows, column, first, last, k.constant(0), depth);
  k.loop(k.constant(0), k.constant(slots * slotSize), lanes(), "i", [&](AffineExpr i) {
    k.storeBuffer(sums, c.element, i, k.number(c.element, 0, lanes()), Lanes{cast<AffineDimExpr>(i).getPosition(), lanes()});
  });
  k.loop(k.constant(0), whole, partLength, "part", [&](AffineExpr start) {
    bool isEven = (side || hasPanels()) && getConstantDim(whole).value_or(1) % partLength == 0;
    AffineExpr length = isEven ? k.constant(partLength) : k.index(k.minimum(k.emitConstant(partLength), k.emit(whole - start)));
    emitPart(batch, rows, column, first, last, start, length);
  });
  if (getConstantDim(over) != 0) {
    Value some = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::sgt, k.emit(over), k.emitConstant(0));
    k.branch(some, [&] { emitRest(batch, rows, column, first, last); });
  }
  k.loop(first, last, 1, "block", [&](AffineExpr block) {
    emitEpilogue(batch, IndexExprs(rows), column, block, k.index(k.emit((block - first) * slotSize)));
  });
}

LaunchInfo PackedEmitter::run() {
  IndexExprs extents(c.batch);
  for (const RowDim &dim : ArrayRef(rowDims).drop_back())
    extents.push_back(dim.extent);
  extents.push_back(simplifyDim(c.columns.ceilDiv(width)));
  extents.push_back(simplifyDim(extent.ceilDiv(blockRows * blocksPerTask)));
  k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
    ArrayRef<AffineExpr> batch = task.take_front(c.batch.size());
    IndexExprs rows(task.slice(c.batch.size(), rowDims.size() - 1));
    rows.push_back(k.constant(0));
    emitTask(batch, rows, k.index(k.emit(task[task.size() - 2] * width)), task.back());
  });
  return contractionInfo(k, c, extents);
}

LaunchInfo lowerPackedContraction(KernelBuilder &k, const Contraction &contraction, const UnpackedSide *side) {
  return PackedEmitter(k, contraction, side).run();
}

} // namespace kiln
