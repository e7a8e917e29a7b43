// How much of the machine the probe of kiln bench may take.
#include "compiler/run/MachineProbe.h"
#include <gtest/gtest.h>

using namespace kiln;

TEST(MachineProbe, TakesAPartOfTheMachine) {
  constexpr int64_t mebibyte = 1 << 20, gibibyte = 1 << 30;
  for (int64_t threads : {1, 2, 8, 10, 11, 64, 240, 1024})
    for (int64_t cpus : {1, 2, 64, 240})
      for (int64_t memory : {mebibyte, 256 * mebibyte, 4 * gibibyte, 512 * gibibyte}) {
        ProbeSize size = chooseProbe(threads, cpus, memory);
        EXPECT_LE(size.threads, std::min(threads, cpus));
        EXPECT_LE(size.threads * size.bytesEach, std::min(gibibyte, memory / 4)) << threads << " " << cpus << " " << memory;
        EXPECT_GT(size.bytesEach, 0);
      }
  EXPECT_EQ(chooseProbe(2, 2, 16 * gibibyte).bytesEach, 384 * mebibyte);
  EXPECT_EQ(chooseProbe(0, 0, 16 * gibibyte).threads, 1);
}
