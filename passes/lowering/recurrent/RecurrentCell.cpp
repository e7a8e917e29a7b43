//===- RecurrentCell.cpp - What the recurrent kernels share ----------------===//
//
//   for each direction and tile of batch rows (a task):
//     for each step, for each block of units:   sums[row][gate] = sum over i of h[row][i] * R[i, gate, block];   the cell's formulas on them
//
// The weights of a block lie gate beside gate: one pass over h feeds all gates, and one pass over R feeds all rows of a tile. A single row is
// bound by how fast R comes from the cache, so the blocks are walked to and fro: what the last step used last is used first.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/recurrent/RecurrentCell.h"
#include "dialects/nn/Activations.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/RegisterBudget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Elements of one state of a tile: it stays in the first-level cache and on the stack.
static constexpr int64_t largestScratch = 4096;

/// Results of the group that all recurrent layers have.
enum { States, Hidden };

RecurrentCell::RecurrentCell(KernelBuilder &k, const RecurrentLayer &layer)
    : k(k), layer(layer), element(getElementTypeOrSelf(layer.recurrence.getType())), lanes(getTile(k.group()).lanes), tileRows(getTile(k.group()).rows) {
  DimExprs gates = getDims(layer.gates.getType()), state = getDims(layer.hidden.getType());
  steps = gates[0];
  batch = gates[1];
  directions = *getConstantDim(state[0]);
  hidden = *getConstantDim(state[2]);
  packed = packsRecurrence(k.group(), layer, lanes);
  if (packed)
    packRecurrence();
  next = makeScratch("next");
}

bool packsRecurrence(GroupOp group, const RecurrentLayer &layer, int64_t lanes) {
  auto argument = dyn_cast<BlockArgument>(layer.recurrence);
  bool isConstant = argument && group.getInputs()[argument.getArgNumber()].getDefiningOp<ConstantOp>();
  return isConstant && lanes > 1 && *getConstantDim(getDim(layer.hidden.getType(), 2)) >= 4;
}

/// Rows share what is loaded of R: their sums fill half of the registers, beside the weights, an element of the state and the cell's formulas. So do the sums
/// of a single row that run side by side.
static int64_t chooseRows(const RecurrentLayer &layer, int64_t hidden, kernel::TargetAttr target) {
  int64_t most = getHalfOfRegisters(target) / layer.gateCount;
  most = std::clamp<int64_t>(most, 1, std::max<int64_t>(largestScratch / std::max<int64_t>(hidden, 1), 1));
  auto size = getConstantDim(getDim(layer.gates.getType(), 1));
  if (!size || *size == 0)
    return std::min<int64_t>(most, 4);
  int64_t tiles = llvm::divideCeilSigned(*size, most);
  return llvm::divideCeilSigned(*size, tiles);
}

PlanNumbers planCell(GroupOp group, const RecurrentLayer &layer, kernel::TargetAttr target) {
  int64_t hidden = *getConstantDim(getDim(layer.hidden.getType(), 2));
  // Halves have no step of their own: WidenRecurrences makes them f32 where that is wanted.
  kernel::StepAttr step = target.getPlainStep(getElementTypeOrSelf(layer.recurrence.getType()));
  int64_t lanes = step ? step.getLanes() : 1;
  // Narrow layers waste less in narrow vectors.
  while (packsRecurrence(group, layer, lanes) && lanes > 4 && hidden <= lanes / 2)
    lanes /= 2;
  PlanNumbers numbers{{chooseRows(layer, hidden, target), 1, lanes}, {}};
  numbers.streams = std::min<int64_t>(RegisterBudget::fewestSums, llvm::bit_floor(std::max(1u, getHalfOfRegisters(target))));
  return numbers;
}

void RecurrentCell::packRecurrence() {
  MLIRContext *context = k.context();
  AffineExpr d, block, i, gate, lane;
  bindDims(context, d, block, i, gate, lane);
  int64_t width = lanes, blocks = llvm::divideCeilSigned(hidden, width);
  // Lanes beyond the last unit hold what follows; their sums are dropped.
  SmallVector<AffineExpr> source{d, i, gate * hidden + block * width + lane};
  SmallVector<int64_t> shape{directions, blocks, hidden, layer.gateCount, width};
  auto map = AffineMap::get(5, 0, source, context);
  if (layer.gatesApart) {
    map = map.replaceDimsAndSymbols({d, i, gate, block, lane}, {}, 5, 0);
    shape = {directions, layer.gateCount, blocks, hidden, width};
  }
  k.packConstant(cast<BlockArgument>(layer.recurrence).getArgNumber(), kernel::PackAttr::get(context, shape, map));
}

