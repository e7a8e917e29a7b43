//===- WinogradLoops.h - The parts of Winograd's convolution ---------------===//
#ifndef KILN_PASSES_LOWERING_CONVOLUTION_WINOGRADLOOPS_H
#define KILN_PASSES_LOWERING_CONVOLUTION_WINOGRADLOOPS_H

#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/Winograd.h"
#include "passes/lowering/contraction/ContractionTile.h"
#include "passes/target/choice/WinogradPlan.h"

namespace kiln {

/// body(i) for the items of one task, when `items` are shared evenly among `tasks`.
void forShare(KernelBuilder &k, mlir::AffineExpr task, mlir::AffineExpr items, mlir::AffineExpr tasks, llvm::StringRef name,
              llvm::function_ref<void(mlir::AffineExpr)> body);

/// Products of a constant matrix with values in registers.
class LinearForm {
public:
  LinearForm(KernelBuilder &k, unsigned lanes) : k(k), lanes(lanes) {}
  llvm::SmallVector<mlir::Value> apply(const nn::Matrix &matrix, llvm::ArrayRef<mlir::Value> values) const;
  /// matrix * square * matrix', by columns and then by rows: result(row, column, value). `square(row, column)` gives the operand.
  void applyTwice(const nn::Matrix &matrix, llvm::function_ref<mlir::Value(int64_t row, int64_t column)> square,
                  llvm::function_ref<void(int64_t row, llvm::ArrayRef<mlir::Value> values)> result) const {
    applyTwice(matrix, {0, matrix.rows}, square, result);
  }
  /// The rows of a part of the result: from the first one up to the second one.
  using Rows = std::pair<unsigned, unsigned>;
  /// The same for some rows.
  void applyTwice(const nn::Matrix &matrix, Rows rows, llvm::function_ref<mlir::Value(int64_t row, int64_t column)> square,
                  llvm::function_ref<void(int64_t row, llvm::ArrayRef<mlir::Value> values)> result) const;
  /// The parts in which all rows are computed so that the columns of those of a part stay in registers. Each needs a loop of its own: compilers would mix
  /// parts that follow each other.
  llvm::SmallVector<Rows> listParts(const nn::Matrix &matrix) const;

  /// One row of that.
  llvm::SmallVector<mlir::Value> applyRow(const nn::Matrix &matrix, int64_t y,
                                          llvm::function_ref<mlir::Value(int64_t row, int64_t column)> square) const;

private:
  /// Values whose products with the rows of a matrix are those of the values that it was given with the rows that were: sums and differences, where columns
  /// are pairs.
  struct Reduced {
    nn::Matrix matrix;
    llvm::SmallVector<mlir::Value> values;
    /// Whether row r and the next one differ in signs only.
    bool isPair(unsigned r) const;
  };
  Reduced reduce(const nn::Matrix &matrix, llvm::ArrayRef<mlir::Value> values) const;
  /// The products with rows [first, end).
  llvm::SmallVector<mlir::Value> apply(const Reduced &form, unsigned first, unsigned end) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value subtract(mlir::Value x, mlir::Value y) const;
  /// sum + by * value; without a sum, the product.
  mlir::Value addProduct(mlir::Value sum, double by, mlir::Value value) const;
  std::pair<mlir::Value, mlir::Value> sumPair(mlir::Value even, llvm::ArrayRef<double> odd, llvm::ArrayRef<mlir::Value> values) const;
  double commonFactor(llvm::function_ref<double(unsigned)> factor, unsigned count) const;
  mlir::Value sum(llvm::function_ref<double(unsigned)> factor, llvm::ArrayRef<mlir::Value> values) const;

  KernelBuilder &k;
  unsigned lanes;
};

/// Where a kernel keeps its scratch: both arrays are [place, slot, channel], slots being tiles. A tile is stored, and its products are loaded, at all places in
/// turn. Where too many of them would be in one set of the first-level cache, they lie an odd number of cache lines apart.
struct WinogradScratch {
  mlir::Value buffer;
  mlir::AffineExpr input, product;
  /// Elements from a slot to the next, and from a place to the next.
  int64_t inputStride, productStride, inputPlace, productPlace;
  /// A number for each slot: 0 for a tile that is even.
  mlir::AffineExpr unevenness;

  /// All of it in a scratch buffer of the kernel's, with so many elements behind both arrays, which begin at the result's second part.
  static std::pair<WinogradScratch, mlir::AffineExpr> make(KernelBuilder &k, mlir::Type element, int64_t places, int64_t slots, int64_t inputStride,
                                                           int64_t productStride, int64_t more = 0);
};

/// Why it is chosen.
std::string describeWinograd(nn::WinogradConvOp conv);

/// The loops that the kernels for few and for many tiles share.
class WinogradLoops {
public:
  WinogradLoops(KernelBuilder &k, nn::WinogradConvOp op);

  int64_t tile, side, places, in, out;
  nn::DimExprs input, output;
  mlir::Type element;
  /// Tiles of the result: down and across one image, and in all images.
  mlir::AffineExpr down, across, tiles;
  WinogradScratch scratch;

