//===- CrashFolder.cpp - Where a crash leaves what it knows ------------------===//
#include "compiler/CrashFolder.h"
#include "dialects/nn/ConstantPart.h"

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

/// The template for mkdtemp, which replaces it by the folder's name. It is static because a signal handler may not allocate.
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
  // If two threads crash, only the first one writes.
  if (length == 0 || length + nameLength + 2 > pathBytes || isTaken.exchange(true))
    return -1;
  // After the folder has been made for an earlier file, its name no longer ends in the template's X.
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
    // If the disk is full, the reproducer is cut off, which shows it.
    out.clear_error();
  }

private:
  std::string path;
  raw_fd_ostream out;
};
} // namespace

static void (*passWatch)() = nullptr;

void watchPasses(void (*watch)()) { passWatch = watch; }

namespace {
struct PassWatch : mlir::PassInstrumentation {
  void runBeforePass(mlir::Pass *, mlir::Operation *) override { passWatch(); }
};
} // namespace

void keepReproducer(mlir::PassManager &passes, std::string &path) {
  if (passWatch)
    passes.addInstrumentation(std::make_unique<PassWatch>());
  passes.enableCrashReproducerGeneration([&path](std::string &error) -> std::unique_ptr<mlir::ReproducerStream> {
    char name[sizeof(folder)];
    int file = openCrashFile("reproducer.mlir", name, sizeof(name));
    if (file < 0) {
      error = "cannot make a file for the reproducer";
      return nullptr;
    }
    path = name;
    nn::holdAllParts();
    return std::make_unique<CrashStream>(file, path);
  });
}

} // namespace kiln
