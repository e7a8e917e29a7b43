//===- Temporary.cpp - Files and folders for a while -----------------------===//
#include "compiler/emit/Temporary.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

using namespace llvm;

namespace kiln {

int makeUnique(StringRef stem, StringRef suffix, std::string &name, function_ref<int(const char *)> make) {
  constexpr int attempts = 64;
  int result = -1;
  for (int i = 0; i < attempts; ++i) {
    name.clear();
    raw_string_ostream(name) << stem << format_hex_no_prefix(sys::Process::GetRandomNumber(), 8) << suffix;
    result = make(name.c_str());
    if (result >= 0 || errno != EEXIST)
      break;
  }
  return result;
}

int openUnique(StringRef stem, StringRef suffix, std::string &name) {
  return makeUnique(stem, suffix, name, [](const char *path) { return open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666); });
}

/// TMPDIR or what stands for it, and the template of a name in it.
static std::pair<std::string, std::string> makeTemplate() {
  SmallString<128> folder;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  SmallString<128> path = folder;
  sys::path::append(path, "kiln-XXXXXX");
  return {std::string(folder), std::string(path)};
}

static Error fail(StringRef what, StringRef folder, StringRef purpose) {
  std::error_code error(errno, std::generic_category());
  return createStringError(error, "cannot make a temporary " + what + " in '" + folder + "' " + purpose + ": " + error.message());
}

Expected<std::string> makeTemporaryFolder(StringRef purpose) {
  auto [folder, path] = makeTemplate();
  if (!mkdtemp(path.data()))
    return fail("folder", folder, purpose);
  return path;
}

Expected<int> openNamelessFile(StringRef purpose) {
  auto [folder, path] = makeTemplate();
  int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0)
    return fail("file", folder, purpose);
  unlink(path.c_str());
  return file;
}

} // namespace kiln
