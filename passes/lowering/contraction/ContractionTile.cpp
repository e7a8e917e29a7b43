//===- ContractionTile.cpp - The register tile of a matrix product ---------===//
//
//   for k:  b0 = rhs[k, 0..L), b1 = rhs[k, L..2L)
//           a = lhs[row 0, k];  acc00 += a * b0;  acc01 += a * b1
//           a = lhs[row 1, k];  acc10 += a * b0;  ...
//
// Where instructions multiply by a lane (`left_lanes` of #kernel.tuning), what L steps take of each row is loaded as one vector.
//
// A step of two rows has both rows' sums of two columns in a vector; they are separated when the reduction is done. A step of one lane has a sum to itself;
// the sums of neighbouring columns are joined then. A step of several rows that lie side by side has the whole reduction in a function.
//
// A single row has too few accumulators to keep the loads busy: its reduction runs as several streams that are added at the end.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/ContractionTile.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Tuning.h"
#include "passes/lowering/builder/StatementOrder.h"
#include "passes/target/choice/RegisterBudget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

SmallVector<ReductionLoop> mergeReduction(ArrayRef<ReductionLoop> loops) {
  SmallVector<ReductionLoop> merged;
  for (const ReductionLoop &loop : loops) {
    if (getConstantDim(loop.extent) == 1)
      continue;
    bool even = !merged.empty() && provablyEqual(merged.back().lhsStride, loop.lhsStride * loop.extent) &&
                provablyEqual(merged.back().rhsStride, loop.rhsStride * loop.extent);
    if (even)
      merged.back() = {simplifyDim(merged.back().extent * loop.extent), loop.lhsStride, loop.rhsStride};
    else
      merged.push_back(loop);
  }
  if (merged.empty())
    merged.push_back(loops.back());
  return merged;
}

PackedColumns::PackedColumns(int64_t columns, TileShape tile)
    : width(tile.columns()), panels(llvm::divideCeil(columns, width)), tail(llvm::alignTo(columns - (panels - 1) * width, tile.lanes)) {}

kernel::PackAttr PackedColumns::pack(ArrayRef<int64_t> shape, AffineMap map, int64_t dimension) const {
  MLIRContext *context = map.getContext();
  if (tail == width)
    return kernel::PackAttr::get(context, shape, map);
  return kernel::PackAttr::get(context, shape, map, {dimension, tail});
}

SmallVector<ReductionLoop> narrowPanel(ArrayRef<ReductionLoop> reduction, int64_t width, int64_t columns) {
  SmallVector<ReductionLoop> narrow(reduction);
  for (ReductionLoop &loop : narrow)
    loop.rhsStride = getAffineConstantExpr(*getConstantDim(loop.rhsStride) / width * columns, loop.rhsStride.getContext());
  return narrow;
}

Value TileEmitter::add(Value a, Value b) const {
  if (isa<FloatType>(element))
    return arith::AddFOp::create(k.builder(), k.loc(), a, b);
  return arith::AddIOp::create(k.builder(), k.loc(), a, b);
}

Value TileEmitter::multiplyAdd(Value a, Value b, Value sum) const {
  if (instruction)
    return kernel::StepOp::create(k.builder(), k.loc(), sum.getType(), instruction.getFunction(), a, b, sum);
  if (isa<VectorType>(b.getType()))
    return vector::FMAOp::create(k.builder(), k.loc(), a, b, sum);
  Value product = arith::MulFOp::create(k.builder(), k.loc(), a, b);
  return arith::AddFOp::create(k.builder(), k.loc(), product, sum);
}

