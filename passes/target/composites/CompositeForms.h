//===- CompositeForms.h - What each composite became, and its price --------===//
#ifndef KILN_PASSES_TARGET_COMPOSITES_COMPOSITEFORMS_H
#define KILN_PASSES_TARGET_COMPOSITES_COMPOSITEFORMS_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// Collects what an operation's decomposition builds.
struct CreatedOps : mlir::OpBuilder::Listener {
  llvm::SmallVector<mlir::Operation *> ops;
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    // What stands inside of a part is the part's.
    if (ops.empty() || op->getBlock() == ops.front()->getBlock())
      ops.push_back(op);
  }
};

/// The name that users know: nn.softmax, or that of a composite of their own.
llvm::StringRef getCompositeName(mlir::Operation *op);

/// Puts the body in the operation's place. Its operations move, and composites inside stay what they are.
void inlineBody(nn::CompositeOp op);

/// Builds the composite's parts before it.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> buildParts(nn::Decomposable op, CreatedOps &created);

/// Why a composite that stays whole does.
std::string explainWhole(mlir::Operation *op);

/// The dictionary of a composite that is still there; an empty reason means that it stays whole. Without `countsBytes` it has no bytes.
mlir::DictionaryAttr describeForm(nn::Decomposable op, llvm::StringRef reasonToSplit, bool countsBytes = true);

/// Adds dictionaries to those that the module has.
void addForms(mlir::ModuleOp module, llvm::ArrayRef<mlir::Attribute> forms);

} // namespace kiln

#endif // KILN_PASSES_TARGET_COMPOSITES_COMPOSITEFORMS_H
