//===- FuzzCache.cpp - Any bytes as an entry of the kernel cache -----------===//
//
// As a file that somebody put there, and as an object with a right hash, which whoever can write to the folder can make.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ArchiveWriter.h"
#include "compiler/emit/ObjectCache.h"
#include "test/fuzz/Target.h"

#include <cstdlib>
#include <unistd.h>

using namespace kiln;

static std::string &folder() {
  static std::string path = access("/dev/shm", W_OK) == 0 ? "/dev/shm/kiln-fuzz-XXXXXX" : "/tmp/kiln-fuzz-XXXXXX";
  return path;
}

static std::string entryPath(const char *key) { return folder() + "/" + key + ".kiln"; }

static void removeFolder() {
  for (const char *key : {"raw", "hashed"})
    unlink(entryPath(key).c_str());
  rmdir(folder().c_str());
}

static bool makeFolder() {
  expect(mkdtemp(folder().data()) != nullptr, "cannot make a folder for the cache");
  std::atexit(removeFolder);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool made = makeFolder();
  (void)made;
  ObjectCache cache(folder(), uint64_t(1) << 30);
  writeFile(entryPath("raw"), data, size);
  cache.insert("hashed", llvm::ArrayRef(reinterpret_cast<const char *>(data), size));
  for (const char *key : {"raw", "hashed"})
    if (auto object = cache.find(key)) {
      expect(object->size() <= size, "an object that is larger than its entry");
      // What a compile does with it: the index of the library.
      definedSymbols(llvm::StringRef(object->data(), object->size()));
    }
  return 0;
}
