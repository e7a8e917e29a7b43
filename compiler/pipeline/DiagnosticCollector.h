//===- DiagnosticCollector.h - The errors of a compile as lines ------------===//
#ifndef KILN_COMPILER_PIPELINE_DIAGNOSTICCOLLECTOR_H
#define KILN_COMPILER_PIPELINE_DIAGNOSTICCOLLECTOR_H

#include "mlir/IR/Diagnostics.h"
#include <string>
#include <vector>

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

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_DIAGNOSTICCOLLECTOR_H
