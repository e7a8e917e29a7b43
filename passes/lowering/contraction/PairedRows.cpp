//===- PairedRows.cpp - Left sides for steps of several rows ----------------===//
//
//   for k:  pairs[k, 0] = lhs[row 0, k], lhs[row 1, k];  pairs[k, 1] = lhs[row 2, k], lhs[row 3, k];  ...
//
// A row's elements of a step are half a vector. To put two halves together takes the units that multiply, so it is done once for all panels of columns.
// For steps of all rows of a tile, a function of kiln/rows.h copies each row where the step's function finds it, as it is best multiplied.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/PairedRows.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/ConstantData.h"
#include "passes/target/choice/ByteTile.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

std::optional<PairedRows> PairedRows::plan(KernelBuilder &k, const Contraction &c, int64_t panels) {
  // Arrays hold numbers of the compute type: halves would not stay as they are.
  bool isPaired = c.instruction && c.instruction.getRows() == 2 && isa<IntegerType>(c.instruction.getLhs());
  bool hasAll = c.instruction && isRowStep(c.instruction);
  constexpr int64_t fewestPanels = 4;
  if (!hasAll && (!isPaired || panels < fewestPanels || c.tileSums || c.gatheredRow))
    return std::nullopt;
  int64_t steps = 1;
  for (const ReductionLoop &loop : c.reduction) {
    auto extent = getConstantDim(loop.extent);
    if (!extent || *extent == 0)
      return std::nullopt;
    steps *= *extent;
  }
  PairedRows rows(k, c, steps);
  if (hasAll)
    return rows;
  // It stays in the second-level cache, beside a chunk of the right side.
  int64_t bytes = llvm::divideCeilSigned(c.tile.rows, 2) * rows.steps * rows.elements() * elementBytes(c.instruction.getLhs());
  return bytes <= k.target().getL2() / 8 ? std::optional(rows) : std::nullopt;
}

/// Row by row, as far as its elements lie side by side.
void PairedRows::takeRows(AffineExpr base, ArrayRef<AffineExpr> offsets) {
  OpBuilder &b = k->builder();
  int64_t height = static_cast<int64_t>(offsets.size()), depth = c->instruction.getDepth(), bytes = llvm::alignTo(steps * depth, 16);
  // Without vectors, bytes become words.
  int64_t perByte = c->instruction.getLanes() > 1 ? 1 : 2;
  array = k->array("rows", b.getI32Type(), bytes * perByte * height / 4);
  StringAttr take = b.getStringAttr("kiln::" + c->instruction.getFunction() + "_take");
  auto nest = [&](auto &self, size_t level, AffineExpr from, AffineExpr step) -> void {
    const ReductionLoop &loop = c->reduction[level];
    bool isLast = level + 1 == c->reduction.size(), isDense = isLast && getConstantDim(loop.lhsStride) == depth;
    if (!isDense)
      return k->loop(k->constant(0), loop.extent, 1, "k", [&](AffineExpr i) {
        AffineExpr at = from + i * loop.lhsStride, to = step * loop.extent + i;
        isLast ? takeSteps(take, at, to, offsets, 1) : self(self, level + 1, at, to);
      });
    takeSteps(take, from, step * loop.extent, offsets, *getConstantDim(loop.extent));
  };
  nest(nest, 0, k->index(k->emit(base)), k->constant(0));
}

void PairedRows::takeSteps(StringAttr take, AffineExpr from, AffineExpr to, ArrayRef<AffineExpr> offsets, int64_t count) {
  OpBuilder &b = k->builder();
  Value height = k->emitConstant(static_cast<int64_t>(offsets.size()));
  for (auto [row, offset] : llvm::enumerate(offsets)) {
    Value number = k->emitConstant(static_cast<int64_t>(row));
    kernel::RuntimeCallOp::create(b, k->loc(), take, {array, k->emit(to), height, number, c->lhs, k->emit(from + offset), k->emitConstant(count)},
                                  b.getArrayAttr({}));
  }
}

void PairedRows::copy(AffineExpr base, ArrayRef<AffineExpr> offsets) {
  if (isRowStep(c->instruction))
    return takeRows(base, offsets);
  Type stored = cast<MemRefType>(c->lhs.getType()).getElementType();
  auto pairs = static_cast<int64_t>(llvm::divideCeil(offsets.size(), 2));
  array = k->array("pairs", stored, steps * pairs * elements());
  AffineExpr lane = k->index(k->emitConstant(0)), half = k->constant(c->instruction.getDepth());
  auto depth = static_cast<unsigned>(c->instruction.getDepth());
  auto nest = [&](auto &self, size_t level, AffineExpr from, AffineExpr step) -> void {
    if (level == c->reduction.size()) {
      from = k->index(k->emit(from));
      AffineExpr to = k->index(k->emit(step * (pairs * elements())));
      for (size_t row = 0; row < static_cast<size_t>(2 * pairs); ++row) {
        Value part = k->loadStored(c->lhs, from + offsets[std::min(row, offsets.size() - 1)] + lane, depth);
        k->storeBuffer(array, stored, to + half * static_cast<int64_t>(row) + lane, part, Lanes{cast<AffineDimExpr>(lane).getPosition(), depth});
      }
      return;
    }
    const ReductionLoop &loop = c->reduction[level];
    k->loop(k->constant(0), loop.extent, 1, "k",
            [&](AffineExpr i) { self(self, level + 1, from + i * loop.lhsStride, step * loop.extent + i); });
  };
  nest(nest, 0, k->index(k->emit(base)), k->constant(0));
}

void PairedRows::readFrom(TileEmitter &tile, AffineExpr &base, MutableArrayRef<AffineExpr> offsets) const {
  tile.lhs = array;
  if (isRowStep(c->instruction)) {
    tile.stepsOfRows = steps;
    return;
  }
  tile.leftInPairs = true;
  base = k->constant(0);
  int64_t stride = static_cast<int64_t>(llvm::divideCeil(offsets.size(), 2)) * elements();
  for (auto [row, offset] : llvm::enumerate(offsets))
    offset = k->constant(static_cast<int64_t>(row / 2) * elements());
  for (ReductionLoop &loop : llvm::reverse(tile.reduction)) {
    loop.lhsStride = k->constant(stride);
    stride *= *getConstantDim(loop.extent);
  }
}

} // namespace kiln