//===- Values --------------------------------------------------------------===//

static bool knowsActivations(ArrayAttr names) {
  return llvm::all_of(names, [](Attribute name) { return findRecurrentActivation(cast<StringAttr>(name).getValue()).has_value(); });
}

std::string findCellFault(ArrayAttr activations, Type recurrence) {
  if (!knowsActivations(activations))
    return "one of its activations is none that the kernel has";
  return getConstantDim(getDim(recurrence, 1)) ? "" : "only run time knows how many units a cell has";
}

Scalar RecurrentCell::activateUnclipped(unsigned which, const Scalar &x) const {
  return applyActivation(*findRecurrentActivation(cast<StringAttr>(layer.activations[which]).getValue()), x);
}

Scalar RecurrentCell::activate(unsigned which, const Scalar &x) const {
  if (!layer.clip)
    return activateUnclipped(which, x);
  double bound = layer.clip->convertToDouble();
  return activateUnclipped(which, min(max(x, x.like(-bound)), x.like(bound)));
}

Scalar RecurrentCell::gate(const RowTile &tile, unsigned row, int64_t number, AffineExpr j, Lanes at) const {
  AffineExpr column = tile.direction * (layer.gateCount * hidden) + number * hidden + j;
  return scalar(k.value(layer.gates, {tile.times[row], tile.rows[row], column}, at));
}

Value RecurrentCell::hiddenAt(const RowTile &tile, unsigned row, AffineExpr i, Lanes at) const {
  return k.loadBuffer(k.resultBuffer(Hidden), element, tile.hidden[row] + i, at);
}

Value RecurrentCell::makeScratch(StringRef name) const {
  return k.array(name, element, static_cast<int64_t>(tileRows) * hidden);
}

void RecurrentCell::setHidden(unsigned row, AffineExpr j, Value value, Lanes at) const { k.storeBuffer(next, element, scratchAt(row, j), value, at); }

Value RecurrentCell::keepInactive(const RowTile &tile, unsigned row, Value value, Value old) const {
  return tile.active.empty() ? value : Value(arith::SelectOp::create(k.builder(), k.loc(), tile.active[row], value, old));
}

//===- Units ---------------------------------------------------------------===//

static Lanes along(AffineExpr j, unsigned count) { return Lanes{cast<AffineDimExpr>(j).getPosition(), count}; }

void RecurrentCell::copyUnits(function_ref<void(AffineExpr, Lanes)> body) const { k.vectorLoop(k.constant(hidden), lanes, "unit", body); }

Value RecurrentCell::weight(const RowTile &tile, AffineExpr j, AffineExpr i, int64_t gate, Lanes at) const {
  if (!packed)
    return k.value(layer.recurrence, {tile.direction, i, j + gate * hidden}, at);
  int64_t width = lanes, count = layer.gateCount, gateSize = llvm::alignTo(hidden, width) * hidden;
  AffineExpr offset = tile.direction * (count * gateSize);
  offset = layer.gatesApart ? offset + gate * gateSize + j * hidden + i * width : offset + j * (hidden * count) + (i * count + gate) * width;
  // The lanes of a block lie side by side: the vector runs along the stored lane, whatever the unit's place.
  AffineExpr lane = k.index(k.emit(offset));
  return k.loadBuffer(k.buffer(cast<BlockArgument>(layer.recurrence).getArgNumber()), element, lane, along(lane, at.count));
}

