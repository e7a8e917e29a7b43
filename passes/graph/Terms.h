//===- Terms.h - Sums and products as lists --------------------------------===//
//
// Exporters write x / sqrt(v), x * (1 / sqrt(v)) and x * v^-0.5 for the same computation. As a product, each is the list {x^1, v^-0.5}.
// Broadcasts are ignored. Products and sums with other users are not expanded, but are factors and addends themselves.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_GRAPH_TERMS_H
#define KILN_PASSES_GRAPH_TERMS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace kiln {

/// Equal up to how exporters round constants: to f32, or to seven digits.
bool isClose(std::optional<double> have, double want);

/// The value before its broadcast, or the value itself.
mlir::Value skipBroadcast(mlir::Value value);

/// The number that fills a value, including large constants.
std::optional<double> getUniformNumber(mlir::Value value);

/// How far a tree of operations is expanded: through all operations with a single use, only its root, only if it is a multiple of a value, or not
/// at all.
enum class Depth { Tree, Root, Multiple, Closed };

struct Factor {
  mlir::Value value;
  double exponent;
};

struct Product {
  double number = 1.0;
  /// Operations that were expanded.
  size_t opened = 0;
  llvm::SmallVector<Factor> factors;
};

struct Term {
  mlir::Value value;
  double sign;
};

struct Sum {
  double number = 0.0;
  size_t opened = 0;
  llvm::SmallVector<Term> terms;
};

/// A value that is clamped between two numbers.
struct Bounded {
  mlir::Value value;
  double low, high;
};

bool isProduct(mlir::Operation *op);
bool isSum(mlir::Operation *op);
bool isBounded(mlir::Operation *op);

Product viewProduct(mlir::Value root, Depth depth);
Sum viewSum(mlir::Value root, Depth depth);
Bounded viewBounded(mlir::Value root);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_TERMS_H
