//===- FuzzTarget.cpp - Any bytes as a target file -------------------------===//
#include "compiler/target/TargetFile.h"
#include "compiler/target/Targets.h"
#include "test/fuzz/Target.h"

#include "mlir/IR/MLIRContext.h"

using namespace kiln;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const char *suffix : {".json", ".mlir"}) {
    // Each form refuses the other at its first character.
    bool isText = size > 0 && data[0] == '#';
    if (isText != (suffix == llvm::StringRef(".mlir")))
      continue;
    std::string error, path = writeInput(data, size, suffix);
    expect(bool(readTargetFile(&context, path, error)) == error.empty(), "a target and an error, or neither");
  }
  return 0;
}
