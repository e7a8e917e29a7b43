//===- RegisterBudget.cpp - What fits the registers of a target ------------===//
#include "passes/target/choice/RegisterBudget.h"
#include "dialects/kernel/Tuning.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

namespace {
/// Steps whose functions take either side apart, and how many registers take the place of one.
struct SplitSides {
  StringLiteral function;
  int64_t left, right;
};
} // namespace

/// Pairs of words: both sides are bytes, and the products of a pair wait to be added. The forms for bounded weights take neither side apart, but have the ones
/// that pairs are added by and the words that wait for it; tiles of six rows are no faster than of four (test/benchmark/kernels "matmul 1 196 1024 256").
static constexpr SplitSides splitSides[] = {{"dot_u8s8_pairs", 3, 2}, {"dot_s8u8_pairs", 3, 2}, {"dot_u8s8_bounded", 3, 2}, {"dot_s8u8_bounded", 3, 2}};

bool loadsOperands(kernel::TargetAttr target) {
  constexpr unsigned manyRegisters = 32, widest = 512;
  return target.getRegisters() >= manyRegisters && target.getVectorBits() < widest;
}

bool multipliesByLanes(kernel::TargetAttr target, kernel::StepAttr step) {
  bool isSplit = llvm::any_of(splitSides, [&](const SplitSides &split) { return split.function == step.getFunction(); });
  // Unsigned by signed bytes are for the short sums that steps of two rows leave over.
  return target.tuned(kernel::Tuned::LeftLanes) && step.getRows() == 1 && step.getLanes() > 1 && !isSplit && step.getLhs() == step.getRhs() &&
         (!step.getFunction().empty() || isa<FloatType>(step.getSum()));
}

RegisterBudget::RegisterBudget(kernel::TargetAttr target, kernel::StepAttr step) : all(target.getRegisters()), stepRows(step.getRows()) {
  auto registers = [&](int64_t elements, Type type) {
    return static_cast<int64_t>(llvm::divideCeil(elements * type.getIntOrFloatBitWidth(), target.getVectorBits()));
  };
  sums = registers(step.getRows() * step.getLanes(), step.getSum());
  right = registers(step.getLanes() * step.getDepth(), step.getRhs());
  // The elements of a single row are repeated for each lane.
  left = registers((stepRows == 1 ? step.getLanes() : stepRows) * step.getDepth(), step.getLhs());
  for (const SplitSides &split : splitSides)
    if (split.function == step.getFunction()) {
      left *= split.left;
      right *= split.right;
      // Both sides of the next step are loaded and taken apart while this one's wait.
      if (loadsOperands(target))
        all -= split.right;
    }
  // Each row has a register of its own, and no element needs one to be broadcast to. Compilers load the next step's right side while the last vector of one
  // is still in use.
  if (multipliesByLanes(target, step)) {
    std::swap(left, leftOfRow);
    leftSteps = step.getLanes();
    --all;
  }
}

int64_t RegisterBudget::rowsOf(int64_t vectors) const {
  return std::max<int64_t>(1, (all - left - vectors * right) / (vectors * sums + leftOfRow)) * stepRows;
}

int64_t RegisterBudget::vectorsOf(int64_t rows) const {
  int64_t steps = llvm::divideCeil(rows, stepRows);
  return std::max<int64_t>(1, (all - left - steps * leftOfRow) / (steps * sums + right));
}

int64_t RegisterBudget::vectorsBesideLeft(int64_t rows) const {
  int64_t steps = llvm::divideCeil(rows, stepRows);
  return std::max<int64_t>(1, (all - steps * left) / (steps * sums + right));
}

int64_t RegisterBudget::vectorsOfTall(std::optional<int64_t> columnVectors) const {
  int64_t best = vectorsOfMany;
  if (!leftOfRow)
    return best;
  // Each panel loads the left side anew, each block of rows the right one. Without an end, panels are whole. Neighbouring vectors of the right side are loaded
  // in pairs, which takes three quarters of the work.
  constexpr double single = 1, paired = 0.75;
  auto loads = [&](int64_t vectors) {
    double panels = columnVectors ? static_cast<double>(llvm::divideCeil(*columnVectors, vectors)) / static_cast<double>(*columnVectors)
                                  : 1.0 / static_cast<double>(vectors);
    return panels * static_cast<double>(leftOfRow) * single + static_cast<double>(leftSteps * right) * paired / static_cast<double>(rowsOf(vectors));
  };
  for (int64_t vectors = best + 1; rowsOf(vectors) >= vectors; ++vectors)
    if (loads(vectors) < loads(best))
      best = vectors;
  return best;
}

int64_t RegisterBudget::narrowRows() const { return leftOfRow ? rowsOf(1) : vectorsOfMany * rowsOf(vectorsOfMany); }

SmallVector<std::pair<int64_t, int64_t>> RegisterBudget::listTiles() const {
  constexpr int64_t fewestRows = 4;
  SmallVector<std::pair<int64_t, int64_t>> tiles;
  int64_t many = rowsOf(vectorsOfMany);
  tiles.emplace_back(many, vectorsOfMany);
  for (int64_t vectors = vectorsOfMany + 1; rowsOf(vectors) >= fewestRows; ++vectors) {
    // Even numbers of rows; of the tiles of one height, the widest.
    int64_t rows = rowsOf(vectors) / 2 * 2;
    if (tiles.back().first == rows)
      tiles.pop_back();
    tiles.emplace_back(rows, vectors);
  }
  // Two rows fewer leave registers for addresses.
  if ((many - 2) * vectorsOfMany >= fewestSums)
    tiles.emplace_back(many - 2, vectorsOfMany);
  tiles.emplace_back(narrowRows(), 1);
  if (int64_t half = std::max(many, fewestSums); half < narrowRows())
    tiles.emplace_back(half, 1);
  tiles.emplace_back(1, 4);
  return tiles;
}

unsigned getHalfOfRegisters(kernel::TargetAttr target) { return target.getRegisters() / 2; }

unsigned getQuarterOfRegisters(kernel::TargetAttr target) { return target.getRegisters() / 4; }

int64_t countPixelsBeside(kernel::TargetAttr target, int64_t sums, int64_t others) {
  return std::max<int64_t>(1, (static_cast<int64_t>(target.getRegisters()) - others) / sums);
}

int64_t chooseRowsAtOnce(kernel::TargetAttr target, int64_t rows, int64_t columns) {
  // Vectors so wide were measured with one loop.
  constexpr unsigned widest = 512;
  return target.getVectorBits() >= widest || rows * columns <= getHalfOfRegisters(target) ? rows : 2;
}

int64_t chooseStreams(kernel::TargetAttr target) {
  int64_t measured = target.tuned(kernel::Tuned::Streams);
  return measured ? measured : llvm::bit_floor(getQuarterOfRegisters(target));
}

} // namespace kiln
