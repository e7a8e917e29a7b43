//===- RegexSyntax.h - The parts of a regular expression ----------------------===//
#ifndef KILN_DIALECTS_NN_REGEXSYNTAX_H
#define KILN_DIALECTS_NN_REGEXSYNTAX_H

#include "llvm/ADT/StringRef.h"
#include <bitset>
#include <memory>
#include <string>
#include <vector>

namespace kiln::nn {

/// A set of characters: single ASCII characters, and all others together.
struct CharacterSet {
  std::bitset<128> ascii;
  bool others = false;
};

struct RegexPart {
  enum Kind { Empty, Set, Byte, Sequence, Choice, Repeat, WordEdge, NoWordEdge, Begin, End } kind = Empty;
  CharacterSet set;
  unsigned char byte = 0;
  /// The bounds of a repetition; most < 0 stands for no bound.
  int least = 0, most = 0;
  std::vector<std::unique_ptr<RegexPart>> parts;
};

/// Null with the reason set if the pattern is malformed or outside of the subset.
std::unique_ptr<RegexPart> parseRegex(llvm::StringRef pattern, std::string &reason);

bool isWordByte(unsigned byte);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_REGEXSYNTAX_H
