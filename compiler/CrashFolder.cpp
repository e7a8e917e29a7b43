//===- CrashFolder.cpp - Where a crash leaves what it knows ------------------===//
#include "compiler/CrashFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

using namespace llvm;

namespace kiln {

/// The template of mkdtemp, and later what it made of it. A handler may not allocate.
static char folder[4096];
static std::atomic<bool> isTaken = false;

static constexpr char digits[] = "XXXXXX";

void prepareCrashFolder() {
  SmallString<128> path;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  sys::path::append(path, StringRef("kiln-") + digits);
  if (path.size() < sizeof(folder))
    std::memcpy(folder, path.c_str(), path.size() + 1);
}

int openCrashFile(const char *name, char *path, size_t pathBytes) {
  size_t length = std::strlen(folder), nameLength = std::strlen(name);
  // One thread's: when two crash, the second has nothing to add.
  if (length == 0 || length + nameLength + 2 > pathBytes || isTaken.exchange(true))
    return -1;
  // Made already by an earlier file, the name has no digits left to choose.
  bool isMade = std::strcmp(folder + length - std::strlen(digits), digits) != 0;
  if (!isMade && !mkdtemp(folder)) {
    isTaken = false;
    return -1;
  }
  std::memcpy(path, folder, length);
  path[length] = '/';
  std::memcpy(path + length + 1, name, nameLength + 1);
  isTaken = false;
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

void dropCrashFile(std::string &path) {
  if (path.empty())
    return;
  unlink(path.c_str());
  if (rmdir(folder) == 0)
    std::memcpy(folder + std::strlen(folder) - std::strlen(digits), digits, std::strlen(digits));
  path.clear();
}

namespace {
class CrashStream : public mlir::ReproducerStream {
public:
  CrashStream(int file, StringRef path) : path(path), out(file, /*shouldClose=*/true) {}
  StringRef description() override { return path; }
  raw_ostream &os() override { return out; }
  ~CrashStream() override {
    out.close();
    // A full disk is told by the reproducer that is cut off.
    out.clear_error();
  }

private:
  std::string path;
  raw_fd_ostream out;
};
} // namespace

void keepReproducer(mlir::PassManager &passes, std::string &path) {
  passes.enableCrashReproducerGeneration([&path](std::string &error) -> std::unique_ptr<mlir::ReproducerStream> {
    char name[sizeof(folder)];
    int file = openCrashFile("reproducer.mlir", name, sizeof(name));
    if (file < 0) {
      error = "cannot make a file for the reproducer";
      return nullptr;
    }
    path = name;
    return std::make_unique<CrashStream>(file, path);
  });
}

} // namespace kiln
