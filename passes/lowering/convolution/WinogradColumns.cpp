//===- WinogradColumns.cpp - Winograd's convolution of few tiles -----------===//
//
//   input[place, tile, c] = (B' patch B)[place]                       all tiles, once a thread
//   for each panel of output channels:
//     for each part of the input channels, and each row of places:    the part's filters are in the second-level cache
//       for each 16 channels c of the part:
//         filter[place, c, o] = (G filter G')[place]                  in the first-level cache
//         for each place of the row: product[place, tile, o] += input * filter
//     for each tile: result pixels = A' product A, then the epilogue
//
// Where a feature map is small the filters are large: they come from memory as they are in the file, a quarter of what they become. Transformed they
// stay in the first-level cache, which is why a row of places at a time is done: writing all places of a part to the second level takes twice as long
// as computing them.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/convolution/WinogradLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelMatch matchWinogradColumns(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<WinogradConvOp>(anchor);
  auto weight = dyn_cast<BlockArgument>(conv.getWeight());
  if (conv.getTransformed())
    return refuse("the filters are already transformed: there are many tiles");
  if (!isa<BlockArgument>(conv.getInput()) || !weight || !group.isConstantInput(weight.getArgNumber()))
    return refuse("the input is a view, or the filters are not constant");
  DimExprs dims = getDims(conv.getType());
  if (!llvm::all_of(dims, [](AffineExpr dim) { return getConstantDim(dim).has_value(); }))
    return refuse("only run time knows how many tiles there are");
  return matchPlanned(conv, target, /*byColumns=*/true, describeWinograd(conv) + "; few tiles: filters are transformed on the way");
}

namespace {
class ColumnsEmitter {
public:
  ColumnsEmitter(KernelBuilder &k, WinogradConvOp op, const WinogradPlan &plan);
  LaunchInfo run();

private:
  void transformInput() const;
  void emitPanel(AffineExpr panel, int64_t columns) const;
  void clearProducts() const;
  void transformFilters(AffineExpr panel, AffineExpr channel, AffineExpr row) const;
  void multiplyRow(AffineExpr panel, AffineExpr part, AffineExpr row, AffineExpr step, Panel shape) const;
  void prefetchFilters(AffineExpr panel, AffineExpr part, AffineExpr product) const;

  /// One row more than there are channels keeps places from sharing the sets of the first-level cache.
  int64_t placeStride() const { return (winogradChain + 1) * width; }

  KernelBuilder &k;
  WinogradLoops loops;
  WinogradPlan plan;
  FilterTransform transform;
  Value weight;
  /// Columns of a panel.
  int64_t width;
  /// Where the transformed filters of a row of places lie in the scratch.
  AffineExpr filters;
};
} // namespace

ColumnsEmitter::ColumnsEmitter(KernelBuilder &k, WinogradConvOp op, const WinogradPlan &plan)
    : k(k), loops(k, op), plan(plan),
      transform(k, loops.tile, loops.element, plan.shape.columns()), width(plan.shape.columns()) {
  weight = loops.packWeight(width);
  std::tie(loops.scratch, filters) =
      WinogradScratch::make(k, loops.element, loops.places, plan.blockTiles, plan.inputStride, width, loops.side * placeStride());
}

void ColumnsEmitter::transformInput() const {
  int64_t tiles = *getConstantDim(loops.tiles);
  k.loop(k.constant(0), k.constant(plan.blockTiles), 1, "slot", [&](AffineExpr slot) {
    // The last tile stands in for those that fill up the register tile.
    AffineExpr number = tiles == plan.blockTiles ? slot : k.index(k.minimum(k.emit(slot), k.emitConstant(tiles - 1)));
    loops.transformTile(number, slot, plan.shape.lanes);
  });
}

void ColumnsEmitter::clearProducts() const {
  k.vectorLoop(k.constant(loops.places * loops.scratch.productPlace), plan.shape.lanes, "product", [&](AffineExpr at, Lanes across) {
    k.storeBuffer(loops.scratch.buffer, loops.element, loops.scratch.product + at, k.number(loops.element, 0, across.count), across);
  });
}

/// The filters of one chain's channels from `channel` on, at one row of places.
void ColumnsEmitter::transformFilters(AffineExpr panel, AffineExpr channel, AffineExpr row) const {
  for (int64_t y = 0; y < loops.side; ++y)
    k.branch(arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::eq, k.emit(row), k.emitConstant(y)), [&] {
      k.loop(k.constant(0), k.constant(winogradChain), 1, "c", [&](AffineExpr c) {
        AffineExpr from = k.index(k.emit((panel * loops.in + channel + c) * (9 * width)));
        transform.emitRow(weight, from, loops.scratch.buffer, filters + c * width, placeStride(), y);
      });
    });
}