  /// Has the kernel take the weight in panels of `width` output channels, as packFilters says it, and returns its buffer.
  mlir::Value packWeight(int64_t width);
  /// Transforms the patch of tile `number` into `slot`, in all channels, and notes whether it is even.
  void transformTile(mlir::AffineExpr number, mlir::AffineExpr slot, unsigned lanes) const;
  /// product[place, row...] = or += input[place, row...] * rhs for one register tile; `column` is relative to the products' channels.
  void multiplyTile(const TileEmitter &emitter, mlir::AffineExpr place, mlir::AffineExpr row, unsigned rows, mlir::AffineExpr depth,
                    mlir::AffineExpr rhsAt, mlir::AffineExpr column, Panel panel, bool accumulate) const;
  /// Turns the products of `slot` into pixels [first, first + extent) of tile `number`, with the epilogue. The products' channels begin at
  /// `first` when `relative` holds, else at 0.
  void finishTile(mlir::AffineExpr number, mlir::AffineExpr slot, mlir::AffineExpr first, mlir::AffineExpr extent, bool relative,
                  unsigned lanes) const;
  /// Whether the tile of `slot` is even, so that finishTile has to compute it, or not, so that computeTile has to.
  mlir::Value isEven(mlir::AffineExpr slot, bool yes) const;
  /// Computes the pixels of tile `number` directly, in the first `columns` output channels of one of the weight's panels, with the epilogue.
  void computeTile(mlir::AffineExpr number, mlir::AffineExpr panel, int64_t columns, TileShape shape) const;
  LaunchInfo info(mlir::AffineExpr tasks) const;

private:
  struct Place {
    mlir::AffineExpr image, down, across;
  };
  Place placeOf(mlir::AffineExpr number) const;
  IndexExprs clamped(mlir::AffineExpr first, mlir::AffineExpr extent, bool fits) const;
  /// The places of a patch, as far as they exist.
  struct Patch {
    IndexExprs lines, pixels;
  };
  void noteEvenness(const Place &place, mlir::AffineExpr slot, unsigned lanes) const;
  mlir::Value measurePart(const Place &place, const Patch &patch, int64_t from, int64_t to, unsigned lanes) const;
  mlir::Value leastOfSquares(const Place &place, llvm::ArrayRef<mlir::Value> squares) const;
  mlir::Value sumMagnitudes(const Place &place, unsigned lanes) const;
  void storePixels(const Place &place, int64_t y, llvm::ArrayRef<mlir::Value> pixels, mlir::AffineExpr channel, Lanes lanes, bool isInside) const;
  mlir::Value isInside(const Place &place, bool yes) const;
  /// Calls `body` once; where sizes are known only at run time twice, in two branches: most tiles lie inside and ask for no pixel whether it exists.
  void forPlace(const Place &place, llvm::function_ref<void(bool isInside)> body) const;
  /// Whether tiles cover it exactly, whatever the symbols are.
  bool isWhole(mlir::AffineExpr extent) const { return nn::getConstantDim(nn::simplifyDim(extent % tile)) == 0; }

  KernelBuilder &k;
  mutable nn::WinogradConvOp op;
  nn::WinogradMatrices matrices;
  mlir::Value source, filters;
  /// Columns of a panel of the weight.
  int64_t width = 0;
};

/// Transforms filters that are packed as [panel, in, tap, column].
class FilterTransform {
public:
  FilterTransform(KernelBuilder &k, int64_t tile, mlir::Type element, int64_t width)
      : k(k), filter(nn::getWinogradMatrices(static_cast<unsigned>(tile)).filter), element(element), width(width) {}
  /// All columns of one panel and input channel: `from` and `to` are the offsets of column 0, `placeStride` the distance of places in the result.
  void emit(mlir::Value filters, mlir::AffineExpr from, mlir::Value result, mlir::AffineExpr to, int64_t placeStride) const;
  /// Row y of the places only, the first of which is at `to`.
  void emitRow(mlir::Value filters, mlir::AffineExpr from, mlir::Value result, mlir::AffineExpr to, int64_t placeStride, int64_t y) const;

private:
  void forVectors(llvm::function_ref<void(mlir::AffineExpr column, Lanes across)> body) const;
  void store(mlir::Value result, mlir::AffineExpr to, int64_t placeStride, llvm::ArrayRef<mlir::Value> row, Lanes across) const;
  mlir::Value loadTap(mlir::Value filters, mlir::AffineExpr from, int64_t y, int64_t x, mlir::AffineExpr column, Lanes across) const;

  KernelBuilder &k;
  nn::Matrix filter;
  mlir::Type element;
  int64_t width;
};

/// Filters [out, in, 3, 3] stored as [panel, in, tap, column].
kernel::PackAttr packFilters(mlir::MLIRContext *context, int64_t out, int64_t in, int64_t width);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONVOLUTION_WINOGRADLOOPS_H
