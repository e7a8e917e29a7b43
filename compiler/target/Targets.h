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

/// A name for several targets in one library, which runs the best of them.
struct TargetFamily {
  llvm::StringLiteral name;
  /// With commas between them.
  llvm::StringLiteral members;
  llvm::StringLiteral summary;
};
llvm::ArrayRef<TargetFamily> getTargetFamilies();

/// All targets, as `--target` lists them.
llvm::ArrayRef<Target> getTargets();

/// The description of a target; null for an unknown name.
kernel::TargetAttr makeTarget(mlir::MLIRContext *context, llvm::StringRef name);

/// The descriptions of several targets, names, files or families, for one library, in order. Each may end in @SYSTEM (System.h). Empty with `error` set if a
/// name is unknown or repeated, if a file is invalid, or if they are for different architectures or systems.
std::vector<kernel::TargetAttr> makeTargets(mlir::MLIRContext *context, llvm::ArrayRef<std::string> names, std::string &error);

/// Whether the targets can be in one library. Otherwise `error` is set.
bool canShareLibrary(llvm::ArrayRef<kernel::TargetAttr> targets, std::string &error);

/// The descriptions that the table names.
#define KILN_TARGET(describe, ...) kernel::TargetAttr describe(mlir::MLIRContext *context, llvm::StringRef name);
#include "compiler/target/Targets.def"

} // namespace kiln

#endif // KILN_COMPILER_TARGET_TARGETS_H
