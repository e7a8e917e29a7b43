//===- IndexWidth.h - How wide indices of kernels are ------------------------===//
#ifndef KILN_DIALECTS_KERNEL_INDEXWIDTH_H
#define KILN_DIALECTS_KERNEL_INDEXWIDTH_H

#include "dialects/kernel/Kernel.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln::kernel {

/// Whether kernels for a target compute indices in 32 bits, where 64 would take two registers and several instructions each. WebAssembly has 32-bit addresses
/// and 64-bit registers, which are as fast.
inline bool hasNarrowIndices(TargetAttr target) {
  if (!target || target.getTriple().empty())
    return false;
  llvm::Triple triple(target.getTriple());
  return triple.isArch32Bit() && !triple.isWasm();
}

/// The largest index that such kernels know. Twice as much fits into 32 bits, so that sums of two do not wrap around; no tensor has more bytes.
inline constexpr int64_t mostNarrowIndex = 1 << 30;

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_INDEXWIDTH_H
