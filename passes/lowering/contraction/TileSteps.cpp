//===- TileSteps.cpp - The sums of two by two tiles by steps of several rows ===//
//
//   kiln::tiles_begin(rows, others, bytes)
//     kiln::tiles_clear(sums, others, 2)
//     for k:  kiln::tile_u8s8(sums, lhs, first, second, stride, rhs, at, rows, others, 2, 16)
//     kiln::tiles_store(sums, others, 2)
//   kiln::tiles_end()
//
// The registers are none of the C++ compiler's: the sums reach its code through the array.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/TileSteps.h"
#include "passes/target/choice/StepTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

/// The array of sums, as kiln/tiles.h has it.
static constexpr int64_t rowsOfTile = 16;
static int64_t rowOfSums(kernel::StepAttr step) { return tilesAtOnce * step.getLanes(); }

TileSteps::TileSteps(KernelBuilder &k, const Contraction &c) : k(k), c(c) {
  sums = k.array("sums", c.element, tilesAtOnce * rowsOfTile * rowOfSums(c.instruction));
}

void TileSteps::call(StringRef function, ArrayRef<Value> operands) {
  OpBuilder &b = k.builder();
  kernel::RuntimeCallOp::create(b, k.loc(), b.getStringAttr("kiln::" + function), operands, b.getArrayAttr({}));
}

void TileSteps::begin(AffineExpr rowsOfFirst, AffineExpr rowsOfSecond) {
  rows = k.emit(rowsOfFirst);
  others = k.emit(rowsOfSecond);
  call("tiles_begin", {rows, others, k.emitConstant(c.depth * c.instruction.getLhs().getIntOrFloatBitWidth() / 8)});
}

void TileSteps::end() { call("tiles_end", {}); }

void TileSteps::nest(unsigned depth, AffineExpr left, AffineExpr right, function_ref<void(AffineExpr, AffineExpr)> body) {
  if (depth == c.reduction.size())
    return body(left, right);
  const ReductionLoop &loop = c.reduction[depth];
  k.loop(k.constant(0), loop.extent, 1, "k", [&](AffineExpr i) { nest(depth + 1, left + i * loop.lhsStride, right + i * loop.rhsStride, body); });
}

void TileSteps::sum(AffineExpr first, AffineExpr second, AffineExpr stride, AffineExpr rhs, unsigned vectors) {
  Value panels = k.emitConstant(vectors), apart = k.emit(stride), steps = k.emitConstant(c.depth / countTogether(c.instruction));
  AffineExpr between = k.index(k.emit(second - first)), left = k.index(k.emit(first)), right = k.index(k.emit(rhs));
  call("tiles_clear", {sums, others, panels});
  nest(0, left, right, [&](AffineExpr leftAt, AffineExpr rightAt) {
    call(c.instruction.getFunction(), {sums, c.lhs, k.emit(leftAt), k.emit(leftAt + between), apart, c.rhs, k.emit(rightAt), rows, others, panels, steps});
  });
  call("tiles_store", {sums, others, panels});
}

Value TileSteps::load(int64_t tile, AffineExpr row, unsigned column, unsigned lanes) {
  Value at = k.emit((row + tile * rowsOfTile) * rowOfSums(c.instruction) + column);
  if (lanes == 1)
    return memref::LoadOp::create(k.builder(), k.loc(), sums, at);
  return vector::LoadOp::create(k.builder(), k.loc(), VectorType::get(lanes, cast<MemRefType>(sums.getType()).getElementType()), sums, at);
}

} // namespace kiln
