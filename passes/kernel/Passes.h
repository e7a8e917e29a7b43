//===- Passes.h - Passes of the kernel stage that few files know ------------===//
#ifndef KILN_PASSES_KERNEL_PASSES_H
#define KILN_PASSES_KERNEL_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/kernel/Passes.h.inc"

} // namespace kiln

#endif // KILN_PASSES_KERNEL_PASSES_H
