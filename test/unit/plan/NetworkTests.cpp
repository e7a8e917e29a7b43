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
  std::vector<ExchangeStep> small = allReduceSteps(Algorithms::Direct, 1, {0, 1, 2}, 16384), large = allReduceSteps(Algorithms::Direct, 1, {0, 1, 2}, 16386);
  ASSERT_EQ(small.size(), 1u);
  EXPECT_EQ(small[0].others, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(small[0].bytes, 16384);
  EXPECT_TRUE(small[0].reduces);
  ASSERT_EQ(large.size(), 2u);
  EXPECT_EQ(large[0].bytes, 5462);
  EXPECT_TRUE(large[0].reduces);
  EXPECT_FALSE(large[1].reduces);
  EXPECT_EQ(countBytes(large[1]), 2 * 5462);
}

std::vector<double> sizesOf(const std::vector<ExchangeStep> &steps) {
  std::vector<double> sizes;
  for (const ExchangeStep &step : steps) {
    EXPECT_EQ(step.others.size(), 1u);
    sizes.push_back(step.bytes);
  }
  return sizes;
}

TEST(Network, PartsGoAroundARing) {
  std::vector<ExchangeStep> sum = allReduceSteps(Algorithms::Ring, 3, {0, 1, 2, 3}, 400);
  EXPECT_EQ(sizesOf(sum), std::vector<double>(6, 100));
  EXPECT_EQ(sum[0].others[0], 0);
  EXPECT_TRUE(sum[2].reduces);
  EXPECT_FALSE(sum[3].reduces);
  EXPECT_EQ(sizesOf(allGatherSteps(Algorithms::Ring, 0, {0, 1, 2}, 100)), std::vector<double>(2, 100));
  EXPECT_EQ(sizesOf(reduceScatterSteps(Algorithms::Ring, 0, {0, 1, 2}, 100)), std::vector<double>(2, 100));
  EXPECT_EQ(sizesOf(allToAllSteps(Algorithms::Ring, 0, {0, 1, 2}, 100)), std::vector<double>(2, 100));
}

TEST(Network, DistancesDouble) {
  std::vector<int32_t> eight = {0, 1, 2, 3, 4, 5, 6, 7}, five = {0, 1, 2, 3, 4};
  EXPECT_EQ(sizesOf(allReduceSteps(Algorithms::Doubling, 0, eight, 400)), std::vector<double>(3, 400));
  std::vector<ExchangeStep> gather = allGatherSteps(Algorithms::Doubling, 5, eight, 100);
  EXPECT_EQ(sizesOf(gather), (std::vector<double>{100, 200, 400}));
  EXPECT_EQ(gather[0].others[0], 4);
  EXPECT_EQ(gather[2].others[0], 1);
  // Of five ranks, the last step has what is missing.
  gather = allGatherSteps(Algorithms::Doubling, 3, five, 100);
  EXPECT_EQ(sizesOf(gather), (std::vector<double>{100, 200, 100}));
  EXPECT_EQ(gather[1].others[0], 0);
  EXPECT_EQ(sizesOf(allToAllSteps(Algorithms::Doubling, 0, eight, 100)), std::vector<double>(3, 400));
}

TEST(Network, ImplementationsOfMpiChooseBySize) {
  std::vector<int32_t> four = {0, 1, 2, 3};
  EXPECT_EQ(sizesOf(allReduceSteps(Algorithms::Mpi, 0, four, 2048)), (std::vector<double>{2048, 2048}));
  EXPECT_EQ(sizesOf(allReduceSteps(Algorithms::Mpi, 0, four, 4096)), (std::vector<double>{1024, 2048, 1024, 2048}));
  EXPECT_EQ(allGatherSteps(Algorithms::Mpi, 0, four, 1000).size(), 2u);
  EXPECT_EQ(allGatherSteps(Algorithms::Mpi, 0, four, 1 << 20).size(), 3u);
  EXPECT_EQ(allToAllSteps(Algorithms::Mpi, 0, four, 256).size(), 2u);
  EXPECT_EQ(allToAllSteps(Algorithms::Mpi, 0, four, 257).size(), 1u);
  EXPECT_EQ(allToAllSteps(Algorithms::Mpi, 0, four, 1 << 20).size(), 3u);
  for (Algorithms each : {Algorithms::Direct, Algorithms::Ring, Algorithms::Doubling, Algorithms::Mpi})
    EXPECT_TRUE(allReduceSteps(each, 7, {7}, 100).empty() && allGatherSteps(each, 7, {7}, 100).empty() && allToAllSteps(each, 7, {7}, 100).empty());
}

