//===- ProductSoftmax.cpp - A product and the softmax of its rows ----------===//
//
//   for each block of rows:
//     for each strip of a few tiles of the product, while it is in the first-level cache, and each of its rows:
//       if its largest value is above top:  total = total * exp(top - largest), top = largest          (the running maximum and sum)
//       y = exp(x - top), total = total + sum y;  mark of this row and strip = top
//     for each row and strip:  y = y * (exp(mark - top) / total)
//
// So the maximum and the sum cost no loop over the row, and each element one exponential. A log-softmax keeps x instead of y. Columns that fit one
// tile never leave the registers; those of one strip need nothing that runs. With a proven shift there is neither a top nor a mark.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Shortcuts.h"
#include "passes/lowering/contraction/MatmulTiled.h"
#include "passes/lowering/convolution/ConvTiled.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static bool isSoftmax(Operation *op) { return isa_and_nonnull<SoftmaxOp, LogSoftmaxOp>(op); }

/// The second anchor of a group of this form.
static Operation *getSoftmax(GroupOp group) { return &*llvm::find_if(group.getBody().front(), [](Operation &op) { return isSoftmax(&op); }); }

/// Whether the softmax is along the product's columns, whose number is known.
static bool isAlongColumns(Operation *softmax, Operation *product) {
  DimExprs dims = getDims(product->getResult(0).getType());
  return getDims(softmax->getResult(0).getType()) == dims && cast<AlongAxis>(softmax).getAxis() + 1 == dims.size() && getConstantDim(dims.back());
}

KernelMatch matchProductSoftmax(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  KernelMatch product = isa<ConvOp>(anchor) ? matchConvTiled(group, anchor, target) : matchGemmTiled(group, anchor, target);
  if (!product)
    return product;
  if (!isAlongColumns(getSoftmax(group), anchor))
    return refuse("expected a softmax along the product's columns, and their number known");
  // The tiles of a strip, and exp of it, are in registers at once.
  TileShape tile = toTile(product.numbers.tile);
  product.numbers.strip = std::max<int64_t>(1, getQuarterOfRegisters(target) / tile.vectors) * tile.columns();
  if (auto proof = getShiftProof(getSoftmax(group)))
    return accept("softmax in the product's epilogue: strips of tiles keep a running sum of each row; " + proof.getValue(), product.numbers);
  return accept("softmax in the product's epilogue: strips of tiles keep a running maximum and sum of each row", product.numbers);
}

//===- The epilogue --------------------------------------------------------===//

namespace {
class SoftmaxEpilogue : public RowEpilogue {
public:
  SoftmaxEpilogue(KernelBuilder &k, Value product, Operation *softmax, TileShape tile, int64_t columns)
      : k(k), product(product), softmax(softmax), element(getElementTypeOrSelf(product.getType())), shift(getProvenShift(softmax)),
        isLog(isa<LogSoftmaxOp>(softmax)), width(tile.columns()), lanes(tile.lanes), columns(columns),
        strip(k.group().getPlan()->getStrip()) {}

  void begin(int64_t rows, RowIndex at) override;
  void addTile(AffineExpr first, ArrayRef<SmallVector<RowPiece>> rows) override;
  void finish() override;

private:
  SmallVector<RowPiece> computeRow(AffineExpr row, ArrayRef<RowPiece> pieces);
  RegisterRow loadRow(AffineExpr row, AffineExpr first, int64_t count);
  void addStrip(AffineExpr first, int64_t count);
  void addRow(AffineExpr row, AffineExpr first, int64_t count);
  Value raiseTop(AffineExpr row, const RegisterRow &values);
  void finishRow(AffineExpr row);
  void scaleStrip(AffineExpr row, AffineExpr first, int64_t count, Scalar factor);

  bool isOneTile() const { return columns <= width; }
  bool isOneStrip() const { return columns <= strip; }
  bool hasMarks() const { return !shift && !isLog; }
  int64_t strips() const { return llvm::divideCeilSigned(columns, strip); }
  void forRows(function_ref<void(AffineExpr)> body) { k.loop(k.constant(0), k.constant(rows), 1, "row", body); }
  Scalar scalar(Value value) const { return Scalar(k.builder(), k.loc(), value, element, accuracyOf(softmax)); }
  Value load(Value buffer, AffineExpr at) { return k.loadBuffer(buffer, element, at); }
  void store(Value buffer, AffineExpr at, Value value) { k.storeBuffer(buffer, element, at, value); }
  void put(AffineExpr row, AffineExpr column, Value value, Lanes across);
  Value get(AffineExpr row, AffineExpr column, Lanes across);

