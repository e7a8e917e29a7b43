#include "MergedCases.h"
#include "kiln/ranks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace {

using kiln_test::MergedCases;
using kiln_test::RankCases;
using Clock = std::chrono::steady_clock;

const int64_t longDeadline = int64_t(60) * 1000000000, shortDeadline = 200000000;
const uint8_t fingerprint[16] = {7};

/// Ranks as threads, each with what its function returns.
struct Ranks {
  explicit Ranks(int32_t size, int64_t deadline = longDeadline) : size(size) {
    EXPECT_EQ(kiln_local_ranks_create(size, deadline, &ranks), KILN_STATUS_OK);
    for (int32_t rank = 0; rank < size; ++rank)
      all.push_back(rank);
  }
  ~Ranks() { kiln_local_ranks_destroy(ranks); }

  using Work = std::function<kiln_status(const kiln_communicator &, const kiln_ranks &)>;
  std::vector<kiln_status> run(const Work &work) {
    std::vector<kiln_status> statuses(static_cast<size_t>(size));
    std::vector<std::thread> threads;
    Clock::time_point begin = Clock::now();
    for (int32_t rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        kiln_ranks group = {all.data(), size, rank};
        statuses[size_t(rank)] = work(*kiln_local_ranks_get(ranks, rank), group);
      });
    for (std::thread &thread : threads)
      thread.join();
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return statuses;
  }

  int32_t size;
  kiln_local_ranks *ranks = nullptr;
  std::vector<int32_t> all;
  double seconds = 0;
};

std::vector<kiln_status> fill(size_t size, kiln_status status) { return std::vector<kiln_status>(size, status); }

kiln_status reduce(const kiln_communicator &c, const kiln_ranks &group, int64_t count, int32_t type = KILN_ELEMENT_F32, int32_t reduction = KILN_REDUCE_SUM) {
  // The memory is gone when the call has returned: what a late rank reads there, sanitizers see.
  std::unique_ptr<float[]> data(new float[size_t(count)]());
  return c.all_reduce(c.user, &group, data.get(), count, type, reduction);
}

class RanksOf : public testing::TestWithParam<int32_t> {};

TEST_P(RanksOf, GiveTheBitsOfAPlainComputation) {
  Ranks ranks(GetParam());
  std::vector<std::string> wrong(static_cast<size_t>(GetParam()));
  ranks.run([&](const kiln_communicator &c, const kiln_ranks &) {
    wrong[size_t(c.rank)] = RankCases(c).run(GetParam() <= 3 ? std::vector<int64_t>{0, 1, 17001} : std::vector<int64_t>{7, 4100}, 100000);
    return KILN_STATUS_OK;
  });
  for (const std::string &text : wrong)
    EXPECT_EQ(text, "");
}

TEST_P(RanksOf, GiveTheSameBitsForMergedCalls) {
  Ranks ranks(GetParam());
  std::vector<std::string> wrong(static_cast<size_t>(GetParam()));
  ranks.run([&](const kiln_communicator &c, const kiln_ranks &) {
    wrong[size_t(c.rank)] = MergedCases(c).run({1, 0, 900, 33});
    if (wrong[size_t(c.rank)].empty())
      wrong[size_t(c.rank)] = MergedCases(c).run({6001, 7, 4000});
    return KILN_STATUS_OK;
  });
  for (const std::string &text : wrong)
    EXPECT_EQ(text, "");
}

