//===- BlockProduct.cpp - Products with weights of 4 or 8 bits in blocks ----===//
//
//   for each block of the sum:
//     part = 0
//     for each vector of 4 bytes of each column:  part += its numbers * (elements of the left side)
//     sum += part * scale
//
// Weights stay packed in memory (BlockNumbers.h). A tile that has all rows makes numbers of them in registers; one without room for a second set of sums
// multiplies each number by its scale. More rows share the f32 numbers of a part of a panel, which lie in the first-level cache (gemm_unpacked):
//
//   for each task = (panel of columns, some blocks of rows), for each part of the sum:
//     for the first block of rows: sums += tile of the left side and numbers * scale, which are stored in the panel on the way
//     for each other block: sums[block] += tile of the left side and the panel
//
// A left side of bytes is multiplied by the target's step.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/BlockProduct.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/BlockQuantized.h"
#include "passes/lowering/contraction/BlockNumbers.h"
#include "passes/lowering/contraction/MatmulTiled.h"
#include "passes/lowering/contraction/PackedContraction.h"
#include "passes/target/choice/BoundedWeights.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/groups/PackedInputs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static std::optional<int64_t> countRows(BlockQuantizedMatmulOp op) {
  DimExprs extents = getDims(op.getType());
  return getConstantDim(simplifyDim(getNumElements(ArrayRef(extents).drop_back(), op.getContext())));
}

static bool hasConstantWeights(GroupOp group, BlockQuantizedMatmulOp op) {
  return llvm::all_of(ArrayRef<Value>{op.getWeight(), op.getScale(), op.getZeroPoint()},
                      [&](Value value) { return !value || (isa<BlockArgument>(value) && group.isConstantInput(argumentOf(value))); });
}

/// The caller has packed the weights and their scales; there are no zero points.
static bool hasPackedWeights(GroupOp group, BlockQuantizedMatmulOp op) {
  return llvm::all_of(ArrayRef<Value>{op.getWeight(), op.getScale()},
                      [&](Value value) { return isa<BlockArgument>(value) && isPackedInput(group, argumentOf(value)); });
}

static constexpr StringLiteral computedWeights = "the weights, their scales or zero points are not constant";

/// Panels of what a caller has packed depend on no size.
static PlanNumbers planPacked(BlockQuantizedMatmulOp op, kernel::TargetAttr target) {
  PlanNumbers numbers = planUnpackedProduct(target, std::nullopt, op.getBlock(), std::nullopt, 32 / op.getBits());
  numbers.tile = toNumbers(limitRows(toTile(numbers.tile)));
  return numbers;
}

static PlanNumbers planInRegisters(GroupOp group, BlockQuantizedMatmulOp op, kernel::TargetAttr target) {
  if (hasPackedWeights(group, op)) {
    TileShape tile = toTile(planPacked(op, target).tile);
    tile.rows = static_cast<unsigned>(chooseBlockRows(target, countRows(op).value_or(1), tile.vectors, tile.rows));
    PlanNumbers numbers = planProduct(target, tile);
    numbers.streams = 0;
    return numbers;
  }
  int64_t rowStride = op.countBlocks() * op.getBlock();
  return planBlockProduct(target, countRows(op), op.countColumns(), rowStride, static_cast<bool>(op.getLhsScale()), op.getBits());
}

KernelMatch matchGemmBlocks(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<BlockQuantizedMatmulOp>(anchor);
  if (!hasConstantWeights(group, op) && !hasPackedWeights(group, op))
    return refuse(computedWeights);
  PlanNumbers numbers = planInRegisters(group, op, target);
  std::string how = op.getLhsScale() ? "by " + numbers.step + " with a left side of bytes" : "made f32 in registers";
  return accept("product with " + Twine(op.getBits()) + "-bit weights in blocks of " + Twine(op.getBlock()) + ", " + how, std::move(numbers));
}

std::string findBlockStepFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  if (!cast<BlockQuantizedMatmulOp>(anchor).getLhsScale())
    return "";
  kernel::StepAttr step = findSignedByteStep(kernel::getTarget(group));
  // Numbers of 4 and 8 bits are multiplied as unsigned bytes, four at a time.
  std::string fault = findStepFault(kernel::getTarget(group), plan, step.getLhs(), step.getRhs(), step.getSum(), 4);
  return fault.empty() ? findBoundsFault(plan.getStep(), cast<BlockQuantizedMatmulOp>(anchor).getBits()) : fault;
}

