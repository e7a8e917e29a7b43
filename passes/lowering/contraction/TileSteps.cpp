//===- TileSteps.cpp - The sums of two by two tiles by steps of several rows ===//
//
//   kiln::tiles_begin(rows, others, bytes)
//   for each panel, and once more:
//     kiln::tiles_clear(sums, others, 2)
//     for k:
//       kiln::tile_u8s8(sums, lhs, first, second, stride, rhs, at, rows, others, 2, 16)
//       some rows of the panel before, from the array
//     kiln::tiles_store(sums, others, 2)
//   kiln::tiles_end()
//
// The registers are none of the C++ compiler's: the sums reach its code through the array. Steps have a unit of their own, so results are computed in their
// shade.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/TileSteps.h"
#include "dialects/kernel/KernelOps.h"
#include "passes/target/choice/StepTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using nn::getConstantDim;

/// The array of sums, as kiln/tiles.h has it.
static constexpr int64_t rowsOfTile = 16;
static int64_t rowOfSums(kernel::StepAttr step) { return tilesAtOnce * step.getLanes(); }

/// Without such registers, the sums on their way have the second half of the array.
TileSteps::TileSteps(KernelBuilder &k, const Contraction &c) : k(k), c(c) {
  sums = k.array("sums", c.element, 2 * tilesAtOnce * rowsOfTile * rowOfSums(c.instruction));
}

void TileSteps::call(StringRef function, ArrayRef<Value> operands) {
  OpBuilder &b = k.builder();
  kernel::RuntimeCallOp::create(b, k.loc(), b.getStringAttr("kiln::" + function), operands, b.getArrayAttr({}));
}

void TileSteps::callForPanel(StringRef function, unsigned vectors) { call(function, {sums, others, k.emitConstant(vectors)}); }

void TileSteps::begin(AffineExpr rowsOfFirst, AffineExpr rowsOfSecond) {
  first = rowsOfFirst;
  second = rowsOfSecond;
  rows = k.emit(first);
  others = k.emit(second);
  call("tiles_begin", {rows, others, k.emitConstant(c.depth * c.instruction.getLhs().getIntOrFloatBitWidth() / 8)});
}

void TileSteps::end() { call("tiles_end", {}); }

/// How many steps sum a panel, if it is known.
static std::optional<int64_t> countSteps(const Contraction &c) {
  int64_t steps = 1;
  for (const ReductionLoop &loop : c.reduction) {
    auto extent = getConstantDim(loop.extent);
    if (!extent)
      return std::nullopt;
    steps *= *extent;
  }
  return steps;
}

bool TileSteps::canTakeTurns() const {
  // Fewer steps than that give no shade: test/benchmark/byte-kernels "static 3136 256 64" "static 784 128 512"
  constexpr int64_t fewestSteps = 8;
  return countSteps(c).value_or(0) >= fewestSteps;
}

void TileSteps::multiply(const Left &left, AffineExpr rhs, unsigned vectors, Value condition, function_ref<void(AffineExpr)> between) {
  Value panels = k.emitConstant(vectors), apart = k.emit(left.stride), steps = k.emitConstant(c.depth / countTogether(c.instruction));
  AffineExpr toSecond = k.index(k.emit(left.second - left.first));
  auto step = [&](AffineExpr leftAt, AffineExpr rightAt) {
    call(c.instruction.getFunction(), {sums, c.lhs, k.emit(leftAt), k.emit(leftAt + toSecond), apart, c.rhs, k.emit(rightAt), rows, others, panels, steps});
    if (toCome)
      call("tiles_prefetch", {c.rhs, k.emit(rightAt + toCome->further), toCome->first, toCome->lines});
  };
  auto nest = [&](auto &self, size_t depth, AffineExpr leftAt, AffineExpr rightAt, AffineExpr done) -> void {
    if (depth == c.reduction.size()) {
      between(done);
      return condition ? k.branch(condition, [&] { step(leftAt, rightAt); }) : step(leftAt, rightAt);
    }
    const ReductionLoop &loop = c.reduction[depth];
    k.loop(k.constant(0), loop.extent, 1, "k",
           [&](AffineExpr i) { self(self, depth + 1, leftAt + i * loop.lhsStride, rightAt + i * loop.rhsStride, done * loop.extent + i); });
  };
  nest(nest, 0, k.index(k.emit(left.first)), k.index(k.emit(rhs)), k.constant(0));
}