INSTANTIATE_TEST_SUITE_P(Sizes, RanksOf, testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

TEST(Ranks, SayWhoTheyAre) {
  Ranks ranks(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    const kiln_communicator *c = kiln_local_ranks_get(ranks.ranks, rank);
    EXPECT_EQ(c->rank, rank);
    EXPECT_EQ(c->size, 3);
    EXPECT_EQ(c->deadline_ns, longDeadline);
    EXPECT_EQ(c->abi_version, uint32_t(KILN_ABI_VERSION));
    EXPECT_EQ(c->struct_size, sizeof(kiln_communicator));
  }
  EXPECT_EQ(kiln_local_ranks_get(ranks.ranks, 3), nullptr);
  EXPECT_EQ(kiln_local_ranks_get(ranks.ranks, -1), nullptr);
  EXPECT_EQ(kiln_local_ranks_get(nullptr, 0), nullptr);
}

TEST(Ranks, AreNotMadeOfWrongArguments) {
  kiln_local_ranks *ranks = nullptr;
  EXPECT_EQ(kiln_local_ranks_create(0, 0, &ranks), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_local_ranks_create(KILN_LOCAL_RANKS_MAX + 1, 0, &ranks), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_local_ranks_create(2, -1, &ranks), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_local_ranks_create(2, 0, nullptr), KILN_STATUS_NULL_POINTER);
  kiln_local_ranks_reset(nullptr);
  kiln_local_ranks_destroy(nullptr);
}

TEST(Ranks, RefuseWrongArgumentsAndGoOn) {
  Ranks ranks(2, 0);
  ranks.run([&](const kiln_communicator &c, const kiln_ranks &group) {
    float data[4] = {};
    int32_t turned[] = {1, 0}, beyond[] = {0, 2}, none[] = {-1, 1};
    auto reduceIn = [&](const int32_t *in, int32_t count, int32_t index) {
      kiln_ranks other = {in, count, index};
      return c.all_reduce(c.user, &other, data, 4, KILN_ELEMENT_F32, KILN_REDUCE_SUM);
    };
    EXPECT_EQ(reduceIn(turned, 2, 1 - c.rank), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(reduceIn(c.rank ? none : beyond, 2, c.rank), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(reduceIn(ranks.all.data(), 2, 1 - c.rank), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(reduceIn(ranks.all.data(), 3, 0), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(reduceIn(ranks.all.data(), 0, 0), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(reduceIn(ranks.all.data(), 2, 2), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(reduceIn(nullptr, 2, 0), KILN_STATUS_NULL_POINTER);
    EXPECT_EQ(c.all_reduce(c.user, nullptr, data, 4, KILN_ELEMENT_F32, KILN_REDUCE_SUM), KILN_STATUS_NULL_POINTER);
    EXPECT_EQ(c.all_reduce(c.user, &group, nullptr, 4, KILN_ELEMENT_F32, KILN_REDUCE_SUM), KILN_STATUS_NULL_POINTER);
    EXPECT_EQ(reduce(c, group, -1 + 1, KILN_ELEMENT_STRING), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(reduce(c, group, 1, KILN_ELEMENT_F32, 4), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(reduce(c, group, 1, KILN_ELEMENT_BOOL, KILN_REDUCE_SUM), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(c.all_reduce(c.user, &group, data, -1, KILN_ELEMENT_F32, KILN_REDUCE_SUM), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(c.all_reduce(c.user, &group, data, INT64_MAX / 4, KILN_ELEMENT_F32, KILN_REDUCE_SUM), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(c.reduce_scatter(c.user, &group, data, nullptr, 2, KILN_ELEMENT_F32, KILN_REDUCE_SUM), KILN_STATUS_NULL_POINTER);
    EXPECT_EQ(c.all_gather(c.user, &group, data, nullptr, 2), KILN_STATUS_NULL_POINTER);
    EXPECT_EQ(c.all_to_all(c.user, &group, data, nullptr, 2), KILN_STATUS_NULL_POINTER);
    EXPECT_EQ(c.send(c.user, -1, data, 4), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(c.send(c.user, 2, data, 4), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(c.send(c.user, c.rank, data, 4), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(c.receive(c.user, -1, data, 4), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(c.receive(c.user, 1 - c.rank, nullptr, 4), KILN_STATUS_NULL_POINTER);
    EXPECT_EQ(c.exchange(c.user, c.rank, data, 4, c.rank, data, 8), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(c.exchange(c.user, 1 - c.rank, data, -1, -1, nullptr, 0), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(c.exchange(c.user, -1, nullptr, -1, -1, nullptr, -1), KILN_STATUS_OK);
    EXPECT_EQ(c.begin(c.user, nullptr), KILN_STATUS_NULL_POINTER);
    EXPECT_EQ(reduce(c, group, 4), KILN_STATUS_OK);
    return KILN_STATUS_OK;
  });
}

TEST(Ranks, OfALateOneReturnBeforeIt) {
  for (int64_t count : {4, 100000}) {
    Ranks ranks(4, shortDeadline);
    auto statuses = ranks.run([&](const kiln_communicator &c, const kiln_ranks &group) {
      if (c.rank == 2)
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
      Clock::time_point begin = Clock::now();
      kiln_status status = reduce(c, group, count);
      EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(450)) << c.rank;
      // Every call after it fails in the same way, at once.
      begin = Clock::now();
      EXPECT_EQ(reduce(c, group, count), status);
      EXPECT_EQ(c.begin(c.user, fingerprint), status);
      EXPECT_EQ(c.end(c.user, KILN_STATUS_OK), status);
      EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(150)) << c.rank;
      return status;
    });
    EXPECT_EQ(statuses, fill(4, KILN_STATUS_PEER_LATE));
  }
}

TEST(Ranks, OfOneThatLeavesReturnBeforeTheDeadline) {
  Ranks ranks(3, shortDeadline);
  for (int repetition = 0; repetition < 3; ++repetition) {
    auto statuses = ranks.run([&](const kiln_communicator &c, const kiln_ranks &group) {
      kiln_status status = c.begin(c.user, fingerprint);
      if (status || c.rank == 1)
        return status; // without a word
      status = reduce(c, group, 1000);
      return c.end(c.user, status);
    });
    EXPECT_EQ(statuses, (std::vector<kiln_status>{KILN_STATUS_PEER_LATE, KILN_STATUS_OK, KILN_STATUS_PEER_LATE}));
    EXPECT_LT(ranks.seconds, 1.0);
    kiln_local_ranks_reset(ranks.ranks);
  }
  EXPECT_EQ(ranks.run([](const kiln_communicator &c, const kiln_ranks &group) { return reduce(c, group, 1000); }), fill(3, KILN_STATUS_OK));
}

TEST(Ranks, WithOtherSizesTypesOrCallsMismatch) {
  Ranks ranks(3);
  using Work = Ranks::Work;
  const std::vector<Work> different = {
      [](const kiln_communicator &c, const kiln_ranks &group) { return reduce(c, group, 7); },
      [](const kiln_communicator &c, const kiln_ranks &group) { return reduce(c, group, 100000); },
      [](const kiln_communicator &c, const kiln_ranks &group) { return reduce(c, group, 8, KILN_ELEMENT_I32); },
      [](const kiln_communicator &c, const kiln_ranks &group) { return reduce(c, group, 8, KILN_ELEMENT_F32, KILN_REDUCE_MAX); },
      [](const kiln_communicator &c, const kiln_ranks &) { return c.begin(c.user, fingerprint); },
      [](const kiln_communicator &c, const kiln_ranks &group) {
        char part[32] = {}, whole[96];
        return c.all_gather(c.user, &group, part, whole, 32);
      },
      [](const kiln_communicator &c, const kiln_ranks &) {
        char data[32] = {};
        return c.exchange(c.user, 0, data, 32, 0, data, 32);
      }};
  for (size_t i = 0; i < different.size(); ++i) {
    auto statuses = ranks.run(
        [&](const kiln_communicator &c, const kiln_ranks &group) { return c.rank == 1 ? different[i](c, group) : reduce(c, group, 8); });
    EXPECT_EQ(statuses, fill(3, KILN_STATUS_RANKS_MISMATCH)) << i;
    kiln_local_ranks_reset(ranks.ranks);
  }
  // A rank that has nothing to do with the two that differ learns of it, too.
  auto statuses = ranks.run([&](const kiln_communicator &c, const kiln_ranks &) {
    char data[8] = {};
    return c.rank == 0   ? c.send(c.user, 1, data, 8)
           : c.rank == 1 ? c.receive(c.user, 0, data, 4)
                         : c.receive(c.user, 0, data, 8);
  });
  EXPECT_EQ(statuses, fill(3, KILN_STATUS_RANKS_MISMATCH));
}

// Several calls as one, of as many bytes in all on each rank.
TEST(Ranks, WithOtherSizesOfWhatIsMergedMismatch) {
  Ranks ranks(2);
  const std::vector<std::vector<int64_t>> others = {{4, 8}, {12}, {8, 4, 0}, {8, 0, 4}};
  for (int32_t kind : {KILN_EXCHANGE_PAIR, KILN_EXCHANGE_ALL_GATHER, KILN_EXCHANGE_ALL_TO_ALL, KILN_EXCHANGE_ALL_REDUCE, KILN_EXCHANGE_REDUCE_SCATTER})
    for (const std::vector<int64_t> &other : others) {
      auto statuses = ranks.run([&](const kiln_communicator &c, const kiln_ranks &group) {
        std::vector<float> given(100), taken(100);
        std::vector<kiln_exchange> calls;
        for (int64_t count : c.rank == 1 ? other : std::vector<int64_t>{8, 4})
          calls.push_back({kind, KILN_ELEMENT_F32, KILN_REDUCE_SUM, 1 - c.rank, 1 - c.rank, 0, &group, given.data(), taken.data(), count, count});
        return c.merged(c.user, calls.data(), int32_t(calls.size()), 0);
      });
      EXPECT_EQ(statuses, fill(2, KILN_STATUS_RANKS_MISMATCH)) << kind << ", " << other.size();
      kiln_local_ranks_reset(ranks.ranks);
    }
}

TEST(Ranks, WithOtherFingerprintsMismatchAndCanGoOn) {
  Ranks ranks(4);
  auto statuses = ranks.run([](const kiln_communicator &c, const kiln_ranks &) {
    uint8_t mine[16] = {};
    mine[15] = uint8_t(c.rank == 3);
    kiln_status status = c.begin(c.user, mine);
    EXPECT_EQ(c.end(c.user, status), status);
    return status;
  });
  EXPECT_EQ(statuses, fill(4, KILN_STATUS_RANKS_MISMATCH));
  statuses = ranks.run([](const kiln_communicator &c, const kiln_ranks &) {
    kiln_status status = c.begin(c.user, fingerprint);
    return status ? status : c.end(c.user, KILN_STATUS_OK);
  });
  EXPECT_EQ(statuses, fill(4, KILN_STATUS_OK));
}

TEST(Ranks, LearnOfAnErrorAtTheEndAndCanGoOn) {
  Ranks ranks(3);
  for (int repetition = 0; repetition < 2; ++repetition) {
    auto statuses = ranks.run([](const kiln_communicator &c, const kiln_ranks &group) {
      if (kiln_status status = c.begin(c.user, fingerprint))
        return status;
      EXPECT_EQ(reduce(c, group, 10), KILN_STATUS_OK);
      return c.end(c.user, c.rank == 1 ? KILN_STATUS_INDEX_OUT_OF_BOUNDS : KILN_STATUS_OK);
    });
    EXPECT_EQ(statuses, (std::vector<kiln_status>{KILN_STATUS_PEER_FAILED, KILN_STATUS_INDEX_OUT_OF_BOUNDS, KILN_STATUS_PEER_FAILED}));
  }
}

TEST(Ranks, LearnOfAnErrorWhileTheyWait) {
  Ranks ranks(3);
  auto statuses = ranks.run([](const kiln_communicator &c, const kiln_ranks &group) {
    if (kiln_status status = c.begin(c.user, fingerprint))
      return status;
    return c.end(c.user, c.rank == 1 ? KILN_STATUS_OUT_OF_MEMORY : reduce(c, group, 10));
  });
  EXPECT_EQ(statuses, (std::vector<kiln_status>{KILN_STATUS_PEER_FAILED, KILN_STATUS_OUT_OF_MEMORY, KILN_STATUS_PEER_FAILED}));
  EXPECT_LT(ranks.seconds, 30.0); // long before the deadline
}

TEST(Ranks, ThatEndWhileOthersGoOnMismatch) {
  Ranks ranks(2);
  auto statuses = ranks.run([](const kiln_communicator &c, const kiln_ranks &group) {
    if (kiln_status status = c.begin(c.user, fingerprint))
      return status;
    return c.end(c.user, c.rank == 1 ? KILN_STATUS_OK : reduce(c, group, 10));
  });
  EXPECT_EQ(statuses, fill(2, KILN_STATUS_RANKS_MISMATCH));
}

// Ranks that come at any time around the deadline: whoever fails, nobody hangs, and whoever returns OK has the sum.
TEST(Ranks, ThatComeNearTheDeadlineGetAllOrNothing) {
  Ranks ranks(2, 2000000);
  for (int repetition = 0; repetition < 60; ++repetition) {
    ranks.run([&](const kiln_communicator &c, const kiln_ranks &group) {
      if (c.rank == 1)
        std::this_thread::sleep_for(std::chrono::microseconds(1500 + 20 * repetition));
      std::vector<float> data(50000, 1.0f);
      kiln_status status = c.all_reduce(c.user, &group, data.data(), int64_t(data.size()), KILN_ELEMENT_F32, KILN_REDUCE_SUM);
      EXPECT_TRUE(status == KILN_STATUS_OK || status == KILN_STATUS_PEER_LATE) << status;
      if (status == KILN_STATUS_OK) {
        EXPECT_EQ(data, std::vector<float>(50000, 2.0f));
      }
      return status;
    });
    kiln_local_ranks_reset(ranks.ranks);
  }
}

} // namespace
