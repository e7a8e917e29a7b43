//===- PredictionTests.cpp - What a run takes on some ranks ------------------===//
#include "compiler/plan/Chart.h"
#include "compiler/plan/Prediction.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

/// A kernel of a second with 1000 bytes of weights, and one of two seconds with none.
RankPart makePart(int64_t ranks) {
  RankPart part;
  part.ranks = ranks;
  part.kernels = {{1, 1000, 0}, {2, 0, 0}};
  part.weights = 1000;
  return part;
}

PlanMachine makeMachine(int64_t cores, int64_t ranksPerMachine) {
  PlanMachine machine;
  machine.cores = cores;
  machine.ranksPerMachine = ranksPerMachine;
  machine.memoryOfOne = 1000, machine.memoryOfAll = 1500;
  machine.inside = machine.between = Link{0, 0, 1, 1};
  return machine;
}

TEST(Prediction, RanksOfAMachineShareItsMemory) {
  EXPECT_DOUBLE_EQ(predictRow(makePart(1), makeMachine(4, 4)).compute, 3);
  // Two ranks read 2000 bytes at 1500 bytes per second; the other kernel reads none.
  PlanRow two = predictRow(makePart(2), makeMachine(4, 4));
  EXPECT_DOUBLE_EQ(two.compute, 2000 / 1500.0 + 2);
  EXPECT_DOUBLE_EQ(two.memoryShare, 2000 / 1500.0 / two.compute);
  // Each on its own machine.
  EXPECT_DOUBLE_EQ(predictRow(makePart(2), makeMachine(4, 1)).compute, 3);
}

TEST(Prediction, WeightsThatStayInTheCacheAreNotReadFromMemory) {
  PlanMachine machine = makeMachine(4, 4);
  machine.cacheBytes = 2 * 2 * 1000;
  EXPECT_DOUBLE_EQ(predictRow(makePart(2), machine).compute, 3);
  EXPECT_GT(predictRow(makePart(3), machine).compute, 3);
}

TEST(Prediction, AKernelReadsNoMoreThanItsTimeAllows) {
  RankPart part = makePart(2);
  // A gather of some rows of a large table: both ranks read at most what a core could in a microsecond.
  part.kernels = {{1e-6, 0, 1e9}};
  EXPECT_DOUBLE_EQ(predictRow(part, makeMachine(4, 4)).compute, 2 * 5e5 / 1500.0);
}

TEST(Prediction, RanksBeyondTheCoresTakeTurns) {
  PlanRow row = predictRow(makePart(4), makeMachine(2, 4));
  EXPECT_DOUBLE_EQ(row.turns, 2);
  EXPECT_DOUBLE_EQ(row.compute, 4000 / 1500.0 + 4);
}

TEST(Prediction, CoresAreSlowerWhenAllOfThemCompute) {
  PlanMachine machine = makeMachine(3, 3);
  machine.cacheBytes = 1e9;
  machine.busySpeed = 0.5;
  machine.speed = 2;
  EXPECT_DOUBLE_EQ(predictRow(makePart(1), machine).compute, 1.5);
  EXPECT_DOUBLE_EQ(predictRow(makePart(2), machine).compute, 1.5 / 0.75);
  EXPECT_DOUBLE_EQ(predictRow(makePart(3), machine).compute, 3);
}

PlanRow rowOf(int64_t ranks, double seconds) {
  PlanRow row;
  row.ranks = ranks;
  row.compute = seconds;
  return row;
}

TEST(Prediction, RanksPayAsLongAsEachDoublingGains) {
  EXPECT_EQ(findPayingRanks({rowOf(1, 8), rowOf(2, 4.5), rowOf(4, 3), rowOf(8, 2.9), rowOf(16, 1)}), 4);
  // Two doublings at once, each by 1.5.
  EXPECT_EQ(findPayingRanks({rowOf(1, 9), rowOf(4, 4)}), 4);
  EXPECT_EQ(findPayingRanks({rowOf(1, 9), rowOf(4, 6)}), 1);
}

TEST(Chart, NamesAreEscapedAndOneRowIsEnough) {
  std::string picture = drawPlan("a<b", {{"x & y", {rowOf(4, 1)}}});
  EXPECT_NE(picture.find("a&lt;b"), std::string::npos);
  EXPECT_NE(picture.find("x &amp; y"), std::string::npos);
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(picture.find("inf"), std::string::npos);
}

} // namespace
