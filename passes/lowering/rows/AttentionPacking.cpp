//===- AttentionPacking.cpp - Queries, keys and values as tiles read them ---===//
#include "passes/lowering/builder/LaneTranspose.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/rows/AttentionEmitter.h"

using namespace mlir;

namespace kiln {

using namespace nn;

void AttentionEmitter::packQueries(Batch batch) {
  double scale = op.getScale().convertToDouble();
  k.loop(k.constant(0), paddedRows, 1, "row", [&](AffineExpr row) {
    AffineExpr last = fix(firstRow + rows - 1);
    AffineExpr source = k.index(k.minimum(k.emit(firstRow + row), k.emit(last)));
    AffineExpr from = k.index(k.emit(query.at(batch, source, k.constant(0)))), to = k.index(k.emit(row * depth));
    k.vectorLoop(k.constant(depth), lanes, "d", [&](AffineExpr d, Lanes across) {
      Scalar x = scalar(load(query.buffer, from + d * query.columnStride, across));
      store(queryRows, to + d, (scale == 1.0 ? x : x * scale).value(), across);
    });
  });
}

/// Keys whose elements are contiguous are transposed in registers.
void AttentionEmitter::packSquares(ArrayRef<AffineExpr> keys, AffineExpr to) {
  AffineExpr lane = this->lane();
  Lanes across = lanesAt(lane);
  k.loop(k.constant(0), k.constant(depth / lanes * lanes), lanes, "d", [&](AffineExpr d) {
    SmallVector<Value> rows;
    for (AffineExpr key : keys)
      rows.push_back(load(this->key.buffer, key + d + lane, across));
    for (auto [i, row] : llvm::enumerate(transposeLanes(k, rows)))
      store(panel, to + (d + static_cast<int64_t>(i)) * panelWidth + lane, row, across);
  });
}

void AttentionEmitter::packElements(ArrayRef<AffineExpr> keys, AffineExpr to, int64_t from) {
  if (from == depth)
    return;
  k.loop(k.constant(from), k.constant(depth), 1, "d", [&](AffineExpr d) {
    for (auto [i, key] : llvm::enumerate(keys))
      store(panel, to + d * panelWidth + static_cast<int64_t>(i), load(this->key.buffer, key + d * this->key.columnStride));
  });
}

/// panel[d, i] = key[first + i, d]. The last key stands in for those that do not exist.
void AttentionEmitter::packPanel(Batch batch, AffineExpr first, unsigned vectors) {
  k.loop(k.constant(0), k.constant(vectors * lanes), lanes, "lane", [&](AffineExpr v) {
    IndexExprs keys;
    for (int64_t i = 0; i < lanes; ++i) {
      AffineExpr place = k.index(k.minimum(k.emit(first + v + i), k.emit(keyCount - 1)));
      keys.push_back(k.index(k.emit(key.at(batch, place, k.constant(0)))));
    }
    bool squares = lanes > 1 && key.columnStride == k.constant(1);
    if (squares && depth >= lanes)
      packSquares(keys, v);
    packElements(keys, v, squares ? depth / lanes * lanes : 0);
  });
}

/// Values whose width is not one of whole vectors get one.
void AttentionEmitter::packValues(Batch batch, KeyBlock keys) {
  k.loop(k.constant(0), keys.count, 1, "key", [&](AffineExpr j) {
    AffineExpr from = k.index(k.emit(value.at(batch, keys.first + j, k.constant(0)))), to = k.index(k.emit(j * sumStride));
    AffineExpr lane = this->lane();
    store(valueRows, to + (sumStride - lanes) + lane, k.number(element, 0, lanes), lanesAt(lane));
    k.vectorLoop(k.constant(width), lanes, "i", [&](AffineExpr i, Lanes across) {
      store(valueRows, to + i, load(value.buffer, from + i * value.columnStride, across), across);
    });
  });
}

} // namespace kiln
