//===- Limits.h - Limits on the cost of a model --------------------------===//
#ifndef KILN_COMPILER_LIMITS_H
#define KILN_COMPILER_LIMITS_H

#include <cstdint>

namespace kiln {

/// Limits that bound the cost of hostile models. `--limit=NAME=NUMBER` changes one.
struct Limits {
  /// Dimensions of one tensor.
  int64_t rank = 32;
  /// Nodes after functions and branches are inlined.
  int64_t nodes = 400000;
  /// Inputs, and outputs, of one node.
  int64_t operands = 16384;
  /// Nesting depth of functions and branches.
  int64_t depth = 100;
  /// Bytes of one tensor.
  int64_t tensorBytes = int64_t(1) << 33;
  /// Bytes of constants that an operation folded by the compiler may read.
  int64_t foldBytes = int64_t(64) << 20;
  /// Bytes of text that an operator may create, with a 64th more for each string.
  int64_t stringBytes = 65536;
  /// Parts that StringSplit and Tokenizer may find in a string.
  int64_t stringParts = 256;
  /// The largest height and width of a picture for ImageDecoder.
  int64_t imageHeight = 4096;
  int64_t imageWidth = 4096;
};

} // namespace kiln

#endif // KILN_COMPILER_LIMITS_H
