//===- Objects.h - The translation units of a model as objects -------------===//
#ifndef KILN_COMPILER_EMIT_OBJECTS_H
#define KILN_COMPILER_EMIT_OBJECTS_H

#include "compiler/emit/CacheOptions.h"
#include "compiler/emit/Sources.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace kiln {

struct ObjectFile {
  /// `small_run.o`.
  std::string name;
  llvm::SmallVector<char, 0> bytes;
  /// Whether it comes from the cache.
  bool cached = false;
};

struct ObjectOptions {
  /// The compiler to run; empty: Clang's libraries, in this process.
  std::string cxx;
  /// Number of threads; 0: one per CPU.
  unsigned threads = 0;
  CacheOptions cache;
  /// Called with the reason if the cache cannot be used; may be empty.
  std::function<void(const std::string &fault)> cacheUnusable;
};

/// Compiles all units, each for its target, several at a time, or takes them from the cache. The order is that of the sources.
llvm::Expected<std::vector<ObjectFile>> compileObjects(const ModelSources &sources, const ObjectOptions &options);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_OBJECTS_H