SmallVector<Value> TileEmitter::loadRight(AffineExpr right, Panel panel, size_t rows, std::optional<int64_t> place) const {
  // A dim that is zero here stands for the lanes.
  AffineExpr lane = k.index(k.emitConstant(0));
  unsigned steps = stepsPerVector(panel), stepLanes = panel.lanes / steps * static_cast<unsigned>(depth());
  Lanes lanes{cast<AffineDimExpr>(lane).getPosition(), stepLanes};
  Values row;
  bool asksAhead = rows >= fewestRowsAhead && rows * elementsPerLine >= fewestSumsAhead * panel.lanes;
  AffineExpr base = right;
  for (unsigned vector = 0; vector < panel.vectors; ++vector) {
    unsigned v = panelVectors ? vector % panelVectors : vector;
    if (panelVectors)
      right = base + panelsApart * (vector / panelVectors);
    for (unsigned step = 0; step < steps; ++step) {
      AffineExpr at = right + (lane + (v * steps + step) * stepLanes) * laneStride;
      row.push_back(instruction ? k.loadStored(rhs, at, lanes.count) : k.loadBuffer(rhs, element, at, lanes));
    }
    // Of single elements, each asks. Without that, f32 takes 5 to 9 % fewer instructions on Cortex-M, but the kernels of bytes are to stay ahead of it.
    bool asksEachTime = !place && panel.lanes == 1;
    bool isFirstOfLine = asksEachTime || (place ? *place * panel.vectors + vector : v) * panel.lanes % elementsPerLine == 0;
    for (auto [level, elements] : llvm::enumerate(asksAhead && isFirstOfLine ? ahead : ArrayRef<int64_t>()))
      if (elements > 0)
        memref::PrefetchOp::create(k.builder(), k.loc(), rhs, k.emit(right + (v * panel.lanes + elements) * depth()), false, nearestLocality - level, true);
    for (auto [level, elements] : llvm::enumerate(isFirstOfLine && v * panel.lanes % elementsPerLine == 0 ? rowsAhead : ArrayRef<AffineExpr>()))
      memref::PrefetchOp::create(k.builder(), k.loc(), rhs, k.emit(right + v * panel.lanes * depth() + elements), false, nearestLocality - level, true);
  }
  if (toCome && (!place || *place % std::max<int64_t>(1, toCome->stepsPerLine) == 0)) {
    // Never negative: a shift, not a division that rounds down.
    Value apart = k.emit(right - toCome->rhsBase), perLine = k.emitConstant(panel.vectors * panel.lanes * depth() * toCome->stepsPerLine);
    AffineExpr line = k.index(arith::DivUIOp::create(k.builder(), k.loc(), apart, perLine));
    memref::PrefetchOp::create(k.builder(), k.loc(), rhs, k.emit(toCome->first + line * (elementsPerLine * depth())), false, 2, true);
  }
  return row;
}

SmallVector<Value> TileEmitter::step(AffineExpr lhsAt, ArrayRef<AffineExpr> rowOffsets, AffineExpr rhsAt, Panel panel, ValueRange carried) const {
  AffineExpr left = k.index(k.emit(lhsAt)), right = k.index(k.emit(rhsAt)), lane = k.index(k.emitConstant(0));
  Values row = loadRight(right, panel, rowOffsets.size()), next;
  for (size_t first = 0; first < rowOffsets.size(); first += stepRows()) {
    Value a = loadLeft(left, rowOffsets, first, lane, panel);
    for (Value b : row)
      next.push_back(writeStatement(k, multiplyAdd(a, b, carried[next.size()])));
  }
  return next;
}

Value TileEmitter::loadLeft(AffineExpr left, ArrayRef<AffineExpr> rowOffsets, size_t first, AffineExpr lane, Panel panel) const {
  if (!instruction)
    return k.broadcast(k.loadBuffer(lhs, element, left + rowOffsets[first]), panel.lanes);
  unsigned elements = static_cast<unsigned>(depth());
  if (leftInPairs)
    return k.loadStored(lhs, left + rowOffsets[first] + lane, 2 * elements);
  Value row = k.loadStored(lhs, left + rowOffsets[first] + lane, elements);
  if (stepRows() == 1)
    return row;
  Value next = first + 1 < rowOffsets.size() ? k.loadStored(lhs, left + rowOffsets[first + 1] + lane, elements) : row;
  return vector::ShuffleOp::create(k.builder(), k.loc(), row, next, llvm::to_vector(llvm::seq<int64_t>(0, 2 * elements)));
}

