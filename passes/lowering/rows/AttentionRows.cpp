//===- AttentionRows.cpp - Attention by blocks of query rows ---------------===//
//
//   for each task = (batch, block of rows):
//     queries[rows, D] = query * scale
//     for each block of keys:
//       scores[rows, keys] = queries * key^T            (panels of keys are transposed as they are needed)
//       scores = masked scores;  top = max of a row;  scores = exp(scores - top);  total = sum of a row
//       sums[rows, E] = sums * exp(old top - top) + scores * value
//     result = sums / total
//
// All of it lies in arrays of the kernel whose size does not depend on the model's sizes. When the keys are known to fit one block, nothing
// is rescaled. Rows are computed in tiles: those beyond the last one repeat it, and nobody reads them.
//
// Factors of fewer bits than the result (RoundAttention.cpp) are words that a step multiplies, two for each sum: neighbouring numbers of a key lie in turn in
// the panel, and so do rows of values for the second product, whose left side are the scores behind the softmax, rounded to words in an array of their own.
// The scale then multiplies sums, and the total is that of what is not rounded.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/LaneTranspose.h"
#include "passes/lowering/rows/AttentionEmitter.h"
#include "passes/target/choice/AttentionPlan.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

AttentionEmitter::AttentionEmitter(KernelBuilder &k, AttentionOp op)
    : k(k), op(op), element(getElementTypeOrSelf(op.getType())), word(getElementTypeOrSelf(op.getQuery())),
      query(k, op.getQuery()), key(k, op.getKey()), value(k, op.getValue()), scoreDims(op.getScoreDims()),
      queries(scoreDims.rbegin()[1]), keyCount(scoreDims.back()),
      depth(*getConstantDim(getDims(op.getQuery().getType()).back())), width(*getConstantDim(getDims(op.getType()).back())),
      lanes(static_cast<unsigned>(k.group().getPlan()->getTile()[2])) {
  planSizes();
}

void AttentionEmitter::planSizes() {
  AttentionShape shape(op, lanes);
  kernel::PlanAttr plan = *k.group().getPlan();
  if (shape.hasWords)
    step = findAttentionStep(k.target(), word, element);
  tileRows = plan.getTile()[0];
  maxRows = plan.getRows();
  maxKeys = plan.getKeys();
  panelWidth = shape.panelWidth;
  packsValues = shape.packsValues;
  sumStride = shape.sumStride;
  rowCapacity = shape.rowCapacity(maxRows);
  oneBlock = shape.keys && *shape.keys <= maxKeys;
  // Rows a power of two apart would meet in one set of the first-level cache.
  scoreStride = maxKeys + 16;
  rowsOfDots = plan.getDots();
  allowsDots = !step && rowsOfDots > 0 && lanes >= 4 && key.columnStride == k.constant(1) && depth % lanes == 0;
}

void AttentionEmitter::forTiles(function_ref<void(AffineExpr, unsigned)> body) {
  AffineExpr whole = fix(simplifyDim(rows.floorDiv(tileRows) * tileRows));
  if (whole != k.constant(0))
    k.loop(k.constant(0), whole, tileRows, "row", [&](AffineExpr row) { body(row, tileRows); });
  if (whole != rows)
    k.loop(whole, rows, smallAttentionTile, "row", [&](AffineExpr row) { body(row, smallAttentionTile); });
}

/// Runs the body when the task's rows are few or many; decided here where that is known.
void AttentionEmitter::ifRowsAre(bool few, function_ref<void()> body) {
  auto count = getConstantDim(rows);
  if (count || !allowsDots) {
    if (few == (allowsDots && *count < rowsOfDots))
      body();
    return;
  }
  auto predicate = few ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge;
  k.branch(arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(rows), k.emitConstant(rowsOfDots)), body);
}

/// The loop over products that lie so far apart on the right; those of the left side are neighbours.
ReductionLoop AttentionEmitter::countReduction(AffineExpr extent, AffineExpr rightStride) {
  return {fix(simplifyDim(extent.ceilDiv(products()))), k.constant(products()), rightStride * products()};
}

