//===- IRPhases.h - The part of a compile that works on IR -----------------===//
#ifndef KILN_COMPILER_IRPHASES_H
#define KILN_COMPILER_IRPHASES_H

#include "compiler/Compile.h"
#include "mlir/IR/Diagnostics.h"

namespace kiln {

/// Collects the errors of a context as lines: `node 'conv_3' (Conv): message`.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext &context, std::vector<std::string> &errors);
  /// Whether an error is a bug in Kiln and not a refusal of the model (dialects/kernel/Refusal.h).
  bool sawBug() const { return bug; }

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);
  std::vector<std::string> &errors;
  bool bug = false;
  mlir::ScopedDiagnosticHandler handler;
};

/// Reads the model and runs the stages up to `kernel` or the one to stop after. `begin` is called with the name of each.
CompileStatus makeKernels(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors,
                          llvm::function_ref<void(const std::string &)> begin);

} // namespace kiln

#endif // KILN_COMPILER_IRPHASES_H
