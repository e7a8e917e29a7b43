// The times of runs, and when they say that the machine did something else.
#include "compiler/run/Latency.h"
#include <gtest/gtest.h>

using namespace kiln;

TEST(Latency, Summarizes) {
  Latency latency = summarize({3, 1, 2, 10});
  EXPECT_EQ(latency.median, 2.5);
  EXPECT_EQ(latency.min, 1);
  EXPECT_EQ(latency.p95, 10);
  EXPECT_EQ(latency.runs, 4u);
  EXPECT_EQ(findMedian({}), 0);
  EXPECT_EQ(findMedian({5, 1, 3}), 3);
}

TEST(Latency, SaysThatAMachineIsNoisy) {
  EXPECT_EQ(describeNoise(summarize({1, 1.02, 1.05, 2, 1.01})), "");
  EXPECT_EQ(describeNoise(summarize({1, 1.25, 1.3, 1.2, 2})).find("the machine is noisy: half of the runs took 25 % longer than the fastest"), 0u);
  // A clock tells nothing of runs this short.
  EXPECT_EQ(describeNoise(summarize({0.001, 0.002, 0.003})), "");
}