//===- Scores --------------------------------------------------------------===//

void AttentionEmitter::emitScores(Batch batch, KeyBlock keys) {
  AffineExpr whole = fix(simplifyDim((keys.count + lanes - 1).floorDiv(panelWidth) * panelWidth)), end = roundUp(keys.count, lanes);
  if (whole != k.constant(0))
    k.loop(k.constant(0), whole, panelWidth, "key", [&](AffineExpr first) { emitPanel(batch, keys, first, 2); });
  // A tail of one vector is worth a narrower tile.
  if (whole != end)
    k.loop(whole, end, panelWidth, "key", [&](AffineExpr first) { emitPanel(batch, keys, first, 1); });
}

/// scores[rows, first + i] for the keys of so many vectors.
void AttentionEmitter::emitPanel(Batch batch, KeyBlock keys, AffineExpr first, unsigned vectors) {
  TileEmitter tiles{k, queryRows, panel, element, {countReduction(k.constant(depth), k.constant(panelWidth))}, k.constant(1)};
  tiles.instruction = step;
  double scale = op.getScale().convertToDouble();
  packPanel(batch, keys.first + first, vectors);
  forTiles([&](AffineExpr row, unsigned count) {
    SmallVector<AffineExpr> offsets;
    for (int64_t r = 0; r < count; ++r)
      offsets.push_back(k.constant(r * depth));
    AffineExpr to = k.index(k.emit(row * scoreStride + first));
    Panel columns{vectors, lanes, vectors * lanes};
    tiles.emit(row * depth, offsets, k.constant(0), columns, [&](unsigned r, unsigned column, Value value, unsigned) {
      AffineExpr lane = this->lane();
      if (step && scale != 1.0)
        value = (scalar(value) * scale).value();
      store(scores, to + (r * scoreStride + column) + lane, value, lanesAt(lane));
    });
  });
}

/// Few rows: the vectors run along the head, as many keys at a time as a vector has lanes.
void AttentionEmitter::emitDots(Batch batch, KeyBlock keys) {
  k.loop(k.constant(0), keys.count, lanes, "key", [&](AffineExpr first) {
    IndexExprs places;
    for (int64_t i = 0; i < lanes; ++i) {
      AffineExpr place = k.index(k.minimum(k.emit(keys.first + first + i), k.emit(keyCount - 1)));
      places.push_back(k.index(k.emit(key.at(batch, place, k.constant(0)))));
    }
    k.loop(k.constant(0), rows, 1, "row", [&](AffineExpr row) {
      SmallVector<Value> dots(lanes, k.number(element, 0, lanes));
      dots = k.loop(k.constant(0), k.constant(depth), lanes, "d", dots, [&](AffineExpr d, ValueRange carried) {
        Value q = load(queryRows, row * depth + d, lanesAt(d));
        SmallVector<Value> next;
        for (auto [place, sum] : llvm::zip_equal(places, carried))
          next.push_back(vector::FMAOp::create(k.builder(), k.loc(), load(key.buffer, place + d, lanesAt(d)), q, sum));
        return next;
      });
      AffineExpr lane = this->lane();
      store(scores, row * scoreStride + first + lane, sumEachVector(k, dots), lanesAt(lane));
    });
  });
}

//===- Softmax -------------------------------------------------------------===//

