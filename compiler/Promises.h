//===- Promises.h - What the user promises about a model -------------------===//
#ifndef KILN_COMPILER_PROMISES_H
#define KILN_COMPILER_PROMISES_H

#include "compiler/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Writes ranges of inputs, bounds of dimensions and the accuracy into the module, where passes and the emitter find them. False, with a line in
/// `errors`, when an input or dimension is not there.
bool recordPromises(const CompileOptions &options, mlir::ModuleOp module, std::vector<std::string> &errors);

/// False, with a line in `errors`, when an option is given that IR from a file can no longer take.
bool checkIROptions(const CompileOptions &options, std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_PROMISES_H
