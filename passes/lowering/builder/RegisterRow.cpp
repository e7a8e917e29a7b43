//===- RegisterRow.cpp - A softmax's row in registers ----------------------===//
#include "passes/lowering/builder/RegisterRow.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/Shortcuts.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Calls body(done, size) for each vector of a row, wide ones first.
static void forVectors(int64_t length, unsigned lanes, function_ref<void(int64_t done, unsigned size)> body) {
  int64_t done = 0;
  for (unsigned size = lanes; size > 0; size = size > 4 ? size / 2 : size == 1 ? 0 : 1)
    for (; length - done >= size; done += size)
      body(done, size);
}

SmallVector<RowPiece> cutRow(KernelBuilder &k, AffineExpr first, int64_t length, unsigned lanes) {
  SmallVector<RowPiece> pieces;
  forVectors(length, lanes, [&](int64_t done, unsigned size) {
    AffineExpr column = k.index(k.emit(first + done));
    pieces.push_back({column, Lanes{cast<AffineDimExpr>(column).getPosition(), size}, Value()});
  });
  return pieces;
}

int64_t countPieces(int64_t length, unsigned lanes) {
  int64_t count = 0;
  forVectors(length, lanes, [&](int64_t, unsigned) { ++count; });
  return count;
}

Scalar subtractShift(Scalar x, double shift) { return shift == 0 ? x : x - shift; }

Scalar shiftedExp(Scalar x, bool isProven) {
  Scalar y = exp(x);
  if (auto op = isProven ? y.value().getDefiningOp<math::ExpOp>() : math::ExpOp())
    op->setAttr(kernel::normalAttrName, UnitAttr::get(op.getContext()));
  return y;
}

Scalar RegisterRow::scalar(Value value) const {
  return Scalar(k.builder(), k.loc(), value, getElementTypeOrSelf(anchor->getResult(0).getType()), accuracyOf(anchor));
}

Value RegisterRow::combine(ReduceKind kind) const {
  Type element = getElementTypeOrSelf(anchor->getResult(0).getType());
  auto meet = [&](Value x, Value y) { return kind == ReduceKind::Max ? larger(k, x, y) : kiln::combine(k, kind, element, x, y); };
  Value total;
  for (auto *it = pieces.begin(); it != pieces.end();) {
    SmallVector<Value> same;
    for (unsigned count = it->lanes.count; it != pieces.end() && it->lanes.count == count; ++it)
      same.push_back(it->value);
    for (; same.size() > 1; same.resize((same.size() + 1) / 2))
      for (size_t i = 0; i < same.size() / 2; ++i)
        same[i] = meet(same[i], same[same.size() - 1 - i]);
    Value reduced = reduceLanes(k, kind, element, same.front());
    total = total ? meet(total, reduced) : reduced;
  }
  return total;
}

void RegisterRow::finish(function_ref<IndexExprs(AffineExpr)> at) {
  auto shift = getProvenShift(anchor);
  Value maximum = shift ? Value() : k.named(combine(ReduceKind::Max), "maximum");
  for (RowPiece &piece : pieces)
    piece.value = (shift ? subtractShift(scalar(piece.value), *shift) : scalar(piece.value) - spread(maximum, piece)).value();
  bool isLog = isa<LogSoftmaxOp>(anchor);
  SmallVector<Value> shifted = llvm::map_to_vector(pieces, [](const RowPiece &piece) { return piece.value; });
  size_t atOnce = k.target().tuned(kernel::Tuned::ExpsAtOnce);
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    if (atOnce && i >= atOnce)
      piece.value = kernel::AfterOp::create(k.builder(), k.loc(), piece.value.getType(), piece.value, pieces[i - atOnce].value);
    piece.value = k.named(shiftedExp(scalar(piece.value), shift.has_value()).value(), "e");
  }
  Scalar total = scalar(k.named(combine(ReduceKind::Sum), "total"));
  Value last = isLog ? k.named(log(total).value(), "log_total") : k.named((total.like(1.0) / total).value(), "inverse");
  for (auto [piece, x] : llvm::zip_equal(pieces, shifted))
    piece.value = (isLog ? scalar(x) - spread(last, piece) : scalar(piece.value) * spread(last, piece)).value();
  store(at);
}

/// Pieces that the target stores together are joined, two and two.
void RegisterRow::store(function_ref<IndexExprs(AffineExpr)> at) {
  for (unsigned count = k.vectorLanes(); count < k.resultLanes(); count *= 2) {
    SmallVector<RowPiece> joined;
    for (size_t i = 0; i < pieces.size(); ++i) {
      joined.push_back(pieces[i]);
      if (i + 1 == pieces.size() || pieces[i].lanes.count != count || pieces[i + 1].lanes.count != count)
        continue;
      auto positions = llvm::to_vector(llvm::seq<int64_t>(0, 2 * count));
      joined.back().value = vector::ShuffleOp::create(k.builder(), k.loc(), pieces[i].value, pieces[i + 1].value, positions);
      joined.back().lanes.count = 2 * count;
      ++i;
    }
    pieces = std::move(joined);
  }
  for (const RowPiece &piece : pieces)
    k.storeResults(anchor->getResult(0), piece.value, at(piece.column), piece.lanes);
}

} // namespace kiln
