//===- BlockProduct.cpp - Products with weights of 4 or 8 bits in blocks ----===//
//
//   for each block of the sum:
//     part = 0
//     for each vector of 4 bytes of each column:  part += its numbers * (elements of the left side)
//     sum += part * scale
//
// Weights stay packed in memory and become numbers in registers, once for all rows of a tile. They are stored in panels
//   [column / NR, block, byte / 4, column % NR, byte % 4], NR = the tile's columns
// which a tile reads front to back: one stream. Numbers become f32 without a conversion: their bits are the low ones of a mantissa, above which the
// exponent of a power of two stands, and the difference from that power is exact. A left side of bytes is multiplied by the target's step.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/BlockProduct.h"
#include "dialects/nn/BlockQuantized.h"
#include "passes/lowering/contraction/ContractionLoops.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;

namespace kiln {

using namespace nn;

static std::optional<int64_t> countRows(BlockQuantizedMatmulOp op) {
  DimExprs extents = getDims(op.getType());
  return getConstantDim(simplifyDim(getNumElements(ArrayRef(extents).drop_back(), op.getContext())));
}

static unsigned argumentOf(Value value) { return cast<BlockArgument>(value).getArgNumber(); }

KernelMatch matchGemmBlocks(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<BlockQuantizedMatmulOp>(anchor);
  for (Value value : {Value(op.getWeight()), Value(op.getScale()), Value(op.getZeroPoint())})
    if (value && (!isa<BlockArgument>(value) || !group.isConstantInput(argumentOf(value))))
      return refuse("the weights, their scales or zero points are not constant");
  PlanNumbers numbers = planBlockProduct(target, countRows(op), op.countColumns(), static_cast<bool>(op.getLhsScale()));
  std::string how = op.getLhsScale() ? "by " + numbers.step + " with a left side of bytes" : "made f32 in registers";
  return accept("product with " + Twine(op.getBits()) + "-bit weights in blocks of " + Twine(op.getBlock()) + ", " + how, std::move(numbers));
}

std::string findBlockStepFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  if (!cast<BlockQuantizedMatmulOp>(anchor).getLhsScale())
    return "";
  kernel::StepAttr step = findSignedByteStep(kernel::getTarget(group));
  // Numbers of 4 and 8 bits are multiplied as unsigned bytes, four at a time.
  return findStepFault(kernel::getTarget(group), plan, step.getLhs(), step.getRhs(), step.getSum(), 4);
}

namespace {
class BlockEmitter {
public:
  BlockEmitter(KernelBuilder &k, BlockQuantizedMatmulOp op);
  LaunchInfo run();

private:
  using Values = SmallVector<Value>;
  /// A tile: where its rows begin in the left side, and in what belongs to the blocks of rows.
  struct Tile {
    SmallVector<AffineExpr> rows, blockRows;
    AffineExpr column;
    Panel panel;

    size_t sums() const { return rows.size() * panel.vectors; }
  };
  void pack();
  Values emitTile(const Tile &tile);
  Values addReal(const Tile &tile, AffineExpr block, ValueRange sums);
  Values addBytes(const Tile &tile, AffineExpr block, ValueRange sums);
  Values loadWords(const Tile &tile, AffineExpr block, AffineExpr group);
  Values loadPerBlock(const Tile &tile, unsigned argument, Type element, AffineExpr block);
  Value toReal(Value word, unsigned position, Value base);
  Value integers(int64_t value, unsigned count);
  Value scaled(Value part, Value scale, Value sum) { return vector::FMAOp::create(k.builder(), k.loc(), part, scale, sum); }
  Value shiftRight(Value word, int64_t by) { return arith::ShRUIOp::create(k.builder(), k.loc(), word, integers(by, lanes)); }

  KernelBuilder &k;
  BlockQuantizedMatmulOp op;
  TileShape shape;
  PackedColumns packed;
  unsigned lanes;
  int64_t bits, block, blocks, groups, centre;
  Type real, whole;
};
} // namespace

BlockEmitter::BlockEmitter(KernelBuilder &k, BlockQuantizedMatmulOp op)
    : k(k), op(op), shape(getTile(k.group())), packed(op.countColumns(), shape), lanes(shape.lanes), bits(op.getBits()), block(op.getBlock()),
      blocks(op.countBlocks()), groups(op.getWeight().getType().getDimSize(2) / 4), centre(int64_t(1) << (bits - 1)), real(k.builder().getF32Type()),
      whole(k.builder().getI32Type()) {}

