//===- FuzzTensor.cpp - Any bytes as a .npy or .pb file --------------------===//
#include "compiler/run/Npy.h"
#include "compiler/run/OnnxTensor.h"
#include "test/fuzz/Target.h"

using namespace kiln;

/// What was read can be written, and comes back the same.
static void writeBack(const Tensor &tensor) {
  if (getByteSize(tensor.getType()) == 0)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  writeNpy(os, tensor);
  llvm::Expected<Tensor> again = readNpy(text);
  if (!again)
    return expectReason(again.takeError(), "what was written cannot be read");
  expect(again->getSignature() == tensor.getSignature() && tensor.isGuardIntact(), "what was written is read differently");
}

static void readList(llvm::StringRef bytes, bool isSequence, bool isOptional) {
  kiln_sequence_info list = {"x", 0, 0, 0, isSequence, isOptional, 0, {}};
  auto tensors = readOnnxList(bytes, list);
  if (!tensors)
    return expectReason(tensors.takeError());
  if (*tensors)
    for (const Tensor &tensor : **tensors)
      writeBack(tensor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  bool isNpy = bytes.starts_with("\x93NUMPY");
  llvm::Expected<Tensor> tensor = isNpy ? readNpy(bytes) : readOnnxTensor(bytes);
  tensor ? writeBack(*tensor) : expectReason(tensor.takeError());
  if (isNpy)
    return 0;
  readList(bytes, true, false);
  readList(bytes, true, true);
  readList(bytes, false, true);
  return 0;
}
