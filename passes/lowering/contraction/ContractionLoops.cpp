//===- ContractionLoops.cpp - The loops around a register tile -------------===//
//
//   for each task = (batch, chunk of columns, outer rows, block of rows):
//     for each panel of the chunk: one tile
//
// A chunk of the right side stays in the second-level cache while the blocks of rows go by. Rows are cut evenly into blocks of at most the
// tile's height, so that no block is much smaller than the others; a count known at run time only is cut into whole tiles and fours, the last of which
// repeats its last row without storing it. A single row goes by itself. Beside a right side that the caller has packed, such a count is cut evenly, too.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/ContractionLoops.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/ConstantData.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/contraction/PairedRows.h"
#include "passes/lowering/contraction/TileSteps.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/StepTile.h"
#include "passes/target/groups/Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// A piece of a dimension: `count` of it from `start` on, of which only those before `end` exist; null: all do.
using BlockBody = function_ref<void(AffineExpr start, unsigned count, AffineExpr end)>;

class ContractionEmitter {
public:
  ContractionEmitter(KernelBuilder &k, const Contraction &c)
      : k(k), c(c), plan(*k.group().getPlan()), tiles{k, c.lhs, c.rhs, c.element, c.reduction, c.laneStride}, rowDims(mergeRows(k, c)),
        columnValues(findColumnValues(k, c)) {
    if (DenseI64ArrayAttr ahead = plan.getAhead(); c.padded && ahead)
      tiles.ahead = ahead.asArrayRef();
    if (DenseI64ArrayAttr numbers = plan.getComing())
      coming = {numbers[0], numbers[1], numbers[2]};
    if (c.instruction) // Integers do not round.
      tiles.chainLength = int64_t(1) << 40;
    else if (c.reduction.size() > 1)
      tiles.chainLength = TileEmitter::windowChain;
    tiles.instruction = c.instruction;
  }
  LaunchInfo run();

private:
  void planBlocks();
  void planChunks();
  AffineExpr chooseHeight() const;
  AffineExpr countBlocks() const;
  unsigned getMiddleUnits() const;
  AffineExpr chooseUnits() const;
  void forBlock(AffineExpr block, BlockBody body) const;
  using PanelsBody = function_ref<void(AffineExpr from, AffineExpr to, Panel)>;
  void forPanels(AffineExpr chunk, function_ref<void(AffineExpr column, Panel)> body, PanelsBody together = {}, int64_t atOnce = 1) const;
  void restOfColumns(function_ref<void(AffineExpr, Panel)> body) const;
  void emitBlock(ArrayRef<AffineExpr> batch, AffineExpr chunk, IndexExprs rows, AffineExpr start, unsigned count, AffineExpr end) const;
  /// The rows of a block: offsets from the first one in the left buffer, and their places among the contraction's rows.
  struct BlockRows {
    SmallVector<AffineExpr> offsets;
    SmallVector<IndexExprs> places;
  };
  BlockRows listRows(ArrayRef<AffineExpr> rows, unsigned count, AffineExpr end) const;
  /// The left side of a block, which all of its panels read.
  struct BlockSide {
    std::optional<PairedRows> paired;
    std::optional<RestOfRows> rest;
    SmallVector<SeenSteps> seen;
  };
  BlockSide openSide(ArrayRef<AffineExpr> batch, const BlockRows &block) const;
  void emitTile(ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, unsigned count, AffineExpr column, Panel panel, AffineExpr end,
                const BlockSide &side) const;
  void storeLastPanel(ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, AffineExpr column, ArrayRef<SmallVector<RowPiece>> pieces) const;
  IndexExprs findRow(ArrayRef<AffineExpr> rows, AffineExpr row) const;
  RowEpilogue::RowIndex indexOfRows(ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows) const;
  std::optional<LinesToCome> chooseLinesToCome(AffineExpr rhsBase, Panel panel) const;
  void readPanel(TileEmitter &tile, AffineExpr rhsBase, Panel panel) const;
  void emitTileSteps(ArrayRef<AffineExpr> batch, AffineExpr chunk, ArrayRef<AffineExpr> rows, AffineExpr block) const;
  void emitRowsOfTiles(TileSteps &steps, ArrayRef<AffineExpr> batch, AffineExpr chunk, ArrayRef<AffineExpr> rows, AffineExpr start, AffineExpr first,
                       AffineExpr second) const;
  void askForNextChunk(TileSteps &steps) const;
  using PlaceOfRow = std::function<IndexExprs(int64_t tile, AffineExpr row)>;
  TileSteps::StoreRows prepareStore(TileSteps &steps, ArrayRef<AffineExpr> batch, AffineExpr column, Panel panel, const PlaceOfRow &place) const;
  void storePiece(Value value, ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, AffineExpr column, unsigned offset, unsigned lanes) const;