namespace {
class BlockEmitter {
public:
  BlockEmitter(KernelBuilder &k, BlockQuantizedMatmulOp op);
  LaunchInfo run();
  LaunchInfo runUnpacked();

private:
  using Values = SmallVector<Value>;
  /// A tile: where its rows begin in the left side, and in what belongs to the blocks of rows.
  struct Tile {
    SmallVector<AffineExpr> rows, blockRows;
    AffineExpr column;
    Panel panel;

    size_t sums() const { return rows.size() * panel.vectors; }
  };
  Contraction makeContraction();
  Values emitTile(const Tile &tile);
  Values addBlock(const Tile &tile, AffineExpr block, ValueRange sums);
  Values addScaled(const Tile &tile, AffineExpr block, ValueRange sums);
  Values addReal(const Tile &tile, AffineExpr block, ValueRange sums, ArrayRef<Value> scales);
  Values unpack(const Tile &tile, Value panel, AffineExpr start, AffineExpr length, int64_t part);
  Values unpackGroups(const Tile &tile, Value panel, BlockNumbers::Groups groups, AffineExpr row, int64_t high, ValueRange sums);
  Values addBytes(const Tile &tile, AffineExpr block, ValueRange sums);
  Tile makeTile(AffineExpr lhs, ArrayRef<AffineExpr> offsets, AffineExpr column, Panel panel);
  Values loadWords(const Tile &tile, AffineExpr block, AffineExpr group);
  Values zeros(const Tile &tile) { return Values(tile.sums(), k.number(real, 0, numbers.lanes)); }
  Value scaled(Value part, Value scale, Value sum) { return vector::FMAOp::create(k.builder(), k.loc(), part, scale, sum); }

  KernelBuilder &k;
  BlockQuantizedMatmulOp op;
  TileShape shape;
  BlockNumbers numbers;
  unsigned lanes;
  int64_t bits, block, groups;
  AffineExpr blocks;
  /// Left sides' rows, counted from the first one.
  DimExprs lhsDims;
  Type real, whole;
};
} // namespace

BlockEmitter::BlockEmitter(KernelBuilder &k, BlockQuantizedMatmulOp op)
    : k(k), op(op), shape(getTile(k.group())), numbers(k, op, shape), lanes(shape.lanes), bits(numbers.bits), block(numbers.block), groups(numbers.groups),
      blocks(numbers.blocks), lhsDims(getDims(op.getLhs().getType())), real(k.builder().getF32Type()), whole(k.builder().getI32Type()) {
  lhsDims.pop_back();
}

/// Few rows wait for their weights.
SmallVector<Value> BlockEmitter::loadWords(const Tile &tile, AffineExpr at, AffineExpr group) {
  if (DenseI64ArrayAttr ahead = k.group().getPlan()->getAhead(); ahead && ahead.asArrayRef().back() > 0 && tile.rows.size() == 1)
    numbers.askAhead(tile.column, at, group, ahead.asArrayRef().back());
  return numbers.loadWords(tile.column, at, group, tile.panel.vectors);
}

/// sums + the products of a block, of a left side of f32. With scales, each number is multiplied by its own. Twice as many sums as the tile has are two sets,
/// for the numbers of even and odd places.
SmallVector<Value> BlockEmitter::addReal(const Tile &tile, AffineExpr at, ValueRange sums, ArrayRef<Value> scales) {
  SmallVector<Values> bases = numbers.makeBases(tile.column, at, tile.panel.vectors);
  Value lhs = k.buffer(argumentOf(op.getLhs()));
  return k.loop(k.constant(0), k.constant(groups), 1, "group", sums, [&](AffineExpr group, ValueRange carried) {
    Values next(carried), words = loadWords(tile, at, group);
    numbers.forNumbers(words, bases, [&](int64_t byte, bool isHigh, ArrayRef<Value> plain) {
      Values weights(plain);
      for (size_t v = 0; v < scales.size(); ++v)
        weights[v] = arith::MulFOp::create(k.builder(), k.loc(), plain[v], scales[v]);
      AffineExpr place = at * block + group * 4 + byte + (isHigh ? block / 2 : 0);
      for (auto [r, row] : llvm::enumerate(tile.rows)) {
        Value a = k.broadcast(k.loadBuffer(lhs, real, row + place), lanes);
        for (unsigned v = 0; v < tile.panel.vectors; ++v) {
          Value &part = next[(byte % 2 * tile.sums() + r * tile.panel.vectors + v) % next.size()];
          part = vector::FMAOp::create(k.builder(), k.loc(), a, weights[v], part);
        }
      }
    });
    return next;
  });
}

