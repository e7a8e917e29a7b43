//===- Guarantees.h - What a library's objects are checked for ----------------===//
#ifndef KILN_COMPILER_EMIT_GUARANTEES_H
#define KILN_COMPILER_EMIT_GUARANTEES_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// What `--guarantee` asks of the objects of a library. docs/Guarantees.md says what each of them means.
struct Guarantees {
  bool noMalloc = false, noLibm = false, reentrant = false, deterministic = false;
  /// Bytes of stack of a run, and of machine code.
  std::optional<int64_t> mostStack, mostCode;
  /// The only symbols that the library may share with a program, besides those that begin with its name; a * at the end stands for any text.
  std::optional<std::vector<std::string>> symbols;
  /// All of them as they are written, "max-stack=65536", in one order.
  std::vector<std::string> list() const;
  bool any() const { return !list().empty(); }
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_GUARANTEES_H
