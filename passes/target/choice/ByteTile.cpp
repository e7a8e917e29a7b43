//===- ByteTile.cpp - The register tile of a product of bytes -------------===//
#include "passes/target/choice/ByteTile.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kiln {

namespace {
/// What a step's function keeps in registers besides the sums: for each vector of the right side, and for the left side with what lies between.
struct StepRegisters {
  StringLiteral function;
  unsigned right, left;
};
} // namespace

/// Pairs need both sides as words, and their products before they are added.
static constexpr StepRegisters stepRegisters[] = {{"dot_u8s8", 1, 1}, {"dot_u8s8_pairs", 2, 3}};

static StepRegisters getRegisters(kernel::StepAttr step) {
  const auto *known = llvm::find_if(stepRegisters, [&](const StepRegisters &row) { return row.function == step.getFunction(); });
  return known == std::end(stepRegisters) ? stepRegisters[0] : *known;
}

kernel::StepAttr findByteStep(kernel::TargetAttr target) {
  if (!target)
    return {};
  Builder b(target.getContext());
  return target.findStep(b.getIntegerType(8, /*isSigned=*/false), b.getI8Type(), b.getI32Type());
}

TileShape chooseByteTile(kernel::TargetAttr target, std::optional<int64_t> rows, std::optional<int64_t> columns) {
  kernel::StepAttr step = findByteStep(target);
  StepRegisters registers = getRegisters(step);
  unsigned lanes = step.getLanes(), room = target.getRegisters() - registers.left;
  // Narrow results waste less in narrower vectors.
  if (columns && *columns < static_cast<int64_t>(lanes))
    lanes = std::max(4u, llvm::bit_ceil(static_cast<unsigned>(std::max<int64_t>(*columns, 1))));
  unsigned wanted = columns ? static_cast<unsigned>(llvm::divideCeil(*columns, lanes)) : 2;
  // A single row has several streams of sums.
  if (rows && *rows == 1)
    return {1, std::min(wanted, registers.right == 1 ? 3u : 2u), lanes};
  unsigned few = rows && *rows <= 8 ? static_cast<unsigned>(std::max<int64_t>(*rows, 1)) : 0;
  unsigned vectors = std::min(wanted, few ? std::max(2u, room / (few + registers.right)) : 2u);
  unsigned tall = room / vectors - registers.right;
  return {std::max(1u, few ? std::min(few, tall) : tall), std::max(1u, vectors), lanes};
}

} // namespace kiln
