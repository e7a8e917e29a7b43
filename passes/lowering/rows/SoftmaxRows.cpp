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
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "dialects/nn/Shortcuts.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/lowering/builder/RegisterRow.h"
#include "passes/lowering/rows/RowWalk.h"

using namespace mlir;

namespace kiln {

using namespace nn;

//===- The plan ------------------------------------------------------------===//

namespace {
/// The rows of a softmax, as far as its plan depends on them.
struct SoftmaxShape {
  /// nullopt: known at run time only.
  std::optional<int64_t> length, across;
  /// Whether a row is contiguous.
  bool alongRow;
  unsigned lanes;

  SoftmaxShape(GroupOp group, Operation *anchor, kernel::TargetAttr target) : lanes(countLanes(group, target)) {
    DimExprs dims = getDims(anchor->getResult(0).getType());
    unsigned axis = cast<AlongAxis>(anchor).getAxis();
    length = getConstantDim(dims[axis]);
    across = getConstantDim(simplifyDim(getNumElements(ArrayRef(dims).drop_front(axis + 1), group.getContext())));
    alongRow = across == 1;
  }
};
} // namespace

/// Elements of the array that columns are copied to, at most: it lies on the stack.
static constexpr int64_t mostColumnElements = 16384;
/// Vectors of a row in registers: more than any register file has. All of them are written out.
static constexpr int64_t mostPieces = 64;

/// How many columns go side by side: half of the first-level cache is for them, so that wherever the array lies in it, the lines of the input and of the
/// output have room as well (a full one cost up to a half more time, by the stack's address). 0: a vector of columns is too much.
static int64_t chooseColumns(const SoftmaxShape &shape, kernel::TargetAttr target) {
  int64_t column = *shape.length * shape.lanes;
  if (column > mostColumnElements)
    return 0;
  int64_t mostColumns = llvm::alignDown(target.tuned(kernel::Tuned::MostColumns), shape.lanes);
  int64_t width = std::min<int64_t>(std::max<int64_t>(1, target.tuned(kernel::Tuned::ColumnElements) / column) * shape.lanes, mostColumns);
  // Threads share the blocks evenly.
  int64_t evenBlocks = target.tuned(kernel::Tuned::Shares);
  if (shape.across && *shape.across > width)
    width = llvm::alignTo(llvm::divideCeil(*shape.across, llvm::alignTo(llvm::divideCeil(*shape.across, width), evenBlocks)), shape.lanes);
  return width;
}

static PlanNumbers planSoftmax(const SoftmaxShape &shape, kernel::TargetAttr target) {
  PlanNumbers numbers;
  if (shape.length.value_or(0) == 0 || shape.lanes == 1)
    return numbers;
  if (shape.alongRow)
    numbers.inRegisters = countPieces(*shape.length, shape.lanes) <= getHalfOfRegisters(target);
  else
    numbers.columns = chooseColumns(shape, target);
  return numbers;
}

KernelMatch matchSoftmaxRows(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  PlanNumbers numbers = planSoftmax(SoftmaxShape(group, anchor, target), target);
  if (auto proof = getShiftProof(anchor))
    return accept("kept whole: two passes over a row that stays in the cache; " + proof.getValue(), std::move(numbers));
  return accept("kept whole: three passes over a row that stays in the cache, instead of five kernels over the tensor", std::move(numbers));
}

std::string findSoftmaxFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  SoftmaxShape shape(group, anchor, kernel::getTarget(group));
  if (!plan.getInRegisters() && !plan.getColumns())
    return "";
  if (shape.length.value_or(0) == 0)
    return shape.length ? "rows have no elements" : "only run time knows the length of a row";
  if (plan.getInRegisters() && (!shape.alongRow || plan.getColumns()))
    return "it is across rows, so no row is in registers";
  if (int64_t pieces = countPieces(*shape.length, shape.lanes); plan.getInRegisters())
    return pieces <= mostPieces ? "" : "a row in registers would have " + std::to_string(pieces) + " vectors, expected at most " + std::to_string(mostPieces);
  int64_t columns = plan.getColumns(), elements = *shape.length * columns;
  if (shape.alongRow)
    return "it is along rows, so there are no 'columns'";
  if (columns % shape.lanes != 0)
    return "'columns' is " + std::to_string(columns) + ", expected a multiple of the " + std::to_string(shape.lanes) + " lanes of a vector";
  return elements <= mostColumnElements ? ""
                                        : "'columns' would have " + std::to_string(elements) + " elements, expected at most " +
                                              std::to_string(mostColumnElements);
}

