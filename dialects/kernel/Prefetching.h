//===- Prefetching.h - Whether a target can ask for memory ahead -----------===//
#ifndef KILN_DIALECTS_KERNEL_PREFETCHING_H
#define KILN_DIALECTS_KERNEL_PREFETCHING_H

#include "dialects/kernel/Kernel.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln::kernel {

/// Whether the target has an instruction that asks for a line of the cache. WebAssembly has none: there, a load whose value is not used asks for lines that
/// exist.
inline bool hasPrefetching(TargetAttr target) { return !target || target.getTriple().empty() || !llvm::Triple(target.getTriple()).isWasm(); }

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_PREFETCHING_H
