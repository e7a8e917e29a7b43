//===- CutChoice.cpp - The cuts that balance stages best -------------------===//
//
// Dynamic programming over the places of the last cut, twice: what the longest stage must take, then the fewest bytes under that bound. A stage that ends
// at `last` grows longer and heavier with an earlier beginning, so most beginnings need no look.
//
//===----------------------------------------------------------------------===//
#include "compiler/cut/CutChoice.h"

#include "llvm/ADT/STLExtras.h"
#include <limits>

namespace kiln::cut {

static constexpr double never = std::numeric_limits<double>::infinity();

double CutProblem::estimateTime(size_t first, size_t last) const {
  double sum = movingTime[first] + (last < time.size() ? movingTime[last] : 0);
  for (size_t step = first; step < last; ++step)
    sum += time[step];
  return sum;
}

namespace {
/// The best way to have `stages` stages in the steps before each place.
class CutSearch {
public:
  CutSearch(const CutProblem &problem, unsigned stages) : problem(problem), stages(stages), count(problem.time.size()) {
    for (size_t place = 1; place < count; ++place)
      if (problem.mayCut[place])
        places.push_back(place);
    places.push_back(count);
  }

  /// `bound` is that of the time of a stage. Fills `best` with the longest stage, or with the bytes that cross.
  double solve(bool countsBytes, double bound);
  std::vector<unsigned> takeCuts() const;

private:
  double judge(double before, size_t first, double time, bool countsBytes) const {
    return countsBytes ? before + (first ? double(problem.crossingBytes[first]) : 0) : std::max(before, time);
  }
  void extend(unsigned stage, size_t end, bool countsBytes, double bound);

  const CutProblem &problem;
  const unsigned stages;
  const size_t count;
  /// Where a stage may end.
  std::vector<size_t> places;
  /// By the number of stages, less one, and the place in `places` that the last one ends at.
  std::vector<std::vector<double>> best;
  std::vector<std::vector<int>> from;
};
} // namespace

/// Tries all beginnings of a stage that ends at `places[end]`, the nearest first.
void CutSearch::extend(unsigned stage, size_t end, bool countsBytes, double bound) {
  size_t last = places[end];
  double sum = last < count ? problem.movingTime[last] : 0;
  int64_t weights = 0, live = 0;
  bool hasKernel = false;
  int before = int(end) - 1;
  for (size_t first = last; first-- > 0;) {
    sum += problem.time[first];
    weights += problem.weightsBytes[first];
    live = std::max(live, problem.liveBytes[first]);
    hasKernel = hasKernel || problem.hasKernel[first];
    if (weights + live > problem.mostBytes || sum > bound || (!countsBytes && sum >= best[stage][end]))
      return;
    bool isPlace = first == 0 || (before >= 0 && places[before] == first);
    if (!isPlace)
      continue;
    double time = sum + problem.movingTime[first];
    // The first stage begins with the model, every other one where one ends.
    double earlier = first == 0 ? (stage == 0 ? 0 : never) : (stage == 0 ? never : best[stage - 1][before]);
    if (hasKernel && earlier < never && time <= bound)
      if (double value = judge(earlier, first, time, countsBytes); value < best[stage][end]) {
        best[stage][end] = value;
        from[stage][end] = first == 0 ? -1 : before;
      }
    before -= first != 0;
  }
}

double CutSearch::solve(bool countsBytes, double bound) {
  best.assign(stages, std::vector<double>(places.size(), never));
  from.assign(stages, std::vector<int>(places.size(), -1));
  for (unsigned stage = 0; stage < stages; ++stage)
    for (size_t end = 0; end < places.size(); ++end)
      extend(stage, end, countsBytes, bound);
  return best.back().back();
}

std::vector<unsigned> CutSearch::takeCuts() const {
  std::vector<unsigned> cuts;
  size_t end = places.size() - 1;
  for (unsigned stage = stages; stage-- > 1;) {
    end = from[stage][end];
    cuts.push_back(places[end]);
  }
  return {cuts.rbegin(), cuts.rend()};
}

std::optional<std::vector<unsigned>> chooseCuts(const CutProblem &problem, unsigned stages) {
  CutSearch search(problem, stages);
  double longest = search.solve(/*countsBytes=*/false, never);
  if (longest == never)
    return std::nullopt;
  search.solve(/*countsBytes=*/true, longest * balanceSlack);
  return search.takeCuts();
}

} // namespace kiln::cut
