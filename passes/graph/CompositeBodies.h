//===- CompositeBodies.h - The bodies by which composites are recognised ----===//
#ifndef KILN_PASSES_GRAPH_COMPOSITEBODIES_H
#define KILN_PASSES_GRAPH_COMPOSITEBODIES_H

#include "passes/graph/BodyMatching.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include <memory>

namespace kiln {

/// A composite and one of its bodies, both on placeholders in a separate block.
struct CompositeBody {
  std::unique_ptr<mlir::Block> block;
  mlir::Operation *whole;
  mlir::Value parts;

  /// Creates the composite whose body ends in `root` before `root`. Null if the graph does not match.
  mlir::Operation *raise(mlir::OpBuilder &builder, mlir::Operation *root) const;
  /// Returns how far the body matches the graph that ends in `root`, and what is in the way. Nullopt if their last operations differ.
  std::optional<Mismatch> explain(mlir::Operation *root) const;
  /// Returns how many operations match where the body does.
  size_t countOperations() const;
};

/// The decompositions of composites, and other spellings by exporters, largest first.
std::vector<CompositeBody> buildCompositeBodies(mlir::MLIRContext *context);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_COMPOSITEBODIES_H