SmallVector<Value> TileEmitter::makeSums(size_t rows, Panel panel) const {
  if (hasSingleSums()) {
    Type one = VectorType::get(1, element);
    Value zero = arith::ConstantOp::create(k.builder(), k.loc(), DenseElementsAttr::get(cast<ShapedType>(one), k.builder().getZeroAttr(element)));
    return Values(rows * panel.vectors * panel.lanes, zero);
  }
  return Values(llvm::divideCeil(rows, stepRows()) * stepRows() * panel.vectors, k.number(element, 0, panel.lanes));
}

Value TileEmitter::zeroLike(Value sum) const {
  return arith::ConstantOp::create(k.builder(), k.loc(), k.builder().getZeroAttr(sum.getType()));
}

SmallVector<Value> TileEmitter::joinSums(ValueRange sums, Panel panel) const {
  Values scalars, joined;
  for (Value sum : sums)
    scalars.push_back(vector::ExtractOp::create(k.builder(), k.loc(), sum, 0));
  if (panel.lanes == 1)
    return scalars;
  for (size_t first = 0; first < scalars.size(); first += panel.lanes)
    joined.push_back(vector::FromElementsOp::create(k.builder(), k.loc(), VectorType::get(panel.lanes, element),
                                                    ArrayRef(scalars).slice(first, panel.lanes)));
  return joined;
}

SmallVector<Value> TileEmitter::addTo(ValueRange sums, AffineExpr lhsBase, ArrayRef<AffineExpr> rowOffsets, AffineExpr rhsBase, Panel panel) const {
  if (!hasSingleSums())
    return nest(0, lhsBase, rowOffsets, rhsBase, panel, sums);
  Values single;
  for (Value sum : sums)
    for (unsigned lane = 0; lane < panel.lanes; ++lane) {
      Value scalar = isa<VectorType>(sum.getType()) ? vector::ExtractOp::create(k.builder(), k.loc(), sum, lane).getResult() : sum;
      single.push_back(vector::FromElementsOp::create(k.builder(), k.loc(), VectorType::get(1, element), scalar));
    }
  return joinSums(nest(0, lhsBase, rowOffsets, rhsBase, panel, single), panel);
}

SmallVector<Value> TileEmitter::separateRows(ValueRange sums, size_t rows, Panel panel) const {
  if (hasSingleSums())
    return joinSums(sums, panel);
  if (stepRows() == 1)
    return sums;
  // Two neighbouring vectors have two rows by two columns each.
  int64_t half = panel.lanes / 2;
  Values separate;
  for (size_t row = 0; row < rows; ++row) {
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < panel.lanes; ++lane)
      lanes.push_back(lane / half * panel.lanes + static_cast<int64_t>(row % 2) * half + lane % half);
    for (unsigned v = 0; v < panel.vectors; ++v) {
      size_t at = (row / 2 * panel.vectors + v) * 2;
      separate.push_back(vector::ShuffleOp::create(k.builder(), k.loc(), sums[at], sums[at + 1], lanes));
    }
  }
  return separate;
}

/// How many iterations of a loop, each of so many products, make a block; 0 when the whole loop is one.
static int64_t chooseBlock(AffineExpr extent, int64_t products, int64_t chainLength) {
  auto size = getConstantDim(extent);
  int64_t longest = std::max<int64_t>(1, chainLength / products);
  if (!size)
    return longest;
  // A little more than one chain is not worth a second set of sums.
  if (2 * *size <= 3 * longest)
    return 0;
  // Equal blocks if possible.
  for (int64_t block = longest; 2 * block > longest; --block)
    if (*size % block == 0)
      return block;
  return longest;
}

int64_t TileEmitter::chooseBlockAt(unsigned depth) const {
  int64_t products = 1;
  for (unsigned inner = reduction.size() - 1;; --inner) {
    int64_t block = chooseBlock(reduction[inner].extent, products, chainLength);
    if (inner == depth)
      return block;
    if (block != 0)
      return 0;
    products *= *getConstantDim(reduction[inner].extent);
  }
}