SmallVector<Value> BlockEmitter::addBlock(const Tile &tile, AffineExpr at, ValueRange sums) {
  // Few sums wait for each other.
  constexpr size_t fewSums = 2;
  Values none = zeros(tile);
  if (tile.sums() <= fewSums)
    llvm::append_range(none, zeros(tile));
  Values parts = addReal(tile, at, none, {}), scales = numbers.loadScales(tile.column, at, tile.panel.vectors);
  for (size_t i = tile.sums(); i < parts.size(); ++i)
    parts[i - tile.sums()] = arith::AddFOp::create(k.builder(), k.loc(), parts[i - tile.sums()], parts[i]);
  parts.resize(tile.sums());
  for (auto [i, part] : llvm::enumerate(parts))
    part = scaled(part, scales[i % tile.panel.vectors], sums[i]);
  return parts;
}

SmallVector<Value> BlockEmitter::addScaled(const Tile &tile, AffineExpr at, ValueRange sums) {
  return addReal(tile, at, sums, numbers.loadScales(tile.column, at, tile.panel.vectors));
}

/// The same of a left side of bytes. Sums of integers begin with what zero points take away.
SmallVector<Value> BlockEmitter::addBytes(const Tile &tile, AffineExpr at, ValueRange sums) {
  Value lhs = k.buffer(argumentOf(op.getLhs())), totals = k.buffer(argumentOf(op.getLhsSum())), lhsScales = k.buffer(argumentOf(op.getLhsScale()));
  Values zeros = numbers.loadZeros(tile.column, at, tile.panel.vectors), parts;
  for (AffineExpr row : tile.blockRows) {
    Value total = k.loadBuffer(totals, whole, row + at), minus = arith::SubIOp::create(k.builder(), k.loc(), numbers.integers(0, 1), total);
    for (unsigned v = 0; v < tile.panel.vectors; ++v) {
      Value zero = zeros.empty() ? Value() : Value(arith::ExtUIOp::create(k.builder(), k.loc(), VectorType::get(lanes, whole), zeros[v]));
      Value part = zero ? Value(arith::MulIOp::create(k.builder(), k.loc(), k.broadcast(minus, lanes), zero))
                        : k.broadcast(arith::MulIOp::create(k.builder(), k.loc(), minus, numbers.integers(numbers.centre, 1)), lanes);
      parts.push_back(part);
    }
  }
  StringRef function = k.group().getPlan()->getStep();
  auto bytesType = VectorType::get(4 * lanes, k.builder().getI8Type());
  parts = k.loop(k.constant(0), k.constant(groups), 1, "group", parts, [&](AffineExpr group, ValueRange carried) {
    Values next(carried), words = loadWords(tile, at, group);
    for (int64_t high = 0; high < 8 / bits; ++high) {
      Values weights;
      for (Value word : words) {
        if (bits == 4)
          word = arith::AndIOp::create(k.builder(), k.loc(), high ? numbers.shiftRight(word, 4) : word, numbers.integers(0x0f0f0f0f, lanes));
        weights.push_back(vector::BitCastOp::create(k.builder(), k.loc(), bytesType, word));
      }
      AffineExpr lane = k.index(k.emitConstant(0)), place = at * block + group * 4 + high * (block / 2) + lane;
      for (auto [r, row] : llvm::enumerate(tile.rows)) {
        Value a = k.loadBuffer(lhs, k.builder().getI8Type(), row + place, Lanes{cast<AffineDimExpr>(lane).getPosition(), 4});
        for (unsigned v = 0; v < tile.panel.vectors; ++v) {
          Value &part = next[r * tile.panel.vectors + v];
          part = kernel::StepOp::create(k.builder(), k.loc(), part.getType(), function, a, weights[v], part);
        }
      }
    }
    return next;
  });
  Values scales = numbers.loadScales(tile.column, at, tile.panel.vectors);
  for (auto [i, part] : llvm::enumerate(parts)) {
    Value ofRow = k.broadcast(k.loadBuffer(lhsScales, real, tile.blockRows[i / tile.panel.vectors] + at), lanes);
    Value product = arith::SIToFPOp::create(k.builder(), k.loc(), VectorType::get(lanes, real), part);
    part = scaled(arith::MulFOp::create(k.builder(), k.loc(), product, ofRow), scales[i % tile.panel.vectors], sums[i]);
  }
  return parts;
}

