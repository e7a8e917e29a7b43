//===- ContractionLoops.h - The loops around a register tile ---------------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_CONTRACTIONLOOPS_H
#define KILN_PASSES_LOWERING_CONTRACTION_CONTRACTIONLOOPS_H

#include "passes/lowering/contraction/ContractionTile.h"
#include "passes/lowering/builder/RegisterRow.h"
#include <functional>

namespace kiln {

/// What becomes of a product's rows while they are in the cache, instead of an epilogue for each element. It is told of one block of rows after
/// the other, and of each block's tiles from the first column to the last one.
class RowEpilogue {
public:
  /// The index of the result at a row of the block and a column.
  using RowIndex = std::function<IndexExprs(mlir::AffineExpr row, mlir::AffineExpr column)>;

  virtual ~RowEpilogue() = default;
  virtual void begin(int64_t rows, RowIndex at) = 0;
  /// Columns from `first` on are finished; `rows` has their pieces for each row of the block.
  virtual void addTile(mlir::AffineExpr first, llvm::ArrayRef<llvm::SmallVector<RowPiece>> rows) = 0;
  virtual void finish() = 0;
};

/// Zeros around what a loop of the reduction walks along, which is a dimension of the rows, too: row r meets the picture, [zeros, zeros + extent), at the steps
/// i of the loop for which r * stride + i * dilation lies in it.
struct Border {
  unsigned row, loop;
  int64_t zeros, extent, stride, dilation;
};

/// The steps of a loop of the reduction that some row of a block needs.
struct SeenSteps {
  unsigned loop;
  mlir::AffineExpr first, count;
};

/// result[batch, row, column] = sum over k of lhs[batch, row, k] * rhs[batch, k, column]. Matrix products and convolutions are this, with
/// other offsets.
struct Contraction {
  mlir::Value result;
  /// That of the sums, and, unless there is an instruction, of both sides.
  mlir::Type element;
  mlir::Value lhs, rhs;
  /// Null: a * b + c. Steps of several products make one of the reduction's innermost loop.
  kernel::StepAttr instruction = {};
  /// The products of a step that has registers of its own, which may be fewer than it has room for; 0: the sums are vectors, and the step has all its products.
  int64_t depth = 0;
  /// Extents. The right side depends on the batch, not on the rows.
  IndexExprs batch, rows;
  mlir::AffineExpr columns;
  llvm::SmallVector<ReductionLoop> reduction;
  TileShape tile;
  /// Steps whose elements of the left side are zeros for all rows of a block are passed over.
  llvm::SmallVector<Border> borders = {};
  /// Rows that lie anywhere: the offset of one, which `lhsAt` then only counts. Null: rows lie as `lhsAt` says.
  std::function<mlir::AffineExpr(llvm::ArrayRef<mlir::AffineExpr> rows)> gatheredRow;
  /// Offsets of the first element of the reduction; linear.
  std::function<mlir::AffineExpr(llvm::ArrayRef<mlir::AffineExpr> batch, llvm::ArrayRef<mlir::AffineExpr> rows)> lhsAt;
  std::function<mlir::AffineExpr(llvm::ArrayRef<mlir::AffineExpr> batch)> rhsAt;
  /// Elements from a column to the next: between the panels and inside one. They differ when the right side is packed.
  mlir::AffineExpr panelStride, laneStride;
  /// Packed panels end in zeros, so that whole vectors can be read; the last one has only those that it needs.
  bool padded = false;
  /// Whether the last panel is as wide as the others, too. If only run time knows the columns, it is computed whole.
  bool evenPanels = false;
  /// Whether rows that only run time knows are cut evenly, with a tile for each height, as if they were static.
  bool allHeights = false;
  /// What whole steps leave over of a row of the left side; the right side has it beside zeros. Null or 0: nothing.
  mlir::AffineExpr rest = {};
  std::function<IndexExprs(llvm::ArrayRef<mlir::AffineExpr> batch, llvm::ArrayRef<mlir::AffineExpr> rows, mlir::AffineExpr column)> resultAt;
  /// The sums of a tile, one vector after the other for each row, where another reduction than that of the loops above gives them; the rows are indices into
  /// `rows`. Null: the reduction.
  std::function<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<mlir::AffineExpr> batch, llvm::ArrayRef<IndexExprs> rows, mlir::AffineExpr column, Panel panel)>
      tileSums;
  /// Null: each element is stored as it comes. With one, a task has all columns of its rows, and `rowValues` are what it computes at the result's
  /// index besides the results.
  RowEpilogue *rowEpilogue = nullptr;
  llvm::SmallVector<mlir::Value, 1> rowValues;
};