int64_t TileEmitter::leftLanes(const ReductionLoop &loop, Panel panel) const {
  std::optional<int64_t> extent = getConstantDim(loop.extent);
  kernel::StepAttr plain = instruction ? instruction : k.target().getPlainStep(element);
  bool multiplies = panel.lanes > 1 && plain && multipliesByLanes(k.target(), plain);
  return multiplies && getConstantDim(loop.lhsStride) == depth() && extent && *extent >= panel.lanes ? panel.lanes : 1;
}

int64_t TileEmitter::countStepsTogether(const ReductionLoop &loop) const {
  // Steps on words need the registers of the next ones for themselves. Those of two rows have few instructions for each load.
  const int64_t most = stepRows() > 1 ? 2 : k.target().getVectorBits() > 32 ? 8 : 4;
  std::optional<int64_t> extent = hasSingleSums() || (stepRows() > 1 && isa<IntegerType>(element)) ? getConstantDim(loop.extent) : std::nullopt;
  int64_t together = extent ? std::clamp<int64_t>(*extent, 1, most) : 1;
  while (extent && *extent % together != 0)
    --together;
  return together;
}

SmallVector<Value> TileEmitter::sumLanes(const ReductionLoop &loop, int64_t together, AffineExpr lhsAt, ArrayRef<AffineExpr> rowOffsets, AffineExpr rhsAt,
                                         Panel panel, ValueRange carried) const {
  int64_t extent = *getConstantDim(loop.extent), groups = extent / together;
  // Neighbouring steps read the same lines of the right side.
  bool isPanel = getConstantDim(loop.rhsStride) == static_cast<int64_t>(panel.vectors * panel.lanes) * depth();
  unsigned elements = static_cast<unsigned>(together * depth());
  AffineExpr count = k.constant(groups);
  Values sums = sumBlocks(count, chooseBlock(count, together, chainLength), panel, carried, [&](AffineExpr i, ValueRange part) {
    AffineExpr left = k.index(k.emit(lhsAt + i * elements)), right = k.index(k.emit(rhsAt + i * loop.rhsStride * together));
    AffineExpr lane = k.index(k.emitConstant(0));
    Values lefts, next(part);
    for (AffineExpr offset : rowOffsets) {
      AffineExpr at = left + offset + lane;
      lefts.push_back(instruction ? k.loadStored(lhs, at, elements)
                                  : k.loadBuffer(lhs, element, at, Lanes{cast<AffineDimExpr>(lane).getPosition(), elements}));
    }
    for (int64_t j = 0; j < together; ++j) {
      Values row = loadRight(j ? k.index(k.emit(right + loop.rhsStride * j)) : right, panel, rowOffsets.size(), isPanel ? std::optional(j) : std::nullopt);
      for (auto [r, vector] : llvm::enumerate(lefts)) {
        Value a = pickLeft(vector, j, panel);
        for (unsigned v = 0; v < panel.vectors; ++v)
          next[r * panel.vectors + v] = writeHere(k, multiplyAdd(a, row[v], next[r * panel.vectors + v]));
      }
    }
    return next;
  });
  if (groups * together == extent)
    return sums;
  return k.loop(k.constant(groups * together), loop.extent, 1, "k", sums, [&](AffineExpr i, ValueRange part) {
    return step(lhsAt + i * loop.lhsStride, rowOffsets, rhsAt + i * loop.rhsStride, panel, part);
  });
}

Value TileEmitter::pickLeft(Value steps, int64_t place, Panel panel) const {
  if (!instruction)
    return k.broadcast(vector::ExtractOp::create(k.builder(), k.loc(), steps, place), panel.lanes);
  return vector::ShuffleOp::create(k.builder(), k.loc(), steps, steps, llvm::to_vector(llvm::seq<int64_t>(place * depth(), (place + 1) * depth())));
}

SmallVector<Value> TileEmitter::unroll(Values sums) const {
  auto loop = sums.front().getDefiningOp<scf::ForOp>();
  int64_t rounds = k.target().tuned(kernel::Tuned::UnrolledSteps);
  std::optional<int64_t> count = getConstantIntValue(loop.getUpperBound());
  if (rounds > 1 && count && *count > rounds && *count % rounds == 0 && loop.getBody()->getOps<scf::ForOp>().empty())
    loop->setAttr(kernel::unrollAttrName, k.builder().getI64IntegerAttr(rounds));
  return sums;
}

