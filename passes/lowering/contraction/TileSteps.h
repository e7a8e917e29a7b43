//===- TileSteps.h - The sums of two by two tiles by steps of several rows -===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_TILESTEPS_H
#define KILN_PASSES_LOWERING_CONTRACTION_TILESTEPS_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// Calls the functions of kiln/tiles.h for a block of rows after the other.
class TileSteps {
public:
  /// Stores some columns of a row of a tile of the sums that were finished last; all of them together store a panel.
  using StoreRow = std::function<void(int64_t tile, mlir::AffineExpr row)>;
  using StoreRows = std::vector<StoreRow>;
  /// Emits what the rows of the panel at a column have in common.
  using PrepareStore = llvm::function_ref<StoreRows(mlir::AffineExpr column)>;
  /// Offsets in the left buffer of the two tiles' first rows, and from a row to the next.
  struct Left {
    mlir::AffineExpr first, second, stride;
  };

  /// `c.instruction` is a step of several rows.
  TileSteps(KernelBuilder &k, const Contraction &c);

  /// A block has `rows` in its first tile, and as many, fewer or none in its second one.
  void begin(mlir::AffineExpr rows, mlir::AffineExpr others);
  void end();
  /// The right side of the next chunk of columns, or behind the last one that of the next kernel, lies so many elements further on. While a block of rows
  /// meets a chunk, its steps ask for a share of it: `lines` of the cache each, of which the share begins with the first one.
  struct ToCome {
    mlir::AffineExpr further;
    mlir::Value first, lines;
  };
  void setToCome(ToCome next) { toCome = next; }
  /// A panel of `vectors` columns of tiles, whose right side begins at `rhs`.
  void panel(const Left &left, mlir::AffineExpr rhs, unsigned vectors, const StoreRows &pieces);
  /// The panels from a column up to another one, each of `width` columns. The steps of a panel and the rows of the one before it take turns: tiles are
  /// multiplied while results are computed.
  void panels(mlir::AffineExpr from, mlir::AffineExpr to, int64_t width, const Left &left, llvm::function_ref<mlir::AffineExpr(mlir::AffineExpr)> rhsAt,
              PrepareStore prepare);
  /// Sums of a row of a tile, from a column of the panel on.
  mlir::Value load(int64_t tile, mlir::AffineExpr row, unsigned column, unsigned lanes);
  /// Whether `panels` can be used: how many steps there are is known, and enough of them.
  bool canTakeTurns() const;

private:
  void call(llvm::StringRef function, llvm::ArrayRef<mlir::Value> operands);
  void callForPanel(llvm::StringRef function, unsigned vectors);
  /// Before each step, `between` is told how many were made.
  void multiply(const Left &left, mlir::AffineExpr rhs, unsigned vectors, mlir::Value condition, llvm::function_ref<void(mlir::AffineExpr)> between);
  void storeRows(mlir::AffineExpr step, const StoreRows &pieces);

  KernelBuilder &k;
  const Contraction &c;
  /// Rows of the tiles.
  mlir::AffineExpr first, second;
  mlir::Value sums, rows, others;
  std::optional<ToCome> toCome;
};

/// The pieces of a panel's valid columns: vectors, then smaller powers of two, then single columns.
void forPieces(Panel panel, llvm::function_ref<void(unsigned column, unsigned lanes)> body);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_TILESTEPS_H
