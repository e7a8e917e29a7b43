//===- Specialize.h - Versions of a model for listed sizes -----------------===//
#ifndef KILN_COMPILER_SPECIALIZE_H
#define KILN_COMPILER_SPECIALIZE_H

#include "compiler/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln {

/// A size for each symbol of a module; -1 stands for any size.
using SpecialSizes = std::vector<int64_t>;

/// The versions that `--specialize` asks for: all combinations of the listed sizes. False, with a line in `errors`, on failure.
bool listVersions(const CompileOptions &options, mlir::ModuleOp module, std::vector<SpecialSizes> &versions, std::vector<std::string> &errors);

/// A copy of the module with these sizes in place of the symbols. Its entry has the same arguments and refuses other sizes. Null, with a line in
/// `errors`, if the model cannot run with these sizes.
mlir::OwningOpRef<mlir::ModuleOp> makeVersion(mlir::ModuleOp module, const SpecialSizes &sizes, std::vector<std::string> &errors);

/// The sizes of a special version; empty for the general module.
SpecialSizes getSpecialSizes(mlir::ModuleOp module);

/// seq=128 batch=1.
std::string describeSizes(mlir::ModuleOp module, const SpecialSizes &sizes);

} // namespace kiln

#endif // KILN_COMPILER_SPECIALIZE_H
