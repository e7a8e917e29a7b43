//===- WriteInput.cpp - What the fuzz targets share ------------------------===//
#include "test/fuzz/Target.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>

namespace kiln {

/// One for each kind of file.
static std::map<std::string, std::string> &inputPaths() {
  static std::map<std::string, std::string> paths;
  return paths;
}

static void removeInputs() {
  for (const auto &[suffix, path] : inputPaths())
    std::remove(path.c_str());
}

std::string writeInput(const uint8_t *data, size_t size, const char *suffix) {
  bool isFirst = inputPaths().empty();
  std::string &path = inputPaths()[suffix];
  if (path.empty())
    path = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + ("/kiln-fuzz-" + std::to_string(getpid())) + suffix;
  if (isFirst)
    std::atexit(removeInputs);
  writeFile(path, data, size);
  return path;
}

void writeFile(const std::string &path, const uint8_t *data, size_t size) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  if (!file || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
}

void expect(bool holds, const char *otherwise) {
  if (holds)
    return;
  std::fprintf(stderr, "%s\n", otherwise);
  std::abort();
}

void expectReason(llvm::Error error, const char *otherwise) {
  std::string reason = llvm::toString(std::move(error));
  if (otherwise)
    std::fprintf(stderr, "%s\n", reason.c_str());
  expect(!otherwise, otherwise);
  expect(!reason.empty(), "refused without a reason");
  expect(reason.size() < 8192, "a reason that is too long");
}

} // namespace kiln
