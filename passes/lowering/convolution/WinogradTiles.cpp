//===- WinogradTiles.cpp - Winograd's convolution in blocks of tiles -------===//
//
//   for each block of tiles of the result:
//     for each tile:   input[place, tile, c]   = (B' patch B)[place]            a patch of tile + 2 pixels a side, vectors along the channels
//     for each place:  product[place, tile, o] = sum over c of input[place, tile, c] * weight[place, c, o]
//     for each tile:   result pixels           = A' product A, then the epilogue
//
// A block's input and products lie in a scratch that fits the second-level cache. The tiles of all images are numbered in one row; a block that
// reaches beyond the last one repeats it without storing. Patches that reach beyond the input repeat its last line or pixel: what they give is
// outside of the result.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/convolution/WinogradLoops.h"
#include "passes/target/choice/WinogradPlan.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelMatch matchWinogradTiles(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<WinogradConvOp>(anchor);
  auto weight = dyn_cast<BlockArgument>(conv.getWeight());
  if (!conv.getTransformed())
    return refuse("the filters are not transformed: there are few tiles");
  if (!isa<BlockArgument>(conv.getInput()) || !isa<BlockArgument>(conv.getTransformed()) || !weight || !group.isConstantInput(weight.getArgNumber()))
    return refuse("the input or the filters are views, or the filters are not constant");
  return matchPlanned(conv, target, /*byColumns=*/false, describeWinograd(conv) + "; blocks of tiles");
}

namespace {
class TilesEmitter {
public:
  TilesEmitter(KernelBuilder &k, WinogradConvOp op, const WinogradPlan &plan);
  LaunchInfo run();

private:
  void multiply(AffineExpr count) const;
  void emitBlock(AffineExpr first) const;

  KernelBuilder &k;
  WinogradLoops loops;
  WinogradPlan plan;
  /// The transformed filters.
  Value weight;
  /// Columns of a panel, panels, rows of a panel.
  int64_t width, panels, rows;
};
} // namespace

TilesEmitter::TilesEmitter(KernelBuilder &k, WinogradConvOp op, const WinogradPlan &plan)
    : k(k), loops(k, op), plan(plan),
      weight(k.buffer(cast<BlockArgument>(op.getTransformed()).getArgNumber())) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getTransformed().getType()).getShape();
  panels = shape[1];
  rows = shape[2];
  width = shape[3];
  int64_t lanes = plan.shape.lanes, productStride = llvm::divideCeilSigned(loops.out, lanes) * lanes;
  loops.packWeight(width);
  loops.scratch = WinogradScratch::make(k, loops.element, loops.places, plan.blockTiles, plan.inputStride, productStride).first;
}

/// count: tiles of the block, in whole register tiles.
void TilesEmitter::multiply(AffineExpr count) const {
  int64_t lanes = plan.shape.lanes, in = loops.in, whole = loops.out / width, rest = loops.out % width;
  SmallVector<ReductionLoop> reduction{{k.constant(in), k.constant(1), k.constant(width)}};
  DenseI64ArrayAttr ahead = k.group().getPlan()->getAhead();
  TileEmitter emitter{k, loops.scratch.buffer, weight, loops.element, reduction, k.constant(1), ahead ? ahead.asArrayRef() : ArrayRef<int64_t>()};
  emitter.chainLength = winogradChain;
  auto emitPanel = [&](AffineExpr place, AffineExpr panel, int64_t vectors) {
    AffineExpr rhs = k.index(k.emit((place * panels + panel) * (rows * width)));
    Panel columns{static_cast<unsigned>(vectors), plan.shape.lanes, static_cast<unsigned>(vectors * lanes)};
    k.loop(k.constant(0), count, plan.shape.rows, "row", [&](AffineExpr row) {
      loops.multiplyTile(emitter, place, row, plan.shape.rows, k.constant(0), rhs, panel * width, columns, false);
    });
  };
  k.loop(k.constant(0), k.constant(loops.places), 1, "place", [&](AffineExpr place) {
    if (whole > 0)
      k.loop(k.constant(0), k.constant(whole), 1, "panel", [&](AffineExpr panel) { emitPanel(place, panel, width / lanes); });
    if (rest > 0)
      emitPanel(place, k.constant(whole), llvm::divideCeilSigned(rest, lanes));
  });
}

void TilesEmitter::emitBlock(AffineExpr first) const {
  auto count = getConstantDim(loops.tiles);
  bool even = count && *count % plan.blockTiles == 0;
  AffineExpr own = k.constant(plan.blockTiles), computed = own;
  if (!even) {
    own = k.index(k.minimum(k.emitConstant(plan.blockTiles), k.emit(loops.tiles - first)));
    computed = k.index(k.emit(own.ceilDiv(plan.shape.rows) * plan.shape.rows));
  }
  k.loop(k.constant(0), computed, 1, "slot", [&](AffineExpr slot) {
    Value number = k.emit(first + slot);
    loops.transformTile(k.index(even ? number : k.minimum(number, k.emit(loops.tiles - 1))), slot, plan.shape.lanes);
  });
  multiply(computed);
  k.loop(k.constant(0), own, 1, "slot", [&](AffineExpr slot) {
    AffineExpr number = k.index(k.emit(first + slot));
    k.branch(loops.isEven(slot, true), [&] { loops.finishTile(number, slot, k.constant(0), loops.output[3], false, plan.shape.lanes); });
    k.branch(loops.isEven(slot, false), [&] {
      int64_t whole = loops.out / width, rest = loops.out % width;
      if (whole > 0)
        k.loop(k.constant(0), k.constant(whole), 1, "panel", [&](AffineExpr panel) { loops.computeTile(number, panel, width, plan.shape); });
      if (rest > 0)
        loops.computeTile(number, k.constant(whole), rest, plan.shape);
    });
  });
}

LaunchInfo TilesEmitter::run() {
  AffineExpr blocks = simplifyDim(loops.tiles.ceilDiv(plan.blockTiles)), tasks = k.constant(k.group().getPlan()->getBands());
  if (auto count = getConstantDim(blocks))
    tasks = k.constant(std::min(k.group().getPlan()->getBands(), *count));
  k.taskLoop({tasks}, [&](ArrayRef<AffineExpr> task) {
    forShare(k, task.front(), blocks, tasks, "block", [&](AffineExpr block) { emitBlock(k.index(k.emit(block * plan.blockTiles))); });
  });
  return loops.info(tasks);
}

FailureOr<LaunchInfo> lowerWinogradTiles(KernelBuilder &k, Operation *anchor) {
  auto conv = cast<WinogradConvOp>(anchor);
  return TilesEmitter(k, conv, readPlan(k.group(), conv)).run();
}

} // namespace kiln
