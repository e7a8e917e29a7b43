//===- Constraints.h - What a run checks of its dimensions ------------------===//
#ifndef KILN_DIALECTS_NN_CONSTRAINTS_H
#define KILN_DIALECTS_NN_CONSTRAINTS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace kiln::nn {

/// An expression of the module's symbols that must be zero in a run, and the ONNX node that demands it: "Add 'p2o.Add.234'". Empty: it is not known.
struct Constraint {
  mlir::AffineExpr mustBeZero;
  std::string node;
};

/// The constraints of the module, in their order.
std::vector<Constraint> getConstraints(mlir::ModuleOp module);
/// Puts these in place of the module's constraints, which are expressions of all of its symbols.
void setConstraints(mlir::ModuleOp module, llvm::ArrayRef<Constraint> constraints);

/// A number that is not negative exactly where the expression is zero; null if the expression says something else.
mlir::AffineExpr matchNotNegative(mlir::AffineExpr mustBeZero);
/// The expression that is zero exactly where the number is not negative; constraints are equations.
mlir::AffineExpr makeNotNegative(mlir::AffineExpr number);

/// The texts of the file's metadata_props, keys with their values.
std::vector<std::pair<std::string, std::string>> getMetadata(mlir::ModuleOp module);
void setMetadata(mlir::ModuleOp module, llvm::ArrayRef<std::pair<std::string, std::string>> metadata);
/// Removes the entries whose keys begin with the prefix.
void removeMetadata(mlir::ModuleOp module, llvm::StringRef prefix);
/// The keys that Kiln adds begin with it, and those of a file never do.
inline constexpr llvm::StringLiteral ownMetadata = "kiln.";
/// The beginning of a key of the metadata: the name of a dimension that a run raises follows.
inline constexpr llvm::StringLiteral raisedMetadata = "kiln.raised.";

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_CONSTRAINTS_H
