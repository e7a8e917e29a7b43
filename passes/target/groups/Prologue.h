//===- Prologue.h - What a kernel computes while it loads -------------------===//
#ifndef KILN_PASSES_TARGET_GROUPS_PROLOGUE_H
#define KILN_PASSES_TARGET_GROUPS_PROLOGUE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace kiln {

/// Returns the operands that the kernel of an anchor loads from buffers, where it does not compute its operands: others in the group do not compute it either.
llvm::SmallPtrSet<mlir::Operation *, 4> findLoaded(mlir::Operation *anchor);

} // namespace kiln

#endif // KILN_PASSES_TARGET_GROUPS_PROLOGUE_H
