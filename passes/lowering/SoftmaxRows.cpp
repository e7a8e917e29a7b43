//===- SoftmaxRows.cpp - Softmax and log-softmax as one loop over rows -----===//
//
//   for each row:  m = max x;  y = exp(x - m), s = sum y;  y = y / s            (softmax)
//                  m = max x;  s = sum exp(x - m);         y = x - m - log s    (log-softmax)
//
// A shift that --nn-prove-shortcuts has proven takes the place of the softmax's maximum, whose pass then goes.
//
// A short row stays in registers. Across columns, some of them side by side are copied to an array of the kernel: their rows may lie so far apart
// that they would drive each other out of the cache. Else a prologue is computed once: the pass for the maximum leaves its values in the result.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Scalar.h"
#include "dialects/nn/Shortcuts.h"
#include "passes/lowering/Kernels.h"
#include "passes/lowering/RowLoops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool matchSoftmaxRows(GroupOp, Operation *anchor, kernel::TargetAttr, std::string &reason) {
  if (!isa_and_nonnull<SoftmaxOp, LogSoftmaxOp>(anchor))
    return false;
  auto proof = anchor->getAttrOfType<StringAttr>(proofAttrName);
  reason = proof ? "kept whole: two passes over a row that stays in the cache; " + proof.str()
                 : "kept whole: three passes over a row that stays in the cache, instead of five kernels over the tensor";
  return true;
}

namespace {
/// One row (or `across.count` rows side by side): loops along it, values as scalars or vectors.
struct RowWalk {
  KernelBuilder &k;
  const RowShape &shape;
  Type element;
  kernel::Accuracy accuracy;
  function_ref<IndexExprs(AffineExpr)> at;
  Lanes across;

  unsigned valueLanes() const { return shape.alongRow ? 1 : across.count; }
  Value reduce(ReduceKind kind, function_ref<Value(AffineExpr, Lanes)> body) const {
    if (shape.alongRow)
      return reduceRow(k, kind, element, shape.length, k.vectorLanes(), body);
    Value init = reductionIdentity(k, kind, element, across.count);
    return k.loop(k.constant(0), shape.length, 1, "j", init, [&](AffineExpr j, ValueRange carried) -> SmallVector<Value> {
      return {combine(k, kind, element, carried.front(), body(j, across))};
    }).front();
  }
  void each(function_ref<void(AffineExpr, Lanes)> body) const {
    if (shape.alongRow)
      return k.vectorLoop(shape.length, k.vectorLanes(), "i", body);
    k.loop(k.constant(0), shape.length, 1, "j", [&](AffineExpr j) { body(j, across); });
  }
  Scalar scalar(Value value) const { return Scalar(k.builder(), k.loc(), value, element, accuracy); }
  Scalar spread(Value value, unsigned lanes) const { return scalar(k.broadcast(value, lanes)); }
};
} // namespace

/// x less a proven shift.
static Scalar subtractShift(Scalar x, double shift) { return shift == 0 ? x : x - shift; }

/// Vectors that a row in registers may have; the others hold constants of exp.
static unsigned mostInRegisters(KernelBuilder &k) { return k.target().getRegisters() / 2; }
/// Elements of the array that columns are copied to: the most for one vector of columns, and what the first-level cache holds beside the rest.
static constexpr int64_t columnScratch = 16384, usualScratch = 8192;

namespace {
/// A row of known length, cut into vectors of all sizes.
struct RegisterRow {
  const RowWalk &row;
  Operation *anchor;
  struct Piece {
    AffineExpr at;
    Lanes lanes;
    Value value;
  };
  SmallVector<Piece> pieces;

  RegisterRow(const RowWalk &row, Operation *anchor) : row(row), anchor(anchor) {}
  /// How many pieces a row of this length has.
  static int64_t countPieces(int64_t length, unsigned lanes) {
    int64_t count = length / lanes, left = length % lanes;
    for (unsigned piece = lanes / 2; piece >= 4; piece /= 2) {
      count += left / piece;
      left %= piece;
    }
    return count + left;
  }
  void load(int64_t length) {
    KernelBuilder &k = row.k;
    int64_t done = 0;
    for (unsigned size = k.vectorLanes(); size > 0; size = size > 4 ? size / 2 : size == 1 ? 0 : 1)
      for (; length - done >= size; done += size) {
        AffineExpr j = k.index(k.emitConstant(done));
        Lanes lanes{cast<AffineDimExpr>(j).getPosition(), size};
        pieces.push_back({j, lanes, k.value(anchor->getOperand(0), row.at(j), lanes)});
      }
  }
  /// Pieces of one size meet in pairs, then sizes. A maximum may pass over a NaN: the sum finds it.
  Value combineAll(ReduceKind kind) const {
    auto meet = [&](Value x, Value y) { return kind == ReduceKind::Max ? larger(row.k, x, y) : combine(row.k, kind, row.element, x, y); };
    Value total;
    for (auto *it = pieces.begin(); it != pieces.end();) {
      SmallVector<Value> same;
      for (unsigned count = it->lanes.count; it != pieces.end() && it->lanes.count == count; ++it)
        same.push_back(it->value);
      for (; same.size() > 1; same.resize((same.size() + 1) / 2))
        for (size_t i = 0; i < same.size() / 2; ++i)
          same[i] = meet(same[i], same[same.size() - 1 - i]);
      Value reduced = reduceLanes(row.k, kind, same.front());
      total = total ? meet(total, reduced) : reduced;
    }
    return total;
  }
  void emit(int64_t length);
};
} // namespace

