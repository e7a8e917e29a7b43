//===- ObjectCache.cpp - Objects of earlier compiles, on disk --------------===//
//
// KEY.kiln is a line with the hash of the key and the object, then the object: neither a changed object is believed nor one under another's key. A file is
// written under a name of its own and renamed when it is whole. Its time of modification is the time of its last use.
//
// All files are reached through the open folder, so that nothing changes between the check of the folder and their use.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ObjectCache.h"
#include "compiler/emit/ElfCheck.h"
#include "compiler/emit/Temporary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
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

/// Objects of translation units are much smaller, typically some hundred kilobytes.
static constexpr uint64_t maxEntryBytes = 64 << 20;

/// Permissions of the folder and of its files.
static constexpr mode_t folderMode = 0700, fileMode = 0600;

static std::string hashOf(ArrayRef<StringRef> pieces) {
  SHA256 hash;
  for (StringRef piece : pieces) {
    // Lengths are hashed, too, so that pieces that are divided differently have different keys.
    hash.update(std::to_string(piece.size()) + ":");
    hash.update(piece);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

std::string ObjectCache::makeKey(ArrayRef<StringRef> pieces) { return hashOf(pieces); }

/// Why a file or folder is not trusted; empty if only the user can have written to it.
static std::string findIntruder(const struct stat &status) {
  if (status.st_uid != geteuid())
    return "it belongs to another user";
  return status.st_mode & (S_IWGRP | S_IWOTH) ? "other users may write to it" : "";
}

/// Opens the folder, and creates it if necessary. A link to it must belong to the user, too. On failure, returns -1 and sets errno.
static int openFolder(const std::string &path) {
  // If the folder cannot be created, opening it fails below.
  (void)sys::fs::create_directories(sys::path::parent_path(path), /*IgnoreExisting=*/true, sys::fs::owner_all);
  (void)mkdir(path.c_str(), folderMode);
  struct stat link;
  bool isOwnLink = lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid == geteuid();
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isOwnLink ? 0 : O_NOFOLLOW));
}

ObjectCache::ObjectCache(StringRef folder, uint64_t limit) : limit(limit) {
  if (folder.empty())
    return;
  directory = openFolder(folder.str());
  struct stat status;
  if (directory < 0 || fstat(directory, &status) != 0)
    fault = std::strerror(errno);
  else
    fault = findIntruder(status);
  if (fault.empty() || directory < 0)
    return;
  close(directory);
  directory = -1;
}

ObjectCache::~ObjectCache() {
  if (directory >= 0)
    close(directory);
}

/// Reads an entry up to the size that it had when it was opened; nullopt if it cannot be trusted.
static std::optional<std::string> readEntry(int file) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !findIntruder(status).empty() || uint64_t(status.st_size) > maxEntryBytes)
    return std::nullopt;
  std::string text(status.st_size, '\0');
  for (size_t done = 0; done < text.size();) {
    ssize_t count = read(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::nullopt;
    done += count;
  }
  return text;
}

std::optional<SmallVector<char, 0>> ObjectCache::find(StringRef key) const {
  if (!isEnabled())
    return std::nullopt;
  int file = openat(directory, (key + entrySuffix).str().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    return std::nullopt;
  std::string text = readEntry(file).value_or("");
  auto [hash, object] = StringRef(text).split('\n');
  bool isWhole = !object.empty() && hash == hashOf({key, object}) && (!isElf(object) || isSoundElf(object));
  // Marks the file as the one that was used last.
  if (isWhole)
    (void)futimens(file, nullptr);
  close(file);
  if (!isWhole)
    return std::nullopt;
  return SmallVector<char, 0>(object.begin(), object.end());
}

void ObjectCache::insert(StringRef key, ArrayRef<char> object) const {
  if (!isEnabled() || object.size() > maxEntryBytes - 1024)
    return;
  std::string temporary;
  auto make = [&](const char *name) { return openat(directory, name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, fileMode); };
  int file = makeUnique((key + entrySuffix + "-").str(), temporarySuffix, temporary, make);
  if (file < 0)
    return;
  // Restores permissions that the umask may have removed.
  (void)fchmod(file, fileMode);
  StringRef bytes(object.data(), object.size());
  raw_fd_ostream out(file, /*shouldClose=*/true);
  out << hashOf({key, bytes}) << '\n' << bytes;
  out.close();
  bool failed = out.has_error();
  out.clear_error();
  if (failed || renameat(directory, temporary.c_str(), directory, (key + entrySuffix).str().c_str()) != 0)
    unlinkat(directory, temporary.c_str(), 0);
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

void ObjectCache::evict() const {
  if (!isEnabled())
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
