//===- MovedBytes.h - What a kernel reads and writes -----------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_MOVEDBYTES_H
#define KILN_PASSES_LOWERING_BUILDER_MOVEDBYTES_H

#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// The bytes of all inputs and results of a kernel's group: what it moves when it reads and writes each of them once.
mlir::AffineExpr countMovedBytes(KernelBuilder &k);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_MOVEDBYTES_H
