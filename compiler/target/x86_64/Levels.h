//===- Levels.h - Targets of 64-bit x86 ------------------------------------===//
#ifndef KILN_COMPILER_TARGET_X86_64_LEVELS_H
#define KILN_COMPILER_TARGET_X86_64_LEVELS_H

#include "dialects/kernel/Kernel.h"
#include <vector>

namespace kiln {

/// The features of kiln/cpu.h's table that LLVM lists for an x86 CPU or level ("sapphirerapids", "x86-64-v3"); the names are LLVM's and GCC's.
std::vector<llvm::StringRef> x86Features(llvm::StringRef cpu);

/// A description for 64-bit x86 under Linux. The vector unit follows from the features. `core` is LLVM's name of a processor, for numbers that were
/// measured on it.
kernel::TargetAttr makeX86Target(mlir::MLIRContext *context, llvm::StringRef name, llvm::StringRef cpu, llvm::ArrayRef<llvm::StringRef> features,
                                 int64_t l1 = 32 << 10, int64_t l2 = 1 << 20, int64_t l3 = 32 << 20, llvm::StringRef core = {});

} // namespace kiln

#endif // KILN_COMPILER_TARGET_X86_64_LEVELS_H
