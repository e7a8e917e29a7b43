//===- CacheFolder.cpp - The files of a cache, in one folder ---------------===//
//
// A file is written under a name of its own and renamed when it is whole. That holds on network file systems, too, whose locks may not: exclusive creation and
// renaming are single requests to the server. A file's time of modification is the time of its last use.
//
// All files are reached through the open folder, so that nothing changes between the check of the folder and their use.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/CacheFolder.h"
#include "compiler/emit/Temporary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace kiln {

/// What the names of the cache's files end in. Nothing else in the folder is touched.
static constexpr StringLiteral entrySuffix = ".kiln", temporarySuffix = ".kiln-tmp";

/// Permissions of a user's own folder and of its files, and those of a shared folder before the umask.
static constexpr mode_t folderMode = 0700, fileMode = 0600, sharedFolderMode = 0777, sharedFileMode = 0666;

static std::string nameOf(StringRef key) { return (key + entrySuffix).str(); }

/// Why a file or folder is not trusted; empty if only the user can have written to it.
static std::string findIntruder(const struct stat &status) {
  if (status.st_uid != geteuid())
    return "it belongs to another user";
  return status.st_mode & (S_IWGRP | S_IWOTH) ? "other users may write to it" : "";
}

/// Opens the folder, and creates it if necessary. A link to it must belong to the user, too. On failure, returns -1 and sets errno.
static int openFolder(const std::string &path, CacheTrust trust) {
  // If the folder cannot be created, opening it fails below.
  (void)sys::fs::create_directories(sys::path::parent_path(path), /*IgnoreExisting=*/true, sys::fs::owner_all);
  (void)mkdir(path.c_str(), trust == CacheTrust::User ? folderMode : sharedFolderMode);
  struct stat link;
  bool isOwnLink = lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid == geteuid();
  bool mayFollow = isOwnLink || trust == CacheTrust::Anybody;
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (mayFollow ? 0 : O_NOFOLLOW));
}

CacheFolder::CacheFolder(StringRef path, CacheTrust trust) : trust(trust) {
  if (path.empty())
    return;
  directory = openFolder(path.str(), trust);
  struct stat status;
  if (directory < 0 || fstat(directory, &status) != 0)
    fault = std::strerror(errno);
  else if (trust == CacheTrust::User)
    fault = findIntruder(status);
  if (fault.empty() || directory < 0)
    return;
  close(directory);
  directory = -1;
}

CacheFolder::~CacheFolder() {
  if (directory >= 0)
    close(directory);
}

/// Reads a file up to the size that it had when it was opened; nullopt if it cannot be trusted.
static std::optional<std::string> readAll(int file, CacheTrust trust) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || uint64_t(status.st_size) > maxCacheEntryBytes)
    return std::nullopt;
  if (trust == CacheTrust::User && !findIntruder(status).empty())
    return std::nullopt;
  std::string text(status.st_size, '\0');
  for (size_t done = 0; done < text.size();) {
    ssize_t count = ::read(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::nullopt;
    done += count;
  }
  return text;
}

std::optional<std::string> CacheFolder::read(StringRef key) const {
  if (!isOpen())
    return std::nullopt;
  int file = openat(directory, nameOf(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    return std::nullopt;
  std::optional<std::string> text = readAll(file, trust);
  close(file);
  return text;
}

void CacheFolder::touch(StringRef key) const {
  // Another user's file may be out of reach; then it is as old as it was.
  if (isOpen())
    (void)utimensat(directory, nameOf(key).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

bool CacheFolder::write(StringRef key, StringRef text) const {
  if (!isOpen())
    return false;
  std::string temporary, name = nameOf(key);
  mode_t mode = trust == CacheTrust::User ? fileMode : sharedFileMode;
  auto make = [&](const char *unique) { return openat(directory, unique, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, mode); };
  int file = makeUnique(name + "-", temporarySuffix, temporary, make);
  if (file < 0)
    return false;
  // Restores permissions that the umask may have removed.
  if (trust == CacheTrust::User)
    (void)fchmod(file, fileMode);
  raw_fd_ostream out(file, /*shouldClose=*/true);
  out << text;
  // A server that has no room left may say so only here.
  out.close();
  int error = out.error().value();
  out.clear_error();
  if (!error && renameat(directory, temporary.c_str(), directory, name.c_str()) == 0)
    return hasGrown = true;
  if (!error)
    error = errno;
  unlinkat(directory, temporary.c_str(), 0);
  errno = error;
  return false;
}

namespace {
struct Entry {
  std::pair<int64_t, int64_t> used;
  std::string name;
  uint64_t bytes;
};
} // namespace

/// The cache's own files in the folder.
static std::vector<Entry> listEntries(int directory) {
  std::vector<Entry> entries;
  // Uses a new descriptor, because reading a folder moves its position.
  int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = own < 0 ? nullptr : fdopendir(own);
  if (!list) {
    if (own >= 0)
      close(own);
    return entries;
  }
  while (const dirent *next = readdir(list)) {
    StringRef name = next->d_name;
    struct stat status;
    bool isOurs = (name.ends_with(entrySuffix) || name.ends_with(temporarySuffix)) &&
                  fstatat(directory, next->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
    if (isOurs)
      entries.push_back({{status.st_mtim.tv_sec, status.st_mtim.tv_nsec}, name.str(), uint64_t(status.st_size)});
  }
  closedir(list);
  return entries;
}

void CacheFolder::evict(uint64_t limit) const {
  if (!hasGrown)
    return;
  std::vector<Entry> entries = listEntries(directory);
  llvm::sort(entries, [](const Entry &a, const Entry &b) { return std::tie(b.used, b.name) < std::tie(a.used, a.name); });
  uint64_t total = 0;
  // The most recently used first; files beyond the limit are removed. Another process may already have removed one.
  for (const Entry &entry : entries) {
    total = SaturatingAdd(total, entry.bytes);
    if (total > limit)
      unlinkat(directory, entry.name.c_str(), 0);
  }
}

} // namespace kiln
