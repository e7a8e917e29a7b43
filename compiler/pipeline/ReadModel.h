//===- ReadModel.h - The module that the stages begin with -----------------===//
#ifndef KILN_COMPILER_PIPELINE_READMODEL_H
#define KILN_COMPILER_PIPELINE_READMODEL_H

#include "compiler/Compile.h"
#include "compiler/import/Import.h"

namespace kiln {

/// Reads the model, an ONNX file or IR, into the first of `result.targets`, or takes the graph that the options have. Its version for equal sizes, if there
/// is one, follows. Both have what the options promise and ask for. False, with a line in `errors`, on failure.
bool readModel(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors);

/// The options of an import that those of a compile give.
ImportOptions makeImportOptions(const CompileOptions &options);

/// How many of the stages the model has passed: 0 for an ONNX file, 1 for a graph of another compile, and as many as its contents show for IR.
unsigned countStagesDone(const CompileOptions &options, mlir::ModuleOp module);

/// IR that enters after the kernel stage goes straight to the printers, so it must keep that stage's promise.
bool checkKernels(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors);

/// If C++ will be printed, every constant of IR must have its data.
bool checkConstants(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_READMODEL_H