Value AttentionEmitter::causalKeep(AffineExpr row, AffineExpr key, Lanes across) {
  Type integer = k.builder().getI32Type();
  Value room = arith::IndexCastOp::create(k.builder(), k.loc(), integer, k.emit(row + keyCount - queries));
  Value place = arith::IndexCastOp::create(k.builder(), k.loc(), integer, k.emit(key));
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, x, across.count == 1 ? y : k.broadcast(y, across.count));
  };
  Value left = arith::SubIOp::create(k.builder(), k.loc(), room, place);
  auto steps = llvm::to_vector(llvm::seq<int32_t>(0, across.count));
  auto type = VectorType::get(across.count, integer);
  Value step = across.count == 1 ? arith::ConstantOp::create(k.builder(), k.loc(), k.builder().getI32IntegerAttr(0))
                                 : arith::ConstantOp::create(k.builder(), k.loc(), DenseElementsAttr::get(type, ArrayRef<int32_t>(steps)));
  Value keep = compare(arith::CmpIPredicate::sle, step, left);
  if (!op.getWindow())
    return keep;
  Value width = arith::ConstantOp::create(k.builder(), k.loc(), k.builder().getI32IntegerAttr(*op.getWindow()));
  Value inWindow = compare(arith::CmpIPredicate::sgt, step, arith::SubIOp::create(k.builder(), k.loc(), left, width));
  return arith::AndIOp::create(k.builder(), k.loc(), keep, inWindow);
}

/// The score of a pair of places after masks and bias.
Value AttentionEmitter::adjust(Batch batch, AffineExpr row, AffineExpr key, Value score, Lanes across) {
  IndexExprs at(batch);
  at.append({row, key});
  auto fillWhere = [&](Value keep) {
    Value fill = k.number(element, op.getFill().convertToDouble(), across.count);
    return arith::SelectOp::create(k.builder(), k.loc(), keep, score, fill);
  };
  if (op.getCausal())
    score = fillWhere(causalKeep(row, key, across));
  if (op.getKeep())
    score = fillWhere(k.value(op.getKeep(), at, across));
  if (op.getBias())
    score = (scalar(score) + scalar(k.value(op.getBias(), at, across))).value();
  return score;
}

void AttentionEmitter::adjustScores(Batch batch, KeyBlock keys, AffineExpr row, AffineExpr at) {
  k.vectorLoop(keys.count, lanes, "i", [&](AffineExpr i, Lanes across) {
    Value score = load(scores, at + i, across);
    store(scores, at + i, adjust(batch, firstRow + row, keys.first + i, score, across), across);
  });
}

/// The largest score of a row. A NaN may be passed over: the row's sum finds it.
Value AttentionEmitter::findTop(AffineExpr at, AffineExpr padded) {
  Value init = k.number(element, -std::numeric_limits<double>::infinity(), lanes);
  Value top = k.loop(k.constant(0), padded, lanes, "i", init, [&](AffineExpr i, ValueRange carried) -> SmallVector<Value> {
    return {larger(k, load(scores, at + i, lanesAt(i)), carried.front())};
  }).front();
  return reduceLanes(k, ReduceKind::Max, getElementTypeOrSelf(top.getType()), top);
}

/// factors = exp(old top - new top); what has been summed shrinks by that.
void AttentionEmitter::rescaleTotals() {
  k.loop(k.constant(0), roundUp(rows, lanes), lanes, "row", [&](AffineExpr row) {
    Lanes across = lanesAt(row);
    Scalar factor = exp(scalar(load(tops, row, across)) - scalar(load(factors, row, across)));
    store(tops, row, load(factors, row, across), across);
    store(factors, row, factor.value(), across);
    store(totals, row, (scalar(load(totals, row, across)) * factor).value(), across);
  });
}

void AttentionEmitter::emitSoftmax(Batch batch, KeyBlock keys) {
  AffineExpr padded = roundUp(keys.count, lanes);
  k.loop(k.constant(0), rows, 1, "row", [&](AffineExpr row) {
    AffineExpr at = k.index(k.emit(row * scoreStride));
    if (op.getBias() || op.getKeep() || op.getCausal())
      adjustScores(batch, keys, row, at);
    if (padded != keys.count)
      k.loop(keys.count, padded, 1, "i", [&](AffineExpr i) {
        store(scores, at + i, k.number(element, -std::numeric_limits<double>::infinity()));
      });
    Value top = findTop(at, padded);
    store(oneBlock ? tops : factors, row, oneBlock ? top : larger(k, top, load(tops, row)));
  });
  if (!oneBlock)
    rescaleTotals();
  k.loop(k.constant(0), rows, 1, "row", [&](AffineExpr row) {
    AffineExpr at = k.index(k.emit(row * scoreStride));
    Value top = k.broadcast(load(tops, row), lanes);
    Value sum = k.loop(k.constant(0), padded, lanes, "i", k.number(element, 0, lanes), [&](AffineExpr i, ValueRange carried) -> SmallVector<Value> {
      Scalar y = exp(scalar(load(scores, at + i, lanesAt(i))) - scalar(top));
      store(weights, at + i, y.value(), lanesAt(i));
      return {(scalar(carried.front()) + y).value()};
    }).front();
    Scalar total = scalar(reduceLanes(k, ReduceKind::Sum, getElementTypeOrSelf(sum.getType()), sum));
    store(totals, row, (oneBlock ? total : scalar(load(totals, row)) + total).value());
  });
}

