//===- Recursion.h - What keeps recursive code from running out of stack ---===//
//
// MLIR's parser and LLVM's JSON parser call themselves for each bracket, and so does some code for each operation of a chain. Texts that nobody
// has checked are measured before they are parsed, and programs run on a stack that what passes has room on.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_RECURSION_H
#define KILN_COMPILER_RECURSION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// Whether brackets of IR nest, or operators follow each other between commas, in such numbers that a parser's stack might run over.
bool isTooDeep(llvm::StringRef ir);

/// Counts the brackets of JSON texts, one byte after the other.
class JsonDepth {
public:
  /// False when there are too many open brackets.
  bool add(char c);

private:
  unsigned open = 0;
  bool isString = false, isEscaped = false;
};

/// As llvm::json::parse, but for texts that may nest without end.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Runs `program` on a thread with a large stack, of which only what is used takes memory; on the caller's where there is no such thread.
int runOnLargeStack(llvm::function_ref<int()> program);

/// Runs a tool of MLIR's with the arguments of main() on a large stack, unless the IR that it is to read, a file among the arguments or standard
/// input, is too deep.
int runOnIR(int argc, char **argv, llvm::function_ref<int()> tool);

} // namespace kiln

#endif // KILN_COMPILER_RECURSION_H
