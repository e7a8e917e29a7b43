//===- ObjectCache.h - Objects of earlier compiles, on disk ----------------===//
#ifndef KILN_COMPILER_EMIT_OBJECTCACHE_H
#define KILN_COMPILER_EMIT_OBJECTCACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace kiln {

/// A folder of objects, each under the hash of all that it was made from. Any number of threads and processes may use one at once: an entry appears
/// whole or not at all, and one that is damaged counts as missing.
///
/// An entry ends up in programs, so the folder and its files are believed only when they belong to the user and nobody else may write to them. They are made
/// so whatever the umask. Links, pipes and devices are no entries. A folder that cannot be used is as good as an empty one.
class ObjectCache {
public:
  /// An empty folder: nothing is kept. `limit` is in bytes.
  ObjectCache(llvm::StringRef folder, uint64_t limit);
  ObjectCache(const ObjectCache &) = delete;
  ~ObjectCache();

  bool isEnabled() const { return directory >= 0; }

  /// Why the folder is not used; empty when it is, or when there is none.
  const std::string &getFault() const { return fault; }

  /// The key of an object that is made from these pieces of text.
  static std::string makeKey(llvm::ArrayRef<llvm::StringRef> pieces);

  std::optional<llvm::SmallVector<char, 0>> find(llvm::StringRef key) const;
  void insert(llvm::StringRef key, llvm::ArrayRef<char> object) const;

  /// Removes what was not used for the longest time, until the folder holds no more than the limit.
  void evict() const;

private:
  /// The open folder, or -1.
  int directory = -1;
  uint64_t limit;
  std::string fault;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_OBJECTCACHE_H
