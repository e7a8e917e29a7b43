//===- SessionPrinter.h - NAME.hpp, for C++ programs -----------------------===//
#ifndef KILN_COMPILER_EMIT_SESSIONPRINTER_H
#define KILN_COMPILER_EMIT_SESSIONPRINTER_H

#include "compiler/emit/Sources.h"

namespace kiln {

/// NAME.hpp: for each model of a library a class that owns a run's memory (builtin/session.h), with a function for each argument and dimension.
SourceFile printSessions(llvm::ArrayRef<Signature> models);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SESSIONPRINTER_H
