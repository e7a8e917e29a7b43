//===- Targets.h - The targets that Kiln knows by name ---------------------===//
#ifndef KILN_COMPILER_TARGET_TARGETS_H
#define KILN_COMPILER_TARGET_TARGETS_H

#include "dialects/kernel/Kernel.h"

namespace kiln {

/// A named target. Passes only see the attribute on the module, and do not link this library.
struct Target {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  kernel::TargetAttr (*describe)(mlir::MLIRContext *context, llvm::StringRef name);
};

/// All targets, as `--target` lists them.
llvm::ArrayRef<Target> getTargets();

/// The description of a target; null for an unknown name.
kernel::TargetAttr makeTarget(mlir::MLIRContext *context, llvm::StringRef name);

/// Whether a value of `--target` is a .json or .mlir file and not a name.
bool isTargetFile(llvm::StringRef name);

/// The target that a file describes. Null with `error` set if the file cannot be read or is invalid.
kernel::TargetAttr readTargetFile(mlir::MLIRContext *context, llvm::StringRef path, std::string &error);

/// The descriptions of several targets, names or files, for one library, in order. Empty with `error` set if a name is unknown or repeated, if a file
/// is invalid, or if they are for CPUs of different architectures.
std::vector<kernel::TargetAttr> makeTargets(mlir::MLIRContext *context, llvm::ArrayRef<std::string> names, std::string &error);

/// Whether the targets can be in one library. Otherwise `error` is set.
bool canShareLibrary(llvm::ArrayRef<kernel::TargetAttr> targets, std::string &error);

/// The features of kiln/cpu.h's table that LLVM lists for an x86 CPU or level ("sapphirerapids", "x86-64-v3"); the names are LLVM's and GCC's.
std::vector<llvm::StringRef> x86Features(llvm::StringRef cpu);

/// A description for 64-bit x86 under Linux. The vector unit follows from the features.
kernel::TargetAttr makeX86Target(mlir::MLIRContext *context, llvm::StringRef name, llvm::StringRef cpu, llvm::ArrayRef<llvm::StringRef> features,
                                 int64_t l1 = 32 << 10, int64_t l2 = 1 << 20, int64_t l3 = 32 << 20);

#define KILN_TARGET(describe, ...) kernel::TargetAttr describe(mlir::MLIRContext *context, llvm::StringRef name);
#include "compiler/target/Targets.def"
#undef KILN_TARGET

} // namespace kiln

#endif // KILN_COMPILER_TARGET_TARGETS_H
