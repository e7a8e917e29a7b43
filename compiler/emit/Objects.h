//===- Objects.h - The translation units of a model as objects -------------===//
#ifndef KILN_COMPILER_EMIT_OBJECTS_H
#define KILN_COMPILER_EMIT_OBJECTS_H

#include "compiler/emit/Sources.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace kiln {

struct ObjectFile {
  /// `small_run.o`.
  std::string name;
  llvm::SmallVector<char, 0> bytes;
  /// Comes from the cache.
  bool cached = false;
};

struct ObjectOptions {
  /// The compiler to run; empty: Clang's libraries in this process.
  std::string cxx;
  /// 0: one for each CPU.
  unsigned threads = 0;
  /// Where objects are kept for later compiles; empty: nowhere.
  std::string cacheFolder;
  /// Bytes that the cache may hold.
  uint64_t cacheLimit = 0;
  /// Told why a cache that is wanted is not used; may be empty.
  std::function<void(const std::string &fault)> cacheUnusable;
};

/// Compiles all units, each for its target, several at a time, or takes them from the cache. The order is that of the sources.
llvm::Expected<std::vector<ObjectFile>> compileObjects(const ModelSources &sources, const ObjectOptions &options);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_OBJECTS_H
