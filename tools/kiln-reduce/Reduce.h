//===- Reduce.h - Smaller modules that still show a fault ------------------===//
#ifndef KILN_TOOLS_KILN_REDUCE_REDUCE_H
#define KILN_TOOLS_KILN_REDUCE_REDUCE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln {

/// The smallest module that is found for which `isInteresting` holds, as it does for the given one. It is asked for valid modules only.
mlir::OwningOpRef<mlir::ModuleOp> reduce(mlir::OwningOpRef<mlir::ModuleOp> module, llvm::function_ref<bool(mlir::ModuleOp)> isInteresting);

} // namespace kiln

#endif // KILN_TOOLS_KILN_REDUCE_REDUCE_H