void RegisterRow::emit(int64_t length) {
  KernelBuilder &k = row.k;
  load(length);
  auto shift = getProvenShift(anchor);
  Value maximum = shift ? Value() : combineAll(ReduceKind::Max);
  for (Piece &piece : pieces)
    piece.value = (shift ? subtractShift(row.scalar(piece.value), *shift) : row.scalar(piece.value) - row.spread(maximum, piece.lanes.count)).value();
  bool isLog = isa<LogSoftmaxOp>(anchor);
  SmallVector<Value> shifted = llvm::map_to_vector(pieces, [](const Piece &piece) { return piece.value; });
  for (Piece &piece : pieces)
    piece.value = exp(row.scalar(piece.value)).value();
  Scalar total = row.scalar(combineAll(ReduceKind::Sum));
  Value last = isLog ? log(total).value() : (total.like(1.0) / total).value();
  for (auto [piece, x] : llvm::zip_equal(pieces, shifted)) {
    Scalar factor = row.spread(last, piece.lanes.count);
    Scalar y = isLog ? row.scalar(x) - factor : row.scalar(piece.value) * factor;
    k.storeResults(anchor->getResult(0), y.value(), row.at(piece.at), piece.lanes);
  }
}

/// Whether the anchor's operand is read straight from a buffer, so that reading it again costs no computation.
static bool isPlainRead(Value operand) { return isa<BlockArgument>(operand); }

static void emitRow(const RowWalk &row, Operation *anchor) {
  KernelBuilder &k = row.k;
  Value input = anchor->getOperand(0), result = anchor->getResult(0);
  bool isLog = isa<LogSoftmaxOp>(anchor);
  auto shift = getProvenShift(anchor);
  bool keep = !shift && !isPlainRead(input);
  auto load = [&](AffineExpr j, Lanes lanes) { return keep ? k.loadResult(0, row.at(j), lanes) : k.value(input, row.at(j), lanes); };
  Value maximum = shift ? Value() : row.reduce(ReduceKind::Max, [&](AffineExpr j, Lanes lanes) {
    Value x = k.value(input, row.at(j), lanes);
    if (keep)
      k.store(0, x, row.at(j), lanes);
    return x;
  });
  Value sum = row.reduce(ReduceKind::Sum, [&](AffineExpr j, Lanes lanes) {
    Scalar x = row.scalar(load(j, lanes)), y = exp(shift ? subtractShift(x, *shift) : x - row.spread(maximum, lanes.count));
    if (!isLog)
      k.store(0, y.value(), row.at(j), lanes);
    return y.value();
  });
  Scalar total = row.scalar(sum);
  Value last = isLog ? log(total).value() : (total.like(1.0) / total).value();
  row.each([&](AffineExpr j, Lanes lanes) {
    Scalar y = isLog ? row.scalar(load(j, lanes)) - row.spread(maximum, lanes.count) - row.spread(last, lanes.count)
                     : row.scalar(k.loadResult(0, row.at(j), lanes)) * row.spread(last, lanes.count);
    k.storeResults(result, y.value(), row.at(j), lanes);
  });
}

namespace {
/// Columns: as many side by side as fit an array of the kernel, with all their rows.
struct ColumnBlocks {
  KernelBuilder &k;
  const RowShape &shape;
  Operation *anchor;
  Type element;
  int64_t length, width;

  Scalar scalar(Value value) const { return Scalar(k.builder(), k.loc(), value, element, accuracyOf(anchor)); }
  /// From row to row of the array: rows that lie a large power of two apart would share the few places of one set of the cache.
  int64_t pitch() const { return width % 128 == 0 ? width + 16 : width; }
  IndexExprs extents() const { return {shape.tasks.front(), simplifyDim(shape.across.ceilDiv(width))}; }
  void emit() const;
  void emitColumns(ArrayRef<AffineExpr> task, AffineExpr column, Value scratch, AffineExpr at, Lanes across) const;
};
} // namespace

