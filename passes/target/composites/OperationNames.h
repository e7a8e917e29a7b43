//===- OperationNames.h - nn operations by the names that users type -------===//
#ifndef KILN_PASSES_TARGET_COMPOSITES_OPERATIONNAMES_H
#define KILN_PASSES_TARGET_COMPOSITES_OPERATIONNAMES_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"

namespace kiln {

/// The operation of the nn dialect called `name`, with or without "nn." before it.
inline std::optional<mlir::RegisteredOperationName> findOperation(llvm::StringRef name, mlir::MLIRContext *context) {
  name.consume_front("nn.");
  return mlir::RegisteredOperationName::lookup(("nn." + name).str(), context);
}

/// The names of all nn operations with an interface, sorted, for the user who misspelt one.
template <typename Interface> std::string listOperations(mlir::MLIRContext *context) {
  llvm::SmallVector<llvm::StringRef> names;
  for (mlir::RegisteredOperationName name : context->getRegisteredOperationsByDialect("nn"))
    if (name.hasInterface<Interface>())
      names.push_back(name.stripDialect());
  llvm::sort(names);
  return llvm::join(names, ", ");
}

} // namespace kiln

#endif // KILN_PASSES_TARGET_COMPOSITES_OPERATIONNAMES_H
