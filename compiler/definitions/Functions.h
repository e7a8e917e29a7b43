//===- Functions.h - The functions of the language of definitions -----------===//
#ifndef KILN_COMPILER_DEFINITIONS_FUNCTIONS_H
#define KILN_COMPILER_DEFINITIONS_FUNCTIONS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln::definitions {

/// A row of Functions.def.
struct Function {
  enum class Rule { Float, Number, Integer, Compare, Logic, Test, Select };
  const char *name;
  unsigned least, most;
  Rule rule;
  const char *onnx;
};

/// The operator or function of that name; null if there is none.
const Function *findFunction(llvm::StringRef name);

/// " (did you mean 'NAME'?)" for a mistyped function, or nothing.
std::string suggestFunction(llvm::StringRef name);

} // namespace kiln::definitions

#endif // KILN_COMPILER_DEFINITIONS_FUNCTIONS_H