  /// Whether the last panel is computed like the others, because only run time knows what of it exists.
  bool storesParts() const { return c.evenPanels && !getConstantDim(c.columns); }
  /// Whether the sums are in registers of the step's own.
  bool isTiled() const { return c.depth > 0; }

  KernelBuilder &k;
  const Contraction &c;
  kernel::PlanAttr plan;
  /// While so many blocks of rows meet a chunk of the right side, the next chunk (or, behind the last one, what the next kernel will read) comes from
  /// memory: a line every few steps.
  struct {
    int64_t fewestBlocks, mostBlocks, mostSteps;
  } coming = {1, 0, 1};
  TileEmitter tiles;
  SmallVector<RowDim> rowDims;
  /// Values of the epilogue that a tile computes once for each piece of columns.
  SmallVector<Value> columnValues;
  /// The dim that blocks cut, and the rows of a unit of it: more than one when whole lines of a small image share a tile.
  unsigned cut = 0;
  int64_t unitRows = 1;
  unsigned blockUnits = 1;
  AffineExpr chunks;
  /// How many blocks of rows meet a chunk, and which of them this is.
  AffineExpr rowBlocks, rowBlock;
  int64_t chunkColumns = 0;
  /// The same, where it depends on sizes that only run time knows.
  AffineExpr chunkWidth;
};
} // namespace

void ContractionEmitter::planBlocks() {
  cut = rowDims.size() - 1;
  auto width = getConstantDim(rowDims.back().extent);
  int64_t lines = width ? c.tile.rows / *width : 0;
  // The rows of a tile lie evenly, so each tile has a line.
  if (isTiled())
    lines = width && *width <= c.instruction.getRows() ? std::min(lines, tilesAtOnce) : 0;
  if (lines >= 2 && cut > 0 && getConstantDim(rowDims[cut - 1].extent)) {
    --cut;
    unitRows = *width;
    blockUnits = static_cast<unsigned>(lines);
  } else {
    blockUnits = c.tile.rows;
  }
}

/// Lines are often shorter than a few blocks, so a part of a block has tiles of a size in between, too. 0: none.
unsigned ContractionEmitter::getMiddleUnits() const {
  static constexpr unsigned leastUnits = 8, mostUnits = 16, rest = 4;
  if (cut == 0 || c.rowEpilogue || c.tileSums || c.gatheredRow || blockUnits <= leastUnits)
    return 0;
  return blockUnits > mostUnits ? blockUnits / 2 : blockUnits - rest;
}

/// The rows of a block of a line whose length only run time knows: those of a smaller tile if they cut it into as many blocks.
AffineExpr ContractionEmitter::chooseUnits() const {
  unsigned middle = getMiddleUnits();
  if (middle == 0)
    return k.constant(blockUnits);
  Value blocks = k.emit(countBlocks()), extent = k.emit(rowDims[cut].extent);
  Value most = arith::MulIOp::create(k.builder(), k.loc(), blocks, k.emitConstant(middle));
  Value fits = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::sle, extent, most);
  return k.index(arith::SelectOp::create(k.builder(), k.loc(), fits, k.emitConstant(middle), k.emitConstant(blockUnits)));
}

