//===- ErrorPlot.cpp - The errors of a model by depth ----------------------------===//
#include "compiler/files/Printable.h"
#include "tools/kiln/verify/VerifyReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace kiln {

/// The decades from the first to 1, and the columns of each.
static constexpr int firstDecade = -9, columnsOfDecade = 4;
static constexpr size_t mostRows = 40;

static std::string makeBar(double error) {
  constexpr int width = -firstDecade * columnsOfDecade;
  int length = error > 0 ? int(std::lround((std::log10(error) - firstDecade) * columnsOfDecade)) : 0;
  std::string bar(size_t(std::clamp(length, 0, width)), '#');
  bar.resize(width, ' ');
  return bar;
}

void printErrorPlot(ArrayRef<NodeVerdict> verdicts) {
  size_t step = std::max<size_t>((verdicts.size() + mostRows - 1) / mostRows, 1);
  outs() << "error as a part of the largest value, by depth; a decade has " << columnsOfDecade << " columns, from 1e" << firstDecade << " to 1\n";
  for (size_t first = 0; first < verdicts.size(); first += step) {
    ArrayRef<NodeVerdict> some = verdicts.slice(first, std::min(step, verdicts.size() - first));
    // Infinite errors and those of other kinds have no size: a value that is wrong counts as the largest.
    auto sizeOf = [](const NodeVerdict &verdict) { return std::pair(!verdict.comparison.agrees(), verdict.comparison.scaledError); };
    const NodeVerdict &worst = *std::max_element(some.begin(), some.end(), [&](auto &a, auto &b) { return sizeOf(a) < sizeOf(b); });
    outs() << format("%5zu %9.2g |", first + 1, worst.comparison.scaledError) << makeBar(worst.comparison.scaledError) << "| ";
    printLine(outs(), worst.value.name + (worst.comparison.agrees() ? "" : " WRONG"));
  }
}

} // namespace kiln
