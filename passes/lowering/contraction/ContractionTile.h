//===- ContractionTile.h - The register tile of a matrix product -----------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_CONTRACTIONTILE_H
#define KILN_PASSES_LOWERING_CONTRACTION_CONTRACTIONTILE_H

#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/TileShape.h"

namespace kiln {

/// One loop of the reduction; the strides are in elements of the left and the right buffer. A step of several products is one of the innermost loop.
struct ReductionLoop {
  mlir::AffineExpr extent;
  mlir::AffineExpr lhsStride;
  mlir::AffineExpr rhsStride;
};

/// The columns (at least one) of a right side that is packed in panels of a tile's columns; the last panel has only the vectors that it needs.
struct PackedColumns {
  PackedColumns(int64_t columns, TileShape tile);
  /// Columns of a panel, how many panels there are, and the columns of the last one.
  int64_t width, panels, tail;
  /// Of all panels.
  int64_t stored() const { return (panels - 1) * width + tail; }
  /// The order of a weight whose dimension `dimension` counts the panels and whose innermost one is a panel's columns.
  kernel::PackAttr pack(llvm::ArrayRef<int64_t> shape, mlir::AffineMap map, int64_t dimension) const;
};

/// The reduction in a packed panel of `columns` columns instead of `width`.
llvm::SmallVector<ReductionLoop> narrowPanel(llvm::ArrayRef<ReductionLoop> reduction, int64_t width, int64_t columns);

/// Joins loops that both sides walk evenly: kernel width and channels of a convolution, say.
llvm::SmallVector<ReductionLoop> mergeReduction(llvm::ArrayRef<ReductionLoop> loops);

/// The columns of a tile: `vectors` times `lanes` are computed, of which `valid` exist.
struct Panel {
  unsigned vectors;
  unsigned lanes;
  unsigned valid;
};

/// Single-precision numbers of a cache line.
constexpr int64_t elementsPerLine = 16;

/// MLIR's names for the first-level cache and for the second-level one, which holds what is needed later.
constexpr unsigned nearestLocality = 3, laterLocality = 2;

/// Lines of the right side that other tiles will read, asked for into the second-level cache: the next one of them every so many steps.
struct LinesToCome {
  /// The first one, and where the tile itself starts to read, in elements of the right buffer.
  mlir::AffineExpr first, rhsBase;
  int64_t stepsPerLine;
};

/// The last elements of rows of the left side, which fill no step: beside zeros, as many for each row as a step takes.
struct RestOfRows {
  mlir::Value elements;
  /// One step or none, and where the right side has its elements, from the tile's first one on.
  mlir::AffineExpr steps, rhsOffset;
};

/// Computes tiles: reads the left side by elements (each is broadcast), or by vectors where the target multiplies by their lanes, the right side by vectors.
struct TileEmitter {
  KernelBuilder &k;
  mlir::Value lhs, rhs;
  mlir::Type element;
  llvm::SmallVector<ReductionLoop> reduction;
  /// How far apart neighbouring columns of the right side are.
  mlir::AffineExpr laneStride;
  /// How many elements ahead of its use the right side, which is read from one end to the other, is asked for: into the first-level cache, the second, ...
  llvm::ArrayRef<int64_t> ahead = {};
  /// The fewest rows of a tile that asks, and the fewest vectors of sums that a line of the right side meets in it: fewer are bound by bandwidth, so there is
  /// no latency to hide where the right side is read from one end to the other, and requests take the place of loads.
  size_t fewestRowsAhead = 4, fewestSumsAhead = 7;
  /// The same for a right side whose rows are far apart: the elements from what a tile reads of a row to the same of a later one.
  llvm::ArrayRef<mlir::AffineExpr> rowsAhead = {};
  /// Vectors of a packed panel, where a tile takes several panels side by side, and how far apart these are. 0: a tile has one.
  unsigned panelVectors = 0;
  mlir::AffineExpr panelsApart = {};
  /// Whether a single row may run as several streams. A wide tile has sums enough.
  bool mayStream = true;
  /// Long sums are made of sums of about this many products: rounding errors grow with the length of a chain.
  int64_t chainLength = 256;
  /// The same for the window of a convolution. What a model's first one is off by, with few channels and a large window, reaches all later layers; its taps are
  /// loops anyway, so that cutting there costs little.
  static constexpr int64_t windowChain = 96;
  std::optional<LinesToCome> toCome = std::nullopt;
  /// The instruction that multiplies and adds, of one row or two; null: a * b + c on vectors of `element`, which otherwise is the sums' type.
  kernel::StepAttr instruction = {};
  /// Whether the left side has what a step of two rows takes side by side (PairedRows.h). The offset of either row is then that of the pair.
  bool leftInPairs = false;
  std::optional<RestOfRows> rest = std::nullopt;
  /// The steps of a sum where the left side has all rows of the tile side by side, for a step that multiplies them all: a call is the reduction. 0: loops.
  int64_t stepsOfRows = 0;

