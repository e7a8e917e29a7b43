//===- PanelPacking.cpp - Panels of bytes that a kernel makes ---------------===//
//
// A lane of 32 bits of a panel has four rows of one column. Rows that are contiguous are woven by fours; columns that are contiguous have these four bytes
// side by side already, so they are words, and the panel is their transpose.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/PanelPacking.h"
#include "passes/lowering/builder/LaneTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Rows of a lane.
static constexpr int64_t together = 4;

namespace {
class QuadPacker {
public:
  QuadPacker(KernelBuilder &k, const ByteRows &rows, Value panel, TileShape tile) : k(k), rows(rows), panel(panel), lanes(tile.lanes), width(tile.columns()) {}
  void run();

private:
  void weave(AffineExpr column, int64_t count);
  void transpose(AffineExpr column, AffineExpr valid);
  void copy(AffineExpr column, AffineExpr valid);
  Type byte() const { return k.builder().getI8Type(); }
  Value compare(arith::CmpIPredicate predicate, AffineExpr left, AffineExpr right) {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(left), k.emit(right));
  }
  AffineExpr at(AffineExpr row, AffineExpr column) const { return row * width + column * together; }
  AffineExpr source(AffineExpr row, AffineExpr column) const { return rows.from + row * rows.rowStride + column * rows.columnStride; }
  /// A dim that is zero here stands for `count` bytes.
  std::pair<AffineExpr, Lanes> bytes(int64_t count) {
    AffineExpr lane = k.index(k.emitConstant(0));
    return {lane, Lanes{cast<AffineDimExpr>(lane).getPosition(), static_cast<unsigned>(count)}};
  }

  KernelBuilder &k;
  const ByteRows &rows;
  Value panel;
  int64_t lanes, width;
};
} // namespace

/// `count` columns of four contiguous rows at a time.
void QuadPacker::weave(AffineExpr column, int64_t count) {
  auto [lane, across] = bytes(count);
  k.loop(k.constant(0), rows.length, together, "k", [&, lane = lane, across = across](AffineExpr row) {
    SmallVector<Value> four;
    for (int64_t i = 0; i < together; ++i)
      four.push_back(k.loadBuffer(rows.buffer, byte(), source(row + i, column) + lane, across));
    for (auto [i, woven] : llvm::enumerate(interleaveRows(k, four)))
      k.storeBuffer(panel, byte(), at(row, column) + static_cast<int64_t>(i) * count + lane, woven, across);
  });
}

/// As many columns as a vector has words. The last one stands in for those that do not exist; nobody reads their products.
void QuadPacker::transpose(AffineExpr column, AffineExpr valid) {
  auto [lane, across] = bytes(lanes * together);
  SmallVector<AffineExpr> columns;
  for (int64_t i = 0; i < lanes; ++i) {
    AffineExpr own = rows.isWhole ? k.constant(i) : k.index(k.minimum(k.emitConstant(i), k.emit(valid - 1)));
    columns.push_back(k.index(k.emit(source(k.constant(0), column + own))));
  }
  auto words = VectorType::get(lanes, k.builder().getI32Type()), all = VectorType::get(lanes * together, byte());
  AffineExpr whole = simplifyDim(rows.length.floorDiv(lanes * together) * (lanes * together));
  if (!getConstantDim(whole))
    whole = k.index(k.emit(whole));
  k.loop(k.constant(0), whole, lanes * together, "k", [&, lane = lane, across = across](AffineExpr row) {
    SmallVector<Value> loaded;
    for (AffineExpr start : columns)
      loaded.push_back(vector::BitCastOp::create(k.builder(), k.loc(), words, k.loadBuffer(rows.buffer, byte(), start + row + lane, across)));
    for (auto [i, quads] : llvm::enumerate(transposeLanes(k, loaded))) {
      Value stored = vector::BitCastOp::create(k.builder(), k.loc(), all, quads);
      k.storeBuffer(panel, byte(), at(row + static_cast<int64_t>(i) * together, column) + lane, stored, across);
    }
  });
  if (whole == rows.length)
    return;
  auto [first, four] = bytes(together);
  k.loop(whole, rows.length, together, "k", [&, first = first, four = four](AffineExpr row) {
    for (auto [i, start] : llvm::enumerate(columns))
      k.storeBuffer(panel, byte(), at(row, column + static_cast<int64_t>(i)) + first, k.loadBuffer(rows.buffer, byte(), start + row + first, four), four);
  });
}

/// Any strides, and less than four rows: byte by byte.
void QuadPacker::copy(AffineExpr column, AffineExpr valid) {
  k.loop(k.constant(0), rows.length, together, "k", [&](AffineExpr row) {
    AffineExpr count = k.index(k.minimum(k.emitConstant(together), k.emit(rows.length - row)));
    k.loop(k.constant(0), valid, 1, "column", [&](AffineExpr i) {
      for (int64_t j = 0; j < together; ++j)
        k.storeBuffer(panel, byte(), at(row, column + i) + j, k.number(byte(), 0));
      k.loop(k.constant(0), count, 1, "row", [&](AffineExpr j) {
        k.storeBuffer(panel, byte(), at(row, column + i) + j, k.loadBuffer(rows.buffer, byte(), source(row + j, column + i)));
      });
    });
  });
}

void QuadPacker::run() {
  AffineExpr one = k.constant(1);
  bool areColumns = rows.rowStride == one && rows.areFours, areRows = rows.columnStride == one && rows.areFours && !areColumns;
  // Rows of as many vectors as the panel has a power of two of.
  int64_t step = !areRows ? lanes : lanes * static_cast<int64_t>(1 << llvm::countr_zero(static_cast<uint64_t>(width / lanes)));
  k.loop(k.constant(0), k.constant(width), step, "column", [&](AffineExpr column) {
    if (rows.isWhole && areColumns)
      return transpose(column, k.constant(step));
    if (rows.isWhole && areRows)
      return weave(column, step);
    AffineExpr left = k.index(k.emit(rows.columns - column)), valid = k.index(k.minimum(k.emitConstant(step), k.emit(left)));
    if (areRows) {
      k.branch(compare(arith::CmpIPredicate::sge, left, k.constant(step)), [&] { weave(column, step); });
      return k.branch(compare(arith::CmpIPredicate::slt, left, k.constant(step)), [&] { copy(column, valid); });
    }
    k.branch(compare(arith::CmpIPredicate::sgt, left, k.constant(0)), [&] { areColumns ? transpose(column, valid) : copy(column, valid); });
  });
}

void packQuads(KernelBuilder &k, const ByteRows &rows, Value panel, TileShape tile) { QuadPacker(k, rows, panel, tile).run(); }

} // namespace kiln
