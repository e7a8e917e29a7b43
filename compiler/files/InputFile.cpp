//===- InputFile.cpp - Files that users name -------------------------------===//
#include "compiler/files/InputFile.h"

#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace kiln {

static Error fail(const Twine &reason) { return createStringError(std::errc::invalid_argument, "%s", reason.str().c_str()); }

Expected<int> openRegularFile(StringRef path) {
  if (path.contains('\0'))
    return fail("the path holds a zero byte");
  // Without O_NONBLOCK the open itself would wait for a FIFO's writer.
  int file = open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0)
    return fail(std::strerror(errno));
  struct stat status;
  const char *reason = fstat(file, &status) != 0       ? std::strerror(errno)
                       : S_ISDIR(status.st_mode)       ? "Is a directory"
                       : !S_ISREG(status.st_mode)      ? "is not a regular file"
                                                       : nullptr;
  if (!reason)
    return file;
  close(file);
  return fail(reason);
}

static Expected<std::unique_ptr<MemoryBuffer>> readAll(int file, StringRef path, uint64_t most) {
  struct stat status;
  if (fstat(file, &status) != 0)
    return fail(std::strerror(errno));
  auto tooLarge = [&] { return fail("the file has more than " + Twine(most) + " bytes"); };
  if (uint64_t(status.st_size) > most)
    return tooLarge();
  // Files of /proc have no size, and others may grow while they are read: the end is where nothing comes any more.
  constexpr size_t piece = 1 << 16, mostAtOnce = size_t(1) << 30;
  SmallVector<char, 0> bytes;
  bytes.resize_for_overwrite(size_t(status.st_size) + 1);
  for (size_t size = 0;;) {
    if (size == bytes.size())
      bytes.resize_for_overwrite(2 * size + piece);
    ssize_t count = read(file, bytes.data() + size, std::min(bytes.size() - size, mostAtOnce));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(std::strerror(errno));
    size += size_t(count);
    if (size > most)
      return tooLarge();
    if (count == 0) {
      bytes.truncate(size);
      return std::make_unique<SmallVectorMemoryBuffer>(std::move(bytes), path);
    }
  }
}

Expected<std::unique_ptr<MemoryBuffer>> readInputFile(StringRef path, uint64_t most) {
  Expected<int> file = openRegularFile(path);
  if (!file)
    return file.takeError();
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readAll(*file, path, most);
  close(*file);
  return buffer;
}

Expected<FileHead> readFileHead(StringRef path) {
  Expected<int> file = openRegularFile(path);
  if (!file)
    return file.takeError();
  struct stat status;
  char first[64];
  ssize_t count = fstat(*file, &status) == 0 ? read(*file, first, sizeof(first)) : -1;
  int number = errno;
  close(*file);
  if (count < 0)
    return fail(std::strerror(number));
  return FileHead{uint64_t(status.st_size), std::string(first, size_t(count))};
}

} // namespace kiln