/// Products of all rows of the tile, row by row.
SmallVector<Value> RecurrentCell::products(const RowTile &tile, AffineExpr j, Lanes at, ArrayRef<int64_t> wanted, State state) const {
  int64_t sums = tile.rows.size() * wanted.size();
  int64_t chains = std::clamp<int64_t>(k.group().getPlan()->getStreams() / sums, 1, hidden), whole = hidden / chains * chains;
  auto add = [&](AffineExpr i, MutableArrayRef<Value> carried) {
    SmallVector<Value> weights = llvm::map_to_vector(wanted, [&](int64_t gate) { return weight(tile, j, i, gate, at); });
    for (unsigned row = 0; row < tile.rows.size(); ++row) {
      Scalar h = scalar(k.broadcast(state(row, i), at.count));
      for (auto [n, w] : llvm::enumerate(weights)) {
        Value &sum = carried[row * wanted.size() + n];
        sum = (h * scalar(w) + scalar(sum)).value();
      }
    }
  };
  SmallVector<Value> init(chains * sums, k.number(element, 0, at.count));
  SmallVector<Value> all = k.loop(k.constant(0), k.constant(whole), chains, "i", init, [&](AffineExpr i, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (int64_t chain = 0; chain < chains; ++chain)
      add(chain == 0 ? i : k.index(k.emit(i + chain)), MutableArrayRef(next).slice(chain * sums, sums));
    return next;
  });
  for (int64_t i = whole; i < hidden; ++i)
    add(k.constant(i), MutableArrayRef(all).slice((i - whole) * sums, sums));
  for (int64_t width = llvm::PowerOf2Ceil(chains) / 2; width > 0; width /= 2)
    for (int64_t n = 0; n < width * sums && n + width * sums < static_cast<int64_t>(all.size()); ++n)
      all[n] = (scalar(all[n]) + scalar(all[n + width * sums])).value();
  all.truncate(sums);
  return all;
}

/// Lanes [first, first + count) of a vector.
static Value cut(KernelBuilder &k, Value vector, int64_t first, int64_t count) {
  if (count == 1)
    return vector::ExtractOp::create(k.builder(), k.loc(), vector, first);
  return vector::ExtractStridedSliceOp::create(k.builder(), k.loc(), vector, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
}

void RecurrentCell::eachUnit(const RowTile &tile, ArrayRef<int64_t> wanted, State state, Finish finish) const {
  auto block = [&](AffineExpr j, Lanes at) {
    SmallVector<Value> all = products(tile, j, at, wanted, state);
    for (unsigned row = 0; row < tile.rows.size(); ++row)
      finish(row, j, at, ArrayRef(all).slice(row * wanted.size(), wanted.size()));
  };
  if (!packed)
    return copyUnits(block);
  int64_t width = lanes, whole = hidden / width * width;
  k.loop(k.constant(0), k.constant(whole), width, "unit", [&](AffineExpr unit) {
    Value there = k.emit(unit), back = k.emit(k.constant(whole - width) - unit);
    Value isBack = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::ne, tile.parity, k.emitConstant(0));
    AffineExpr j = whole == width ? unit : k.index(arith::SelectOp::create(k.builder(), k.loc(), isBack, back, there));
    block(j, along(j, lanes));
  });
  if (whole == hidden)
    return;
  // The last units have a whole block of weights, but no whole vectors in other buffers.
  AffineExpr tail = k.index(k.emitConstant(whole));
  SmallVector<Value> all = products(tile, tail, along(tail, lanes), wanted, state);
  for (int64_t done = whole, piece = width / 2; done < hidden; piece = std::max<int64_t>(piece / 2, 1)) {
    if (piece > 1 && (piece < 4 || done + piece > hidden))
      continue;
    AffineExpr j = k.index(k.emitConstant(done));
    for (unsigned row = 0; row < tile.rows.size(); ++row) {
      auto sums = llvm::map_to_vector(ArrayRef(all).slice(row * wanted.size(), wanted.size()),
                                      [&](Value sum) { return cut(k, sum, done - whole, piece); });
      finish(row, j, along(j, piece), sums);
    }
    done += piece;
  }
}

//===- Steps ---------------------------------------------------------------===//

void RecurrentCell::setTimes(RowTile &tile, Value backwards, AffineExpr step, ArrayRef<Value> lengths) const {
  OpBuilder &b = k.builder();
  Location loc = k.loc();
  for (unsigned row = 0; row < tile.rows.size(); ++row) {
    Value forward = k.emit(step), time = forward;
    if (backwards || layer.reverse) {
      AffineExpr end = lengths.empty() ? steps : k.index(lengths[row]);
      time = k.emit(end - 1 - step);
      if (lengths.size() > 1)
        time = arith::MaxSIOp::create(b, loc, time, k.emitConstant(0));
      if (backwards)
        time = arith::SelectOp::create(b, loc, backwards, time, forward);
    }
    tile.times.push_back(k.index(time));
    if (lengths.size() > 1) {
      tile.active.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, forward, lengths[row]));
      time = arith::SelectOp::create(b, loc, tile.active.back(), time, forward);
    }
    tile.targets.push_back(k.index(time));
  }
}

