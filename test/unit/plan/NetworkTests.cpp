//===- NetworkTests.cpp - What calls of a communicator take ------------------===//
#include "compiler/plan/NetworkProbe.h"
#include "kiln/ranks.h"
#include <gtest/gtest.h>
#include <thread>

using namespace kiln;

namespace {

/// Times that are easy to add: 1 s for a step, 0.1 s for a further message, 100 bytes a second, 50 with a reduction.
constexpr Link link = {1, 0.1, 100, 50};

Placement onOneMachine(int64_t ranks) {
  Placement placement;
  placement.ranks = placement.ranksPerMachine = ranks;
  placement.running = double(ranks);
  placement.inside = link;
  return placement;
}

TEST(Network, SmallReductionsTakeOneStepAndLargeOnesTwo) {
  std::vector<ExchangeStep> small = allReduceSteps(1, {0, 1, 2}, 16384), large = allReduceSteps(1, {0, 1, 2}, 16386);
  ASSERT_EQ(small.size(), 1u);
  EXPECT_EQ(small[0].others, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(small[0].bytes, 16384);
  EXPECT_TRUE(small[0].reduces);
  ASSERT_EQ(large.size(), 2u);
  EXPECT_EQ(large[0].bytes, 5462);
  EXPECT_TRUE(large[0].reduces);
  EXPECT_FALSE(large[1].reduces);
  EXPECT_EQ(countBytes(large[1]), 2 * 5462);
  EXPECT_TRUE(allReduceSteps(0, {0}, 8).empty());
}

TEST(Network, AStepHasTheLatencyOnceAndItsMessagesOneAfterTheOther) {
  std::vector<ExchangeStep> gather = gatherSteps(0, {0, 1, 2, 3}, 200), scatter = reduceScatterSteps(0, {0, 1, 2, 3}, 200);
  EXPECT_DOUBLE_EQ(predictSeconds(gather[0], 0, onOneMachine(4)), 1 + 2 * 0.1 + 3 * 200 / 100.0);
  EXPECT_DOUBLE_EQ(predictSeconds(scatter[0], 0, onOneMachine(4)), 1 + 2 * 0.1 + 3 * 200 / 50.0);
  EXPECT_DOUBLE_EQ(predictSeconds(pairSteps(3, 200)[0], 0, onOneMachine(4)), 1 + 200 / 100.0);
}

TEST(Network, RanksOfAMachineShareItsConnection) {
  Placement placement = onOneMachine(4);
  placement.ranksPerMachine = 2;
  placement.between = {10, 0, 1000, 1000};
  // One neighbour, and two ranks of the other machine, to which both ranks of this one send.
  EXPECT_DOUBLE_EQ(predictSeconds(gatherSteps(0, {0, 1, 2, 3}, 200)[0], 0, placement), 10 + 0.1 + 200 / 100.0 + 2 * 2 * 200 / 1000.0);
  // Ranks 1 and 2 are on different machines, and all wait for them.
  EXPECT_DOUBLE_EQ(predictSeconds(pairSteps(1, 200)[0], 0, placement), 10 + 200 / 1000.0);
}

TEST(Network, RanksBeyondTheCoresTakeTurns) {
  Placement placement = onOneMachine(4);
  placement.running = 2;
  placement.turn = 5;
  EXPECT_DOUBLE_EQ(placement.countTurns(), 2);
  EXPECT_DOUBLE_EQ(predictSeconds(gatherSteps(0, {0, 1, 2, 3}, 200)[0], 0, placement), 1 + 2 * (2 * 0.1 + 3 * 200 / 100.0) + 5);
}

TEST(Network, AFitFindsTheNumbersOfExactTimes) {
  CallTimes times;
  times["stream"][8] = 0.05;
  for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 8) {
    times["exchange"][bytes] = predictCall("exchange", bytes, onOneMachine(4));
    times["reduce_scatter"][bytes] = predictCall("reduce_scatter", bytes, onOneMachine(4));
  }
  Link fitted = fitLink(times, 4);
  EXPECT_NEAR(fitted.latency, 1, 1e-6);
  EXPECT_NEAR(fitted.message, 0.1, 1e-6);
  EXPECT_NEAR(fitted.bytesPerSecond, 100, 1e-4);
  EXPECT_NEAR(fitted.reducedBytesPerSecond, 50, 1e-4);
}

TEST(Network, AProbeTimesEveryCallOfThreads) {
  kiln_local_ranks *ranks = nullptr;
  ASSERT_EQ(kiln_local_ranks_create(2, 0, &ranks), KILN_STATUS_OK);
  CallTimes times[2];
  auto probe = [&](int32_t rank) { EXPECT_EQ(probeNetwork(*kiln_local_ranks_get(ranks, rank), 1e-4, 512, times[rank]), KILN_STATUS_OK); };
  std::thread other(probe, 1);
  probe(0);
  other.join();
  kiln_local_ranks_destroy(ranks);
  for (const char *call : {"message", "exchange", "all_reduce", "reduce_scatter", "all_gather", "all_to_all"}) {
    ASSERT_EQ(times[0][call].size(), 3u) << call;
    EXPECT_GT(times[0][call][512], 0) << call;
    EXPECT_EQ(times[0][call][512], times[1][call][512]) << call;
  }
  Link fitted = fitLink(times[0], 2);
  EXPECT_GE(fitted.latency, 0);
  EXPECT_GT(fitted.bytesPerSecond, 0);
  EXPECT_GT(fitted.reducedBytesPerSecond, 0);
}

} // namespace
