//===- Identifiers.h - Foreign text in C and C++ ----------------------------===//
//
// Text from a model or IR may reach emitted C and C++ only through one of these functions, according to its use: a name, a literal, a comment, or a token
// that must be kept. BuildText.h has those for other languages. `tools/dev/lint` finds printers that use none.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_EMIT_IDENTIFIERS_H
#define KILN_COMPILER_EMIT_IDENTIFIERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace kiln {

/// A C identifier made from any text: other characters become `_`, and names that are reserved in C, C++ or the emitted code get the suffix `_`.
std::string makeIdentifier(llvm::StringRef text);

/// The same for a model, whose name is also that of its header and must not be that of a system header.
std::string makeLibraryName(llvm::StringRef text);

/// Whether NAME.h is a system header, which a model's header of that name would hide.
bool isSystemHeader(llvm::StringRef name);

/// Whether the text is the name of one of the kernel headers' vector types: f32x8, u8x16.
bool isVectorName(llvm::StringRef text);

/// The upper-case form, for macros.
std::string makeMacroName(llvm::StringRef identifier);

/// Text that is safe in a `//` or `/* */` comment, whatever the model contains: printable ASCII, no comment end, no continued line, no trigraph.
std::string makeCommentText(llvm::StringRef text);

/// A C string literal with its quotes.
std::string makeStringLiteral(llvm::StringRef text);

/// A name that keeps its text: a status, or a function with its namespace. Verifiers refuse other text (dialects/kernel/Names.h). If there is any, it
/// becomes an identifier.
std::string takeName(llvm::StringRef text);

/// The header to include for the functions of a library.
std::string takeHeader(llvm::StringRef library);

/// Creates names that differ from all names in scope.
class NameScope {
public:
  NameScope() { push(); }
  void push() { levels.emplace_back(); }
  void pop();
  /// `base`, or `base` followed by a number.
  std::string unique(llvm::StringRef base);
  void reserve(llvm::StringRef name) { unique(name); }

private:
  llvm::StringSet<> taken;
  std::vector<std::vector<std::string>> levels;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_IDENTIFIERS_H
