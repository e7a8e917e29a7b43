//===- Choices.h - Values that a condition chooses -------------------------===//
#ifndef KILN_COMPILER_IMPORT_CHOICES_H
#define KILN_COMPILER_IMPORT_CHOICES_H

#include "compiler/import/Alternatives.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln::import {

class SymbolicSizes;

/// Joins the values of two branches, one of which a run takes.
class Choices {
public:
  Choices(mlir::OpBuilder &builder, SymbolicSizes &sizes) : builder(builder), sizes(sizes) {}

  /// One of two values, as run time tells; null after a mistake. `what` says what is the matter when their ranks differ, `name` is for
  /// computed dimensions.
  Value joinValues(Node &node, Value condition, Value then, Value otherwise, llvm::StringRef what, llvm::StringRef name);
  /// The symbol for a number that the model computes, at most `bound`.
  AffineExpr computeDim(Node &node, Value number, AffineExpr bound, const llvm::Twine &name);

  /// The symbols of numbers that a condition chooses from. Those that a loop's body makes exist only there.
  using Chosen = llvm::DenseMap<std::tuple<Value, AffineExpr, AffineExpr>, AffineExpr>;
  Chosen chosen;
  /// The sides of conditions that are being imported.
  TakenSides taken;

private:
  AffineExpr chooseDim(Node &node, Value condition, AffineExpr then, AffineExpr otherwise, const llvm::Twine &name);

  mlir::OpBuilder &builder;
  SymbolicSizes &sizes;
};

/// A shape as printed in messages: [2, s0].
std::string describeShape(const nn::DimExprs &dims);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_CHOICES_H
