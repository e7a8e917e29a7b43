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

/// The characters next to a position in a string: none, one of a word, or another one.
enum Side { Edge, Word, NoWord };

/// Accepts strings, or parts of them that begin behind a `Side` and end before one. The state of that number is the first one: 0 for whole strings.
struct Automaton {
  /// The class of each of the 256 bytes.
  std::vector<int32_t> classes;
  /// A row of `width` entries for each state: the next state for each class, then a bit for each side before which the automaton accepts.
  std::vector<int32_t> next;
  int64_t width = 0;

  /// Whether there is a place between two characters, or at an end, where it accepts the empty string.
  bool acceptsNothing() const { return next[width - 1] || next[2 * width - 1] || next[3 * width - 1]; }
};

/// Nullopt with `reason` set if the pattern is malformed, outside of the subset, or needs too many states.
std::optional<Automaton> compileRegex(llvm::StringRef pattern, std::string &reason);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_REGEX_H
