//===- CompositeForms.h - What each composite became, and its price --------===//
#ifndef KILN_PASSES_TARGET_COMPOSITEFORMS_H
#define KILN_PASSES_TARGET_COMPOSITEFORMS_H

#include "dialects/nn/NN.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// A dictionary for each composite of the module: nodes, composite, form, reason; fused_bytes and split_bytes where sizes are static.
inline constexpr llvm::StringLiteral compositesAttrName = "kernel.composites";

/// Collects what an operation's decomposition builds.
struct CreatedOps : mlir::OpBuilder::Listener {
  llvm::SmallVector<mlir::Operation *> ops;
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override { ops.push_back(op); }
};

/// Builds the composite's parts before it.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> buildParts(nn::Decomposable op, CreatedOps &created);

/// Why a composite that stays whole does.
std::string explainWhole(mlir::Operation *op);

/// The dictionary of a composite that is still there; an empty reason means that it stays whole.
mlir::DictionaryAttr describeForm(nn::Decomposable op, llvm::StringRef reasonToSplit);

} // namespace kiln

#endif // KILN_PASSES_TARGET_COMPOSITEFORMS_H
