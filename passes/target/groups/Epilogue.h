//===- Epilogue.h - What a kernel computes before it stores -----------------===//
#ifndef KILN_PASSES_TARGET_GROUPS_EPILOGUE_H
#define KILN_PASSES_TARGET_GROUPS_EPILOGUE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln {

/// Whether the kernels of `anchor` can compute `op` before they store.
bool canFollow(mlir::Operation *anchor, mlir::Operation *op);

/// Follows a value with several users to the operation in which all that is computed from it meets: the multiplication of `x * tanh(x + 1)`. `take`
/// is asked for each operation on the way and for that one, operands first. Null where it refuses one, or where the ways do not meet soon.
mlir::Operation *followBranches(mlir::Operation *from, llvm::function_ref<bool(mlir::Operation *)> take);

} // namespace kiln

#endif // KILN_PASSES_TARGET_GROUPS_EPILOGUE_H
