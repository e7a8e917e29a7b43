//===- ElementPacking.cpp - Panels of elements that a kernel makes ----------===//
//
// Rows that are contiguous are copied in vectors, columns that are contiguous are transposed in registers.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/ElementPacking.h"
#include "passes/lowering/builder/LaneTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
class ElementPacker {
public:
  ElementPacker(KernelBuilder &k, const ElementRows &rows, Value panel, TileShape tile)
      : k(k), rows(rows), panel(panel), lanes(tile.lanes), width(tile.columns()), lane(k.index(k.emitConstant(0))),
        across{cast<AffineDimExpr>(lane).getPosition(), tile.lanes} {}
  void run();

private:
  void copyLanes(AffineExpr from, AffineExpr to);
  void transpose(AffineExpr from, AffineExpr to, AffineExpr valid);
  void copyElements(AffineExpr from, AffineExpr to, AffineExpr valid);

  KernelBuilder &k;
  const ElementRows &rows;
  Value panel;
  int64_t lanes, width;
  /// A dim that is zero stands for the lanes.
  AffineExpr lane;
  Lanes across;
};
} // namespace

/// Rows that are contiguous.
void ElementPacker::copyLanes(AffineExpr from, AffineExpr to) {
  k.loop(k.constant(0), rows.length, 1, "k", [&](AffineExpr i) {
    k.storeBuffer(panel, rows.element, to + i * width + lane, k.loadBuffer(rows.buffer, rows.element, from + i * rows.rowStride + lane, across), across);
  });
}

/// Columns that are contiguous: transposed in registers, then the rest by elements. The last column stands in for those that do not exist.
void ElementPacker::transpose(AffineExpr from, AffineExpr to, AffineExpr valid) {
  AffineExpr whole = simplifyDim(rows.length.floorDiv(lanes) * lanes);
  if (!getConstantDim(whole))
    whole = k.index(k.emit(whole));
  auto source = [&](AffineExpr column) {
    if (!getConstantDim(valid))
      column = k.index(k.minimum(k.emit(column), k.emit(valid - 1)));
    return from + column * rows.columnStride;
  };
  IndexExprs columns;
  for (int64_t column = 0; column < lanes; ++column)
    columns.push_back(source(k.constant(column)));
  k.loop(k.constant(0), whole, lanes, "k", [&](AffineExpr i) {
    SmallVector<Value> loaded;
    for (AffineExpr column : columns)
      loaded.push_back(k.loadBuffer(rows.buffer, rows.element, column + i + lane, across));
    for (auto [depth, row] : llvm::enumerate(transposeLanes(k, loaded)))
      k.storeBuffer(panel, rows.element, to + (i + static_cast<int64_t>(depth)) * width + lane, row, across);
  });
  if (whole == rows.length)
    return;
  k.loop(whole, rows.length, 1, "k", [&](AffineExpr i) {
    k.loop(k.constant(0), k.constant(lanes), 1, "column", [&](AffineExpr column) {
      k.storeBuffer(panel, rows.element, to + i * width + column, k.loadBuffer(rows.buffer, rows.element, source(column) + i));
    });
  });
}

/// Any strides, and the tail: zeros where there is no column.
void ElementPacker::copyElements(AffineExpr from, AffineExpr to, AffineExpr valid) {
  k.loop(k.constant(0), rows.length, 1, "k", [&](AffineExpr i) {
    k.storeBuffer(panel, rows.element, to + i * width + lane, k.number(rows.element, 0, across.count), across);
    k.loop(k.constant(0), valid, 1, "column", [&](AffineExpr column) {
      Value value = k.loadBuffer(rows.buffer, rows.element, from + column * rows.columnStride + i * rows.rowStride);
      k.storeBuffer(panel, rows.element, to + i * width + column, value);
    });
  });
}

void ElementPacker::run() {
  AffineExpr one = k.constant(1), side = k.constant(lanes);
  bool areColumns = rows.rowStride == one && lanes > 1, areRows = rows.columnStride == one && lanes > 1;
  k.loop(k.constant(0), k.constant(width), lanes, "lane", [&](AffineExpr v) {
    AffineExpr source = k.index(k.emit(rows.from + v * rows.columnStride)), left = k.index(k.emit(rows.columns - v)), valid = side;
    auto compare = [&](arith::CmpIPredicate predicate, AffineExpr bound) -> Value {
      return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(left), k.emit(bound));
    };
    if (!rows.areVectors || !rows.areWhole)
      valid = k.index(k.minimum(k.emit(side), k.emit(left)));
    if (!areRows)
      return k.branch(compare(arith::CmpIPredicate::sgt, k.constant(0)),
                      [&] { areColumns ? transpose(source, v, valid) : copyElements(source, v, valid); });
    k.branch(compare(arith::CmpIPredicate::sge, side), [&] { copyLanes(source, v); });
    if (!rows.areVectors)
      k.branch(compare(arith::CmpIPredicate::slt, side), [&] {
        k.branch(compare(arith::CmpIPredicate::sgt, k.constant(0)), [&] { copyElements(source, v, valid); });
      });
  });
}

void packElements(KernelBuilder &k, const ElementRows &rows, Value panel, TileShape tile) { ElementPacker(k, rows, panel, tile).run(); }

} // namespace kiln
