//===- FuzzImport.cpp - Any bytes as an ONNX model --------------------------===//
#include "test/fuzz/ImportInput.h"
#include "test/fuzz/Target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kiln::importInput(data, size, ".onnx");
  return 0;
}
