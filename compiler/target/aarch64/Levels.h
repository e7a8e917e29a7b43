//===- Levels.h - Targets of 64-bit Arm ------------------------------------===//
#ifndef KILN_COMPILER_TARGET_AARCH64_LEVELS_H
#define KILN_COMPILER_TARGET_AARCH64_LEVELS_H

#include "dialects/kernel/Kernel.h"

namespace kiln {

/// A description for AArch64 under Linux, with LLVM's names of features. Steps follow from the features. Vectors longer than 128 bits are SVE's: the code runs
/// where they have as many bits, or more.
kernel::TargetAttr makeAArch64Target(mlir::MLIRContext *context, llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> features, int64_t vectorBits = 128,
                                     int64_t l1 = 32 << 10, int64_t l2 = 512 << 10, int64_t l3 = 4 << 20);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AARCH64_LEVELS_H