TEST(Network, AStepHasTheLatencyOnceAndItsMessagesOneAfterTheOther) {
  std::vector<ExchangeStep> gather = allGatherSteps(Algorithms::Direct, 0, {0, 1, 2, 3}, 200), scatter = reduceScatterSteps(Algorithms::Direct, 0, {0, 1, 2, 3}, 200);
  EXPECT_DOUBLE_EQ(predictSeconds(gather[0], 0, onOneMachine(4)), 1 + 2 * 0.1 + 3 * 200 / 100.0);
  EXPECT_DOUBLE_EQ(predictSeconds(scatter[0], 0, onOneMachine(4)), 1 + 2 * 0.1 + 3 * 200 / 50.0);
  EXPECT_DOUBLE_EQ(predictSeconds(pairSteps(3, 200)[0], 0, onOneMachine(4)), 1 + 200 / 100.0);
}

TEST(Network, RanksOfAMachineShareItsConnection) {
  Placement placement = onOneMachine(4);
  placement.ranksPerMachine = 2;
  placement.between = {10, 0, 1000, 1000};
  // One neighbour, and two ranks of the other machine, to which both ranks of this one send.
  EXPECT_DOUBLE_EQ(predictSeconds(allGatherSteps(Algorithms::Direct, 0, {0, 1, 2, 3}, 200)[0], 0, placement), 10 + 0.1 + 200 / 100.0 + 2 * 2 * 200 / 1000.0);
  // Ranks 1 and 2 are on different machines, and all wait for them.
  EXPECT_DOUBLE_EQ(predictSeconds(pairSteps(1, 200)[0], 0, placement), 10 + 200 / 1000.0);
}

TEST(Network, RanksBeyondTheCoresTakeTurns) {
  Placement placement = onOneMachine(4);
  placement.running = 2;
  placement.turn = 5;
  EXPECT_DOUBLE_EQ(placement.countTurns(), 2);
  EXPECT_DOUBLE_EQ(predictSeconds(allGatherSteps(Algorithms::Direct, 0, {0, 1, 2, 3}, 200)[0], 0, placement), 1 + 2 * (2 * 0.1 + 3 * 200 / 100.0) + 5);
}

TEST(Network, LongMessagesHaveABandwidthOfTheirOwn) {
  Placement placement = onOneMachine(2);
  placement.inside.longBytesPerSecond = 40;
  EXPECT_DOUBLE_EQ(predictSeconds(pairSteps(1, longMessage)[0], 0, placement), 1 + longMessage / 100);
  EXPECT_DOUBLE_EQ(predictSeconds(pairSteps(1, longMessage + 400)[0], 0, placement), 1 + longMessage / 100 + 400 / 40.0);
  // Not if it would be the faster one.
  placement.inside.longBytesPerSecond = 400;
  EXPECT_DOUBLE_EQ(predictSeconds(pairSteps(1, longMessage + 400)[0], 0, placement), 1 + (longMessage + 400) / 100);
}

TEST(Network, AFitFindsTheNumbersOfExactTimes) {
  CallTimes times;
  times["stream"][8] = 0.05;
  Placement placement = onOneMachine(4);
  placement.inside.longBytesPerSecond = 30;
  for (int64_t bytes = 8; bytes <= 1 << 21; bytes *= 8) {
    times["exchange"][bytes] = predictCall("exchange", bytes, placement);
    times["reduce_scatter"][bytes] = predictCall("reduce_scatter", bytes, placement);
  }
  Link fitted = fitLink(times, 4);
  EXPECT_NEAR(fitted.latency, 1, 1e-6);
  EXPECT_NEAR(fitted.message, 0.1, 1e-6);
  EXPECT_NEAR(fitted.bytesPerSecond, 100, 1e-4);
  EXPECT_NEAR(fitted.reducedBytesPerSecond, 50, 1e-4);
  EXPECT_NEAR(fitted.longBytesPerSecond, 30, 1e-4);
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