  using Store = llvm::function_ref<void(unsigned row, unsigned column, mlir::Value value, unsigned lanes)>;
  /// Gives out the pieces of finished sums, one vector after the other, for each row.
  void storeSums(mlir::ValueRange sums, Panel panel, Store store) const;
  /// Row r starts at lhsBase + rowOffsets[r] in the left buffer, column 0 at rhsBase in the right one. Gives out finished pieces.
  void emit(mlir::AffineExpr lhsBase, llvm::ArrayRef<mlir::AffineExpr> rowOffsets, mlir::AffineExpr rhsBase, Panel panel, Store store) const;

  /// sums + what the reduction gives for such rows; the sums stand as storeSums takes them.
  llvm::SmallVector<mlir::Value> addTo(mlir::ValueRange sums, mlir::AffineExpr lhsBase, llvm::ArrayRef<mlir::AffineExpr> rowOffsets, mlir::AffineExpr rhsBase,
                                       Panel panel) const;

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using LoopBody = llvm::function_ref<Values(mlir::AffineExpr i, mlir::ValueRange sums)>;
  /// Marks the loop of these sums to be written out several steps at a time, if it has no other loop in it and the target wants that.
  Values unroll(Values sums) const;
  /// A loop over [0, extent) that adds to `carried`, in blocks with sums of their own unless `block` is 0.
  Values sumBlocks(mlir::AffineExpr extent, int64_t block, Panel panel, mlir::ValueRange carried, LoopBody body) const;
  /// The block of the reduction's loop number `depth`: the innermost loop that is longer than a chain is cut, and no loop around it.
  int64_t chooseBlockAt(unsigned depth) const;
  Values nest(unsigned depth, mlir::AffineExpr lhsAt, llvm::ArrayRef<mlir::AffineExpr> rowOffsets, mlir::AffineExpr rhsAt, Panel panel,
              mlir::ValueRange carried) const;
  /// Products that a step adds to each sum.
  int64_t depth() const { return instruction ? instruction.getDepth() : 1; }
  /// Rows of a step. A vector of the tile has the sums of as many steps, each of which has the sums of all its rows in a vector.
  size_t stepRows() const { return instruction ? static_cast<size_t>(instruction.getRows()) : 1; }
  /// Whether a step has one sum, which is a vector of one lane until the reduction is done.
  bool hasSingleSums() const { return instruction && instruction.getRows() == 1 && instruction.getLanes() == 1; }
  /// Steps whose sums make a vector of the tile.
  unsigned stepsPerVector(Panel panel) const { return hasSingleSums() ? panel.lanes : static_cast<unsigned>(stepRows()); }
  /// A zero like a sum.
  mlir::Value zeroLike(mlir::Value sum) const;
  /// The vectors of sums of a tile with so many rows, which are zero; those that are left of pairs of rows are computed twice.
  Values makeSums(size_t rows, Panel panel) const;
  /// Single sums as vectors of the tile, or as scalars where these have one lane.
  Values joinSums(mlir::ValueRange sums, Panel panel) const;
  /// Sums as storeSums takes them.
  Values separateRows(mlir::ValueRange sums, size_t rows, Panel panel) const;
  /// The sums of rows that lie side by side.
  Values sumRows(size_t rows, mlir::AffineExpr rhsBase, Panel panel) const;
  /// The elements that a step takes of its rows, one row behind the other.
  mlir::Value loadLeft(mlir::AffineExpr left, llvm::ArrayRef<mlir::AffineExpr> rowOffsets, size_t first, mlir::AffineExpr lane, Panel panel) const;
  Values step(mlir::AffineExpr lhsAt, llvm::ArrayRef<mlir::AffineExpr> rowOffsets, mlir::AffineExpr rhsAt, Panel panel, mlir::ValueRange carried) const;
  /// Steps whose elements of each row of the left side a loop loads together; 1 where they are not contiguous, or the target does not multiply by lanes.
  int64_t leftLanes(const ReductionLoop &loop, Panel panel) const;
  /// Steps of a single sum, or of two rows of integers, that follow each other in the innermost loop, whose count and addresses otherwise take as long as they
  /// do; 1: no loop of such steps.
  int64_t countStepsTogether(const ReductionLoop &loop) const;
  /// The innermost loop with so many steps at a time.
  Values sumLanes(const ReductionLoop &loop, int64_t together, mlir::AffineExpr lhsAt, llvm::ArrayRef<mlir::AffineExpr> rowOffsets, mlir::AffineExpr rhsAt,
                  Panel panel, mlir::ValueRange carried) const;
  /// What a step takes of the elements of a row that several steps load together.
  mlir::Value pickLeft(mlir::Value steps, int64_t place, Panel panel) const;
  /// A row of the right side, with what it prefetches for a tile of so many rows: once for each line, where the step's place among neighbours is given.
  Values loadRight(mlir::AffineExpr right, Panel panel, size_t rows, std::optional<int64_t> place = std::nullopt) const;
  Values streams(mlir::AffineExpr lhsBase, mlir::AffineExpr rhsBase, Panel panel, unsigned count) const;
  Values addRest(mlir::ValueRange sums, mlir::AffineExpr rhsBase, size_t rows, Panel panel) const;
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum) const;
  mlir::Value add(mlir::Value a, mlir::Value b) const;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_CONTRACTIONTILE_H