SmallVector<Value> TileEmitter::sumBlocks(AffineExpr extent, int64_t block, Panel panel, ValueRange carried, LoopBody body) const {
  if (block == 0)
    return unroll(k.loop(k.constant(0), extent, 1, "k", carried, body));
  auto size = getConstantDim(extent);
  return k.loop(k.constant(0), extent, block, "block", carried, [&](AffineExpr start, ValueRange sums) {
    bool even = size && *size % block == 0;
    AffineExpr count = even ? k.constant(block) : k.index(k.minimum(k.emitConstant(block), k.emit(extent - start)));
    Values partial(sums.size(), zeroLike(sums.front()));
    partial = unroll(k.loop(k.constant(0), count, 1, "k", partial, [&](AffineExpr i, ValueRange part) { return body(start + i, part); }));
    for (auto [sum, part] : llvm::zip_equal(sums, partial))
      part = add(sum, part);
    return partial;
  });
}

SmallVector<Value> TileEmitter::nest(unsigned depth, AffineExpr lhsAt, ArrayRef<AffineExpr> rowOffsets, AffineExpr rhsAt, Panel panel,
                                     ValueRange carried) const {
  if (depth == reduction.size())
    return step(lhsAt, rowOffsets, rhsAt, panel, carried);
  const ReductionLoop &loop = reduction[depth];
  if (int64_t together = leftLanes(loop, panel); together > 1 && depth + 1 == reduction.size())
    return sumLanes(loop, together, lhsAt, rowOffsets, rhsAt, panel, carried);
  if (int64_t together = countStepsTogether(loop); together > 1 && depth + 1 == reduction.size())
    return k.loop(k.constant(0), k.constant(*getConstantDim(loop.extent) / together), 1, "k", carried, [&](AffineExpr i, ValueRange sums) {
      Values next(sums);
      for (int64_t j = 0; j < together; ++j)
        next = step(lhsAt + (i * together + j) * loop.lhsStride, rowOffsets, rhsAt + (i * together + j) * loop.rhsStride, panel, next);
      return next;
    });
  return sumBlocks(loop.extent, chooseBlockAt(depth), panel, carried, [&](AffineExpr i, ValueRange sums) {
    return nest(depth + 1, lhsAt + i * loop.lhsStride, rowOffsets, rhsAt + i * loop.rhsStride, panel, sums);
  });
}

SmallVector<Value> TileEmitter::streams(AffineExpr lhsBase, AffineExpr rhsBase, Panel panel, unsigned count) const {
  const ReductionLoop &loop = reduction.front();
  AffineExpr length = simplifyDim(loop.extent.floorDiv(count));
  if (!getConstantDim(length))
    length = k.index(k.emit(length));
  Values sums(count * panel.vectors, k.number(element, 0, panel.lanes));
  AffineExpr row = k.constant(0);
  sums = sumBlocks(length, chooseBlock(length, 1, chainLength), panel, sums, [&](AffineExpr i, ValueRange carried) {
    Values next;
    for (unsigned s = 0; s < count; ++s) {
      AffineExpr at = i + length * static_cast<int64_t>(s);
      next.append(step(lhsBase + at * loop.lhsStride, row, rhsBase + at * loop.rhsStride, panel, carried.slice(s * panel.vectors, panel.vectors)));
    }
    return next;
  });
  for (; sums.size() > panel.vectors; sums.resize(sums.size() / 2))
    for (size_t i = 0; i < sums.size() / 2; ++i)
      sums[i] = add(sums[i], sums[i + sums.size() / 2]);
  if (simplifyDim(length * count) == loop.extent)
    return sums;
  return k.loop(simplifyDim(length * count), loop.extent, 1, "k", sums, [&](AffineExpr i, ValueRange carried) {
    return step(lhsBase + i * loop.lhsStride, row, rhsBase + i * loop.rhsStride, panel, carried);
  });
}

