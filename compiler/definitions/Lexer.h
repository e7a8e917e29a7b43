//===- Lexer.h - The tokens of a file of definitions ------------------------===//
#ifndef KILN_COMPILER_DEFINITIONS_LEXER_H
#define KILN_COMPILER_DEFINITIONS_LEXER_H

#include "compiler/definitions/SourceText.h"

namespace kiln::definitions {

struct Token {
  enum class Kind { End, Name, Integer, Real, String, Sign };
  Kind kind = Kind::End;
  /// As it is written; of a string without its quotes.
  llvm::StringRef text;
  Place place;

  bool is(llvm::StringRef sign) const { return (kind == Kind::Sign || kind == Kind::Name) && text == sign; }
};

/// Splits the text into tokens, the last of which is End. False, with the mistake in `fault`, if a character or a number is none.
bool splitTokens(llvm::StringRef text, std::vector<Token> &tokens, Fault &fault);

} // namespace kiln::definitions

#endif // KILN_COMPILER_DEFINITIONS_LEXER_H
