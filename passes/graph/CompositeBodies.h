//===- CompositeBodies.h - The bodies that composites are recognised by ----===//
#ifndef KILN_PASSES_GRAPH_COMPOSITEBODIES_H
#define KILN_PASSES_GRAPH_COMPOSITEBODIES_H

#include "passes/graph/BodyMatching.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include <memory>

namespace kiln {

/// A composite beside one of its bodies, both on stand-ins in a block of their own.
struct CompositeBody {
  std::unique_ptr<mlir::Block> block;
  mlir::Operation *whole;
  mlir::Value parts;

  /// The composite whose body ends in `root`, made before it; null when the graph is none.
  mlir::Operation *raise(mlir::OpBuilder &builder, mlir::Operation *root) const;
};

/// What composites decompose to, and the other spellings of exporters; the largest bodies first.
std::vector<CompositeBody> buildCompositeBodies(mlir::MLIRContext *context);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_COMPOSITEBODIES_H