SmallVector<Value> TileEmitter::addRest(ValueRange sums, AffineExpr rhsBase, size_t rows, Panel panel) const {
  TileEmitter last = *this;
  last.lhs = rest->elements;
  SmallVector<AffineExpr> offsets;
  for (size_t row = 0; row < rows; ++row)
    offsets.push_back(k.constant(static_cast<int64_t>(row) * depth()));
  return k.loop(k.constant(0), rest->steps, 1, "rest", sums, [&](AffineExpr, ValueRange carried) {
    return last.step(k.constant(0), offsets, rhsBase + rest->rhsOffset, panel, carried);
  });
}

SmallVector<Value> TileEmitter::sumRows(size_t rows, AffineExpr rhsBase, Panel panel) const {
  OpBuilder &b = k.builder();
  int64_t height = static_cast<int64_t>(rows), columns = panel.vectors * panel.lanes;
  Value sums = k.array("sums", element, height * columns);
  kernel::RuntimeCallOp::create(b, k.loc(), b.getStringAttr("kiln::" + instruction.getFunction()),
                                {sums, lhs, k.emitConstant(height), rhs, k.emit(rhsBase), k.emitConstant(stepsOfRows)}, b.getArrayAttr({}));
  AffineExpr lane = k.index(k.emitConstant(0));
  Values loaded;
  for (int64_t at = 0; at < height * columns; at += panel.lanes)
    loaded.push_back(k.loadBuffer(sums, element, lane + at, Lanes{cast<AffineDimExpr>(lane).getPosition(), panel.lanes}));
  return loaded;
}

void TileEmitter::emit(AffineExpr lhsBase, ArrayRef<AffineExpr> rowOffsets, AffineExpr rhsBase, Panel panel, Store store) const {
  if (stepsOfRows)
    return storeSums(sumRows(rowOffsets.size(), rhsBase, panel), panel, store);
  lhsBase = k.index(k.emit(lhsBase));
  rhsBase = k.index(k.emit(rhsBase));
  unsigned count = static_cast<unsigned>(k.group().getPlan()->getStreams());
  // Of a length that only run time knows, what streams leave over is little beside them.
  int64_t fewest = 8 * static_cast<int64_t>(count);
  bool isLong = getConstantDim(reduction.front().extent).value_or(fewest) >= fewest;
  Values sums;
  if (count > 1 && mayStream && rowOffsets.size() == 1 && stepRows() == 1 && !hasSingleSums() && reduction.size() == 1 && isLong) {
    sums = streams(lhsBase + rowOffsets.front(), rhsBase, panel, count);
  } else {
    sums = makeSums(rowOffsets.size(), panel);
    sums = nest(0, lhsBase, rowOffsets, rhsBase, panel, sums);
  }
  if (rest)
    sums = addRest(sums, rhsBase, rowOffsets.size(), panel);
  storeSums(separateRows(sums, rowOffsets.size(), panel), panel, store);
}

void TileEmitter::storeSums(ValueRange sums, Panel panel, Store store) const {
  for (unsigned r = 0; r < sums.size() / panel.vectors; ++r)
    for (unsigned v = 0; v < panel.vectors; ++v) {
      unsigned column = v * panel.lanes, left = panel.valid - std::min(panel.valid, column), done = 0;
      Value sum = sums[r * panel.vectors + v];
      if (left >= panel.lanes) {
        store(r, column, sum, panel.lanes);
        continue;
      }
      for (unsigned piece = panel.lanes / 2; piece >= 4; piece /= 2)
        if (left - done >= piece) {
          auto lanes = llvm::to_vector(llvm::seq<int64_t>(done, done + piece));
          store(r, column + done, vector::ShuffleOp::create(k.builder(), k.loc(), sum, sum, lanes), piece);
          done += piece;
        }
      for (; done < left; ++done)
        store(r, column + done, vector::ExtractOp::create(k.builder(), k.loc(), sum, static_cast<int64_t>(done)), 1);
    }
}

} // namespace kiln