SmallVector<Value> BlockEmitter::emitTile(const Tile &tile) {
  auto forBlocks = [&](AffineExpr first, AffineExpr count, Values sums, Values (BlockEmitter::*add)(const Tile &, AffineExpr, ValueRange)) {
    return k.loop(k.constant(0), count, 1, "block", sums, [&](AffineExpr at, ValueRange carried) { return (this->*add)(tile, first + at, carried); });
  };
  AffineExpr zero = k.constant(0), all = blocks;
  if (op.getLhsScale())
    return forBlocks(zero, all, zeros(tile), &BlockEmitter::addBytes);
  if (tile.sums() <= getHalfOfRegisters(k.target()))
    return forBlocks(zero, all, zeros(tile), &BlockEmitter::addBlock);
  // Rounding errors grow with the length of a chain.
  constexpr int64_t chainLength = 256;
  int64_t perChain = std::max<int64_t>(1, chainLength / block);
  auto known = getConstantDim(blocks);
  if (known && *known <= perChain)
    return forBlocks(zero, all, zeros(tile), &BlockEmitter::addScaled);
  return k.loop(zero, all, perChain, "chain", zeros(tile), [&](AffineExpr first, ValueRange sums) {
    AffineExpr count = known && *known % perChain == 0 ? k.constant(perChain) : k.index(k.minimum(k.emitConstant(perChain), k.emit(all - first)));
    Values parts = forBlocks(first, count, zeros(tile), &BlockEmitter::addScaled);
    for (auto [sum, part] : llvm::zip_equal(sums, parts))
      part = arith::AddFOp::create(k.builder(), k.loc(), sum, part);
    return parts;
  });
}

Contraction BlockEmitter::makeContraction() {
  DimExprs extents = getDims(op.getType());
  AffineExpr zero = k.constant(0);
  Contraction c;
  c.result = op.getResult();
  c.element = real;
  c.lhs = k.buffer(argumentOf(op.getLhs()));
  c.rhs = k.buffer(argumentOf(op.getWeight()));
  c.columns = extents.pop_back_val();
  c.rows = extents.empty() ? IndexExprs{k.constant(1)} : IndexExprs(extents);
  c.tile = shape;
  c.padded = c.evenPanels = true;
  c.laneStride = k.constant(1);
  c.lhsAt = [this](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows) {
    return simplifyDim((lhsDims.empty() ? k.constant(0) : k.linearize(lhsDims, rows)) * (blocks * block));
  };
  c.rhsAt = [zero](ArrayRef<AffineExpr>) { return zero; };
  c.resultAt = [rank = lhsDims.size()](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows, AffineExpr column) {
    IndexExprs at(rows.take_front(rank));
    at.push_back(column);
    return at;
  };
  return c;
}

LaunchInfo BlockEmitter::run() {
  Contraction c = makeContraction();
  // Bytes of a column, for the size of chunks.
  AffineExpr bytes = simplifyDim(blocks * (groups * 4));
  c.reduction = {{bytes, k.constant(1), k.constant(numbers.width)}};
  c.panelStride = bytes;
  c.tileSums = [this](ArrayRef<AffineExpr>, ArrayRef<IndexExprs> rows, AffineExpr column, Panel panel) {
    Tile tile{{}, {}, column, panel};
    for (const IndexExprs &row : rows) {
      AffineExpr number = k.index(k.emit(lhsDims.empty() ? k.constant(0) : k.linearize(lhsDims, row)));
      tile.rows.push_back(number * (blocks * block));
      tile.blockRows.push_back(number * blocks);
    }
    return emitTile(tile);
  };
  LaunchInfo info = lowerContraction(k, c);
  info.flops = simplifyDim(getNumElements(c.rows, k.context()) * c.columns * (blocks * (2 * block)));
  return info;
}