/// The most rows of a block where only run time knows how far apart rows lie: fewer if they share a set of the first-level cache.
AffineExpr ContractionEmitter::chooseHeight() const {
  int64_t inSet = std::min<int64_t>(k.target().tuned(kernel::Tuned::SetRows), blockUnits), bytes = k.target().tuned(kernel::Tuned::SetBytes);
  // So few rows are one block in any case.
  if (auto size = getConstantDim(rowDims[cut].extent); size && *size <= inSet)
    return k.constant(blockUnits);
  AffineExpr apart = rowDims[cut].lhsStride * elementBytes(cast<MemRefType>(c.lhs.getType()).getElementType());
  // 0 where they do, 1 where they do not.
  AffineExpr isApart = (apart % bytes + (bytes - 1)).floorDiv(bytes);
  return simplifyDim(isApart * (blockUnits - inSet) + inSet);
}

AffineExpr ContractionEmitter::countBlocks() const {
  return simplifyDim(rowDims[cut].extent.ceilDiv(c.allHeights ? chooseHeight() : k.constant(blockUnits)));
}

void ContractionEmitter::forBlock(AffineExpr block, BlockBody emit) const {
  auto body = [&](AffineExpr start, unsigned count) { emit(start, count, AffineExpr()); };
  AffineExpr extent = rowDims[cut].extent;
  // How many blocks a known number of rows makes may depend on how far apart they lie, which only run time knows.
  if (auto size = getConstantDim(extent), blocks = getConstantDim(countBlocks()); size && blocks) {
    int64_t big = llvm::divideCeilSigned(*size, *blocks), bigBlocks = *size - *blocks * (big - 1);
    if (bigBlocks == *blocks)
      return body(block * big, big);
    auto isBig = [&](bool yes) -> Value {
      auto predicate = yes ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge;
      return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(block), k.emitConstant(bigBlocks));
    };
    k.branch(isBig(true), [&] { body(block * big, big); });
    k.branch(isBig(false), [&] { body(block * (big - 1) + bigBlocks, big - 1); });
    return;
  }
  if (c.allHeights)
    return forEvenRows(k, {extent, countBlocks(), std::min<int64_t>(blockUnits, getConstantDim(extent).value_or(blockUnits))}, block,
                       [&](AffineExpr start, int64_t count) { body(start, static_cast<unsigned>(count)); });
  AffineExpr units = chooseUnits(), start = k.index(k.emit(block * units));
  AffineExpr left = k.index(k.minimum(k.emit(units), k.emit(extent - start))), ones = k.constant(0);
  SmallVector<unsigned> sizes{blockUnits};
  if (unsigned middle = getMiddleUnits())
    sizes.push_back(middle);
  if (blockUnits > 4)
    sizes.push_back(4);
  for (unsigned size : sizes) {
    AffineExpr end = k.index(k.emit(ones + (left - ones).floorDiv(size) * size));
    k.loop(ones, end, size, "row", [&](AffineExpr row) { body(start + row, size); });
    ones = end;
  }
  bool repeats = blockUnits > 4 && !c.rowEpilogue && !c.tileSums && !c.gatheredRow;
  if (!repeats)
    return k.loop(ones, left, 1, "row", [&](AffineExpr row) { body(start + row, 1); });
  auto isLeft = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(left - ones), k.emitConstant(1));
  };
  k.branch(isLeft(arith::CmpIPredicate::eq), [&] { body(start + ones, 1); });
  k.branch(isLeft(arith::CmpIPredicate::sgt), [&] { emit(start + ones, 4, extent); });
}

