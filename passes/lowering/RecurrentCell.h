//===- RecurrentCell.h - What LSTM and GRU kernels share -------------------===//
#ifndef KILN_PASSES_LOWERING_RECURRENTCELL_H
#define KILN_PASSES_LOWERING_RECURRENTCELL_H

#include "dialects/nn/Scalar.h"
#include "passes/lowering/KernelBuilder.h"

namespace kiln {

/// Whether all names are activations that `RecurrentCell::activate` computes.
bool knowsActivations(mlir::ArrayAttr names);

/// One direction of a recurrent layer with recurrence [gates * hidden, hidden]: walks steps and blocks of units, multiplies by the recurrence.
class RecurrentCell {
public:
  RecurrentCell(KernelBuilder &k, mlir::Value recurrence, int64_t gates);

  nn::Scalar scalar(mlir::Value value) const { return nn::Scalar(k.builder(), k.loc(), value, element); }
  /// f, g or h of the standard by its name, with the standard's default parameters.
  nn::Scalar activate(mlir::StringAttr name, const nn::Scalar &x) const;
  nn::Scalar clip(const nn::Scalar &x, const std::optional<llvm::APFloat> &limit) const;

  /// body(j, lanes) over all units, for copies.
  void copyUnits(llvm::function_ref<void(mlir::AffineExpr, Lanes)> body) const;
  /// body(j, lanes, number of blocks) over all units in whole blocks.
  void eachBlock(llvm::function_ref<void(mlir::AffineExpr, Lanes, unsigned)> body) const;
  /// body(t) for each step of batch row b in order of time or reversed; steps at or beyond lengths[b] only clear their row of result `states`.
  void steps(mlir::AffineExpr count, bool reverse, mlir::Value lengths, mlir::AffineExpr b, unsigned states,
             llvm::function_ref<void(mlir::AffineExpr)> body) const;
  /// sum over i of state(i) * R[gate * hidden + j, i] for the wanted gates, in their order.
  llvm::SmallVector<mlir::Value> products(mlir::AffineExpr j, Lanes lanes, llvm::ArrayRef<int64_t> wanted,
                                          llvm::function_ref<mlir::Value(mlir::AffineExpr)> state) const;

  KernelBuilder &k;
  int64_t hidden;

private:
  mlir::Value weight(mlir::AffineExpr j, mlir::AffineExpr i, int64_t gate, Lanes lanes) const;

  mlir::Value recurrence;
  int64_t gates;
  mlir::Type element;
  unsigned lanes;
  bool packed;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_RECURRENTCELL_H
