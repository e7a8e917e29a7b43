//===- ObjectCache.h - Objects of earlier compiles -------------------------===//
#ifndef KILN_COMPILER_EMIT_OBJECTCACHE_H
#define KILN_COMPILER_EMIT_OBJECTCACHE_H

#include "compiler/emit/CacheFolder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace kiln {

class SharedCache;

/// Objects, each under the hash of everything it was made from: in a folder of the user's, and behind it in a cache that users and machines share. Any number
/// of threads and processes may use both at once; a damaged entry counts as missing.
///
/// Entries become part of programs, so the folder and its files are used only if they belong to the user and nobody else may write to them. A folder that
/// cannot be used is treated as empty.
class ObjectCache {
public:
  /// Without a folder, nothing is kept on this machine. `limit` is that of the folder, in bytes. `shared` may be null.
  ObjectCache(llvm::StringRef folder, uint64_t limit, SharedCache *shared = nullptr);

  bool isEnabled() const { return own.isOpen() || shared; }

  /// Why the folder is not used; empty if it is used, or if there is none.
  const std::string &getFault() const { return own.getFault(); }

  /// The key of an object that is made from these texts.
  static std::string makeKey(llvm::ArrayRef<llvm::StringRef> pieces);

  /// An object of the shared cache is kept in the folder, too, where only caches with the same shared one find it.
  std::optional<llvm::SmallVector<char, 0>> find(llvm::StringRef key) const;
  void insert(llvm::StringRef key, llvm::ArrayRef<char> object) const;

  /// If anything was written, removes the least recently used entries until the folder is within the limit.
  void evict() const;

private:
  /// The object with this key, if the folder has it as the entry `name`.
  std::optional<llvm::SmallVector<char, 0>> findOwn(llvm::StringRef name, llvm::StringRef key) const;

  CacheFolder own;
  uint64_t limit;
  SharedCache *shared;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_OBJECTCACHE_H