/// One vector of columns, whose values wait in the scratch array.
void ColumnBlocks::emitColumns(ArrayRef<AffineExpr> task, AffineExpr column, Value scratch, AffineExpr at, Lanes across) const {
  auto reduce = [&](ReduceKind kind, function_ref<Value(AffineExpr, Value)> body) {
    Value init = reductionIdentity(k, kind, element, across.count);
    return scalar(k.loop(k.constant(0), k.constant(length), 1, "j", init, [&](AffineExpr j, ValueRange carried) -> SmallVector<Value> {
      return {body(at + j * pitch(), carried.front())};
    }).front());
  };
  bool isLog = isa<LogSoftmaxOp>(anchor);
  auto load = [&](AffineExpr place) { return scalar(k.loadBuffer(scratch, element, place, across)); };
  auto shift = getProvenShift(anchor);
  auto larger = [&](AffineExpr place, Value largest) { return kiln::larger(k, load(place).value(), largest); };
  Value maximum = shift ? Value() : reduce(ReduceKind::Max, larger).value();
  Scalar total = reduce(ReduceKind::Sum, [&](AffineExpr place, Value sum) {
    Scalar shifted = shift ? subtractShift(load(place), *shift) : load(place) - scalar(maximum), y = exp(shifted);
    k.storeBuffer(scratch, element, place, (isLog ? shifted : y).value(), across);
    return (scalar(sum) + y).value();
  });
  Scalar last = isLog ? log(total) : total.like(1.0) / total;
  k.loop(k.constant(0), k.constant(length), 1, "j", [&](AffineExpr j) {
    Scalar x = load(at + j * pitch()), y = isLog ? x - last : x * last;
    k.storeResults(anchor->getResult(0), y.value(), shape.at(task, j, column), across);
  });
}

void ColumnBlocks::emit() const {
  IndexExprs extents = this->extents();
  k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
    auto type = MemRefType::get({length * pitch()}, computeType(element));
    Value scratch = memref::AllocaOp::create(k.builder(), k.loc(), type, k.builder().getI64IntegerAttr(64));
    AffineExpr first = k.index(k.emit(task.back() * width)), count = k.constant(width);
    auto across = getConstantDim(shape.across);
    if (!across || *across % width != 0)
      count = across && *across < width ? k.constant(*across) : k.index(k.minimum(k.emit(count), k.emit(shape.across - first)));
    ArrayRef<AffineExpr> outer = task.drop_back();
    k.loop(k.constant(0), k.constant(length), 1, "j", [&](AffineExpr j) {
      k.vectorLoop(count, k.vectorLanes(), "column", [&](AffineExpr i, Lanes lanes) {
        Value x = k.value(anchor->getOperand(0), shape.at(outer, j, first + i), lanes);
        k.storeBuffer(scratch, element, j * pitch() + i, x, lanes);
      });
    });
    k.vectorLoop(count, k.vectorLanes(), "column", [&](AffineExpr i, Lanes lanes) { emitColumns(outer, first + i, scratch, i, lanes); });
  });
}

FailureOr<LaunchInfo> lowerSoftmaxRows(KernelBuilder &k, Operation *anchor) {
  DimExprs dims = getDims(anchor->getResult(0).getType());
  unsigned axis = anchor->getAttrOfType<IntegerAttr>("axis").getInt();
  RowShape shape = makeRowShape(k, dims, axis, axis);
  Type element = getElementTypeOrSelf(anchor->getResult(0).getType());
  AffineExpr elements = getNumElements(dims, k.context());
  auto info = [&](ArrayRef<AffineExpr> tasks) { return LaunchInfo{countTasks(k, tasks), elements * 20, elements * 8}; };
  auto length = getConstantDim(shape.length);
  unsigned lanes = k.vectorLanes();
  if (!shape.alongRow && length && lanes > 1 && *length * lanes <= columnScratch) {
    int64_t width = std::max<int64_t>(1, usualScratch / (*length * lanes)) * lanes;
    ColumnBlocks blocks{k, shape, anchor, element, *length, std::min<int64_t>(width, 1024)};
    blocks.emit();
    return info(blocks.extents());
  }
  bool inRegisters = shape.alongRow && length && lanes > 1 && *length > 0 && RegisterRow::countPieces(*length, lanes) <= mostInRegisters(k);
  forEachRow(k, shape, [&](auto at, Lanes across) {
    RowWalk row{k, shape, element, accuracyOf(anchor), at, across};
    inRegisters ? RegisterRow(row, anchor).emit(*length) : emitRow(row, anchor);
  });
  return info(shape.tasks);
}

} // namespace kiln
