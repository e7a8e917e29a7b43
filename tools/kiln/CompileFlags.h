//===- CompileFlags.h - The options of a compile on the command line -------===//
#ifndef KILN_TOOLS_KILN_COMPILEFLAGS_H
#define KILN_TOOLS_KILN_COMPILEFLAGS_H

#include "compiler/Compile.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// The options as given. Fails when a value is malformed: wrong usage.
llvm::Expected<CompileOptions> getCompileOptions();

/// The same for a command that takes several models: the options of the library and of the first.
llvm::Expected<CompileOptions> getLibraryOptions();

/// The models of a library of several; none if there is one. `GRAPH.NAME` in an option is `NAME` of that graph; other names are for all graphs.
llvm::Expected<std::vector<GraphOptions>> getGraphOptions(const CompileOptions &library);

/// Splits NAME=VALUE and parses an integer.
llvm::Expected<std::pair<std::string, int64_t>> parseDimension(llvm::StringRef option, llvm::StringRef text);

} // namespace kiln

#endif // KILN_TOOLS_KILN_COMPILEFLAGS_H