void ContractionEmitter::planChunks() {
  int64_t depth = 1;
  bool isStatic = true;
  for (const ReductionLoop &loop : c.reduction) {
    auto extent = getConstantDim(loop.extent);
    isStatic &= extent.has_value();
    depth *= extent.value_or(1);
  }
  // A sum of nothing, and a result without columns, are planned like those of one.
  depth = isStatic ? std::max<int64_t>(depth, 1) : 512;
  int64_t width = c.tile.columns(), bytes = elementBytes(cast<MemRefType>(c.rhs.getType()).getElementType()) * countProducts(c);
  int64_t panelBytes = depth * width * bytes;
  // The rest of the second-level cache is for the rows. One block of rows reuses nothing, unless each task puts its rows side by side: a panel a task.
  bool isOne = rowDims.size() == 1 && getConstantDim(countBlocks()) == 1 && !(c.instruction && isRowStep(c.instruction));
  int64_t panels = std::max<int64_t>(1, (isOne ? plan.getPiece() : plan.getChunk()) / panelBytes);
  if (c.rowEpilogue)
    panels = std::numeric_limits<int32_t>::max();
  if (auto columns = getConstantDim(c.columns)) {
    int64_t all = std::max<int64_t>(1, llvm::divideCeilSigned(*columns, width)), count = llvm::divideCeilSigned(all, panels);
    panels = llvm::divideCeilSigned(all, count);
    // It must stay for all blocks of rows.
    bool stays = isStatic && c.batch.empty() && depth * *columns * bytes <= plan.getNear();
    if (stays && getConstantDim(countBlocks()).value_or(coming.fewestBlocks) >= coming.fewestBlocks)
      tiles.ahead = {};
  }
  chunkColumns = panels * width;
  chunkWidth = k.constant(chunkColumns);
  // As many panels as fit, at least one.
  if (!isStatic && storesParts()) {
    AffineExpr panel = k.constant(width * bytes);
    for (const ReductionLoop &loop : c.reduction)
      panel = panel * loop.extent;
    panel = simplifyDim(panel + 1);
    chunkWidth = simplifyDim(chooseChunk(k, c, (panel + plan.getChunk()).floorDiv(panel), rowDims) * width);
  }
  chunks = simplifyDim(c.columns.ceilDiv(chunkWidth));
}

void ContractionEmitter::restOfColumns(function_ref<void(AffineExpr, Panel)> body) const {
  unsigned width = c.tile.columns(), lanes = c.tile.lanes;
  auto columns = getConstantDim(c.columns);
  if (!columns) {
    k.loop(c.columns.floorDiv(width) * width, c.columns, 1, "column", [&](AffineExpr column) { body(column, {1, 1, 1}); });
    return;
  }
  int64_t done = *columns / width * width;
  unsigned left = static_cast<unsigned>(*columns - done);
  auto piece = [&](unsigned vectors, unsigned by, unsigned valid) {
    body(k.index(k.emitConstant(done)), {vectors, by, valid});
    done += valid;
    left -= valid;
  };
  if (c.padded && left)
    return piece(llvm::divideCeilSigned(left, lanes), lanes, left);
  if (left >= lanes)
    piece(left / lanes, lanes, left / lanes * lanes);
  for (unsigned by = lanes / 2; by >= 4; by /= 2)
    if (left >= by)
      piece(1, by, by);
  if (left)
    piece(left, 1, left);
}

/// `together` is given several whole panels at once, and `body` so many where there are as many.
void ContractionEmitter::forPanels(AffineExpr chunk, function_ref<void(AffineExpr, Panel)> body, PanelsBody together, int64_t atOnce) const {
  unsigned width = c.tile.columns();
  Panel whole{c.tile.vectors, c.tile.lanes, width};
  auto columns = getConstantDim(c.columns);
  AffineExpr covered = storesParts() ? c.columns : simplifyDim(c.columns.floorDiv(width) * width);
  if (columns && *columns == width) {
    body(k.index(k.emitConstant(0)), whole);
  } else if (covered != k.constant(0)) {
    AffineExpr end = covered;
    if (chunks != k.constant(1))
      end = k.index(k.minimum(k.emit(chunk * chunkWidth + chunkWidth), k.emit(covered)));
    AffineExpr begin = k.index(k.emit(chunk * chunkWidth));
    if (atOnce > 1) {
      AffineExpr wide = k.index(k.emit(begin + (end - begin).floorDiv(atOnce * width) * (atOnce * width)));
      Panel several{static_cast<unsigned>(atOnce) * whole.vectors, whole.lanes, static_cast<unsigned>(atOnce) * width};
      k.loop(begin, wide, several.valid, "column", [&](AffineExpr column) { body(column, several); });
      begin = wide;
    }
    // The last of them has no other one to take turns with.
    constexpr int64_t fewestPanels = 4;
    if (together && chunkColumns >= fewestPanels * width)
      together(begin, end, whole);
    else
      k.loop(begin, end, width, "column", [&](AffineExpr column) { body(column, whole); });
  }
  if (storesParts() || (columns && *columns % width == 0))
    return;
  if (chunks == k.constant(1))
    return restOfColumns(body);
  Value last = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::eq, k.emit(chunk), k.emit(chunks - 1));
  k.branch(last, [&] { restOfColumns(body); });
}