//===- Lowering ------------------------------------------------------------===//

/// A row of halves, or one whose results are other elements, is kept in f32 on the stack up to here.
static constexpr int64_t longestSoftmaxRow = 16384;

static void emitRow(const RowWalk &row, Operation *anchor) {
  KernelBuilder &k = row.k;
  bool isLog = isa<LogSoftmaxOp>(anchor);
  auto [maximum, total] = emitExponentials(row, anchor);
  Value last = isLog ? k.named(log(total).value(), "log_total") : k.named((total.like(1.0) / total).value(), "inverse");
  row.each([&, maximum = maximum](AffineExpr j, Lanes lanes) {
    auto exponential = [&] { return row.isKept() ? row.scalar(row.get(j, lanes)) : emitExponential(row, anchor, maximum, j, lanes); };
    Scalar y = isLog ? row.scalar(row.load(j, lanes)) - row.spread(maximum, lanes.count) - row.spread(last, lanes.count)
                     : exponential() * row.spread(last, lanes.count);
    k.storeResults(anchor->getResult(0), y.value(), row.at(j), lanes);
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
  void copyIn(ArrayRef<AffineExpr> task, AffineExpr first, AffineExpr count, Value scratch) const;
  void emitColumns(Value scratch, AffineExpr at, Lanes across, function_ref<void(AffineExpr, Scalar)> store) const;
};
} // namespace

/// Rows of the array are filled up to a whole vector.
void ColumnBlocks::copyIn(ArrayRef<AffineExpr> task, AffineExpr first, AffineExpr count, Value scratch) const {
  unsigned lanes = k.vectorLanes();
  AffineExpr filled = simplifyDim(count.ceilDiv(lanes) * lanes);
  Value zero = k.number(element, 0);
  k.loop(k.constant(0), k.constant(length), 1, "j", [&](AffineExpr j) {
    k.vectorLoop(count, lanes, "column", [&](AffineExpr i, Lanes across) {
      Value x = k.value(anchor->getOperand(0), shape.at(task, j, first + i), across);
      k.storeBuffer(scratch, element, j * pitch() + i, x, across);
    });
    if (filled != count)
      k.loop(count, filled, 1, "column", [&](AffineExpr i) {
        k.storeBuffer(scratch, element, j * pitch() + i, zero);
      });
  });
}

/// One vector of columns, whose values wait in the scratch array; `store` gets the row and the result.
void ColumnBlocks::emitColumns(Value scratch, AffineExpr at, Lanes across, function_ref<void(AffineExpr, Scalar)> store) const {
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
  Value maximum = shift ? Value() : k.named(reduce(ReduceKind::Max, larger).value(), "maximum");
  Scalar total = reduce(ReduceKind::Sum, [&](AffineExpr place, Value sum) {
    Scalar shifted = shift ? subtractShift(load(place), *shift) : load(place) - scalar(maximum), y = shiftedExp(shifted, shift.has_value());
    k.storeBuffer(scratch, element, place, (isLog ? shifted : y).value(), across);
    return (scalar(sum) + y).value();
  });
  k.named(total.value(), "total");
  Scalar last = isLog ? log(total) : total.like(1.0) / total;
  k.loop(k.constant(0), k.constant(length), 1, "j", [&](AffineExpr j) {
    Scalar x = load(at + j * pitch());
    store(j, isLog ? x - last : x * last);
  });
}

void ColumnBlocks::emit() const {
  IndexExprs extents = this->extents();
  k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
    Value scratch = k.array("columns", element, length * pitch());
    AffineExpr first = k.index(k.emit(task.back() * width)), count = k.constant(width);
    auto across = getConstantDim(shape.across);
    if (!across || *across % width != 0)
      count = across && *across < width ? k.constant(*across) : k.index(k.minimum(k.emit(count), k.emit(shape.across - first)));
    ArrayRef<AffineExpr> outer = task.drop_back();
    copyIn(outer, first, count, scratch);
    auto storeResult = [&](AffineExpr j, AffineExpr i, Value y, Lanes across) {
      k.storeResults(anchor->getResult(0), y, shape.at(outer, j, first + i), across);
    };
    auto eachVector = [&](AffineExpr begin, AffineExpr end, function_ref<void(AffineExpr, Lanes)> body) {
      k.loop(begin, end, k.vectorLanes(), "column", [&](AffineExpr i) { body(i, Lanes{cast<AffineDimExpr>(i).getPosition(), k.vectorLanes()}); });
    };
    AffineExpr whole = simplifyDim(count.floorDiv(k.vectorLanes()) * k.vectorLanes());
    if (whole != k.constant(0))
      eachVector(k.constant(0), whole, [&](AffineExpr i, Lanes lanes) {
        emitColumns(scratch, i, lanes, [&](AffineExpr j, Scalar y) { storeResult(j, i, y.value(), lanes); });
      });
    if (whole == count)
      return;
    eachVector(whole, count, [&](AffineExpr i, Lanes lanes) {
      emitColumns(scratch, i, lanes, [&](AffineExpr j, Scalar y) { k.storeBuffer(scratch, element, i + j * pitch(), y.value(), lanes); });
    });
    k.loop(k.constant(0), k.constant(length), 1, "j", [&](AffineExpr j) {
      k.loop(whole, count, 1, "column", [&](AffineExpr i) {
        storeResult(j, i, k.loadBuffer(scratch, element, i + j * pitch()), {});
      });
    });
  });
}

