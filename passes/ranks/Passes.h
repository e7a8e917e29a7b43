//===- Passes.h - Passes of sharded models that few files know --------------===//
#ifndef KILN_PASSES_RANKS_PASSES_H
#define KILN_PASSES_RANKS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/ranks/Passes.h.inc"

} // namespace kiln

#endif // KILN_PASSES_RANKS_PASSES_H
