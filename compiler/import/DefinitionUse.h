//===- DefinitionUse.h - Whether operands fit a definition ------------------===//
#ifndef KILN_COMPILER_IMPORT_DEFINITIONUSE_H
#define KILN_COMPILER_IMPORT_DEFINITIONUSE_H

#include "compiler/definitions/Definition.h"
#include "compiler/import/Node.h"

namespace kiln::import {

class Diagnostics;

/// Checks a call of a definition: number, types and ranks of operands, sizes that must be equal, indices that must lie inside. Sizes that only run time
/// knows are checked there. A message shows the place in the definition.
mlir::LogicalResult checkDefinitionUse(Node &node, const definitions::Definition &definition, llvm::ArrayRef<Value> operands,
                                       const llvm::StringMap<const onnx::AttributeProto *> &attributes, Diagnostics &diagnostics);

/// The IR's type; null for a generic one.
Type typeOf(definitions::Element element, mlir::MLIRContext *context);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_DEFINITIONUSE_H
