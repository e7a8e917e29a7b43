//===- StagedFile.cpp - A file that waits for its name ---------------------===//
#include "tools/kiln/StagedFile.h"
#include "compiler/emit/Temporary.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace kiln {

static std::error_code lastError() { return {errno, std::generic_category()}; }

/// By what a file without a name is given one.
static std::string descriptorPath(int file) { return "/proc/self/fd/" + std::to_string(file); }

/// -1 where there are no such files, or where they could not get a name later.
static int openNameless(const std::string &folder) {
  int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (file >= 0 && access(descriptorPath(file).c_str(), F_OK) != 0) {
    close(file);
    return -1;
  }
  return file;
}

static int openNamed(const std::string &path, std::string &name) {
  int file = openUnique(path + ".", ".part", name);
  if (file >= 0)
    sys::RemoveFileOnSignal(name);
  return file;
}

Expected<StagedFile> StagedFile::create(StringRef given) {
  SmallString<128> path = given;
  bool isLink = sys::fs::is_symlink_file(given);
  if (SmallString<128> target; isLink && !sys::fs::real_path(given, target))
    path = target;
  sys::fs::file_status status;
  bool isThere = !sys::fs::status(path, status);
  if (isThere && sys::fs::is_directory(status))
    return errorCodeToError(std::make_error_code(std::errc::is_a_directory));
  bool isDirect = isThere && !sys::fs::is_regular_file(status);
  std::string folder = sys::path::parent_path(path).str(), name;
  int file = isDirect ? open(path.c_str(), O_WRONLY | O_CLOEXEC) : openNameless(folder.empty() ? "." : folder);
  if (file < 0 && !isDirect)
    file = openNamed(std::string(path), name);
  if (file < 0)
    return errorCodeToError(lastError());
  return StagedFile(file, std::string(path), name, isDirect);
}

StagedFile::StagedFile(StagedFile &&other)
    : file(std::exchange(other.file, -1)), path(std::move(other.path)), name(std::exchange(other.name, "")), isDirect(other.isDirect) {}

StagedFile::~StagedFile() {
  if (file >= 0)
    close(file);
  if (name.empty())
    return;
  sys::fs::remove(name);
  sys::DontRemoveFileOnSignal(name);
}

bool StagedFile::isUnchanged() const {
  struct stat mine, theirs;
  if (isDirect || fstat(file, &mine) != 0)
    return false;
  int other = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (other < 0)
    return false;
  bool isSame = fstat(other, &theirs) == 0 && S_ISREG(theirs.st_mode) && mine.st_size == theirs.st_size;
  std::vector<char> left(1 << 16), right(left.size());
  for (off_t at = 0; isSame && at < mine.st_size;) {
    ssize_t count = pread(file, left.data(), left.size(), at);
    isSame = count > 0 && pread(other, right.data(), count, at) == count && std::equal(left.begin(), left.begin() + count, right.begin());
    at += count;
  }
  close(other);
  return isSame;
}

Error StagedFile::keep() {
  if (isDirect)
    return Error::success();
  // A link replaces no file, but a name does: for a moment it has one of its own.
  std::string source = descriptorPath(file);
  auto link = [&](const char *to) { return linkat(AT_FDCWD, source.c_str(), AT_FDCWD, to, AT_SYMLINK_FOLLOW); };
  if (std::string unique; name.empty()) {
    if (makeUnique(path + ".", ".part", unique, link) < 0)
      return errorCodeToError(lastError());
    name = unique;
  }
  if (rename(name.c_str(), path.c_str()) != 0)
    return errorCodeToError(lastError());
  sys::DontRemoveFileOnSignal(name);
  name.clear();
  return Error::success();
}

} // namespace kiln