void ContractionEmitter::storePiece(Value value, ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, AffineExpr column, unsigned offset,
                                    unsigned lanes) const {
  k.storeLanes(c.result, value, c.resultAt(batch, rows, column + offset), Lanes{cast<AffineDimExpr>(column).getPosition(), lanes});
}

std::optional<LinesToCome> ContractionEmitter::chooseLinesToCome(AffineExpr rhsBase, Panel panel) const {
  auto blocks = getConstantDim(rowBlocks);
  if (!c.padded || c.rowEpilogue || !blocks || *blocks < coming.fewestBlocks || *blocks > coming.mostBlocks)
    return std::nullopt;
  int64_t depth = 1, steps = 1;
  for (const ReductionLoop &loop : c.reduction)
    depth *= getConstantDim(loop.extent).value_or(1);
  while (steps < coming.mostSteps && 2 * steps * panel.vectors <= *blocks)
    steps *= 2;
  // Each of the first blocks takes as many lines of the panel one chunk further on as it makes steps that ask; the others ask for what they have.
  AffineExpr next = rhsBase + c.panelStride * chunkColumns + rowBlock * (depth / steps * elementsPerLine * countProducts(c));
  auto isLess = arith::CmpIPredicate::slt;
  Value asks = arith::CmpIOp::create(k.builder(), k.loc(), isLess, k.emit(rowBlock), k.emitConstant(panel.vectors * steps));
  return LinesToCome{k.index(arith::SelectOp::create(k.builder(), k.loc(), asks, k.emit(next), k.emit(rhsBase))), rhsBase, steps};
}

/// What a tile reads: a part of a packed panel, a whole one, or several.
void ContractionEmitter::readPanel(TileEmitter &tile, AffineExpr rhsBase, Panel panel) const {
  unsigned width = c.tile.columns(), columns = panel.vectors * panel.lanes;
  if (columns > width) {
    tile.panelVectors = c.tile.vectors;
    tile.panelsApart = k.index(k.emit(c.panelStride * width));
    return;
  }
  tile.toCome = chooseLinesToCome(rhsBase, panel);
  if (c.padded && !c.evenPanels && columns < width)
    tile.reduction = narrowPanel(c.reduction, width, columns);
}

ContractionEmitter::BlockRows ContractionEmitter::listRows(ArrayRef<AffineExpr> rows, unsigned count, AffineExpr end) const {
  // At least two units exist.
  auto unitOf = [&](int64_t unit) {
    return !end || unit < 2 ? k.constant(unit) : k.index(k.minimum(k.emitConstant(unit), k.emit(end - rows[cut] - 1)));
  };
  BlockRows block;
  for (int64_t unit = 0; unit < count; ++unit)
    for (int64_t row = 0; row < unitRows; ++row) {
      IndexExprs at(rows);
      at[cut] = at[cut] + unit;
      AffineExpr offset = rowDims[cut].lhsStride * unitOf(unit);
      if (cut + 1 < rowDims.size()) {
        at.back() = k.constant(row);
        offset = offset + rowDims.back().lhsStride * row;
      }
      block.offsets.push_back(offset);
      block.places.push_back(expandRows(k, c, rowDims, at));
    }
  return block;
}

