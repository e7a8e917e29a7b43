//===- HeaderCache.h - Kernel headers that were parsed before --------------===//
#ifndef KILN_COMPILER_EMIT_HEADERCACHE_H
#define KILN_COMPILER_EMIT_HEADERCACHE_H

#include "compiler/emit/CacheFolder.h"
#include "compiler/emit/ClangCompiler.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <mutex>

namespace kiln {

/// Precompiled kernel headers, in a folder of the user's. There are few, because units of all models begin with the same ones. Any number of threads and
/// processes may use the folder at once.
class HeaderCache {
public:
  /// Without a folder, nothing is precompiled. `limit` is that of the folder, in bytes.
  HeaderCache(llvm::StringRef folder, uint64_t limit) : folder(folder, CacheTrust::User), limit(limit) {}

  bool isEnabled() const { return folder.isOpen(); }

  /// Why the folder is not used; empty if it is used, or if there is none.
  const std::string &getFault() const { return folder.getFault(); }

  /// compileInProcess with the headers with which the unit begins, which are parsed now if they are not there. `identity` stands for the compiler and the
  /// embedded files.
  llvm::Expected<llvm::SmallVector<char, 0>> compile(const SourceFile &unit, llvm::ArrayRef<SourceFile> headers, kernel::TargetAttr target,
                                                     llvm::StringRef identity) const;

  /// The key of the headers that these lines include.
  static std::string makeKey(llvm::StringRef includes, kernel::TargetAttr target, llvm::StringRef identity);

  /// Null if they are not there, or damaged.
  std::shared_ptr<const PrecompiledHeaders> find(llvm::StringRef key, llvm::StringRef includes) const;
  void insert(llvm::StringRef key, const PrecompiledHeaders &headers) const;

  /// If anything was written, removes the least recently used entries until the folder is within the limit.
  void evict() const { folder.evict(limit); }

private:
  struct Entry {
    std::once_flag once;
    /// Null if they cannot be parsed.
    std::shared_ptr<const PrecompiledHeaders> headers;
  };

  /// Null if there are none.
  std::shared_ptr<const PrecompiledHeaders> get(llvm::StringRef includes, kernel::TargetAttr target, llvm::StringRef identity) const;

  CacheFolder folder;
  uint64_t limit;
  mutable std::mutex mutex;
  mutable llvm::StringMap<std::shared_ptr<Entry>> entries;
};

/// The `#include` lines of kernel headers with which a unit begins, with those of the model's headers in their places.
std::string listKernelHeaders(const SourceFile &unit, llvm::ArrayRef<SourceFile> headers);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_HEADERCACHE_H