//===- Many rows -----------------------------------------------------------===//

KernelMatch matchGemmUnpacked(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<BlockQuantizedMatmulOp>(anchor);
  bool isPacked = hasPackedWeights(group, op);
  if (!hasConstantWeights(group, op) && !isPacked)
    return refuse(computedWeights);
  if (op.getLhsScale())
    return refuse("the left side is bytes, which the target's step multiplies");
  if (llvm::is_contained(op.getType().getShape(), 0))
    return refuse("the result has no elements");
  std::optional<int64_t> rows = countRows(op);
  PlanNumbers numbers =
      isPacked ? planPacked(op, target) : planUnpackedProduct(target, op.countColumns(), op.getBlock(), op.countBlocks(), 32 / op.getBits());
  if (numbers.depth == 0)
    return refuse("no part of a block of " + Twine(op.getBlock()) + " numbers fits the first-level cache of " + Twine(target.getL1()) + " bytes");
  if (!paysToUnpack(target, rows, planInRegisters(group, op, target)))
    return refuse("a tile has all " + Twine(*rows) + " rows, so weights are made f32 once in registers");
  return accept("product with " + Twine(op.getBits()) + "-bit weights in blocks of " + Twine(op.getBlock()) + ", made f32 once for " +
                    (rows ? "all rows" : "more rows than a tile has") + ", " + Twine(numbers.depth) + " of a sum at a time",
                std::move(numbers));
}

std::string findUnpackedFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  auto op = cast<BlockQuantizedMatmulOp>(anchor);
  int64_t depth = plan.getDepth(), block = op.getBlock(), perWord = 32 / op.getBits();
  if (depth % block == 0 || (block % depth == 0 && depth % perWord == 0))
    return "";
  return "depth " + std::to_string(depth) + " has no whole blocks of " + std::to_string(block) + " numbers, and no multiple of " + std::to_string(perWord) +
         " that divides one";
}

BlockEmitter::Tile BlockEmitter::makeTile(AffineExpr lhs, ArrayRef<AffineExpr> offsets, AffineExpr column, Panel panel) {
  Tile tile{{}, {}, column, panel};
  for (AffineExpr offset : offsets)
    tile.rows.push_back(k.index(k.emit(lhs + offset)));
  return tile;
}

/// sums + the products of groups of a block, whose weights are stored in a panel: those of low halves of bytes from `row` on, those of high ones `high` rows
/// further. Some groups at a time are stored and then multiplied, so that the CPU does the one while it waits for the other.
SmallVector<Value> BlockEmitter::unpackGroups(const Tile &tile, Value panel, BlockNumbers::Groups some, AffineExpr row, int64_t high, ValueRange given) {
  constexpr int64_t elementsAtOnce = 64;
  int64_t all = *getConstantDim(some.count), count = std::min(all, elementsAtOnce / numbers.perGroup), width = numbers.width;
  while (all % count != 0)
    --count;
  AffineExpr one = k.constant(1);
  return k.loop(k.constant(0), some.count, count, "some", given, [&](AffineExpr first, ValueRange sums) {
    AffineExpr to = k.index(k.emit(row + first * 4)), lhs = k.index(k.emit(some.block * block + (some.first + first) * 4));
    numbers.unpack(panel, tile.column, {some.block, some.first + first, k.constant(count)}, to, high, tile.panel.vectors,
                   k.group().getPlan()->getDepth() / numbers.perGroup);
    TileEmitter tiles{k, k.buffer(argumentOf(op.getLhs())), panel, real, {}, one};
    if (bits == 4 && (count < groups || high != block / 2))
      tiles.reduction = {{k.constant(2), k.constant(block / 2), k.constant(high * width)}, {k.constant(4 * count), one, k.constant(width)}};
    else
      tiles.reduction = {{k.constant(count * numbers.perGroup), one, k.constant(width)}};
    // The part is no longer than a chain.
    tiles.chainLength = int64_t(1) << 40;
    return tiles.addTo(sums, lhs, tile.rows, to * width, tile.panel);
  });
}