FailureOr<LaunchInfo> lowerSoftmaxRows(KernelBuilder &k, Operation *anchor) {
  DimExprs dims = getDims(anchor->getResult(0).getType());
  unsigned axis = cast<AlongAxis>(anchor).getAxis();
  RowShape shape = makeRowShape(k, dims, axis, axis);
  Type element = getElementTypeOrSelf(anchor->getResult(0).getType());
  AffineExpr elements = getNumElements(dims, k.context());
  auto info = [&](ArrayRef<AffineExpr> tasks) { return LaunchInfo{countTasks(k, tasks), elements * 20, elements * 8}; };
  auto length = getConstantDim(shape.length);
  kernel::PlanAttr plan = *k.group().getPlan();
  if (plan.getColumns()) {
    ColumnBlocks blocks{k, shape, anchor, element, *length, plan.getColumns()};
    blocks.emit();
    return info(blocks.extents());
  }
  bool inRegisters = plan.getInRegisters();
  bool fitsStack = shape.alongRow && length.value_or(longestSoftmaxRow + 1) <= longestSoftmaxRow;
  bool widens = fitsStack && (isHalf(element) || !storesElements(k, element));
  forEachRow(k, shape, [&](auto at, Lanes across) {
    Value wide = widens && !inRegisters && *length > 0 ? k.array("row", element, *length) : Value();
    if (!inRegisters)
      return emitRow(RowWalk{k, anchor->getOperand(0), element, accuracyOf(anchor), shape.length, shape.alongRow ? k.vectorLanes() : 0, at, across, wide},
                     anchor);
    RegisterRow row{k, anchor, cutRow(k, k.constant(0), *length, k.vectorLanes())};
    for (RowPiece &piece : row.pieces)
      piece.value = k.value(anchor->getOperand(0), at(piece.column), piece.lanes);
    row.finish(at);
  });
  return info(shape.tasks);
}

} // namespace kiln