//===- Result --------------------------------------------------------------===//

void AttentionEmitter::emitSums(Batch batch, KeyBlock keys, bool byTiles) {
  AffineExpr rowStride = packsValues ? k.constant(sumStride) : value.rowStride, one = k.constant(1);
  AffineExpr from = packsValues ? k.constant(0) : k.index(k.emit(value.at(batch, keys.first, k.constant(0))));
  TileEmitter tiles{k, weights, packsValues ? valueRows : value.buffer, element, {countReduction(keys.count, rowStride)}, one};
  tiles.instruction = step;
  auto emitTile = [&](AffineExpr row, unsigned count, AffineExpr column, unsigned vectors) {
    SmallVector<AffineExpr> offsets;
    for (int64_t r = 0; r < count; ++r)
      offsets.push_back(k.constant(r * scoreStride));
    AffineExpr to = k.index(k.emit(row * sumStride + column));
    Panel panel{vectors, lanes, vectors * lanes};
    tiles.emit(row * scoreStride, offsets, from + column * products(), panel, [&](unsigned r, unsigned place, Value value, unsigned) {
      AffineExpr lane = this->lane(), at = to + (r * sumStride + place) + lane;
      if (!oneBlock)
        value = (scalar(load(sums, at, lanesAt(lane))) * scalar(k.broadcast(load(factors, row + r), lanes)) + scalar(value)).value();
      store(sums, at, value, lanesAt(lane));
    });
  };
  auto emitRows = [&](AffineExpr row, unsigned count) {
    unsigned vectors = count == 1 ? 4 : 2, all = sumStride / lanes, whole = all / vectors * vectors;
    if (whole)
      k.loop(k.constant(0), k.constant(whole * lanes), vectors * lanes, "column", [&](AffineExpr column) { emitTile(row, count, column, vectors); });
    if (whole != all)
      emitTile(row, count, k.index(k.emitConstant(whole * lanes)), all - whole);
  };
  if (byTiles)
    forTiles(emitRows);
  else
    k.loop(k.constant(0), rows, 1, "row", [&](AffineExpr row) { emitRows(row, 1); });
}

/// The index of the group's result: transposes that follow the anchor say only where the value goes.
static IndexExprs resultIndex(Value anchorResult, IndexExprs at) {
  Value value = anchorResult;
  while (!isa<YieldOp>(*value.user_begin())) {
    Operation *user = *value.user_begin();
    if (auto transpose = dyn_cast<TransposeOp>(user)) {
      IndexExprs moved;
      for (int64_t dim : transpose.getPermutation())
        moved.push_back(at[dim]);
      at = moved;
    }
    value = user->getResult(0);
  }
  return at;
}

void AttentionEmitter::emitResult(Batch batch) {
  k.loop(k.constant(0), rows, 1, "row", [&](AffineExpr row) {
    Value inverse = (number(1.0) / scalar(load(totals, row))).value();
    AffineExpr from = k.index(k.emit(row * sumStride)), place = k.index(k.emit(firstRow + row));
    k.vectorLoop(k.constant(width), k.vectorLanes(), "i", [&](AffineExpr i, Lanes across) {
      Scalar x = scalar(load(sums, from + i, across)) * scalar(k.broadcast(inverse, across.count));
      IndexExprs at(batch);
      at.append({place, i});
      k.storeResults(op.getResult(), x.value(), resultIndex(op.getResult(), at), across);
    });
  });
}

