//===- ImportInput.cpp - An input of a fuzzer as a model -------------------===//
#include "test/fuzz/ImportInput.h"
#include "compiler/import/Import.h"
#include "test/fuzz/Target.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

void importInput(const uint8_t *data, size_t size, const char *suffix) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  ImportOptions options;
  options.path = writeInput(data, size, suffix);
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
    return;
  llvm::errs() << (imported ? "imported" : "refused") << " with " << errors.size() << " errors\n";
  for (const std::string &error : errors)
    llvm::errs() << error << "\n";
  std::abort();
}

} // namespace kiln