/// The sums of a part, whose weights are stored in a panel on the way. The part has whole blocks, or divides a block: then the low halves of its bytes are
/// followed by the high ones.
SmallVector<Value> BlockEmitter::unpack(const Tile &tile, Value panel, AffineExpr start, AffineExpr length, int64_t part) {
  AffineExpr zero = k.constant(0), first = k.index(k.emit(start.floorDiv(block)));
  if (part % block != 0) {
    AffineExpr group = k.index(k.emit((start % block).floorDiv(numbers.perGroup)));
    return unpackGroups(tile, panel, {first, group, k.constant(part / numbers.perGroup)}, zero, part / 2, zeros(tile));
  }
  return k.loop(zero, simplifyDim(length.floorDiv(block)), 1, "block", zeros(tile), [&](AffineExpr at, ValueRange sums) {
    return unpackGroups(tile, panel, {first + at, zero, k.constant(groups)}, at * block, block / 2, sums);
  });
}

LaunchInfo BlockEmitter::runUnpacked() {
  Contraction c = makeContraction();
  AffineExpr one = k.constant(1), width = k.constant(numbers.width), depth = simplifyDim(blocks * block);
  int64_t part = std::min(k.group().getPlan()->getDepth(), getConstantDim(depth).value_or(INT64_MAX));
  c.reduction = {{depth, one, width}};
  UnpackedSide side;
  side.length = part;
  side.unpack = [&](Value panel, AffineExpr column, AffineExpr start, AffineExpr length, AffineExpr lhs, ArrayRef<AffineExpr> offsets) {
    return unpack(makeTile(lhs, offsets, column, {shape.vectors, lanes, shape.columns()}), panel, start, length, part);
  };
  if (hasPackedWeights(k.group(), op)) {
    TileShape tile = toTile(planPacked(op, k.target()).tile);
    int64_t ofEach = chooseBlockRows(k.target(), std::nullopt, tile.vectors, tile.rows), ofOneTile = ofEach;
    while (chooseBlockRows(k.target(), ofOneTile + 1, tile.vectors, tile.rows) > ofOneTile)
      ++ofOneTile;
    side.rowsInPlace = {ofOneTile, ofEach, std::max(ofOneTile, k.target().tuned(kernel::Tuned::PackedRows) - 1)};
  }
  bool isHalved = part % block != 0 && bits == 4;
  // A part of a block has the low halves of some bytes, then the high ones.
  side.lhsOffset = [&](AffineExpr start) { return isHalved ? start.floorDiv(block) * block + (start % block).floorDiv(2) : start; };
  side.reduction = [&](AffineExpr length) -> SmallVector<ReductionLoop> {
    if (!isHalved)
      return {{length, one, width}};
    return {{k.constant(2), k.constant(block / 2), k.constant(part / 2 * numbers.width)}, {k.constant(part / 2), one, width}};
  };
  side.sumInPlace = [&](AffineExpr lhs, ArrayRef<AffineExpr> offsets, AffineExpr column, Panel panel) {
    return emitTile(makeTile(lhs, offsets, column, panel));
  };
  return lowerPackedContraction(k, c, &side);
}

static FailureOr<LaunchInfo> lowerBlocks(KernelBuilder &k, Operation *anchor, LaunchInfo (BlockEmitter::*run)()) {
  auto op = cast<BlockQuantizedMatmulOp>(anchor);
  constexpr int64_t bytesOfWord = 4;
  int64_t width = getTile(k.group()).columns();
  if (hasPackedWeights(k.group(), op) && (failed(setPanels(k.group(), argumentOf(op.getWeight()), width, bytesOfWord)) ||
                                          failed(setPanels(k.group(), argumentOf(op.getScale()), width, 1))))
    return failure();
  if (!llvm::is_contained(op.getType().getShape(), 0)) {
    BlockEmitter emitter(k, op);
    return (emitter.*run)();
  }
  k.taskLoop({k.constant(0)}, [](ArrayRef<AffineExpr>) {});
  return LaunchInfo{k.constant(0), k.constant(0), k.constant(0)};
}

FailureOr<LaunchInfo> lowerGemmBlocks(KernelBuilder &k, Operation *anchor) { return lowerBlocks(k, anchor, &BlockEmitter::run); }

FailureOr<LaunchInfo> lowerGemmUnpacked(KernelBuilder &k, Operation *anchor) { return lowerBlocks(k, anchor, &BlockEmitter::runUnpacked); }

} // namespace kiln