void ContractionEmitter::emitTile(ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, unsigned count, AffineExpr column, Panel panel,
                                  AffineExpr end, const BlockSide &side) const {
  BlockRows block = listRows(rows, count, end);
  SmallVector<AffineExpr> &offsets = block.offsets;
  ArrayRef<IndexExprs> places = block.places;
  SmallVector<SmallVector<RowPiece>> pieces(places.size());
  bool isWhole = !storesParts() || panel.valid > c.tile.columns();
  // By the number of columns before the piece.
  llvm::MapVector<unsigned, SmallVector<Value>> ofColumns;
  auto store = [&](unsigned row, unsigned offset, Value value, unsigned lanes) {
    Lanes along{cast<AffineDimExpr>(column).getPosition(), lanes};
    if (c.rowEpilogue || (storesParts() && !isWhole)) {
      pieces[row].push_back({column + offset, along, value});
      return;
    }
    SmallVector<Value> &known = ofColumns[offset];
    bool isKept = lanes <= k.vectorLanes();
    if (known.empty() && isKept)
      for (Value shared : columnValues)
        known.push_back(k.value(shared, c.resultAt(batch, places[row], column + offset), along));
    auto put = [&] {
      for (auto [shared, computed] : llvm::zip(columnValues, known))
        k.setValue(shared, computed);
      storePiece(value, batch, places[row], column, offset, lanes);
      for (Value shared : columnValues)
        k.setValue(shared, {});
    };
    if (int64_t unit = row / unitRows; end && unit >= 2)
      k.branch(arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, k.emit(rows[cut] + unit), k.emit(end)), put);
    else
      put();
  };
  if (c.tileSums) {
    tiles.storeSums(c.tileSums(batch, places, column, panel), panel, store);
  } else {
    AffineExpr lhsBase = c.gatheredRow ? c.gatheredRow(places.front()) : c.lhsAt(batch, places.front());
    for (size_t row = 0; c.gatheredRow && row < places.size(); ++row)
      offsets[row] = row == 0 ? k.constant(0) : k.index(k.emit(c.gatheredRow(places[row]) - lhsBase));
    AffineExpr rhsBase = k.index(k.emit(c.rhsAt(batch) + column * c.panelStride));
    TileEmitter tile = tiles;
    readPanel(tile, rhsBase, panel);
    if (side.paired)
      side.paired->readFrom(tile, lhsBase, offsets);
    passOver(tile, side.seen, lhsBase, rhsBase);
    tile.rest = side.rest;
    tile.emit(lhsBase, offsets, rhsBase, panel, store);
  }
  if (c.rowEpilogue)
    return c.rowEpilogue->addTile(column, pieces);
  if (isWhole)
    return;
  auto compare = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(c.columns - column), k.emitConstant(panel.valid));
  };
  isWhole = true;
  k.branch(compare(arith::CmpIPredicate::sge), [&] {
    for (auto [row, list] : llvm::enumerate(pieces))
      for (auto [i, piece] : llvm::enumerate(list))
        store(static_cast<unsigned>(row), static_cast<unsigned>(i) * panel.lanes, piece.value, piece.lanes.count);
  });
  k.branch(compare(arith::CmpIPredicate::slt), [&] { storeLastPanel(batch, rows, column, pieces); });
}

/// A row of the block that begins at `rows`, counted through its units.
IndexExprs ContractionEmitter::findRow(ArrayRef<AffineExpr> rows, AffineExpr row) const {
  IndexExprs at(rows);
  at[cut] = at[cut] + row.floorDiv(unitRows);
  if (cut + 1 < rowDims.size())
    at.back() = row % unitRows;
  return expandRows(k, c, rowDims, at);
}

/// Only those columns that exist, from an array with the sums of all.
void ContractionEmitter::storeLastPanel(ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, AffineExpr column,
                                        ArrayRef<SmallVector<RowPiece>> pieces) const {
  int64_t width = c.tile.columns(), lanes = c.tile.lanes;
  Value sums = k.array("sums", c.element, static_cast<int64_t>(pieces.size()) * width);
  AffineExpr lane = k.index(k.emitConstant(0)), valid = k.index(k.emit(c.columns - column));
  for (auto [row, list] : llvm::enumerate(pieces))
    for (auto [i, piece] : llvm::enumerate(list))
      k.storeBuffer(sums, c.element, static_cast<int64_t>(row) * width + static_cast<int64_t>(i) * lanes + lane, piece.value,
                    {cast<AffineDimExpr>(lane).getPosition(), piece.lanes.count});
  k.loop(k.constant(0), k.constant(static_cast<int64_t>(pieces.size())), 1, "row", [&](AffineExpr row) {
    IndexExprs all = findRow(rows, row);
    k.vectorLoop(valid, c.instruction ? k.resultLanes() : k.vectorLanes(), "i", [&](AffineExpr i, Lanes across) {
      k.storeResults(c.result, k.loadBuffer(sums, c.element, row * width + i, across), c.resultAt(batch, all, column + i), across);
    });
  });
}

