//===- Assumptions.h - Assumptions of an import about sizes ----------------===//
#ifndef KILN_COMPILER_IMPORT_ASSUMPTIONS_H
#define KILN_COMPILER_IMPORT_ASSUMPTIONS_H

#include "dialects/nn/Dims.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace kiln::import {

/// The symbolic dimensions that a Squeeze without axes takes to be 1, where neither its input nor the declared rank tells.
struct SqueezedDims {
  /// Dimensions that are 1; all others are not.
  nn::DimExprs ones;
  /// Dimensions about which an importer has asked.
  llvm::SetVector<mlir::AffineExpr> asked;
  /// Such a Squeeze is not supported, whatever `ones` has.
  bool isRefused = false;
  /// A declared rank contradicts `ones`.
  bool isContradicted = false;
};

/// Assumptions of an import about sizes, and findings that would make the model simpler (Import.cpp).
struct Assumptions {
  /// Expressions that are not negative, as a run checks.
  nn::DimExprs notNegative;
  /// Bounds of slices and the like lie in what they cut, as a run checks.
  bool isInRange = false;
  /// Sizes that the model computes are equal where they broadcast with each other, as a run checks; else either may be 1.
  bool areEqual = true;
  /// More of the first: the run could not go on otherwise.
  llvm::SetVector<mlir::AffineExpr> found;
  /// The names of bounds that the caller gives, for sizes that data decide and nothing bounds; and those that this round has asked for.
  std::vector<std::string> raised, raisedAsked;
  /// Sizes that the model computes and whose own bounds are too large, so that the caller gives one.
  llvm::StringSet<> loosened;
  /// Sizes that data decide are those that the model declares, as a run checks; else data decide, whatever is declared.
  bool trustsShapes = false;
  /// Whether there are sizes that this would make static.
  bool hasDeclared = false;
  /// Whether sizes stand in the model that the second would make simpler.
  bool hasClamped = false;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_ASSUMPTIONS_H
