//===- RunPass.h - A single pass outside of the stages ---------------------===//
#ifndef KILN_COMPILER_PIPELINE_RUNPASS_H
#define KILN_COMPILER_PIPELINE_RUNPASS_H

#include "compiler/pipeline/DiagnosticCollector.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

/// Runs a pass that an option of the compile asks for. False, with lines in `errors`, if it fails.
inline bool runPass(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass, std::vector<std::string> &errors) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(std::move(pass));
  DiagnosticCollector diagnostics(*module.getContext(), errors);
  return mlir::succeeded(passes.run(module));
}

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_RUNPASS_H