/// Writes tasks of (columns that fit the cache) x (a block of rows).
LaunchInfo lowerContraction(KernelBuilder &k, const Contraction &contraction);

/// Row dimensions, merged where everything walks them evenly.
struct RowDim {
  mlir::AffineExpr extent;
  /// Place among the contraction's rows.
  unsigned dim;
  /// Stride in the left buffer.
  mlir::AffineExpr lhsStride;
};
llvm::SmallVector<RowDim> mergeRows(KernelBuilder &k, const Contraction &c);
/// The contraction's row index for places in merged dimensions.
IndexExprs expandRows(KernelBuilder &k, const Contraction &c, llvm::ArrayRef<RowDim> rowDims, llvm::ArrayRef<mlir::AffineExpr> rows);
/// The steps that rows from one place among the contraction's rows to another one need, for each loop that has a border. The places are those of a block.
llvm::SmallVector<SeenSteps> findSeenSteps(KernelBuilder &k, const Contraction &c, llvm::ArrayRef<RowDim> rowDims, const IndexExprs &first,
                                           const IndexExprs &last);
/// Copies what whole steps leave over of rows of the left side, which begin at these offsets from the base, and puts zeros beside it.
std::optional<RestOfRows> copyRest(KernelBuilder &k, const Contraction &c, mlir::AffineExpr base, llvm::ArrayRef<mlir::AffineExpr> offsets);
/// Has a tile, whose elements begin at these offsets, make these steps only.
void passOver(TileEmitter &tile, llvm::ArrayRef<SeenSteps> seen, mlir::AffineExpr &lhsBase, mlir::AffineExpr &rhsBase);
/// Rows that are cut into blocks of the same height and of one row less, as a static count is.
struct EvenRows {
  mlir::AffineExpr extent, blocks;
  /// Rows of the highest block.
  int64_t most;
};
/// Writes `body` for each height that the block may have.
void forEvenRows(KernelBuilder &k, const EvenRows &rows, mlir::AffineExpr block, llvm::function_ref<void(mlir::AffineExpr start, int64_t count)> body);
/// How many panels of a side that the caller has packed a tile of so many rows takes at once, so that few rows have sums enough. Nullopt: any few rows.
int64_t countPanelsAtOnce(KernelBuilder &k, const Contraction &c, std::optional<int64_t> rows);
/// The panels of a chunk which has room for `fitting`: few rows, which make one block, round it up to what a tile takes at once.
mlir::AffineExpr chooseChunk(KernelBuilder &k, const Contraction &c, mlir::AffineExpr fitting, llvm::ArrayRef<RowDim> rowDims);
LaunchInfo contractionInfo(KernelBuilder &k, const Contraction &c, llvm::ArrayRef<mlir::AffineExpr> tasks);
/// What the epilogue of `result` computes at the index `at` whatever the dims `varying` are; with constants that are only spread, on request: stores of bytes
/// may change any number, as far as C++ knows, so that these would be loaded again behind each.
llvm::SmallVector<mlir::Value> findSharedValues(KernelBuilder &k, mlir::Value result, const IndexExprs &at, llvm::ArrayRef<mlir::AffineExpr> varying,
                                                bool withConstants);
/// What the epilogue of a product of integers computes for each column, whatever the row: the part of a zero point that only run time knows, say.
llvm::SmallVector<mlir::Value> findColumnValues(KernelBuilder &k, const Contraction &c);
/// Says the tile where the algorithm is told, rows and columns, and the step of several rows: `gemm_tiled 14x32`, `gemm_tile_steps 32x32 tile_u8s8`.
void nameTile(KernelBuilder &k, const Contraction &c);
/// Products that a step adds to each sum.
int64_t countProducts(const Contraction &c);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_CONTRACTIONLOOPS_H
