//===- FuzzArchive.cpp - Any bytes as a library, for kiln inspect ----------===//
#include "test/fuzz/Target.h"
#include "tools/kiln/LibraryFile.h"

using namespace kiln;

static void inspect(llvm::StringRef bytes) {
  llvm::Expected<Description> library = readLibrary(llvm::MemoryBufferRef(bytes, "library"));
  if (library)
    expect(toJson(*library).size() > 0, "a library without a description");
  else
    expectReason(library.takeError());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  inspect(bytes);
  // A library that has a record is not asked for its table: once more without.
  size_t at = bytes.find(recordSection.str() + '\0');
  if (at == std::string::npos)
    return 0;
  bytes[at + 1] = '_';
  inspect(bytes);
  return 0;
}
