//===- CacheFolder.h - The files of a cache, in one folder -----------------===//
#ifndef KILN_COMPILER_EMIT_CACHEFOLDER_H
#define KILN_COMPILER_EMIT_CACHEFOLDER_H

#include "llvm/ADT/StringRef.h"
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace kiln {

/// The largest entry of a cache. Objects of translation units are much smaller, typically some hundred kilobytes.
constexpr uint64_t maxCacheEntryBytes = 64 << 20;

/// Who may have written what is in the folder.
enum class CacheTrust {
  /// The user, and nobody else may. Folder and files are created like that, whatever the umask.
  User,
  /// Anybody to whom the permissions of the folder allow it. Files are created with the permissions that the umask leaves.
  Anybody
};

/// A folder of texts, each in KEY.kiln. Any number of threads, processes and machines may use it at once: a file appears completely or not at all. Nothing is
/// locked, and whoever reads must check what a file has in it. Links, pipes and devices are ignored.
class CacheFolder {
public:
  /// Without a path, there is no folder, and nothing is kept.
  CacheFolder(llvm::StringRef path, CacheTrust trust);
  CacheFolder(const CacheFolder &) = delete;
  ~CacheFolder();

  bool isOpen() const { return directory >= 0; }

  /// Why the folder is not used; empty if it is used, or if there is none.
  const std::string &getFault() const { return fault; }

  std::optional<std::string> read(llvm::StringRef key) const;

  /// Marks the file as the one that was used last.
  void touch(llvm::StringRef key) const;

  /// Whether the text was written. If it was not, errno says why.
  bool write(llvm::StringRef key, llvm::StringRef text) const;

  /// If this has written anything, removes the least recently used files until the folder is within the limit in bytes.
  void evict(uint64_t limit) const;

private:
  /// The open folder, or -1.
  int directory = -1;
  CacheTrust trust;
  std::string fault;
  mutable std::atomic<bool> hasGrown = false;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_CACHEFOLDER_H
