//===- RegisterBudget.h - What fits the registers of a target --------------===//
//
// The shapes of kernels follow from the number and the size of the vector registers, and from the step that multiplies and adds. Nothing else asks for the
// number of registers.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_REGISTERBUDGET_H
#define KILN_PASSES_TARGET_CHOICE_REGISTERBUDGET_H

#include "dialects/kernel/Kernel.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace kiln {

/// Whether the target's instruction of a step takes a lane of the left side's vector as it is, so that as many steps as a vector has lanes load it once.
bool multipliesByLanes(kernel::TargetAttr target, kernel::StepAttr step);

/// Whether instructions take operands from registers only, which are many: what is loaded stays there, and what a compiler keeps too much of spills.
/// Targets with vectors of 512 bits take operands from memory.
bool loadsOperands(kernel::TargetAttr target);

/// The registers while a tile of a product is computed: they hold its sums, one row of the right side, and one piece of the left side that meets that row; or
/// a vector of the left side for each row, on targets whose instructions multiply by a lane.
class RegisterBudget {
public:
  RegisterBudget(kernel::TargetAttr target, kernel::StepAttr step);

  /// The most rows of a tile that is so many vectors wide, and the most vectors of one of so many rows; at least those of one step.
  int64_t rowsOf(int64_t vectors) const;
  int64_t vectorsOf(int64_t rows) const;

  /// The same where the left sides of all rows are loaded before any of them multiplies.
  int64_t vectorsBesideLeft(int64_t rows) const;

  /// The tile for many rows is this wide: the narrowest one, and so the highest, whose loads (a row of vectors, and an element for each row) are fewer than
  /// its multiplications. High tiles read the right side least often.
  static constexpr int64_t vectorsOfMany = 2;
  /// The same where each row has a register of its own, so that high tiles are no wider than others of as many sums: the width with the fewest loads for
  /// each row and vector of so many columns.
  int64_t vectorsOfTall(std::optional<int64_t> columnVectors) const;
  /// Fewer sums than this leave the units waiting: two multiplications begin in each cycle and take four or five.
  static constexpr int64_t fewestSums = 8;
  /// Rows of a tile of one vector with as many sums as that one, or as many as fit where each row has a register of its own.
  int64_t narrowRows() const;

  /// Rows and vectors of the tiles that fill the registers in other proportions; a single row's sums are its streams'.
  llvm::SmallVector<std::pair<int64_t, int64_t>> listTiles() const;

private:
  /// In registers: all of them, and what a step has of sums and of either side.
  int64_t all, sums, left, right;
  /// The same of the left side for each row of the tile, and the steps that one vector of it serves.
  int64_t leftOfRow = 0, leftSteps = 1;
  int64_t stepRows;
};

/// Vectors that a kernel may keep beside as many registers for what it computes with them.
unsigned getHalfOfRegisters(kernel::TargetAttr target);
/// Vectors of one kind where a kernel has several kinds: the pixels of a line beside those of another line, their inputs and weights.
unsigned getQuarterOfRegisters(kernel::TargetAttr target);
/// How many pixels fit at once whose sums have so many vectors each, beside so many vectors for all of them; at least one.
int64_t countPixelsBeside(kernel::TargetAttr target, int64_t sums, int64_t others);

/// How many of the rows of a product with a constant matrix of `columns` columns a kernel computes at a time, so that all columns of these rows stay in
/// registers: all where half of the registers hold them, else those of a pair, which share what they compute.
int64_t chooseRowsAtOnce(kernel::TargetAttr target, int64_t rows, int64_t columns);

/// The sums that run side by side for a single row, which has too few to hide how long a multiplication takes: a power of two.
int64_t chooseStreams(kernel::TargetAttr target);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_REGISTERBUDGET_H