//===- Tasks ---------------------------------------------------------------===//

void AttentionEmitter::emitBlock(Batch batch, KeyBlock keys) {
  if (step)
    packPairsOfValues(batch, keys);
  else if (packsValues)
    packValues(batch, keys);
  ifRowsAre(true, [&] { emitDots(batch, keys); });
  ifRowsAre(false, [&] { emitScores(batch, keys); });
  emitSoftmax(batch, keys);
  ifRowsAre(true, [&] { emitSums(batch, keys, false); });
  ifRowsAre(false, [&] { emitSums(batch, keys, true); });
}

/// Whether keys that a row does not see by their place weigh nothing, and need not be looked at.
bool AttentionEmitter::hidesForGood() { return op.getCausal() && op.getFill().isInfinity() && op.getFill().isNegative(); }

/// The first key in the window of the task's first row.
AffineExpr AttentionEmitter::firstVisibleKey() {
  if (!hidesForGood() || !op.getWindow())
    return k.constant(0);
  Value first = k.emit(firstRow + keyCount - queries - (static_cast<int64_t>(*op.getWindow()) - 1));
  return k.index(arith::MaxSIOp::create(k.builder(), k.loc(), first, k.emitConstant(0)));
}

/// The end of the keys that the task's last row sees.
AffineExpr AttentionEmitter::endOfVisibleKeys() {
  if (!hidesForGood() || simplifyDim(queries.ceilDiv(maxRows)) == k.constant(1))
    return keyCount;
  Value seen = k.minimum(k.emit(keyCount), k.emit(firstRow + rows + keyCount - queries));
  return k.index(arith::MaxSIOp::create(k.builder(), k.loc(), seen, k.emitConstant(0)));
}

/// The keys that a row looks at, on average.
AffineExpr AttentionEmitter::countVisibleKeys() {
  if (!hidesForGood())
    return keyCount;
  AffineExpr before = keyCount - (queries - 1).floorDiv(2);
  if (!op.getWindow())
    return before;
  AffineExpr inWindow = k.constant(*op.getWindow() + maxRows);
  auto known = getConstantDim(before);
  return known && *known < *getConstantDim(inWindow) ? before : inWindow;
}

void AttentionEmitter::emitTask(Batch batch, AffineExpr chunk) {
  AffineExpr chunks = simplifyDim(queries.ceilDiv(maxRows));
  // Equal blocks of rows.
  AffineExpr perTask = k.constant(maxRows);
  if (!getConstantDim(queries)) {
    Value some = arith::MaxSIOp::create(k.builder(), k.loc(), k.emit(chunks), k.emitConstant(1));
    perTask = k.index(k.emit(queries.ceilDiv(k.index(some))));
  }
  firstRow = fix(chunk * perTask);
  bool even = getConstantDim(queries) && *getConstantDim(queries) % maxRows == 0;
  rows = even ? perTask : k.index(k.minimum(k.emit(perTask), k.emit(queries - firstRow)));
  AffineExpr inTiles = fix(simplifyDim(rows.floorDiv(tileRows) * tileRows));
  paddedRows = fix(simplifyDim(inTiles + (rows - inTiles).ceilDiv(smallAttentionTile) * smallAttentionTile));
  queryRows = words("queries", rowCapacity * depth);
  panel = words("panel", depth * panelWidth);
  scores = array("scores", rowCapacity * scoreStride);
  weights = step ? words("weights", rowCapacity * scoreStride) : scores;
  sums = array("sums", rowCapacity * sumStride);
  if (packsValues)
    valueRows = words("values", maxKeys * sumStride);
  tops = array("tops", rowCapacity), totals = array("totals", rowCapacity), factors = array("factors", rowCapacity);
  packQueries(batch);
  AffineExpr first = firstVisibleKey(), end = endOfVisibleKeys();
  if (oneBlock) {
    emitBlock(batch, {first, fix(end - first)});
    return emitResult(batch);
  }
  auto fill = [&](Value buffer, AffineExpr size, double with) {
    k.loop(k.constant(0), size, lanes, "i", [&](AffineExpr i) { store(buffer, i, k.number(element, with, lanes), lanesAt(i)); });
  };
  fill(sums, fix(paddedRows * sumStride), 0);
  fill(tops, k.constant(rowCapacity), lowest);
  fill(factors, k.constant(rowCapacity), lowest);
  fill(totals, k.constant(rowCapacity), 0);
  k.loop(first, end, maxKeys, "block", [&](AffineExpr block) {
    emitBlock(batch, {block, k.index(k.minimum(k.emitConstant(maxKeys), k.emit(end - block)))});
  });
  emitResult(batch);
}