  KernelBuilder &k;
  Value product;
  Operation *softmax;
  Type element;
  std::optional<double> shift;
  bool isLog;
  int64_t width;
  unsigned lanes;
  /// Of a row, and of a strip.
  int64_t columns, strip;
  /// Of the block that is being written: a number for each row, and for each row and strip.
  int64_t rows = 0;
  RowIndex at;
  Value tops, totals, marks;
  /// The rows themselves, if results of another type cannot hold them meanwhile; else null.
  Value kept;
};
} // namespace

void SoftmaxEpilogue::put(AffineExpr row, AffineExpr column, Value value, Lanes across) {
  if (kept)
    return k.storeBuffer(kept, element, row * columns + column, value, across);
  k.store(0, value, at(row, column), across);
}

Value SoftmaxEpilogue::get(AffineExpr row, AffineExpr column, Lanes across) {
  return kept ? k.loadBuffer(kept, element, row * columns + column, across) : k.loadResult(0, at(row, column), across);
}

void SoftmaxEpilogue::begin(int64_t rowCount, RowIndex index) {
  rows = rowCount;
  at = index;
  if (!isOneTile() && !storesElements(k, element))
    kept = k.array("kept", element, rows * columns);
  if (isOneStrip())
    return;
  totals = k.array("totals", element, rows);
  if (!shift)
    tops = k.array("tops", element, rows);
  if (hasMarks())
    marks = k.array("marks", element, rows * strips());
  forRows([&](AffineExpr row) {
    store(totals, row, k.number(element, 0));
    if (!shift)
      store(tops, row, k.number(element, lowest));
  });
}

/// The softmax's operand for pieces of the product.
SmallVector<RowPiece> SoftmaxEpilogue::computeRow(AffineExpr row, ArrayRef<RowPiece> pieces) {
  SmallVector<RowPiece> computed(pieces);
  for (RowPiece &piece : computed) {
    k.setValue(product, piece.value);
    piece.value = k.value(softmax->getOperand(0), at(row, piece.column), piece.lanes);
  }
  return computed;
}

void SoftmaxEpilogue::addTile(AffineExpr first, ArrayRef<SmallVector<RowPiece>> tile) {
  for (auto [number, pieces] : llvm::enumerate(tile)) {
    AffineExpr row = k.constant(number);
    RegisterRow values{k, softmax, computeRow(row, pieces)};
    if (isOneTile()) {
      values.finish([&](AffineExpr column) { return at(row, column); });
      continue;
    }
    for (const RowPiece &piece : values.pieces)
      put(row, piece.column, piece.value, piece.lanes);
  }
  int64_t valid = 0;
  for (const RowPiece &piece : tile.front())
    valid += piece.lanes.count;
  // Columns that fill no tile belong to the last strip.
  if (isOneStrip() || valid < width)
    return;
  AffineExpr end = first + width;
  if (strip == width)
    return addStrip(first, width);
  Value rest = k.emit(end % strip);
  k.branch(arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::eq, rest, k.emitConstant(0)), [&] { addStrip(end - strip, strip); });
}

void SoftmaxEpilogue::addStrip(AffineExpr first, int64_t count) {
  first = k.index(k.emit(first));
  forRows([&](AffineExpr row) { addRow(row, first, count); });
}

RegisterRow SoftmaxEpilogue::loadRow(AffineExpr row, AffineExpr first, int64_t count) {
  RegisterRow values{k, softmax, cutRow(k, first, count, lanes)};
  for (RowPiece &piece : values.pieces)
    piece.value = get(row, piece.column, piece.lanes);
  return values;
}

/// The row's top with these values among it; what has been summed shrinks when it rises.
Value SoftmaxEpilogue::raiseTop(AffineExpr row, const RegisterRow &values) {
  Value top = k.named(load(tops, row), "top"), largest = k.named(larger(k, values.combine(ReduceKind::Max), top), "largest");
  Value rises = arith::CmpFOp::create(k.builder(), k.loc(), arith::CmpFPredicate::OGT, largest, top);
  k.branch(rises, [&] {
    store(totals, row, (scalar(load(totals, row)) * exp(scalar(top) - scalar(largest))).value());
    store(tops, row, largest);
  });
  return largest;
}

