//===- PairedRows.cpp - Left sides for steps of two rows --------------------===//
//
//   for k:  pairs[k, 0] = lhs[row 0, k], lhs[row 1, k];  pairs[k, 1] = lhs[row 2, k], lhs[row 3, k];  ...
//
// A row's elements of a step are half a vector. To put two halves together takes the units that multiply, so it is done once for all panels of columns.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/PairedRows.h"
#include "dialects/nn/ConstantData.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

std::optional<PairedRows> PairedRows::plan(KernelBuilder &k, const Contraction &c, int64_t panels) {
  // Arrays hold numbers of the compute type: halves would not stay as they are.
  bool isPaired = c.instruction && c.instruction.getRows() == 2 && isa<IntegerType>(c.instruction.getLhs());
  constexpr int64_t fewestPanels = 4;
  if (!isPaired || panels < fewestPanels || c.tileSums || c.gatheredRow)
    return std::nullopt;
  int64_t steps = 1;
  for (const ReductionLoop &loop : c.reduction) {
    auto extent = getConstantDim(loop.extent);
    if (!extent || *extent == 0)
      return std::nullopt;
    steps *= *extent;
  }
  PairedRows rows(k, c, steps);
  // It stays in the second-level cache, beside a chunk of the right side.
  int64_t bytes = llvm::divideCeilSigned(c.tile.rows, 2) * rows.steps * rows.elements() * elementBytes(c.instruction.getLhs());
  return bytes <= k.target().getL2() / 8 ? std::optional(rows) : std::nullopt;
}

void PairedRows::copy(AffineExpr base, ArrayRef<AffineExpr> offsets) {
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