LaunchInfo AttentionEmitter::run() {
  IndexExprs extents(scoreDims.begin(), scoreDims.end() - 2);
  extents.push_back(simplifyDim(queries.ceilDiv(maxRows)));
  k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) { emitTask(task.drop_back(), task.back()); });
  AffineExpr batch = getNumElements(ArrayRef(scoreDims).drop_back(2), k.context());
  AffineExpr flops = batch * queries * countVisibleKeys() * (2 * (depth + width));
  AffineExpr bytes = batch * (queries * (depth * elementBytes(word) + width * elementBytes(element)) + keyCount * ((depth + width) * elementBytes(word)));
  return LaunchInfo{countTasks(k, extents), simplifyDim(flops), simplifyDim(bytes)};
}

KernelMatch matchAttentionRows(GroupOp, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<AttentionOp>(anchor);
  if (!op.hasFusedKernel(target))
    return refuse("expected queries and values of 1 to 256 elements of f32, f16 or bf16");
  Type factors = getElementTypeOrSelf(op.getQuery()), result = getElementTypeOrSelf(op.getType());
  kernel::StepAttr step = factors == result ? kernel::StepAttr() : findAttentionStep(target, factors, result);
  if (factors != result && !step)
    return refuse(describeMissingAttentionStep(factors, result));
  if (std::string fault = step ? findAttentionWordsFault(op, step) : ""; !fault.empty())
    return refuse(fault);
  for (Value operand : {op.getQuery(), op.getKey(), op.getValue()})
    if (!traceLinearView(operand))
      return refuse("queries, keys or values are views that are not linear");
  if (step)
    return accept("kept whole: blocks of rows stay in the cache from the scores to the result; " + describeStep(step), planAttention(op, target));
  return accept("kept whole: blocks of rows stay in the cache from the scores to the result", planAttention(op, target));
}

std::string findAttentionFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  auto op = cast<AttentionOp>(anchor);
  AttentionShape shape(op, plan.getTile()[2]);
  Type word = getElementTypeOrSelf(op.getQuery()), result = getElementTypeOrSelf(op.getType());
  int64_t width = plan.getTile()[1] * plan.getTile()[2], keys = plan.getKeys(), most = shape.mostKeys(plan.getRows());
  if (shape.hasWords && findAttentionStep(kernel::getTarget(group), word, result).getFunction() != plan.getStep())
    return "its step is '" + plan.getStep().str() + "', which does not multiply two such factors";
  if (width != shape.panelWidth)
    return "a tile has " + std::to_string(width) + " columns, expected " + std::to_string(shape.panelWidth);
  if (keys % width != 0)
    return "'keys' is " + std::to_string(keys) + ", expected a multiple of the tile's " + std::to_string(width) + " columns";
  return keys <= most ? "" : "'keys' is " + std::to_string(keys) + ", the arrays of a task have room for " + std::to_string(most);
}

FailureOr<LaunchInfo> lowerAttentionRows(KernelBuilder &k, Operation *anchor) { return AttentionEmitter(k, cast<AttentionOp>(anchor)).run(); }

} // namespace kiln
