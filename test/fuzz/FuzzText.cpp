//===- FuzzText.cpp - Any bytes as a textual model --------------------------===//
#include "test/fuzz/ImportInput.h"
#include "test/fuzz/Target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kiln::importInput(data, size, ".onnxtxt");
  return 0;
}
