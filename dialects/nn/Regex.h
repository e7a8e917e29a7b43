//===- Regex.h - Regular expressions as automata ------------------------------===//
//
// A subset of RE2's syntax: literals, '.', [classes], \d \D \w \W \s \S, \b \B ^ $, groups, |, * + ? {n,m}. Strings are UTF-8, and '.' and negated classes
// match whole characters beyond ASCII.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_REGEX_H
#define KILN_DIALECTS_NN_REGEX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln::nn {

/// Accepts whole strings. State 0 is the first one.
struct Automaton {
  /// The class of each of the 256 bytes.
  std::vector<int32_t> classes;
  /// A row of `width` entries for each state: the next state for each class, then whether the automaton accepts at the end of the string.
  std::vector<int32_t> next;
  int64_t width = 0;
  /// Whether \b, \B, ^ or $ stands in the pattern: then the tables are right for whole strings only, and not for parts of one.
  bool hasConditions = false;

  bool acceptsNothing() const { return next[width - 1] != 0; }
};

/// Nullopt with `reason` set if the pattern is malformed, outside of the subset, or needs too many states.
std::optional<Automaton> compileRegex(llvm::StringRef pattern, std::string &reason);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_REGEX_H
