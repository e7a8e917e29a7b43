//===- CacheOptions.h - Where the kernel cache is --------------------------===//
#ifndef KILN_COMPILER_EMIT_CACHEOPTIONS_H
#define KILN_COMPILER_EMIT_CACHEOPTIONS_H

#include <cstdint>
#include <string>

namespace kiln {

/// The kernel cache.
struct CacheOptions {
  /// The folder on this machine; empty: there is none.
  std::string folder;
  /// The limit of the folder in bytes.
  uint64_t limit = 0;
  /// Whether objects of models are kept; otherwise, only what all models share is: parsed kernel headers (HeaderCache.h) and programs around models.
  bool keepsObjects = true;
  /// The address of a cache that is shared (SharedCache.h); empty: there is none.
  std::string shared;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_CACHEOPTIONS_H
