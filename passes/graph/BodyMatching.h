//===- BodyMatching.h - Whether a graph is a composite's body --------------===//
//
// A recogniser is no pattern written by hand: it is the body of the composite itself, built once on stand-ins (block arguments for the inputs,
// odd numbers for the attributes), and laid over the graph. Sums and products match in any order and grouping, in all the spellings that Terms.h
// makes equal.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_GRAPH_BODYMATCHING_H
#define KILN_PASSES_GRAPH_BODYMATCHING_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"
#include <array>
#include <optional>

namespace kiln {

/// The numbers that stand for a composite's first, second and third number. No model has them.
inline constexpr std::array<double, 3> standIns = {0.7312647139, 0.2845915316, 0.6180339471};

/// What the stand-ins of a body are in a graph.
struct Bindings {
  llvm::SmallVector<mlir::Value, 2> inputs;
  std::array<std::optional<double>, standIns.size()> numbers;
  std::optional<llvm::SmallVector<int64_t>> axes;
  /// How well the exp of the graph is to be computed, where operations say so.
  mlir::Attribute accuracy;
};

/// Lays the body that ends in `body` over the graph that ends in `root`; inputs must have the type of `root`.
std::optional<Bindings> matchBody(mlir::Value body, unsigned numInputs, mlir::Value root);

/// The operations from the values `inputs` to `root`, constants left out.
llvm::SetVector<mlir::Operation *> chainOf(mlir::Operation *root, mlir::ValueRange inputs);

/// The locations of all these, fused.
mlir::Location chainLocation(mlir::Operation *root, mlir::ValueRange inputs);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_BODYMATCHING_H
