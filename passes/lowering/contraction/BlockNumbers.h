//===- BlockNumbers.h - Weights of 4 or 8 bits in blocks, as numbers --------===//
//
// Weights of blocks are stored in panels
//   [column / NR, block, byte / 4, column % NR, byte % 4], NR = the columns of a tile
// so four bytes of each column are one load. Those that a caller has packed lie so, too, with scales [column / NR, block, column % NR]. Numbers become f32
// without a conversion: their bits are the low ones of a mantissa, above which the exponent of a power of two stands, and the difference from that power is
// exact.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_BLOCKNUMBERS_H
#define KILN_PASSES_LOWERING_CONTRACTION_BLOCKNUMBERS_H

#include "dialects/nn/BlockQuantized.h"
#include "passes/lowering/contraction/ContractionTile.h"

namespace kiln {

/// Returns the number of the block argument that `value` is.
unsigned argumentOf(mlir::Value value);

class BlockNumbers {
public:
  /// Orders the constants of the product for panels of the columns of such tiles. What a caller has packed lies so.
  BlockNumbers(KernelBuilder &k, nn::BlockQuantizedMatmulOp op, TileShape shape);

  using Values = llvm::SmallVector<mlir::Value>;
  /// What a block of columns has: its scales, its zero points (empty: they are all in the middle of the range).
  Values loadScales(mlir::AffineExpr column, mlir::AffineExpr block, unsigned vectors) const;
  Values loadZeros(mlir::AffineExpr column, mlir::AffineExpr block, unsigned vectors) const;
  /// Four bytes of each column, as one i32 a column.
  Values loadWords(mlir::AffineExpr column, mlir::AffineExpr block, mlir::AffineExpr group, unsigned vectors) const;
  /// Asks for the first line of the words that lie `ahead` bytes further: hardware notices that weights are read from one end to the other, but begins again at
  /// each page.
  void askAhead(mlir::AffineExpr column, mlir::AffineExpr block, mlir::AffineExpr group, int64_t ahead) const;
  /// What is subtracted from the numbers of a block so that they count from its zero points; by vector and by place in half a word.
  llvm::SmallVector<Values> makeBases(mlir::AffineExpr column, mlir::AffineExpr block, unsigned vectors) const;
  using Body = llvm::function_ref<void(int64_t byte, bool isHigh, llvm::ArrayRef<mlir::Value> numbers)>;
  /// Calls `body` for each number of a word: with that of a byte, or of its low and then its high half, of all columns.
  void forNumbers(llvm::ArrayRef<mlir::Value> words, llvm::ArrayRef<Values> bases, Body body) const;
  /// Some groups of a block.
  struct Groups {
    mlir::AffineExpr block, first, count;
  };
  /// Stores them as f32 weights in a panel of the tile's columns: those of low halves of bytes from `row` on, those of high ones `high` rows further. Asks for
  /// the words that are `partWords` further.
  void unpack(mlir::Value panel, mlir::AffineExpr column, const Groups &groups, mlir::AffineExpr row, int64_t high, unsigned vectors, int64_t partWords) const;

  mlir::Value integers(int64_t value, unsigned count) const;
  mlir::Value shiftRight(mlir::Value word, int64_t by) const;

  /// The columns of a panel.
  int64_t width;
  unsigned lanes;
  int64_t bits, block;
  mlir::AffineExpr blocks;
  /// Four bytes of a block, and the elements that they are.
  int64_t groups, perGroup;
  int64_t centre;

private:
  void pack(TileShape shape, int64_t columns, int64_t blocks);
  mlir::AffineExpr placeOfWords(mlir::AffineExpr column, mlir::AffineExpr block, mlir::AffineExpr group) const;
  Values loadPerBlock(mlir::Value constant, mlir::AffineExpr column, mlir::AffineExpr at, unsigned vectors) const;
  mlir::Value toReal(mlir::Value word, unsigned position, mlir::Value base) const;

  KernelBuilder &k;
  mlir::Value weight, scale, zero;
  mlir::Type real, whole;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_BLOCKNUMBERS_H