void TileSteps::panel(const Left &left, AffineExpr rhs, unsigned vectors, const StoreRows &pieces) {
  callForPanel("tiles_clear", vectors);
  multiply(left, rhs, vectors, Value(), [](AffineExpr) {});
  callForPanel("tiles_store", vectors);
  for (const StoreRow &store : pieces) {
    k.loop(k.constant(0), first, 1, "row", [&](AffineExpr row) { store(0, row); });
    if (second != k.constant(0))
      k.loop(k.constant(0), second, 1, "row", [&](AffineExpr row) { store(1, row); });
  }
}

/// The rows of both tiles that follow so many steps. The first steps have all of them.
void TileSteps::storeRows(AffineExpr step, const StoreRows &pieces) {
  int64_t most = getConstantDim(first).value_or(rowsOfTile), atOnce = llvm::divideCeilSigned(most, *countSteps(c));
  auto isLess = [&](AffineExpr row, AffineExpr count) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, k.emit(row), k.emit(count));
  };
  auto store = [&](int64_t tile, AffineExpr row) {
    for (const StoreRow &piece : pieces)
      piece(tile, row);
  };
  auto storeIf = [&](bool always, int64_t tile, AffineExpr row, AffineExpr count) {
    return always ? store(tile, row) : k.branch(isLess(row, count), [&] { store(tile, row); });
  };
  k.branch(isLess(step * atOnce, first), [&] {
    k.loop(k.constant(0), k.constant(atOnce), 1, "row", [&](AffineExpr i) {
      AffineExpr row = k.index(k.emit(step * atOnce + i));
      bool isWhole = getConstantDim(first) && most % atOnce == 0;
      storeIf(isWhole, 0, row, first);
      if (second != k.constant(0))
        storeIf(isWhole && second == first, 1, row, second);
    });
  });
}

void TileSteps::panels(AffineExpr from, AffineExpr to, int64_t width, const Left &left, function_ref<AffineExpr(AffineExpr)> rhsAt, PrepareStore prepare) {
  unsigned vectors = static_cast<unsigned>(width / c.instruction.getLanes());
  from = k.index(k.emit(from));
  to = k.index(k.emit(to));
  k.loop(from, k.index(k.emit(to + width)), width, "column", [&](AffineExpr column) {
    auto compare = [&](arith::CmpIPredicate predicate, AffineExpr other) -> Value {
      return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(column), k.emit(other));
    };
    Value sumsHere = compare(arith::CmpIPredicate::slt, to), sumsBefore = compare(arith::CmpIPredicate::sgt, from);
    AffineExpr before = k.index(arith::SelectOp::create(k.builder(), k.loc(), sumsBefore, k.emit(column - width), k.emit(column)));
    StoreRows pieces = prepare(before);
    k.branch(sumsHere, [&] { callForPanel("tiles_clear", vectors); });
    multiply(left, rhsAt(column), vectors, sumsHere, [&](AffineExpr done) { k.branch(sumsBefore, [&] { storeRows(done, pieces); }); });
    k.branch(sumsHere, [&] { callForPanel("tiles_store", vectors); });
  });
}

Value TileSteps::load(int64_t tile, AffineExpr row, unsigned column, unsigned lanes) {
  Value at = k.emit((row + tile * rowsOfTile) * rowOfSums(c.instruction) + column);
  if (lanes == 1)
    return memref::LoadOp::create(k.builder(), k.loc(), sums, at);
  return vector::LoadOp::create(k.builder(), k.loc(), VectorType::get(lanes, cast<MemRefType>(sums.getType()).getElementType()), sums, at);
}

void forPieces(Panel panel, function_ref<void(unsigned column, unsigned lanes)> body) {
  for (unsigned column = 0, lanes = panel.lanes; column < panel.valid; column += lanes) {
    while (lanes > panel.valid - column)
      lanes = lanes > 4 ? lanes / 2 : 1;
    body(column, lanes);
  }
}

} // namespace kiln
