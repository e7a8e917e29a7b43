//===- CompileFlags.h - The options of a compile on the command line -------===//
#ifndef KILN_TOOLS_KILN_COMPILEFLAGS_H
#define KILN_TOOLS_KILN_COMPILEFLAGS_H

#include "compiler/Compile.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// The options as given. Fails when a value is malformed: wrong usage.
llvm::Expected<CompileOptions> getCompileOptions();

/// The same for a command that takes several models: the options of the library.
llvm::Expected<CompileOptions> getLibraryOptions();

/// The models of the command line: FILE, or GRAPH=FILE for a graph of a library.
llvm::ArrayRef<std::string> getModels();

/// The graphs of a library, with the options of each; none for one model without a name in front. A value `GRAPH.VALUE` of an option is for that
/// graph, any other is for all. Call it when `library` is complete; its model becomes the file of the first.
llvm::Expected<std::vector<GraphOptions>> getGraphOptions(CompileOptions &library);

/// What --ranks says.
llvm::StringRef getRanksText();
/// Whether --ranks or --grid is given.
bool hasRanks();

/// A number of bytes; K and M behind it are 1024 and 1024 * 1024.
std::optional<int64_t> parseBytes(llvm::StringRef text);

/// What --guarantee asks for.
llvm::Expected<Guarantees> getGuarantees();

/// Splits NAME=VALUE and parses an integer.
llvm::Expected<std::pair<std::string, int64_t>> parseDimension(llvm::StringRef option, llvm::StringRef text);
/// The error for an option that says something of a name for the second time: the last one would silently replace the first.
llvm::Error makeTwiceError(llvm::StringRef option, llvm::StringRef text, llvm::StringRef name);

} // namespace kiln

#endif // KILN_TOOLS_KILN_COMPILEFLAGS_H
