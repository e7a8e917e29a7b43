//===- Promises.h - The user's promises about a model -------------------===//
#ifndef KILN_COMPILER_PROMISES_H
#define KILN_COMPILER_PROMISES_H

#include "compiler/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Writes ranges of inputs, bounds of dimensions and the accuracy into the module, for the passes and the emitter. False, with a line in `errors`,
/// if an input or dimension does not exist.
bool recordPromises(const CompileOptions &options, mlir::ModuleOp module, std::vector<std::string> &errors);

/// False, with a line in `errors`, if an option is given that cannot be applied to IR from a file.
bool checkIROptions(const CompileOptions &options, std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_PROMISES_H
