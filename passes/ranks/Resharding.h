//===- Resharding.h - From one part of a tensor to another ------------------===//
#ifndef KILN_PASSES_RANKS_RESHARDING_H
#define KILN_PASSES_RANKS_RESHARDING_H

#include "dialects/nn/NN.h"
#include "passes/ranks/Layouts.h"

namespace kiln {

/// Builds what one rank does to have other parts of tensors. Collectives work on a first dimension with a slice for each rank; views around them bring the
/// dimension that is cut there and back.
class Resharding {
public:
  /// `collectives` counts what has been built for this rank.
  Resharding(mlir::OpBuilder &builder, mlir::Location loc, const Grid &grid, int64_t rank, int64_t &collectives)
      : builder(builder), loc(loc), grid(grid), rank(rank), collectives(collectives) {}

  /// The part that `to` says of a tensor of which `part` is what `from` says.
  mlir::Value change(mlir::Value part, const Cut &from, const Cut &to);
  /// The combination of all parts along the axis; of each, the slice along `dim` unless it is `whole`.
  mlir::Value combine(mlir::Value part, unsigned axis, int dim, nn::ReduceKind kind);

private:
  mlir::Value gather(mlir::Value part, unsigned axis, int dim);
  mlir::Value slice(mlir::Value part, unsigned axis, int dim);
  mlir::Value exchange(mlir::Value part, unsigned axis, int from, int to);
  mlir::IntegerAttr nextNumber() { return builder.getI64IntegerAttr(collectives++); }
  /// The dimension in `count` slices, as a new first dimension, and back.
  mlir::Value toFront(mlir::Value value, int dim, int64_t count);
  mlir::Value fromFront(mlir::Value value, int dim);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Grid &grid;
  int64_t rank;
  int64_t &collectives;
};

} // namespace kiln

#endif // KILN_PASSES_RANKS_RESHARDING_H