/// Rows of the block that begins at `rows`, counted through its units.
RowEpilogue::RowIndex ContractionEmitter::indexOfRows(ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows) const {
  return [this, batch = IndexExprs(batch), first = IndexExprs(rows)](AffineExpr row, AffineExpr column) {
    return c.resultAt(batch, findRow(first, row), column);
  };
}

ContractionEmitter::BlockSide ContractionEmitter::openSide(ArrayRef<AffineExpr> batch, const BlockRows &block) const {
  BlockSide side{PairedRows::plan(k, c, chunkColumns / c.tile.columns()), copyRest(k, c, c.lhsAt(batch, block.places.front()), block.offsets),
                 findSeenSteps(k, c, rowDims, block.places.front(), block.places.back())};
  if (side.paired)
    side.paired->copy(c.lhsAt(batch, block.places.front()), block.offsets);
  return side;
}

void ContractionEmitter::emitBlock(ArrayRef<AffineExpr> batch, AffineExpr chunk, IndexExprs rows, AffineExpr start, unsigned count,
                                   AffineExpr end) const {
  rows[cut] = k.index(k.emit(start));
  if (c.rowEpilogue)
    c.rowEpilogue->begin(count * unitRows, indexOfRows(batch, rows));
  BlockSide side = openSide(batch, listRows(rows, count, end));
  auto emitPanel = [&](AffineExpr column, Panel panel) { emitTile(batch, rows, count, column, panel, end, side); };
  forPanels(chunk, emitPanel, {}, countPanelsAtOnce(k, c, count * unitRows));
  if (c.rowEpilogue)
    c.rowEpilogue->finish();
}

//===- Steps of several rows -----------------------------------------------===//

/// What stores rows of a panel, piece by piece. Values that all rows have in common are computed here.
TileSteps::StoreRows ContractionEmitter::prepareStore(TileSteps &steps, ArrayRef<AffineExpr> batch, AffineExpr column, Panel panel,
                                                      const PlaceOfRow &place) const {
  TileSteps::StoreRows pieces;
  forPieces(panel, [&](unsigned offset, unsigned lanes) {
    SmallVector<Value> known;
    if (lanes <= k.vectorLanes())
      for (Value shared : columnValues)
        known.push_back(k.value(shared, c.resultAt(batch, place(0, k.constant(0)), column + offset), {cast<AffineDimExpr>(column).getPosition(), lanes}));
    pieces.push_back([this, &steps, batch = IndexExprs(batch), column, offset, lanes, known, place](int64_t tile, AffineExpr row) {
      Value sum = steps.load(tile, row, offset, lanes);
      for (auto [shared, computed] : llvm::zip(columnValues, known))
        k.setValue(shared, computed);
      storePiece(sum, batch, place(tile, row), column, offset, lanes);
      for (Value shared : columnValues)
        k.setValue(shared, {});
    });
  });
  return pieces;
}

/// Each block of rows asks for its share of the lines.
void ContractionEmitter::askForNextChunk(TileSteps &steps) const {
  auto blocks = getConstantDim(rowBlocks);
  if (!blocks || *blocks < coming.fewestBlocks || *blocks > coming.mostBlocks)
    return;
  int64_t lines = c.tile.vectors * c.depth / countTogether(c.instruction), share = llvm::divideCeilSigned(lines, *blocks);
  Value first = k.emit(rowBlock * share);
  Value asks = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, first, k.emitConstant(lines));
  steps.setToCome({c.panelStride * chunkColumns, first, arith::SelectOp::create(k.builder(), k.loc(), asks, k.emitConstant(share), k.emitConstant(0))});
}

