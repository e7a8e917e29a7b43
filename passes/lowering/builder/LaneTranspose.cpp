//===- LaneTranspose.cpp - A square block of elements in registers ---------===//
//
// One step for each bit of a lane number: it swaps that bit with the same bit of the row number, in pairs of rows. With lanes of two bits
//
//   a0 a1 a2 a3        a0 b0 a2 b2        a0 b0 c0 d0
//   b0 b1 b2 b3   ->   a1 b1 a3 b3   ->   a1 b1 c1 d1
//   c0 c1 c2 c3        c0 d0 c2 d2        a2 b2 c2 d2
//   d0 d1 d2 d3        c1 d1 c3 d3        a3 b3 c3 d3
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/builder/LaneTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

std::pair<Value, Value> exchangeLanes(KernelBuilder &k, Value a, Value b, int64_t bit) {
  int64_t lanes = cast<VectorType>(a.getType()).getNumElements();
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    low.push_back(lane & bit ? lanes + lane - bit : lane);
    high.push_back(lane & bit ? lanes + lane : lane + bit);
  }
  Value without = vector::ShuffleOp::create(k.builder(), k.loc(), a, b, low);
  return {without, vector::ShuffleOp::create(k.builder(), k.loc(), a, b, high)};
}

SmallVector<Value> moveLanes(KernelBuilder &k, ArrayRef<Value> vectors, function_ref<SmallVector<Value>(ArrayRef<Value>)> move) {
  SmallVector<Value> stored;
  for (Value vector : vectors)
    if (auto widened = vector.getDefiningOp<arith::ExtFOp>(); widened && (stored.empty() || stored.front().getType() == widened.getIn().getType()))
      stored.push_back(widened.getIn());
  if (stored.size() != vectors.size() || vectors.empty())
    return move(vectors);
  Type wide = vectors.front().getType();
  return llvm::map_to_vector(move(stored), [&](Value moved) -> Value { return arith::ExtFOp::create(k.builder(), k.loc(), wide, moved); });
}

static SmallVector<Value> transposeSquare(KernelBuilder &k, ArrayRef<Value> rows) {
  SmallVector<Value> block(rows);
  int64_t lanes = rows.size();
  for (int64_t bit = 1; bit < lanes; bit *= 2)
    for (int64_t row = 0; row < lanes; ++row)
      if (!(row & bit))
        std::tie(block[row], block[row + bit]) = exchangeLanes(k, block[row], block[row + bit], bit);
  return block;
}

SmallVector<Value> transposeLanes(KernelBuilder &k, ArrayRef<Value> rows) {
  return moveLanes(k, rows, [&](ArrayRef<Value> vectors) { return transposeSquare(k, vectors); });
}

Value sumEachVector(KernelBuilder &k, SmallVector<Value> vectors) {
  int64_t lanes = vectors.size();
  for (int64_t bit = 1; bit < lanes; bit *= 2) {
    SmallVector<Value> next;
    for (size_t i = 0; i < vectors.size(); i += 2) {
      auto [a, b] = exchangeLanes(k, vectors[i], vectors[i + 1], bit);
      next.push_back(arith::AddFOp::create(k.builder(), k.loc(), a, b));
    }
    vectors = next;
  }
  return vectors.front();
}

SmallVector<Value> interleaveRows(KernelBuilder &k, ArrayRef<Value> rows) {
  if (rows.size() == 1)
    return {rows.front()};
  SmallVector<Value> halves[2], woven;
  for (auto [i, row] : llvm::enumerate(rows))
    halves[i % 2].push_back(row);
  SmallVector<Value> even = interleaveRows(k, halves[0]), odd = interleaveRows(k, halves[1]);
  int64_t lanes = cast<VectorType>(rows.front().getType()).getNumElements();
  for (auto [a, b] : llvm::zip_equal(even, odd))
    for (int64_t first : {int64_t(0), lanes / 2}) {
      SmallVector<int64_t> order;
      for (int64_t i = first; i < first + lanes / 2; ++i)
        order.append({i, lanes + i});
      woven.push_back(vector::ShuffleOp::create(k.builder(), k.loc(), a, b, order));
    }
  return woven;
}

} // namespace kiln