void BlockEmitter::pack() {
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  AffineMap bytes = AffineMap::get(5, 0, {dim(0) * packed.width + dim(3), dim(1), dim(2) * 4 + dim(4)}, k.context());
  k.packConstant(argumentOf(op.getWeight()), kernel::PackAttr::get(k.context(), {packed.panels, blocks, groups, packed.width, 4}, bytes));
  AffineMap perBlock = AffineMap::get(3, 0, {dim(0) * packed.width + dim(2), dim(1)}, k.context());
  auto order = kernel::PackAttr::get(k.context(), {packed.panels, blocks, packed.width}, perBlock);
  k.packConstant(argumentOf(op.getScale()), order);
  if (op.getZeroPoint())
    k.packConstant(argumentOf(op.getZeroPoint()), order);
}

Value BlockEmitter::integers(int64_t value, unsigned count) {
  return k.broadcast(arith::ConstantOp::create(k.builder(), k.loc(), IntegerAttr::get(whole, APInt(32, value, false, true))), count);
}

/// The four bytes of each column of a tile, as one i32 a column.
SmallVector<Value> BlockEmitter::loadWords(const Tile &tile, AffineExpr at, AffineExpr group) {
  Values words;
  AffineExpr first = tile.column * (blocks * groups * 4) + (at * groups + group) * (packed.width * 4), lane = k.index(k.emitConstant(0));
  Lanes bytes{cast<AffineDimExpr>(lane).getPosition(), 4 * lanes};
  Type byte = op.getWeight().getType().getElementType();
  for (unsigned v = 0; v < tile.panel.vectors; ++v) {
    Value loaded = k.loadBuffer(k.buffer(argumentOf(op.getWeight())), byte, first + v * 4 * lanes + lane, bytes);
    words.push_back(vector::BitCastOp::create(k.builder(), k.loc(), VectorType::get(lanes, whole), loaded));
  }
  return words;
}

/// What belongs to a block of each column.
SmallVector<Value> BlockEmitter::loadPerBlock(const Tile &tile, unsigned argument, Type element, AffineExpr at) {
  Values values;
  AffineExpr lane = k.index(k.emitConstant(0));
  for (unsigned v = 0; v < tile.panel.vectors; ++v)
    values.push_back(k.loadBuffer(k.buffer(argument), element, tile.column * blocks + at * packed.width + v * lanes + lane,
                                  Lanes{cast<AffineDimExpr>(lane).getPosition(), lanes}));
  return values;
}

/// The bits of a mantissa that a f32 stores.
static constexpr int64_t mantissaBits = 23, exponentBias = 127;

/// What a number has above it when it stands at a bit of the mantissa.
static double powerAbove(unsigned position) { return std::ldexp(1.0, static_cast<int>(mantissaBits - position)); }

/// The numbers at a bit of each word, less what is in `base`.
Value BlockEmitter::toReal(Value word, unsigned position, Value base) {
  int64_t mask = ((int64_t(1) << bits) - 1) << position, exponent = (exponentBias + mantissaBits - position) << mantissaBits;
  Value number = arith::AndIOp::create(k.builder(), k.loc(), word, integers(mask, lanes));
  number = arith::OrIOp::create(k.builder(), k.loc(), number, integers(exponent, lanes));
  return arith::SubFOp::create(k.builder(), k.loc(), vector::BitCastOp::create(k.builder(), k.loc(), VectorType::get(lanes, real), number), base);
}

