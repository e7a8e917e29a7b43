//===- Recursion.h - Protection of recursive code from stack overflow ---===//
//
// MLIR's parser and LLVM's JSON parser recurse for each bracket, and some code recurses for each operation of a chain. The depth of untrusted texts is
// checked before they are parsed, as is the length of their numbers, and programs run on a stack that is large enough for texts that pass the check.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_RECURSION_H
#define KILN_COMPILER_RECURSION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// Returns what MLIR's parser or lexer cannot bear of a text or bytecode: brackets that nest so deep, or so many operators between commas, that the stack might
/// overflow, or a number of so many digits that LLVM writes beyond an array. Empty if there is none.
llvm::StringRef findExcess(llvm::StringRef ir);

/// Counts the digits of decimal fractions, byte by byte.
class FractionLength {
public:
  /// False if a fraction has too many digits.
  bool add(char c);

private:
  unsigned digits = 0;
  bool hasPoint = false;
};

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
