//===- AttentionEmitter.h - What a task of attention consists of -----------===//
#ifndef KILN_PASSES_LOWERING_ROWS_ATTENTIONEMITTER_H
#define KILN_PASSES_LOWERING_ROWS_ATTENTIONEMITTER_H

#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// An operand as matrices: one for each place in the batch.
struct Matrices {
  TracedView view;
  unsigned rank;
  mlir::Value buffer;
  mlir::AffineExpr rowStride, columnStride;

  Matrices(KernelBuilder &k, mlir::Value tensor) : view(*traceLinearView(tensor)), rank(mlir::cast<mlir::RankedTensorType>(tensor.getType()).getRank()) {
    buffer = k.buffer(view.argument);
    rowStride = linearCoefficient(view.offset, rank - 2);
    columnStride = linearCoefficient(view.offset, rank - 1);
  }
  mlir::AffineExpr at(llvm::ArrayRef<mlir::AffineExpr> batch, mlir::AffineExpr row, mlir::AffineExpr column) const {
    IndexExprs index(batch);
    index.append({row, column});
    return view.offset.replaceDims(index);
  }
};

/// The keys that are looked at together: their number, and where the first one is.
struct KeyBlock {
  mlir::AffineExpr first, count;
};

class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &k, nn::AttentionOp op);
  LaunchInfo run();

private:
  using Batch = llvm::ArrayRef<mlir::AffineExpr>;
  void planSizes();
  void emitTask(Batch batch, mlir::AffineExpr chunk);
  bool hidesForGood();
  mlir::AffineExpr firstVisibleKey();
  mlir::AffineExpr endOfVisibleKeys();
  mlir::AffineExpr countVisibleKeys();
  void emitBlock(Batch batch, KeyBlock keys);
  void packQueries(Batch batch);
  void packPairsOfValues(Batch batch, KeyBlock keys);
  void packSquaresOfWords(llvm::ArrayRef<mlir::AffineExpr> keys, mlir::AffineExpr to);
  void packPanel(Batch batch, mlir::AffineExpr first, unsigned vectors);
  void packSquares(llvm::ArrayRef<mlir::AffineExpr> keys, mlir::AffineExpr to);
  void packElements(llvm::ArrayRef<mlir::AffineExpr> keys, mlir::AffineExpr to, int64_t from);
  void packValues(Batch batch, KeyBlock keys);
  void emitScores(Batch batch, KeyBlock keys);
  void emitPanel(Batch batch, KeyBlock keys, mlir::AffineExpr first, unsigned vectors);
  void emitDots(Batch batch, KeyBlock keys);
  void adjustScores(Batch batch, KeyBlock keys, mlir::AffineExpr row, mlir::AffineExpr at);
  mlir::Value adjust(Batch batch, mlir::AffineExpr row, mlir::AffineExpr key, mlir::Value score, Lanes across);
  mlir::Value causalKeep(mlir::AffineExpr row, mlir::AffineExpr key, Lanes across);
  mlir::Value findTop(mlir::AffineExpr at, mlir::AffineExpr padded);
  void emitSoftmax(Batch batch, KeyBlock keys);
  void rescaleTotals();
  void emitSums(Batch batch, KeyBlock keys, bool byTiles);
  void emitResult(Batch batch);

  void forTiles(llvm::function_ref<void(mlir::AffineExpr row, unsigned count)> body);
  void ifRowsAre(bool few, llvm::function_ref<void()> body);
  mlir::AffineExpr fix(mlir::AffineExpr expr) { return nn::getConstantDim(expr) ? expr : k.index(k.emit(expr)); }
  mlir::AffineExpr roundUp(mlir::AffineExpr expr, int64_t to) { return fix(nn::simplifyDim(expr.ceilDiv(to) * to)); }
  Lanes lanesAt(mlir::AffineExpr i) const { return Lanes{mlir::cast<mlir::AffineDimExpr>(i).getPosition(), lanes}; }
  /// A dim that is zero here stands for the lanes.
  mlir::AffineExpr lane() { return k.index(k.emitConstant(0)); }
  mlir::Value array(llvm::StringRef name, int64_t elements) { return k.array(name, element, elements); }
  /// What a step adds to each sum.
  int64_t products() const { return step ? step.getDepth() : 1; }
  ReductionLoop countReduction(mlir::AffineExpr extent, mlir::AffineExpr rightStride);
  /// An array of factors.
  mlir::Value words(llvm::StringRef name, int64_t elements);
  /// Neighbouring factors as they are stored.
  mlir::Value loadWords(mlir::Value buffer, mlir::AffineExpr at, mlir::AffineExpr stride, unsigned count);
  void storeWords(mlir::Value buffer, mlir::AffineExpr at, mlir::Value value);
  mlir::Value load(mlir::Value buffer, mlir::AffineExpr at, Lanes across = {}) { return k.loadBuffer(buffer, element, at, across); }
  void store(mlir::Value buffer, mlir::AffineExpr at, mlir::Value value, Lanes across = {}) { k.storeBuffer(buffer, element, at, value, across); }
  nn::Scalar scalar(mlir::Value value) { return nn::Scalar(k.builder(), k.loc(), value, element, op.getAccuracy()); }
  nn::Scalar number(double value, unsigned count = 1) { return scalar(k.number(element, value, count)); }

  KernelBuilder &k;
  nn::AttentionOp op;
  mlir::Type element, word;
  /// What multiplies words of fewer bits than `element` has; null: factors have its type.
  kernel::StepAttr step;
  Matrices query, key, value;
  nn::DimExprs scoreDims;
  mlir::AffineExpr queries, keyCount;
  int64_t depth, width;
  unsigned lanes;

  int64_t tileRows, panelWidth, maxRows, maxKeys, rowCapacity, scoreStride, sumStride;
  /// Fewer rows read the keys where they lie: packing pays only when several tiles share it.
  int64_t rowsOfDots;
  bool oneBlock, packsValues, allowsDots;
  /// Of the task that is being written.
  mlir::AffineExpr firstRow, rows, paddedRows;
  /// `weights` are the scores behind the softmax, as factors: the scores themselves unless there is a step.
  mlir::Value queryRows, panel, scores, weights, sums, valueRows, tops, totals, factors;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_ROWS_ATTENTIONEMITTER_H
