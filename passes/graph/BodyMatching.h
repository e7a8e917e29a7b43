//===- BodyMatching.h - Matching graphs with bodies of composites --------------===//
//
// The patterns are not written by hand. A pattern is the body of the composite, built once on placeholders (block arguments for the inputs, unusual
// numbers for the attributes), and matched with the graph. Sums and products match in any order and grouping, in all the spellings that Terms.h
// treats as equal.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_GRAPH_BODYMATCHING_H
#define KILN_PASSES_GRAPH_BODYMATCHING_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"
#include <array>
#include <optional>
#include <string>

namespace kiln {

/// The placeholders for a composite's first, second and third number. No model contains them.
inline constexpr std::array<double, 3> standIns = {0.7312647139, 0.2845915316, 0.6180339471};

/// The values of a body's placeholders in a graph.
struct Bindings {
  llvm::SmallVector<mlir::Value, 2> inputs;
  std::array<std::optional<double>, standIns.size()> numbers;
  std::optional<llvm::SmallVector<int64_t>> axes;
  /// The accuracy of exp in the graph, if its operations state one.
  mlir::Attribute accuracy;
};

/// Matches the body that ends in `body` with the graph that ends in `root`. Inputs must have the type of `root`.
std::optional<Bindings> matchBody(mlir::Value body, unsigned numInputs, mlir::Value root);

/// How far a body matches a graph, in the attempt that came furthest.
struct Mismatch {
  /// The operations of the graph that match.
  llvm::SmallVector<mlir::Operation *> matched;
  /// The value that does not, and what it is and should be; empty: all of the body matches.
  mlir::Value at;
  std::string what;
  /// Whether all of the body matches, so that `what` is about the whole.
  bool isWhole = false;
};
Mismatch explainMismatch(mlir::Value body, unsigned numInputs, mlir::Value root);

/// The operations from the values `inputs` to `root`, without constants.
llvm::SetVector<mlir::Operation *> chainOf(mlir::Operation *root, mlir::ValueRange inputs);

/// The fused location of these operations.
mlir::Location chainLocation(mlir::Operation *root, mlir::ValueRange inputs);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_BODYMATCHING_H
