//===- Recursion.h - Protection of recursive code from stack overflow ---===//
//
// MLIR's parser and LLVM's JSON parser recurse for each bracket, and some code recurses for each operation of a chain. The depth of untrusted texts is
// checked before they are parsed, and programs run on a stack that is large enough for texts that pass the check.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_RECURSION_H
#define KILN_COMPILER_RECURSION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// Whether the brackets of IR nest so deep, or so many operators follow each other between commas, that a parser's stack might overflow.
bool isTooDeep(llvm::StringRef ir);

/// Counts the open brackets of a JSON text, byte by byte.
class JsonDepth {
public:
  /// False if there are too many open brackets.
  bool add(char c);

private:
  unsigned open = 0;
  bool isString = false, isEscaped = false;
};

/// Like llvm::json::parse, but refuses texts that nest too deep.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Runs `program` on a thread with a large stack, of which only the used part takes memory, or on the caller's if the thread cannot be created.
int runOnLargeStack(llvm::function_ref<int()> program);

/// Runs one of MLIR's tools with the arguments of main() on a large stack, unless its input, a file among the arguments or standard input, nests
/// too deep.
int runOnIR(int argc, char **argv, llvm::function_ref<int()> tool);

} // namespace kiln

#endif // KILN_COMPILER_RECURSION_H
