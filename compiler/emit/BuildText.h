//===- BuildText.h - Foreign text in the languages of builds -----------------===//
//
// Text that a model, IR or a target gives reaches CMake, pkg-config, make and assembler text by the function of its language here, as it reaches C and C++
// by those of Identifiers.h.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_EMIT_BUILDTEXT_H
#define KILN_COMPILER_EMIT_BUILDTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

/// A name, a file or an option in a comment, a list or a quoted argument of CMake. Letters, digits and `_.+-=/:,` stay; verifiers let hardly anything else
/// pass, and what did becomes `_`.
std::string makeCMakeWord(llvm::StringRef text);

/// The same in a field of a pkg-config file.
std::string makePkgConfigWord(llvm::StringRef text);

/// A symbol or a section in assembler text.
std::string makeAssemblerName(llvm::StringRef text);

/// An option of a compiler, whose value the target gives.
std::string makeCompilerOption(llvm::StringRef option, llvm::StringRef value);

/// A file in a rule of a depfile, as make and ninja read it. An error for a path with control characters, a semicolon or a bar, which no rule can hold.
llvm::Expected<std::string> makeDepfilePath(llvm::StringRef path);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_BUILDTEXT_H
