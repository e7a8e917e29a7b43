//===- ObjectCache.h - Objects of earlier compiles, on disk ----------------===//
#ifndef KILN_COMPILER_EMIT_OBJECTCACHE_H
#define KILN_COMPILER_EMIT_OBJECTCACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace kiln {

/// A folder of objects, each under the hash of everything it was made from. Any number of threads and processes may use a cache at once: an entry
/// appears completely or not at all, and a damaged entry counts as missing.
///
/// Entries become part of programs, so the folder and its files are used only if they belong to the user and nobody else may write to them. They are
/// created like that, whatever the umask. Links, pipes and devices are ignored. A folder that cannot be used is treated as empty.
class ObjectCache {
public:
  /// Without a folder, nothing is cached. `limit` is in bytes.
  ObjectCache(llvm::StringRef folder, uint64_t limit);
  ObjectCache(const ObjectCache &) = delete;
  ~ObjectCache();

  bool isEnabled() const { return directory >= 0; }

  /// Why the folder is not used; empty if it is used, or if there is none.
  const std::string &getFault() const { return fault; }

  /// The key of an object that is made from these texts.
  static std::string makeKey(llvm::ArrayRef<llvm::StringRef> pieces);

  std::optional<llvm::SmallVector<char, 0>> find(llvm::StringRef key) const;
  void insert(llvm::StringRef key, llvm::ArrayRef<char> object) const;

  /// Removes the least recently used entries until the folder is within the limit.
  void evict() const;

private:
  /// The open folder, or -1.
  int directory = -1;
  uint64_t limit;
  std::string fault;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_OBJECTCACHE_H
