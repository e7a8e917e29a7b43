//===- BlockNumbers.cpp - Weights of 4 or 8 bits in blocks, as numbers ------===//
#include "passes/lowering/contraction/BlockNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;

namespace kiln {

using namespace nn;

unsigned argumentOf(Value value) { return cast<BlockArgument>(value).getArgNumber(); }

BlockNumbers::BlockNumbers(KernelBuilder &k, BlockQuantizedMatmulOp op, TileShape shape)
    : width(shape.columns()), lanes(shape.lanes), bits(op.getBits()), block(op.getBlock()), blocks(getDims(op.getWeight().getType())[1]),
      groups(op.getWeight().getType().getDimSize(2) / 4), perGroup(32 / bits), centre(int64_t(1) << (bits - 1)), k(k), weight(op.getWeight()),
      scale(op.getScale()), zero(op.getZeroPoint()), real(k.builder().getF32Type()), whole(k.builder().getI32Type()) {
  if (k.group().isConstantInput(argumentOf(weight)))
    pack(shape, op.countColumns(), op.countBlocks());
}

void BlockNumbers::pack(TileShape shape, int64_t columns, int64_t blocks) {
  PackedColumns packed(columns, shape);
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  AffineMap bytes = AffineMap::get(5, 0, {dim(0) * width + dim(3), dim(1), dim(2) * 4 + dim(4)}, k.context());
  k.packConstant(argumentOf(weight), kernel::PackAttr::get(k.context(), {packed.panels, blocks, groups, width, 4}, bytes));
  AffineMap perBlock = AffineMap::get(3, 0, {dim(0) * width + dim(2), dim(1)}, k.context());
  auto order = kernel::PackAttr::get(k.context(), {packed.panels, blocks, width}, perBlock);
  k.packConstant(argumentOf(scale), order);
  if (zero)
    k.packConstant(argumentOf(zero), order);
}

Value BlockNumbers::integers(int64_t value, unsigned count) const {
  return k.broadcast(arith::ConstantOp::create(k.builder(), k.loc(), IntegerAttr::get(whole, APInt(32, value, false, true))), count);
}

Value BlockNumbers::shiftRight(Value word, int64_t by) const { return arith::ShRUIOp::create(k.builder(), k.loc(), word, integers(by, lanes)); }

AffineExpr BlockNumbers::placeOfWords(AffineExpr column, AffineExpr at, AffineExpr group) const {
  return column * (blocks * groups * 4) + (at * groups + group) * (width * 4);
}

SmallVector<Value> BlockNumbers::loadWords(AffineExpr column, AffineExpr at, AffineExpr group, unsigned count) const {
  Values words;
  AffineExpr first = placeOfWords(column, at, group), lane = k.index(k.emitConstant(0));
  Lanes bytes{cast<AffineDimExpr>(lane).getPosition(), 4 * lanes};
  Type byte = getElementTypeOrSelf(weight);
  for (unsigned v = 0; v < count; ++v) {
    Value loaded = k.loadBuffer(k.buffer(argumentOf(weight)), byte, first + v * 4 * lanes + lane, bytes);
    words.push_back(vector::BitCastOp::create(k.builder(), k.loc(), VectorType::get(lanes, whole), loaded));
  }
  return words;
}

void BlockNumbers::askAhead(AffineExpr column, AffineExpr at, AffineExpr group, int64_t ahead) const {
  Value further = k.emit(placeOfWords(column, at, group) + ahead);
  memref::PrefetchOp::create(k.builder(), k.loc(), k.buffer(argumentOf(weight)), further, false, nearestLocality, true);
}

SmallVector<Value> BlockNumbers::loadPerBlock(Value constant, AffineExpr column, AffineExpr at, unsigned count) const {
  Values values;
  AffineExpr lane = k.index(k.emitConstant(0));
  for (unsigned v = 0; v < count; ++v)
    values.push_back(k.loadBuffer(k.buffer(argumentOf(constant)), getElementTypeOrSelf(constant), column * blocks + at * width + v * lanes + lane,
                                  Lanes{cast<AffineDimExpr>(lane).getPosition(), lanes}));
  return values;
}

SmallVector<Value> BlockNumbers::loadScales(AffineExpr column, AffineExpr at, unsigned count) const {
  return loadPerBlock(scale, column, at, count);
}

SmallVector<Value> BlockNumbers::loadZeros(AffineExpr column, AffineExpr at, unsigned count) const {
  return zero ? loadPerBlock(zero, column, at, count) : Values();
}

/// The bits of a mantissa that a f32 stores.
static constexpr int64_t mantissaBits = 23, exponentBias = 127;

/// What a number has above it when it stands at a bit of the mantissa.
static double powerAbove(unsigned position) { return std::ldexp(1.0, static_cast<int>(mantissaBits - position)); }

/// The numbers at a bit of each word, less what is in `base`.
Value BlockNumbers::toReal(Value word, unsigned position, Value base) const {
  int64_t mask = ((int64_t(1) << bits) - 1) << position, exponent = (exponentBias + mantissaBits - position) << mantissaBits;
  Value number = arith::AndIOp::create(k.builder(), k.loc(), word, integers(mask, lanes));
  number = arith::OrIOp::create(k.builder(), k.loc(), number, integers(exponent, lanes));
  return arith::SubFOp::create(k.builder(), k.loc(), vector::BitCastOp::create(k.builder(), k.loc(), VectorType::get(lanes, real), number), base);
}

SmallVector<SmallVector<Value>> BlockNumbers::makeBases(AffineExpr column, AffineExpr at, unsigned count) const {
  SmallVector<Values> bases(count);
  Values zeros = loadZeros(column, at, count);
  for (unsigned v = 0; v < count; ++v)
    // Half of a word at a time: its numbers stand below the top of the mantissa.
    for (unsigned i = 0; i < static_cast<unsigned>(16 / bits); ++i) {
      double power = powerAbove(static_cast<unsigned>(i * bits));
      Value base = k.number(real, power + (zeros.empty() ? static_cast<double>(centre) : 0), lanes);
      if (!zeros.empty())
        base = arith::AddFOp::create(k.builder(), k.loc(), arith::UIToFPOp::create(k.builder(), k.loc(), VectorType::get(lanes, real), zeros[v]), base);
      bases[v].push_back(base);
    }
  return bases;
}

void BlockNumbers::forNumbers(ArrayRef<Value> given, ArrayRef<Values> bases, Body body) const {
  Values words(given);
  unsigned perHalf = static_cast<unsigned>(16 / bits);
  for (unsigned i = 0; i < 2 * perHalf; ++i) {
    if (i == perHalf)
      for (Value &word : words)
        word = shiftRight(word, 16);
    Values numbers;
    for (auto [v, word] : llvm::enumerate(words))
      numbers.push_back(toReal(word, static_cast<unsigned>(i % perHalf * bits), bases[v][i % perHalf]));
    body(static_cast<int64_t>(i * bits / 8), bits == 4 && i % 2 == 1, numbers);
  }
}

static constexpr int64_t bytesPerLine = elementsPerLine * static_cast<int64_t>(sizeof(float));

void BlockNumbers::unpack(Value panel, AffineExpr column, const Groups &some, AffineExpr row, int64_t high, unsigned vectors,
                          int64_t partWords) const {
  Values scales = loadScales(column, some.block, vectors);
  SmallVector<Values> bases = makeBases(column, some.block, vectors);
  k.loop(k.constant(0), some.count, 1, "group", [&](AffineExpr group) {
    // What the next part reads lies behind this one.
    AffineExpr word = placeOfWords(column, some.block, some.first + group) + partWords * (width * 4);
    for (int64_t line = 0; line < width * 4; line += bytesPerLine)
      memref::PrefetchOp::create(k.builder(), k.loc(), k.buffer(argumentOf(weight)), k.emit(word + line), false, laterLocality, true);
    forNumbers(loadWords(column, some.block, some.first + group, vectors), bases, [&](int64_t byte, bool isHigh, ArrayRef<Value> numbers) {
      AffineExpr lane = k.index(k.emitConstant(0)), to = (row + group * 4 + byte + (isHigh ? high : 0)) * width;
      for (auto [v, number] : llvm::enumerate(numbers))
        k.storeBuffer(panel, real, to + static_cast<int64_t>(v * lanes) + lane, arith::MulFOp::create(k.builder(), k.loc(), number, scales[v]),
                      Lanes{cast<AffineDimExpr>(lane).getPosition(), lanes});
    });
  });
}

} // namespace kiln
