//===- CutChoice.h - The cuts that balance stages best ---------------------===//
#ifndef KILN_COMPILER_CUT_CUTCHOICE_H
#define KILN_COMPILER_CUT_CUTCHOICE_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace kiln::cut {

/// A line of steps, as numbers.
struct CutProblem {
  /// For each step.
  std::vector<double> time;
  std::vector<int64_t> weightsBytes, liveBytes;
  std::vector<bool> hasKernel;
  /// For a cut in front of each step: the time to move what crosses it, the bytes, and whether it is possible. Nothing is cut in front of the first.
  std::vector<double> movingTime;
  std::vector<int64_t> crossingBytes;
  std::vector<bool> mayCut;
  /// The most bytes of weights and living values in one stage.
  int64_t mostBytes = INT64_MAX;

  /// The estimated time of the steps [first, last), with what it takes and gives.
  double estimateTime(size_t first, size_t last) const;
};

/// How much longer than in the best balance the longest stage may be where fewer bytes then cross the cuts.
inline constexpr double balanceSlack = 1.05;

/// The first step of each stage but the first: with the shortest longest stage, and among those within balanceSlack of it with the fewest bytes that cross.
/// Every stage has a kernel and at most `mostBytes`. nullopt if there are no such cuts.
std::optional<std::vector<unsigned>> chooseCuts(const CutProblem &problem, unsigned stages);

} // namespace kiln::cut

#endif // KILN_COMPILER_CUT_CUTCHOICE_H
