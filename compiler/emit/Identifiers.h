//===- Identifiers.h - Foreign text in C and C++ ----------------------------===//
//
// Text that a model or IR gives reaches emitted C and C++ by one of these functions, according to its place: a name, a literal, a comment, a token that must
// stay as it is. BuildText.h has those for other languages. `tools/dev/lint` looks for printers that use none.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_EMIT_IDENTIFIERS_H
#define KILN_COMPILER_EMIT_IDENTIFIERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace kiln {

/// A C identifier made from any text: other characters become `_`, and names that C, C++ or the emitted code reserve get a `_` behind them.
std::string makeIdentifier(llvm::StringRef text);

/// The same for a model, whose name is that of its header, too: no header of the system.
std::string makeLibraryName(llvm::StringRef text);

/// Whether NAME.h is a header of the system, which a model's header of that name would hide.
bool isSystemHeader(llvm::StringRef name);

/// Whether the text is the name of one of the kernel headers' vector types: f32x8, u8x16.
bool isVectorName(llvm::StringRef text);

/// The upper-case form, for macros.
std::string makeMacroName(llvm::StringRef identifier);

/// Text that may stand in a `//` or `/* */` comment whatever a model file says: printable ASCII, no comment end, no continued line, no trigraph.
std::string makeCommentText(llvm::StringRef text);

/// A C string literal with its quotes.
std::string makeStringLiteral(llvm::StringRef text);

/// A name that keeps its text: a status, or a function with its namespace. Verifiers let no other text pass (dialects/kernel/Names.h); what got around them
/// becomes an identifier.
std::string takeName(llvm::StringRef text);

/// What is included for the functions of a library.
std::string takeHeader(llvm::StringRef library);

/// Gives out names that differ from all names still in scope.
class NameScope {
public:
  NameScope() { push(); }
  void push() { levels.emplace_back(); }
  void pop();
  /// `base`, or `base` with a number behind it.
  std::string unique(llvm::StringRef base);
  void reserve(llvm::StringRef name) { unique(name); }

private:
  llvm::StringSet<> taken;
  std::vector<std::vector<std::string>> levels;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_IDENTIFIERS_H
