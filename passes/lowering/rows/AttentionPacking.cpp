//===- AttentionPacking.cpp - Queries, keys and values as tiles read them ---===//
#include "passes/lowering/builder/LaneTranspose.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/rows/AttentionEmitter.h"
#include "passes/target/choice/AttentionPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

Value AttentionEmitter::words(StringRef name, int64_t elements) {
  if (!step)
    return array(name, elements);
  return k.named(memref::AllocaOp::create(k.builder(), k.loc(), MemRefType::get({elements}, word), k.builder().getI64IntegerAttr(64)), name);
}

Value AttentionEmitter::loadWords(Value buffer, AffineExpr at, AffineExpr stride, unsigned count) {
  AffineExpr lane = this->lane();
  if (stride == k.constant(1))
    return k.loadStored(buffer, at + lane, count);
  // Widened and rounded back, which changes no bit.
  return load(buffer, at + lane * stride, Lanes{cast<AffineDimExpr>(lane).getPosition(), count});
}

void AttentionEmitter::storeWords(Value buffer, AffineExpr at, Value value) {
  AffineExpr lane = this->lane();
  auto count = static_cast<unsigned>(cast<VectorType>(value.getType()).getNumElements());
  k.storeBuffer(buffer, word, at + lane, value, Lanes{cast<AffineDimExpr>(lane).getPosition(), count});
}

/// Words are as many as a vector has lanes, and as they are given: the scale multiplies their sums.
void AttentionEmitter::packQueries(Batch batch) {
  double scale = step ? 1.0 : op.getScale().convertToDouble();
  k.loop(k.constant(0), paddedRows, 1, "row", [&](AffineExpr row) {
    AffineExpr last = fix(firstRow + rows - 1);
    AffineExpr source = k.index(k.minimum(k.emit(firstRow + row), k.emit(last)));
    AffineExpr from = k.index(k.emit(query.at(batch, source, k.constant(0)))), to = k.index(k.emit(row * depth));
    if (step)
      return k.loop(k.constant(0), k.constant(depth), lanes, "d",
                    [&](AffineExpr d) { storeWords(queryRows, to + d, loadWords(query.buffer, from + d * query.columnStride, query.columnStride, lanes)); });
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

/// Two neighbouring words of a key are a lane.
void AttentionEmitter::packSquaresOfWords(ArrayRef<AffineExpr> keys, AffineExpr to) {
  int64_t together = countTurnedWords(lanes);
  auto pairs = VectorType::get(lanes, k.builder().getI32Type()), each = VectorType::get(together, word);
  k.loop(k.constant(0), k.constant(depth), together, "d", [&](AffineExpr d) {
    SmallVector<Value> rows;
    for (AffineExpr key : keys)
      rows.push_back(vector::BitCastOp::create(k.builder(), k.loc(), pairs, loadWords(this->key.buffer, key + d, k.constant(1), together)));
    AffineExpr first = k.index(k.emit(d * panelWidth + to * 2));
    for (auto [i, row] : llvm::enumerate(transposeLanes(k, rows)))
      storeWords(panel, first + static_cast<int64_t>(i) * 2 * panelWidth, vector::BitCastOp::create(k.builder(), k.loc(), each, row));
  });
}

void AttentionEmitter::packElements(ArrayRef<AffineExpr> keys, AffineExpr to, int64_t from) {
  if (from == depth)
    return;
  int64_t together = products();
  k.loop(k.constant(from), k.constant(depth), together, "d", [&](AffineExpr d) {
    for (auto [i, key] : llvm::enumerate(keys))
      for (int64_t n = 0; n < together; ++n)
        store(panel, to * together + d * panelWidth + (static_cast<int64_t>(i) * together + n), load(this->key.buffer, key + (d + n) * this->key.columnStride));
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
    if (squares && step)
      return packSquaresOfWords(keys, v);
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

/// Pairs of rows lie in turn, and zeros beside the last one of an odd number.
void AttentionEmitter::packPairsOfValues(Batch batch, KeyBlock keys) {
  AffineExpr whole = fix(simplifyDim(keys.count.floorDiv(2) * 2));
  auto pack = [&](AffineExpr first, bool hasSecond) {
    AffineExpr from = k.index(k.emit(value.at(batch, keys.first + first, k.constant(0)))), to = k.index(k.emit(first * sumStride));
    AffineExpr next = hasSecond ? k.index(k.emit(value.at(batch, keys.first + first + 1, k.constant(0)))) : from;
    k.loop(k.constant(0), k.constant(width), lanes, "i", [&](AffineExpr i) {
      SmallVector<Value> rows{loadWords(value.buffer, from + i * value.columnStride, value.columnStride, lanes)};
      rows.push_back(hasSecond ? loadWords(value.buffer, next + i * value.columnStride, value.columnStride, lanes)
                               : arith::ConstantOp::create(k.builder(), k.loc(), k.builder().getZeroAttr(rows.front().getType())).getResult());
      for (auto [half, words] : llvm::enumerate(interleaveRows(k, rows)))
        storeWords(valueRows, to + i * 2 + static_cast<int64_t>(half) * lanes, words);
    });
  };
  k.loop(k.constant(0), whole, 2, "key", [&](AffineExpr j) { pack(j, true); });
  if (whole != keys.count)
    k.loop(whole, keys.count, 2, "key", [&](AffineExpr j) { pack(j, false); });
}

} // namespace kiln
