//===- ObjectCache.cpp - Objects of earlier compiles, on disk --------------===//
//
// KEY.kiln is a line with the hash of the object, then the object. A file is written under a name of its own and renamed when it is whole. Its time
// of modification is the time of its last use.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ObjectCache.h"
#include "compiler/emit/Temporary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

/// What the names of the cache's files end in. Nothing else in the folder is touched.
static constexpr StringLiteral entrySuffix = ".kiln", temporarySuffix = ".kiln-tmp";

static std::string hashOf(ArrayRef<StringRef> pieces) {
  SHA256 hash;
  for (StringRef piece : pieces) {
    // The lengths keep two pieces from being taken for two others with the same characters.
    hash.update(std::to_string(piece.size()) + ":");
    hash.update(piece);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

std::string ObjectCache::makeKey(ArrayRef<StringRef> pieces) { return hashOf(pieces); }

std::string ObjectCache::pathOf(StringRef key) const {
  SmallString<128> path(folder);
  sys::path::append(path, key + entrySuffix);
  return std::string(path);
}

/// Makes a file the one that was used last.
static void touch(StringRef path) {
  int file;
  if (sys::fs::openFileForReadWrite(path, file, sys::fs::CD_OpenExisting, sys::fs::OF_None))
    return;
  sys::fs::setLastAccessAndModificationTime(file, std::chrono::system_clock::now());
  sys::Process::SafelyCloseFileDescriptor(file);
}

std::optional<SmallVector<char, 0>> ObjectCache::find(StringRef key) const {
  if (!isEnabled())
    return std::nullopt;
  std::string path = pathOf(key);
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  auto [hash, object] = (*file)->getBuffer().split('\n');
  if (object.empty() || hash != hashOf(object))
    return std::nullopt;
  touch(path);
  return SmallVector<char, 0>(object.begin(), object.end());
}

void ObjectCache::insert(StringRef key, ArrayRef<char> object) const {
  if (!isEnabled() || sys::fs::create_directories(folder))
    return;
  std::string path = pathOf(key);
  std::string temporary;
  int file = openUnique(path + "-", temporarySuffix, temporary);
  if (file < 0)
    return;
  StringRef bytes(object.data(), object.size());
  raw_fd_ostream out(file, /*shouldClose=*/true);
  out << hashOf(bytes) << '\n' << bytes;
  out.close();
  bool failed = out.has_error();
  out.clear_error();
  if (failed || sys::fs::rename(temporary, path))
    sys::fs::remove(temporary);
}

void ObjectCache::evict() const {
  struct Entry {
    sys::TimePoint<> used;
    std::string path;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (sys::fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    StringRef path = it->path();
    sys::fs::file_status status;
    if (!(path.ends_with(entrySuffix) || path.ends_with(temporarySuffix)) || sys::fs::status(path, status))
      continue;
    entries.push_back({status.getLastModificationTime(), path.str(), status.getSize()});
    total += status.getSize();
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) { return std::tie(a.used, a.path) < std::tie(b.used, b.path); });
  for (const Entry &entry : entries) {
    if (total <= limit)
      return;
    // Another process may have been faster.
    sys::fs::remove(entry.path);
    total -= entry.bytes;
  }
}

} // namespace kiln
