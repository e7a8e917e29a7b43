//===- ForeignSymbols.h - What is known of functions outside of a library -----===//
#ifndef KILN_COMPILER_EMIT_FOREIGNSYMBOLS_H
#define KILN_COMPILER_EMIT_FOREIGNSYMBOLS_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

enum class ForeignKind {
  /// No function: what a linker defines.
  Linker,
  /// Moves or compares bytes, or stands for an instruction that the CPU lacks.
  Support,
  Allocation,
  Math,
  /// Its result may differ from run to run: clocks, random numbers, the environment, the thread.
  Varying,
  Unknown
};

/// By its name in C.
ForeignKind classifyForeign(llvm::StringRef name);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_FOREIGNSYMBOLS_H
