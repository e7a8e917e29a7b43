//===- FuzzImport.cpp - Any bytes as an ONNX model -------------------------===//
#include "compiler/import/Import.h"
#include "test/fuzz/Target.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  ImportOptions options;
  options.path = writeInput(data, size, ".onnx");
  // Small limits keep each input fast.
  options.limits.nodes = 2000;
  options.limits.tensorBytes = 16 << 20;
  std::vector<std::string> errors;
  bool imported = succeeded(importModel(context, options, errors));
  // The contract of importModel: a model or a reason, one printable line each.
  bool broken = imported == !errors.empty();
  for (const std::string &error : errors)
    broken |= error.empty() || error.size() > 4096 || error.find('\n') != std::string::npos;
  if (!broken)
    return 0;
  llvm::errs() << (imported ? "imported" : "refused") << " with " << errors.size() << " errors\n";
  for (const std::string &error : errors)
    llvm::errs() << error << "\n";
  std::abort();
}