/// sums + the products of a block, of a left side of f32.
SmallVector<Value> BlockEmitter::addReal(const Tile &tile, AffineExpr at, ValueRange sums) {
  // Half of a word at a time: its numbers stand below the top of the mantissa.
  unsigned perHalf = static_cast<unsigned>(16 / bits);
  SmallVector<Values> bases(tile.panel.vectors);
  Values zeros = op.getZeroPoint() ? loadPerBlock(tile, argumentOf(op.getZeroPoint()), op.getZeroPoint().getType().getElementType(), at) : Values();
  for (unsigned v = 0; v < tile.panel.vectors; ++v)
    for (unsigned i = 0; i < perHalf; ++i) {
      double power = powerAbove(static_cast<unsigned>(i * bits));
      Value base = k.number(real, power + (zeros.empty() ? static_cast<double>(centre) : 0), lanes);
      if (!zeros.empty())
        base = arith::AddFOp::create(k.builder(), k.loc(), arith::UIToFPOp::create(k.builder(), k.loc(), VectorType::get(lanes, real), zeros[v]), base);
      bases[v].push_back(base);
    }
  Value lhs = k.buffer(argumentOf(op.getLhs()));
  Values parts(tile.sums(), k.number(real, 0, lanes));
  parts = k.loop(k.constant(0), k.constant(groups), 1, "group", parts, [&](AffineExpr group, ValueRange carried) {
    Values next(carried), words = loadWords(tile, at, group);
    for (unsigned i = 0; i < 2 * perHalf; ++i) {
      unsigned half = i / perHalf, byte = static_cast<unsigned>(i * bits / 8);
      bool isHigh = bits == 4 && i % 2 == 1;
      if (half == 1 && i == perHalf)
        for (Value &word : words)
          word = shiftRight(word, 16);
      Values numbers;
      for (unsigned v = 0; v < tile.panel.vectors; ++v)
        numbers.push_back(toReal(words[v], static_cast<unsigned>(i % perHalf * bits), bases[v][i % perHalf]));
      AffineExpr place = at * block + group * 4 + byte + (isHigh ? block / 2 : 0);
      for (auto [r, row] : llvm::enumerate(tile.rows)) {
        Value a = k.broadcast(k.loadBuffer(lhs, real, row + place), lanes);
        for (unsigned v = 0; v < tile.panel.vectors; ++v) {
          Value &part = next[r * tile.panel.vectors + v];
          part = vector::FMAOp::create(k.builder(), k.loc(), a, numbers[v], part);
        }
      }
    }
    return next;
  });
  Values scales = loadPerBlock(tile, argumentOf(op.getScale()), op.getScale().getType().getElementType(), at);
  for (auto [i, part] : llvm::enumerate(parts))
    part = scaled(part, scales[i % tile.panel.vectors], sums[i]);
  return parts;
}

/// The same of a left side of bytes. Sums of integers begin with what zero points take away.
SmallVector<Value> BlockEmitter::addBytes(const Tile &tile, AffineExpr at, ValueRange sums) {
  Value lhs = k.buffer(argumentOf(op.getLhs())), totals = k.buffer(argumentOf(op.getLhsSum())), lhsScales = k.buffer(argumentOf(op.getLhsScale()));
  Values zeros = op.getZeroPoint() ? loadPerBlock(tile, argumentOf(op.getZeroPoint()), op.getZeroPoint().getType().getElementType(), at) : Values(), parts;
  for (AffineExpr row : tile.blockRows) {
    Value total = k.loadBuffer(totals, whole, row + at), minus = arith::SubIOp::create(k.builder(), k.loc(), integers(0, 1), total);
    for (unsigned v = 0; v < tile.panel.vectors; ++v) {
      Value zero = zeros.empty() ? Value() : Value(arith::ExtUIOp::create(k.builder(), k.loc(), VectorType::get(lanes, whole), zeros[v]));
      Value part = zero ? Value(arith::MulIOp::create(k.builder(), k.loc(), k.broadcast(minus, lanes), zero))
                        : k.broadcast(arith::MulIOp::create(k.builder(), k.loc(), minus, integers(centre, 1)), lanes);
      parts.push_back(part);
    }
  }
  StringRef function = k.group().getPlan()->getStep();
  auto bytesType = VectorType::get(4 * lanes, k.builder().getI8Type());
  parts = k.loop(k.constant(0), k.constant(groups), 1, "group", parts, [&](AffineExpr group, ValueRange carried) {
    Values next(carried), words = loadWords(tile, at, group);
    for (int64_t high = 0; high < 8 / bits; ++high) {
      Values numbers;
      for (Value word : words) {
        if (bits == 4)
          word = arith::AndIOp::create(k.builder(), k.loc(), high ? shiftRight(word, 4) : word, integers(0x0f0f0f0f, lanes));
        numbers.push_back(vector::BitCastOp::create(k.builder(), k.loc(), bytesType, word));
      }
      AffineExpr lane = k.index(k.emitConstant(0)), place = at * block + group * 4 + high * (block / 2) + lane;
      for (auto [r, row] : llvm::enumerate(tile.rows)) {
        Value a = k.loadBuffer(lhs, k.builder().getI8Type(), row + place, Lanes{cast<AffineDimExpr>(lane).getPosition(), 4});
        for (unsigned v = 0; v < tile.panel.vectors; ++v) {
          Value &part = next[r * tile.panel.vectors + v];
          part = kernel::StepOp::create(k.builder(), k.loc(), part.getType(), function, a, numbers[v], part);
        }
      }
    }
    return next;
  });
  Values scales = loadPerBlock(tile, argumentOf(op.getScale()), op.getScale().getType().getElementType(), at);
  for (auto [i, part] : llvm::enumerate(parts)) {
    Value ofRow = k.broadcast(k.loadBuffer(lhsScales, real, tile.blockRows[i / tile.panel.vectors] + at), lanes);
    Value product = arith::SIToFPOp::create(k.builder(), k.loc(), VectorType::get(lanes, real), part);
    part = scaled(arith::MulFOp::create(k.builder(), k.loc(), product, ofRow), scales[i % tile.panel.vectors], sums[i]);
  }
  return parts;
}

