//===- SharedCache.h - A cache of several users and machines ---------------===//
#ifndef KILN_COMPILER_EMIT_SHAREDCACHE_H
#define KILN_COMPILER_EMIT_SHAREDCACHE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <mutex>
#include <optional>
#include <string>

namespace kiln {

/// Where a shared cache is, and how it is used: `http://HOST/PATH` or `file:///FOLDER`, behind it `|timeout=MILLISECONDS` and `|read-only`.
struct SharedCacheAddress {
  std::string location;
  unsigned timeoutMs = 3000;
  bool isReadOnly = false;

  bool isFolder() const;
  /// The location without the user's name and password.
  std::string describe() const;
};

/// The error says what was expected.
llvm::Expected<SharedCacheAddress> readSharedCacheAddress(llvm::StringRef text);

/// Texts by their keys, behind a folder or a server that may be gone, slow or wrong. None of that is an error: what goes wrong is noted, and a server that does
/// not answer is not asked again. Whoever reads must check what he gets. Any number of threads may use it.
class SharedCache {
public:
  /// The cache at this address, always the same one in a process; `address` must be a valid one.
  static SharedCache &at(llvm::StringRef address);
  virtual ~SharedCache() = default;

  virtual std::optional<std::string> read(llvm::StringRef key) = 0;
  void write(llvm::StringRef key, llvm::StringRef text);

  llvm::StringRef getLocation() const { return address.location; }

  /// Keeps what went wrong if it is the first that does.
  void noteFault(llvm::StringRef text);

  /// The first that went wrong, for a message, with the location; empty if nothing did, or if it was taken before.
  std::string takeFault();

protected:
  explicit SharedCache(const SharedCacheAddress &address) : address(address) {}
  virtual void writeEntry(llvm::StringRef key, llvm::StringRef text) = 0;

  const SharedCacheAddress address;

private:
  std::mutex mutex;
  std::string fault;
  bool isFaultTaken = false;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SHAREDCACHE_H
