#include "Level.h"

#include "kiln/best.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace kiln;

namespace {

class Sort : public LevelTest {};

TEST_F(Sort, RanksAreInTheOrderOfNumbers) {
  const double inf = std::numeric_limits<double>::infinity(), numbers[] = {-inf, -2, -1e-310, 0, 1e-310, 2, inf};
  const Ranking<double> down{true, 0x7ff0000000000000, 0}, up{false, 0x7ff0000000000000, Ranking<double>::mask};
  for (int i = 0; i < 6; ++i) {
    EXPECT_GT(down.load_ranks<1>(numbers + i), down.load_ranks<1>(numbers + i + 1));
    EXPECT_LT(up.load_ranks<1>(numbers + i), up.load_ranks<1>(numbers + i + 1));
  }
  const double zeros[] = {0.0, -0.0}, nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(down.load_ranks<1>(zeros), down.load_ranks<1>(zeros + 1));
  EXPECT_LT(down.load_ranks<1>(&nan), down.load_ranks<1>(numbers + 6));
  EXPECT_GT(up.load_ranks<1>(&nan), up.load_ranks<1>(numbers + 6));
  const int8_t bytes[] = {-128, -1, 0, 127};
  const Ranking<int8_t> isSigned{false, 0, 0}, isUnsigned{false, 0xffffffff, 0};
  EXPECT_LT(isSigned.load_ranks<1>(bytes), isSigned.load_ranks<1>(bytes + 2));
  EXPECT_GT(isUnsigned.load_ranks<1>(bytes), isUnsigned.load_ranks<1>(bytes + 3));
}

/// Ranks with many ties.
std::vector<uint32_t> makeRanks(size_t count) {
  std::vector<uint32_t> ranks(count);
  uint32_t state = 1;
  for (uint32_t &rank : ranks)
    rank = (state = state * 1664525 + 1013904223) >> 24 << (state & 16);
  return ranks;
}

/// The places of all ranks, best first.
std::vector<int64_t> orderOf(const std::vector<uint32_t> &ranks) {
  std::vector<int64_t> places(ranks.size());
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = int64_t(i);
  std::sort(places.begin(), places.end(), [&](int64_t a, int64_t b) { return std::pair(ranks[size_t(a)], a) < std::pair(ranks[size_t(b)], b); });
  return places;
}

template <typename Entry> void checkSort(size_t count) {
  const auto ranks = makeRanks(count);
  std::vector<Entry> entries, spare(count);
  for (size_t i = 0; i < count; ++i)
    entries.push_back(Entry::make(ranks[i], int64_t(i)));
  const Entry *sorted = sort_entries(entries.data(), spare.data(), int64_t(count));
  const auto places = orderOf(ranks);
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(sorted[i].place(), places[i]) << i << " of " << count;
}

TEST_F(Sort, EqualRanksStayInOrder) {
  for (size_t count : {0, 1, 64, 65, 1000}) {
    checkSort<ShortEntry>(count);
    checkSort<LongEntry>(count);
  }
}

/// The best of lines that are so long that places need two words are kept in long entries, whatever the numbers are.
TEST_F(Sort, FewAndManyBestKeepTheSame) {
  const auto ranks = makeRanks(500);
  const auto places = orderOf(ranks);
  const int64_t far = int64_t(1) << 33;
  for (int64_t wanted : {1, 7, 100, 500}) {
    std::vector<LongEntry> few(size_t(wanted) + 1), many(size_t(2 * wanted) + 16);
    FewBest<LongEntry> sorted{few.data(), wanted};
    ManyBest<LongEntry> inOrder{many.data(), wanted, 2 * wanted + 16};
    for (size_t i = 0; i < ranks.size(); ++i) {
      sorted.add(ranks[i], far + int64_t(i));
      inOrder.make_room(1);
      inOrder.add(ranks[i], far + int64_t(i));
    }
    inOrder.cut();
    ASSERT_EQ(inOrder.count, wanted);
    std::vector<int64_t> kept, expected(places.begin(), places.begin() + wanted);
    for (int64_t i = 0; i < wanted; ++i) {
      ASSERT_EQ(few[size_t(i)].place(), far + places[size_t(i)]);
      kept.push_back(many[size_t(i)].place() - far);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(kept, expected);
  }
}

} // namespace
