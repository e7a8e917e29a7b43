//===- DotTile.cpp - Products with few columns, in vectors along the sum ---===//
#include "passes/target/choice/DotTile.h"
#include "dialects/nn/Scalar.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace kiln {

/// Adding up the lanes of a sum takes as long as so many multiplications of vectors.
static constexpr int64_t productsToAddUp = 5;

int64_t chooseDotLanes(kernel::TargetAttr target, mlir::Type element, int64_t run) {
  return static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(std::min<int64_t>(nn::lanesOf(target, element), run))));
}

double estimateDots(int64_t columns, int64_t length, int64_t lanes) {
  return static_cast<double>(columns) * (static_cast<double>(length) / static_cast<double>(lanes) + productsToAddUp);
}

int64_t choosePixelsAtOnce(int64_t line, int64_t lanes) {
  return line < std::numeric_limits<int64_t>::max() ? llvm::divideCeilSigned(line, llvm::divideCeilSigned(line, lanes)) : lanes;
}

} // namespace kiln
