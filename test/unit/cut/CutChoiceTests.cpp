//===- CutChoiceTests.cpp - The cuts of random lines of steps, against all there are -----===//
#include "compiler/cut/CutChoice.h"

#include "gtest/gtest.h"
#include <functional>
#include <random>

using namespace kiln::cut;

namespace {

CutProblem makeProblem(std::mt19937 &random, size_t steps) {
  auto number = [&](int most) { return int(random() % unsigned(most + 1)); };
  CutProblem problem;
  for (size_t step = 0; step < steps; ++step) {
    problem.time.push_back(number(20));
    problem.weightsBytes.push_back(number(50));
    problem.liveBytes.push_back(number(30));
    problem.hasKernel.push_back(number(4) != 0);
    problem.movingTime.push_back(step ? number(3) : 0);
    problem.crossingBytes.push_back(step ? number(100) : 0);
    problem.mayCut.push_back(step && number(3) != 0);
  }
  return problem;
}

/// The longest stage and the bytes that cross; nullopt if the cuts are not allowed.
std::optional<std::pair<double, int64_t>> judge(const CutProblem &problem, const std::vector<unsigned> &cuts) {
  double longest = 0;
  int64_t crossing = 0;
  size_t first = 0;
  for (size_t stage = 0; stage <= cuts.size(); ++stage) {
    size_t last = stage < cuts.size() ? cuts[stage] : problem.time.size();
    int64_t weights = 0, live = 0;
    bool hasKernel = false;
    for (size_t step = first; step < last; ++step) {
      weights += problem.weightsBytes[step];
      live = std::max(live, problem.liveBytes[step]);
      hasKernel = hasKernel || problem.hasKernel[step];
    }
    if (!hasKernel || weights + live > problem.mostBytes || (first && !problem.mayCut[first]))
      return std::nullopt;
    longest = std::max(longest, problem.estimateTime(first, last));
    crossing += first ? problem.crossingBytes[first] : 0;
    first = last;
  }
  return std::make_pair(longest, crossing);
}

void forEachCut(size_t steps, unsigned stages, std::vector<unsigned> &cuts, const std::function<void()> &call) {
  if (cuts.size() + 1 == stages)
    return call();
  for (unsigned cut = cuts.empty() ? 1 : cuts.back() + 1; cut < steps; ++cut) {
    cuts.push_back(cut);
    forEachCut(steps, stages, cuts, call);
    cuts.pop_back();
  }
}

TEST(CutChoice, IsTheBestOfAll) {
  std::mt19937 random(7);
  unsigned solved = 0, refused = 0, bounded = 0;
  for (int round = 0; round < 2000; ++round) {
    CutProblem problem = makeProblem(random, 2 + random() % 9);
    unsigned stages = 1 + random() % 4;
    if (round % 2)
      problem.mostBytes = 40 + random() % 200;
    double longest = INFINITY;
    std::vector<unsigned> cuts;
    forEachCut(problem.time.size(), stages, cuts, [&] {
      if (auto found = judge(problem, cuts))
        longest = std::min(longest, found->first);
    });
    auto chosen = chooseCuts(problem, stages);
    ASSERT_EQ(chosen.has_value(), longest < INFINITY);
    if (!chosen) {
      ++refused;
      continue;
    }
    int64_t fewest = INT64_MAX;
    forEachCut(problem.time.size(), stages, cuts, [&] {
      if (auto found = judge(problem, cuts); found && found->first <= longest * balanceSlack)
        fewest = std::min(fewest, found->second);
    });
    auto got = judge(problem, *chosen);
    ASSERT_TRUE(got.has_value());
    EXPECT_LE(got->first, longest * balanceSlack + 1e-9);
    EXPECT_EQ(got->second, fewest);
    ++solved;
    bounded += problem.mostBytes < INT64_MAX;
  }
  EXPECT_GT(solved, 500u);
  EXPECT_GT(refused, 100u);
  EXPECT_GT(bounded, 100u);
}

TEST(CutChoice, TakesLongLines) {
  std::mt19937 random(1);
  CutProblem problem = makeProblem(random, 5000);
  auto cuts = chooseCuts(problem, 8);
  ASSERT_TRUE(cuts.has_value());
  EXPECT_EQ(cuts->size(), 7u);
  EXPECT_TRUE(judge(problem, *cuts).has_value());
}

} // namespace
