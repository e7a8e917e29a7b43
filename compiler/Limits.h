//===- Limits.h - What a model may cost a compile --------------------------===//
#ifndef KILN_COMPILER_LIMITS_H
#define KILN_COMPILER_LIMITS_H

#include <cstdint>

namespace kiln {

/// What a hostile model may cost at most; `--limit=NAME=NUMBER` changes one.
struct Limits {
  /// Dimensions of one tensor.
  int64_t rank = 32;
  /// Nodes after functions and branches are inlined.
  int64_t nodes = 400000;
  /// Inputs, and outputs, of one node.
  int64_t operands = 16384;
  /// Functions and branches inside one another.
  int64_t depth = 100;
  /// Bytes of one tensor.
  int64_t tensorBytes = int64_t(1) << 33;
  /// Bytes of constants that one operation may read and still be computed by the compiler.
  int64_t foldBytes = int64_t(64) << 20;
  /// Bytes that an operator that makes strings has room for.
  int64_t stringBytes = 65536;
  /// Parts that StringSplit may find in a string.
  int64_t stringParts = 64;
  /// The highest and the widest picture that ImageDecoder has room for.
  int64_t imageHeight = 4096;
  int64_t imageWidth = 4096;
};

} // namespace kiln

#endif // KILN_COMPILER_LIMITS_H