/// The new hidden states go to their places once all units have used the old ones.
void RecurrentCell::commit(const RowTile &tile) const {
  copyUnits([&](AffineExpr j, Lanes at) {
    for (unsigned row = 0; row < tile.rows.size(); ++row) {
      Value value = k.loadBuffer(next, element, scratchAt(row, j), at), zero = k.number(element, 0, at.count);
      Value kept = tile.active.empty() ? value : keepInactive(tile, row, value, hiddenAt(tile, row, j, at));
      k.storeBuffer(k.resultBuffer(Hidden), element, tile.hidden[row] + j, kept, at);
      k.store(States, keepInactive(tile, row, value, zero), {tile.targets[row], tile.direction, tile.rows[row], j}, at);
    }
  });
}

void RecurrentCell::walk(AffineExpr direction, AffineExpr first, unsigned count, function_ref<void(const RowTile &)> start,
                         function_ref<void(const RowTile &)> step) {
  RowTile tile;
  tile.direction = direction;
  SmallVector<Value> lengths;
  AffineExpr limit = steps;
  for (unsigned row = 0; row < count; ++row) {
    tile.rows.push_back(row == 0 ? first : k.index(k.emit(first + row)));
    tile.hidden.push_back(k.index(k.emit((direction * batch + tile.rows.back()) * hidden)));
    if (!layer.lengths)
      continue;
    OpBuilder &b = k.builder();
    Value length = arith::IndexCastOp::create(b, k.loc(), b.getIndexType(), k.value(layer.lengths, {tile.rows.back()}));
    lengths.push_back(k.minimum(arith::MaxSIOp::create(b, k.loc(), length, k.emitConstant(0)), k.emit(steps)));
    limit = k.index(row == 0 ? lengths[0] : Value(arith::MaxSIOp::create(b, k.loc(), k.emit(limit), lengths[row])));
  }
  Value backwards;
  if (directions == 2)
    backwards = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::ne, k.emit(direction), k.emitConstant(0));
  start(tile);
  k.loop(k.constant(0), limit, 1, "step", [&](AffineExpr number) {
    RowTile now = tile;
    setTimes(now, backwards, number, lengths);
    now.parity = k.emit(number % 2);
    step(now);
    commit(now);
  });
  if (layer.lengths)
    k.loop(limit, steps, 1, "step", [&](AffineExpr t) {
      copyUnits([&](AffineExpr j, Lanes at) {
        for (AffineExpr row : tile.rows)
          k.store(States, k.number(element, 0, at.count), {t, direction, row, j}, at);
      });
    });
}

LaunchInfo RecurrentCell::run(function_ref<void(const RowTile &)> start, function_ref<void(const RowTile &)> step) {
  int64_t count = tileRows;
  AffineExpr tiles = simplifyDim(batch.ceilDiv(count));
  auto rows = getConstantDim(batch);
  auto begin = [&](const RowTile &tile) {
    copyUnits([&](AffineExpr j, Lanes at) {
      for (auto [row, number] : llvm::zip_equal(tile.hidden, tile.rows))
        k.storeBuffer(k.resultBuffer(Hidden), element, row + j, k.value(layer.hidden, {tile.direction, number, j}, at), at);
    });
    start(tile);
  };
  k.taskLoop({k.constant(directions), tiles}, [&](ArrayRef<AffineExpr> task) {
    AffineExpr first = k.index(k.emit(task[1] * count));
    if (count == 1 || (rows && *rows % count == 0))
      return walk(task[0], first, count, begin, step);
    // Static batches are split evenly, so few rows are left to go one by one.
    auto is = [&](arith::CmpIPredicate predicate) {
      return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(first + count), k.emit(batch));
    };
    k.branch(is(arith::CmpIPredicate::sle), [&] { walk(task[0], first, count, begin, step); });
    k.branch(is(arith::CmpIPredicate::sgt),
             [&] { k.loop(first, batch, 1, "row", [&](AffineExpr row) { walk(task[0], row, 1, begin, step); }); });
  });
  // The inputs' products and the states come once; the weights stay in the cache.
  int64_t weights = directions * layer.gateCount * hidden * hidden;
  AffineExpr moved = steps * batch * (directions * (layer.gateCount + 1) * hidden) + weights;
  return LaunchInfo{simplifyDim(tiles * directions), simplifyDim(steps * batch * (2 * weights)), simplifyDim(moved * 4)};
}

} // namespace kiln
