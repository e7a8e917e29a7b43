//===- SharedCode.h - Ranks with the same code ------------------------------===//
//
// Most modules of ranks differ in nothing but the parts of constants that they have. Then one of them is compiled for all, unless a pass reads a part: what it
// decides may be right for one rank only. Collectives find the ranks that take part from the number of their own (kiln/collectives.h).
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_PIPELINE_SHAREDCODE_H
#define KILN_COMPILER_PIPELINE_SHAREDCODE_H

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Whether the modules of two ranks differ only in constants that are equal or the same parts of the same ones, and in the ranks that collectives name.
bool haveSameCode(mlir::ModuleOp one, mlir::ModuleOp other);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_SHAREDCODE_H
