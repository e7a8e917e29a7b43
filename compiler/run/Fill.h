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

/// Nullopt if `text` has none of these forms (and is a file name). An error if it has one with wrong arguments.
llvm::Expected<std::optional<Fill>> parseFill(llvm::StringRef text);

/// Fails if the type cannot represent a number of the description. Any number is valid for bools and strings.
llvm::Error checkFill(const Fill &fill, ElementType type);

/// Fills `tensor`. The values depend only on the fill, the seed and the name, and not on the platform or on other inputs.
void fillTensor(Tensor &tensor, const Fill &fill, uint64_t seed, llvm::StringRef name);

} // namespace kiln

#endif // KILN_COMPILER_RUN_FILL_H