void ContractionEmitter::emitRowsOfTiles(TileSteps &steps, ArrayRef<AffineExpr> batch, AffineExpr chunk, ArrayRef<AffineExpr> rows, AffineExpr start,
                                         AffineExpr first, AffineExpr second) const {
  start = k.index(k.emit(start));
  bool hasLines = cut + 1 < rowDims.size();
  auto place = [&](int64_t tile, AffineExpr row) {
    IndexExprs at(rows);
    at[cut] = hasLines ? start + tile : start + first * tile + row;
    if (hasLines)
      at.back() = row;
    return expandRows(k, c, rowDims, at);
  };
  steps.begin(first, second);
  askForNextChunk(steps);
  TileSteps::Left left{c.lhsAt(batch, place(0, k.constant(0))), c.lhsAt(batch, place(1, k.constant(0))), rowDims.back().lhsStride};
  auto rhsAt = [&](AffineExpr column) { return c.rhsAt(batch) + column * c.panelStride; };
  auto emitPanel = [&](AffineExpr column, Panel panel) {
    steps.panel(left, rhsAt(column), panel.vectors, prepareStore(steps, batch, column, panel, place));
  };
  auto emitPanels = [&](AffineExpr from, AffineExpr to, Panel whole) {
    steps.panels(from, to, whole.valid, left, rhsAt, [&](AffineExpr column) { return prepareStore(steps, batch, column, whole, place); });
  };
  forPanels(chunk, emitPanel, steps.canTakeTurns() ? PanelsBody(emitPanels) : PanelsBody());
  steps.end();
}

void ContractionEmitter::emitTileSteps(ArrayRef<AffineExpr> batch, AffineExpr chunk, ArrayRef<AffineExpr> rows, AffineExpr block) const {
  TileSteps steps(k, c);
  if (getConstantDim(rowDims[cut].extent))
    return forBlock(block, [&](AffineExpr start, unsigned count, AffineExpr) {
      // One line a tile, or as many rows in either tile.
      int64_t all = count * unitRows, first = unitRows > 1 ? unitRows : all <= c.instruction.getRows() ? all : llvm::divideCeilSigned(all, tilesAtOnce);
      emitRowsOfTiles(steps, batch, chunk, rows, start, k.constant(first), k.constant(all - first));
    });
  AffineExpr start = block * blockUnits, left = k.index(k.emit(rowDims[cut].extent - start));
  AffineExpr first = k.index(k.minimum(k.emitConstant(c.instruction.getRows()), k.emit(left)));
  AffineExpr second = k.index(k.minimum(k.emitConstant(blockUnits - std::min<int64_t>(blockUnits, c.instruction.getRows())), k.emit(left - first)));
  emitRowsOfTiles(steps, batch, chunk, rows, start, first, second);
}

LaunchInfo ContractionEmitter::run() {
  planBlocks();
  planChunks();
  IndexExprs extents(c.batch);
  extents.push_back(chunks);
  for (unsigned i = 0; i < cut; ++i)
    extents.push_back(rowDims[i].extent);
  extents.push_back(countBlocks());
  ArrayRef<AffineExpr> rowExtents = ArrayRef(extents).drop_front(c.batch.size() + 1);
  rowBlocks = simplifyDim(getNumElements(rowExtents, k.context()));
  k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
    ArrayRef<AffineExpr> batch = task.take_front(c.batch.size());
    IndexExprs rows(task.drop_front(c.batch.size() + 1).drop_back());
    rowBlock = k.constant(0);
    for (auto [extent, at] : llvm::zip_equal(rowExtents, task.take_back(rowExtents.size())))
      rowBlock = rowBlock * extent + at;
    rows.resize(rowDims.size(), k.constant(0));
    if (isTiled())
      return emitTileSteps(batch, task[c.batch.size()], rows, task.back());
    forBlock(task.back(), [&](AffineExpr start, unsigned count, AffineExpr end) { emitBlock(batch, task[c.batch.size()], rows, start, count, end); });
  });
  return contractionInfo(k, c, extents);
}

LaunchInfo lowerContraction(KernelBuilder &k, const Contraction &contraction) {
  nameTile(k, contraction);
  return ContractionEmitter(k, contraction).run();
}

} // namespace kiln
