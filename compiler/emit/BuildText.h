//===- BuildText.h - Foreign text in the languages of builds -----------------===//
//
// Text from a model, IR or a target may reach CMake, shells, pkg-config, make and assembler text only through the function for that language in this
// header, as it reaches C and C++ through those of Identifiers.h.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_EMIT_BUILDTEXT_H
#define KILN_COMPILER_EMIT_BUILDTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

/// A name, a file or an option in a comment, a list or a quoted argument of CMake. Letters, digits and `_.+-=/:,` are kept. All other characters become
/// `_`; the verifiers let hardly any of them pass.
std::string makeCMakeWord(llvm::StringRef text);

/// The same in a field of a pkg-config file.
std::string makePkgConfigWord(llvm::StringRef text);

/// A symbol or a section in assembler text.
std::string makeAssemblerName(llvm::StringRef text);

/// A word as a shell reads it back.
std::string quoteForShell(llvm::StringRef word);

/// A word as an argument of a CMake command, and text within the quotes of one. Text of CMake has no zero bytes.
std::string quoteForCMake(llvm::StringRef word);
std::string escapeForCMake(llvm::StringRef text);

/// Whether lists of CMake, which a function's arguments become, keep the word as one.
bool fitsCMakeList(llvm::StringRef word);

/// An option of a compiler whose value comes from the target.
std::string makeCompilerOption(llvm::StringRef option, llvm::StringRef value);

/// A file in a rule of a depfile, as make and ninja read it. An error for a path with control characters, a semicolon or a bar, which no rule can contain.
llvm::Expected<std::string> makeDepfilePath(llvm::StringRef path);

/// Fills in a template in one pass over its placeholders, so that text of a value is never taken for a placeholder.
std::string fillIn(llvm::StringRef form, const std::vector<std::pair<llvm::StringRef, std::string>> &values);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_BUILDTEXT_H
