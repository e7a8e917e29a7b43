//===- Levels.h - Targets of 64-bit RISC-V ---------------------------------===//
#ifndef KILN_COMPILER_TARGET_RISCV64_LEVELS_H
#define KILN_COMPILER_TARGET_RISCV64_LEVELS_H

#include "dialects/kernel/Kernel.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace kiln {

/// A description for 64-bit RISC-V under Linux, which has rv64gc at least. With `vectorBits`, code uses as many bits of each register of the vector extension
/// and runs where these have as many, or more. `extensions` are names of LLVM's beyond that.
kernel::TargetAttr makeRiscV64Target(mlir::MLIRContext *context, llvm::StringRef name, std::optional<int64_t> vectorBits, int64_t l1 = 32 << 10,
                                     int64_t l2 = 512 << 10, int64_t l3 = 4 << 20, llvm::ArrayRef<llvm::StringRef> extensions = {});

} // namespace kiln

#endif // KILN_COMPILER_TARGET_RISCV64_LEVELS_H