/// The next part's filters arrive from memory while this part's products are computed, some cache lines with each of `product`s loops over channels.
void ColumnsEmitter::prefetchFilters(AffineExpr panel, AffineExpr part, AffineExpr product) const {
  int64_t products = loops.places * plan.depth / winogradChain, elements = plan.depth * 9 * width;
  int64_t lines = llvm::divideCeilSigned(elements, products * elementsPerLine);
  AffineExpr first = k.index(k.emit((panel * loops.in + (part + 1) * plan.depth) * (9 * width) + product * (lines * elementsPerLine)));
  for (int64_t line = 0; line < lines; ++line)
    memref::PrefetchOp::create(k.builder(), k.loc(), weight, k.emit(first + line * elementsPerLine), false, 2, true);
}

/// Adds the products of one chain of channels to those of a row of places.
void ColumnsEmitter::multiplyRow(AffineExpr panel, AffineExpr part, AffineExpr row, AffineExpr step, Panel shape) const {
  SmallVector<ReductionLoop> reduction{{k.constant(winogradChain), k.constant(1), k.constant(width)}};
  TileEmitter emitter{k, loops.scratch.buffer, loops.scratch.buffer, loops.element, reduction, k.constant(1)};
  AffineExpr channel = k.index(k.emit(part * plan.depth + step * winogradChain));
  k.loop(k.constant(0), k.constant(loops.side), 1, "place", [&](AffineExpr place) {
    AffineExpr rhs = k.index(k.emit(filters + place * placeStride())), number = k.index(k.emit(row * loops.side + place));
    prefetchFilters(panel, part, (row * (plan.depth / winogradChain) + step) * loops.side + place);
    k.loop(k.constant(0), k.constant(plan.blockTiles), plan.shape.rows, "slot", [&](AffineExpr slot) {
      loops.multiplyTile(emitter, number, slot, plan.shape.rows, channel, rhs, k.constant(0), shape, /*accumulate=*/true);
    });
  });
}

void ColumnsEmitter::emitPanel(AffineExpr panel, int64_t columns) const {
  int64_t lanes = plan.shape.lanes, vectors = llvm::divideCeilSigned(columns, lanes);
  Panel shape{static_cast<unsigned>(vectors), plan.shape.lanes, static_cast<unsigned>(vectors * lanes)};
  clearProducts();
  k.loop(k.constant(0), k.constant(loops.in / plan.depth), 1, "part", [&](AffineExpr part) {
    k.loop(k.constant(0), k.constant(loops.side), 1, "row", [&](AffineExpr row) {
      k.loop(k.constant(0), k.constant(plan.depth / winogradChain), 1, "step", [&](AffineExpr step) {
        transformFilters(panel, k.index(k.emit(part * plan.depth + step * winogradChain)), row);
        multiplyRow(panel, part, row, step, shape);
      });
    });
  });
  AffineExpr first = k.index(k.emit(panel * width));
  k.loop(k.constant(0), loops.tiles, 1, "tile", [&](AffineExpr tile) {
    k.branch(loops.isEven(tile, true), [&] { loops.finishTile(tile, tile, first, k.constant(columns), true, plan.shape.lanes); });
    k.branch(loops.isEven(tile, false), [&] { loops.computeTile(tile, panel, columns, plan.shape); });
  });
}

LaunchInfo ColumnsEmitter::run() {
  int64_t panels = llvm::divideCeilSigned(loops.out, width), rest = loops.out % width;
  AffineExpr tasks = k.constant(std::min(k.group().getPlan()->getBands(), panels));
  auto compare = [&](AffineExpr panel, arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(panel), k.emitConstant(panels - 1));
  };
  transformInput();
  k.taskLoop({tasks}, [&](ArrayRef<AffineExpr> task) {
    forShare(k, task.front(), k.constant(panels), tasks, "panel", [&](AffineExpr panel) {
      if (rest == 0 || panels == 1)
        return emitPanel(panel, rest ? rest : width);
      k.branch(compare(panel, arith::CmpIPredicate::slt), [&] { emitPanel(panel, width); });
      k.branch(compare(panel, arith::CmpIPredicate::eq), [&] { emitPanel(panel, rest); });
    });
  });
  return loops.info(tasks);
}

FailureOr<LaunchInfo> lowerWinogradColumns(KernelBuilder &k, Operation *anchor) {
  auto conv = cast<WinogradConvOp>(anchor);
  return ColumnsEmitter(k, conv, readPlan(k.group(), conv)).run();
}

} // namespace kiln
