//===- Temporary.cpp - Files and folders for a while -----------------------===//
#include "compiler/emit/Temporary.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <stdlib.h>
#include <sys/syscall.h>
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

/// The folder for temporary files (TMPDIR or its default), with the template of a name in it.
static std::pair<std::string, std::string> makeTemplate() {
  SmallString<128> folder;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  SmallString<128> path = folder;
  sys::path::append(path, "kiln-XXXXXX");
  return {std::string(folder), std::string(path)};
}

//===- Folders that go with the program --------------------------------------===//

/// The folders that exist now, which are few in any program. A signal handler reads them.
static std::atomic<const char *> folders[64];

/// Linux's record of a folder's entry.
namespace {
struct DirectoryEntry {
  uint64_t inode;
  int64_t next;
  unsigned short bytes;
  unsigned char type;
  char name[1];
};
} // namespace

/// Removes the contents of a folder with system calls only, because readdir() allocates and a signal may have interrupted an allocation.
static void emptyFolder(int folder, int depth) {
  alignas(DirectoryEntry) char buffer[4096];
  for (long bytes; (bytes = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0;)
    for (long at = 0; at < bytes; at += reinterpret_cast<DirectoryEntry *>(buffer + at)->bytes) {
      const char *name = reinterpret_cast<DirectoryEntry *>(buffer + at)->name;
      bool isDots = name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
      if (isDots || unlinkat(folder, name, 0) == 0 || depth == 0)
        continue;
      int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (inner < 0)
        continue;
      emptyFolder(inner, depth - 1);
      close(inner);
      unlinkat(folder, name, AT_REMOVEDIR);
    }
}

static void removeFolder(const char *path) {
  constexpr int attempts = 50, deepest = 8;
  // A compiler that still runs may have written a file in between.
  for (int i = 0; i < attempts; ++i) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
      return;
    emptyFolder(folder, deepest);
    close(folder);
    if (rmdir(path) == 0 || errno != ENOTEMPTY)
      return;
    timespec pause = {0, 10000000};
    nanosleep(&pause, nullptr);
  }
}

void removeTemporaryFolders() {
  for (std::atomic<const char *> &slot : folders)
    if (const char *path = slot.exchange(nullptr))
      removeFolder(path);
}

static constexpr int endingSignals[] = {SIGHUP, SIGINT, SIGTERM};
static struct sigaction earlierActions[std::size(endingSignals)];

/// Cleans up, then calls the previous handler of the signal.
static void onEndingSignal(int signal) {
  int number = errno;
  removeTemporaryFolders();
  for (size_t i = 0; i < std::size(endingSignals); ++i)
    if (endingSignals[i] == signal)
      sigaction(signal, &earlierActions[i], nullptr);
  errno = number;
  raise(signal);
}

static void watchForSignals() {
  for (size_t i = 0; i < std::size(endingSignals); ++i) {
    struct sigaction action = {};
    action.sa_handler = onEndingSignal;
    sigemptyset(&action.sa_mask);
    // An ignored signal, as in a shell's background job, stays ignored.
    if (sigaction(endingSignals[i], nullptr, &earlierActions[i]) == 0 && earlierActions[i].sa_handler != SIG_IGN)
      sigaction(endingSignals[i], &action, nullptr);
  }
}

static void rememberFolder(const std::string &path) {
  static std::once_flag once;
  std::call_once(once, watchForSignals);
  const char *copy = strdup(path.c_str());
  for (std::atomic<const char *> &slot : folders) {
    const char *none = nullptr;
    if (slot.compare_exchange_strong(none, copy))
      return;
  }
  free(const_cast<char *>(copy));
}

void removeTemporaryFolder(const std::string &folder) {
  removeFolder(folder.c_str());
  for (std::atomic<const char *> &slot : folders) {
    const char *path = slot.load();
    if (path && folder == path && slot.compare_exchange_strong(path, nullptr))
      free(const_cast<char *>(path));
  }
}

//===- Making them -----------------------------------------------------------===//

static Error fail(StringRef what, StringRef folder, StringRef purpose) {
  std::error_code error(errno, std::generic_category());
  return createStringError(error, "cannot make a temporary " + what + " in '" + folder + "' " + purpose + ": " + error.message());
}

Expected<std::string> makeTemporaryFolder(StringRef purpose) {
  auto [folder, path] = makeTemplate();
  if (!mkdtemp(path.data()))
    return fail("folder", folder, purpose);
  rememberFolder(path);
  return path;
}

} // namespace kiln