void SoftmaxEpilogue::addRow(AffineExpr row, AffineExpr first, int64_t count) {
  RegisterRow values = loadRow(row, first, count);
  Value top = shift ? Value() : raiseTop(row, values);
  for (RowPiece &piece : values.pieces) {
    Scalar x = scalar(piece.value), y = shiftedExp(shift ? subtractShift(x, *shift) : x - values.spread(top, piece), shift.has_value());
    piece.value = k.named(y.value(), "e");
    if (!isLog)
      put(row, piece.column, piece.value, piece.lanes);
  }
  store(totals, row, (scalar(load(totals, row)) + scalar(values.combine(ReduceKind::Sum))).value());
  if (hasMarks())
    store(marks, row * strips() + first.floorDiv(strip), top);
}

/// Columns that share a factor.
void SoftmaxEpilogue::scaleStrip(AffineExpr row, AffineExpr first, int64_t count, Scalar factor) {
  RegisterRow values = loadRow(row, first, count);
  for (const RowPiece &piece : values.pieces) {
    Scalar y = scalar(piece.value) * values.spread(factor.value(), piece);
    k.storeResults(softmax->getResult(0), y.value(), at(row, piece.column), piece.lanes);
  }
}

void SoftmaxEpilogue::finishRow(AffineExpr row) {
  Scalar total = scalar(load(totals, row));
  if (isLog) {
    Scalar top = scalar(load(tops, row)), last = log(total);
    k.named(last.value(), "log_total");
    return k.vectorLoop(k.constant(columns), lanes, "i", [&](AffineExpr i, Lanes across) {
      auto spread = [&](Scalar x) { return scalar(k.broadcast(x.value(), across.count)); };
      Scalar y = scalar(get(row, i, across)) - spread(top) - spread(last);
      k.storeResults(softmax->getResult(0), y.value(), at(row, i), across);
    });
  }
  Scalar inverse = scalar(k.named((total.like(1.0) / total).value(), "inverse"));
  if (hasMarks()) {
    Value top = load(tops, row);
    k.vectorLoop(k.constant(strips()), k.vectorLanes(), "strip", [&](AffineExpr number, Lanes across) {
      auto spread = [&](Value x) { return scalar(k.broadcast(x, across.count)); };
      AffineExpr place = row * strips() + number;
      Scalar factor = exp(scalar(k.loadBuffer(marks, element, place, across)) - spread(top)) * spread(inverse.value());
      k.storeBuffer(marks, element, place, factor.value(), across);
    });
  }
  auto scale = [&](AffineExpr number, int64_t count) {
    AffineExpr first = k.index(k.emit(number * strip));
    scaleStrip(row, first, count, hasMarks() ? scalar(load(marks, row * strips() + number)) : inverse);
  };
  k.loop(k.constant(0), k.constant(columns / strip), 1, "strip", [&](AffineExpr number) { scale(number, strip); });
  if (columns % strip != 0)
    scale(k.constant(columns / strip), columns % strip);
}

void SoftmaxEpilogue::finish() {
  if (isOneTile())
    return;
  if (isOneStrip())
    return forRows([&](AffineExpr row) { loadRow(row, k.constant(0), columns).finish([&](AffineExpr column) { return at(row, column); }); });
  if (columns % strip != 0)
    addStrip(k.constant(columns / strip * strip), columns % strip);
  forRows([&](AffineExpr row) { finishRow(row); });
}

FailureOr<LaunchInfo> lowerProductSoftmax(KernelBuilder &k, Operation *anchor) {
  auto conv = dyn_cast<ConvOp>(anchor);
  Contraction c = conv ? makeTiledConv(k, conv) : makeTiledMatmul(k, cast<MatmulOp>(anchor));
  Operation *softmax = getSoftmax(k.group());
  SoftmaxEpilogue epilogue(k, c.result, softmax, c.tile, *getConstantDim(c.columns));
  c.rowEpilogue = &epilogue;
  c.rowValues = {softmax->getOperand(0)};
  return lowerContraction(k, c);
}

} // namespace kiln
