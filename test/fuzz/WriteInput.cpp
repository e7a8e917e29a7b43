//===- WriteInput.cpp - A fuzzer's input as a file -------------------------===//
#include "test/fuzz/Target.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace kiln {

static std::string &inputPath() {
  static std::string path;
  return path;
}

static void removeInput() { std::remove(inputPath().c_str()); }

std::string writeInput(const uint8_t *data, size_t size, const char *suffix) {
  std::string &path = inputPath();
  if (path.empty()) {
    path = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + ("/kiln-fuzz-" + std::to_string(getpid())) + suffix;
    std::atexit(removeInput);
  }
  std::FILE *file = std::fopen(path.c_str(), "wb");
  if (!file || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
  return path;
}

} // namespace kiln
