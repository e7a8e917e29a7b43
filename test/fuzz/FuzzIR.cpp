//===- FuzzIR.cpp - Any text as IR, through the stages ---------------------===//
#include "compiler/Compile.h"
#include "test/fuzz/Target.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CompileOptions options;
  options.model = writeInput(data, size, ".mlir");
  options.targets = {"generic"};
  options.stopAfter = "emit";
  options.jobs = 1;
  options.limits.tensorBytes = 16 << 20;
  Compilation result;
  std::vector<std::string> errors;
  // IR that breaks a promise between stages is said to be a bug, which is a proper answer to what no stage wrote.
  if (compileModel(options, result, errors) == CompileStatus::Done || !errors.empty())
    return 0;
  llvm::errs() << "refused without a reason\n";
  std::abort();
}
