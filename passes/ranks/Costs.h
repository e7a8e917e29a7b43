//===- Costs.h - What work and exchange take --------------------------------===//
#ifndef KILN_PASSES_RANKS_COSTS_H
#define KILN_PASSES_RANKS_COSTS_H

#include "dialects/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// The machine of a rank and the network between them. The defaults of a network are those of processes on one machine.
struct RankMachine {
  double flopsPerSecond, bytesPerSecond;
  /// Of a message, and of its bytes.
  double latency = 10e-6, networkBytesPerSecond = 4e9;
  /// What an all_reduce sends to all in one step (runtime/src/ranks/Collectives.cpp).
  double bytesOfOneStep = 16 << 10;
  /// What a byte of weights costs that a rank keeps, read or not, so that tables that are hardly read are cut, too.
  double secondsPerKeptByte = 1 / 6e9;

  static RankMachine of(kernel::TargetAttr target);

  /// Seconds of an exchange among `ranks` of tensors that have `bytes` as a whole.
  /// @{
  double allReduce(double bytes, int64_t ranks) const;
  double allGather(double bytes, int64_t ranks) const;
  double reduceScatter(double bytes, int64_t ranks) const;
  double allToAll(double bytes, int64_t ranks) const;
  /// @}
};

/// Bytes of a tensor. A dimension that only run time knows counts as `typicalSize`, or what its bounds allow.
inline constexpr int64_t typicalSize = 128;
double estimateBytes(mlir::Value value);

/// A dimension or a number of steps, likewise.
double estimateSize(mlir::AffineExpr size, mlir::ModuleOp module);

/// Seconds of an nn operation on one rank.
double estimateSeconds(mlir::Operation *op, const RankMachine &machine);

} // namespace kiln

#endif // KILN_PASSES_RANKS_COSTS_H
