//===- Fill.h - Input tensors made from a short description ----------------===//
#ifndef KILN_COMPILER_RUN_FILL_H
#define KILN_COMPILER_RUN_FILL_H

#include "compiler/run/Tensor.h"
#include <optional>

namespace kiln {

/// A description of values, parsed:
///   random[:SEED]   normal values for floating-point types, 0 or 1 for others
///   normal[:SD]     mean 0, standard deviation SD (default 1), never beyond 6 of them
///   uniform:LO:HI   LO <= value < HI
///   randint:LO:HI   integers, LO <= value < HI
///   arange          0, 1, 2, ... along the last dimension, the same in every row
///   zeros, ones, or a number
struct Fill {
  enum Kind { Random, Normal, Uniform, Integers, Range, Constant };
  Kind kind = Random;
  double first = 0, second = 1;
  std::optional<uint64_t> seed;
};

/// Nothing when `text` has none of these forms (it is a file name then); an error when it has one with wrong arguments.
llvm::Expected<std::optional<Fill>> parseFill(llvm::StringRef text);

/// Fails when a number of the description is none that the type can hold: it would be filled with another one. Any number is a bool or a string.
llvm::Error checkFill(const Fill &fill, ElementType type);

/// Fills `tensor`. The values depend on the fill, the seed and the name only: on no platform, and not on the other inputs.
void fillTensor(Tensor &tensor, const Fill &fill, uint64_t seed, llvm::StringRef name);

} // namespace kiln

#endif // KILN_COMPILER_RUN_FILL_H
