//===- Versions.h - The modules of a library: targets and sizes ------------===//
#ifndef KILN_COMPILER_PIPELINE_VERSIONS_H
#define KILN_COMPILER_PIPELINE_VERSIONS_H

#include "compiler/Compile.h"
#include "dialects/kernel/Kernel.h"

namespace kiln {

/// A size for each symbol of a module; -1 stands for any size.
using SpecialSizes = std::vector<int64_t>;

/// The versions that `--specialize` asks for: all combinations of the listed sizes. False, with a line in `errors`, on failure.
bool listVersions(const CompileOptions &options, mlir::ModuleOp module, std::vector<SpecialSizes> &versions, std::vector<std::string> &errors);

/// A copy of the module with these sizes in place of the symbols. Its entry has the same arguments and refuses other sizes. Null, with a line in `errors`,
/// if the model cannot run with these sizes.
mlir::OwningOpRef<mlir::ModuleOp> makeVersion(mlir::ModuleOp module, const SpecialSizes &sizes, std::vector<std::string> &errors);

/// Adds the libraries of the command line to those that the targets list. False, with lines in `errors`, if an option is malformed.
bool addLibraries(const CompileOptions &options, std::vector<kernel::TargetAttr> &targets, std::vector<std::string> &errors);

/// Adds a level without tiles to a single target that has them, where the options ask for it and the IR has no target yet.
void addLevelWithoutTiles(const CompileOptions &options, mlir::ModuleOp module, std::vector<kernel::TargetAttr> &targets);

/// Notes which targets have kernels that multiply by tiles, after the target stage.
void noteTiles(Compilation &result);

/// Takes tiles from the target, and the level without them from all models, where no kernel of a model uses tiles.
void dropUnusedLevel(const CompileOptions &options, Compilation &result);

/// Gives the model and its versions the first target. IR that has a target keeps it, because tests write their own.
bool setTarget(const CompileOptions &options, llvm::ArrayRef<kernel::TargetAttr> targets, Compilation &result, std::vector<std::string> &errors);

/// Makes one module for each target and version from those of the first target. Weights belong to the context and are not copied.
void splitByTarget(llvm::ArrayRef<kernel::TargetAttr> targets, Compilation &result);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_VERSIONS_H
