//===- CompileFlags.h - The options of a compile on the command line -------===//
#ifndef KILN_TOOLS_KILN_COMPILEFLAGS_H
#define KILN_TOOLS_KILN_COMPILEFLAGS_H

#include "compiler/CompileOptions.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// The options as given. Fails when a value is malformed: wrong usage.
llvm::Expected<CompileOptions> getCompileOptions();

/// Splits NAME=VALUE and parses an integer.
llvm::Expected<std::pair<std::string, int64_t>> parseDimension(llvm::StringRef option, llvm::StringRef text);

} // namespace kiln

#endif // KILN_TOOLS_KILN_COMPILEFLAGS_H