SmallVector<Value> BlockEmitter::emitTile(const Tile &tile) {
  return k.loop(k.constant(0), k.constant(blocks), 1, "block", Values(tile.sums(), k.number(real, 0, lanes)),
                [&](AffineExpr at, ValueRange sums) { return op.getLhsScale() ? addBytes(tile, at, sums) : addReal(tile, at, sums); });
}

LaunchInfo BlockEmitter::run() {
  pack();
  DimExprs extents = getDims(op.getType());
  AffineExpr zero = k.constant(0), columns = extents.pop_back_val();
  DimExprs lhsDims = getDims(op.getLhs().getType());
  lhsDims.pop_back();
  Contraction c;
  c.result = op.getResult();
  c.element = real;
  c.lhs = k.buffer(argumentOf(op.getLhs()));
  c.rhs = k.buffer(argumentOf(op.getWeight()));
  c.rows = extents.empty() ? IndexExprs{k.constant(1)} : IndexExprs(extents);
  c.columns = columns;
  c.tile = shape;
  c.padded = c.evenPanels = true;
  // Bytes of a column, for the size of chunks.
  c.reduction = {{k.constant(blocks * groups * 4), k.constant(1), k.constant(packed.width)}};
  c.panelStride = k.constant(blocks * groups * 4);
  c.laneStride = k.constant(1);
  auto rowNumber = [this, lhsDims](ArrayRef<AffineExpr> rows) { return lhsDims.empty() ? k.constant(0) : k.linearize(lhsDims, rows); };
  c.lhsAt = [this, rowNumber](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows) { return rowNumber(rows) * (blocks * block); };
  c.rhsAt = [zero](ArrayRef<AffineExpr>) { return zero; };
  c.resultAt = [rank = lhsDims.size()](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows, AffineExpr column) {
    IndexExprs at(rows.take_front(rank));
    at.push_back(column);
    return at;
  };
  c.tileSums = [this, rowNumber](ArrayRef<AffineExpr>, ArrayRef<IndexExprs> rows, AffineExpr column, Panel panel) {
    Tile tile{{}, {}, column, panel};
    for (const IndexExprs &row : rows) {
      AffineExpr number = k.index(k.emit(rowNumber(row)));
      tile.rows.push_back(number * (blocks * block));
      tile.blockRows.push_back(number * blocks);
    }
    return emitTile(tile);
  };
  LaunchInfo info = lowerContraction(k, c);
  info.flops = simplifyDim(getNumElements(c.rows, k.context()) * columns * (2 * blocks * block));
  return info;
}

FailureOr<LaunchInfo> lowerGemmBlocks(KernelBuilder &k, Operation *anchor) {
  auto op = cast<BlockQuantizedMatmulOp>(anchor);
  if (!llvm::is_contained(op.getType().getShape(), 0))
    return BlockEmitter(k, op).run();
  k.taskLoop({k.constant(0)}, [](ArrayRef<AffineExpr>) {});
  return LaunchInfo{k.constant(0), k.constant(0), k.constant(0)};
}

} // namespace kiln
