// What every communicator must do, whatever connects its ranks: calls with numbers that each rank can compute by itself, for all ranks.
#ifndef KILN_TEST_UNIT_RUNTIME_RANKCASES_H
#define KILN_TEST_UNIT_RUNTIME_RANKCASES_H

#include "kiln/communicator.h"
#include "kiln/half.h"

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace kiln_test {

using Bytes = std::vector<char>;

struct F16Bits {
  uint16_t bits;
};
struct Bf16Bits {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;
};

/// Calls function(T(), element type) for each type that can be reduced.
template <typename F> void forEachElementType(F function) {
  function(float(), KILN_ELEMENT_F32);
  function(double(), KILN_ELEMENT_F64);
  function(F16Bits(), KILN_ELEMENT_F16);
  function(Bf16Bits(), KILN_ELEMENT_BF16);
  function(uint8_t(), KILN_ELEMENT_U8);
  function(int8_t(), KILN_ELEMENT_I8);
  function(uint16_t(), KILN_ELEMENT_U16);
  function(int16_t(), KILN_ELEMENT_I16);
  function(uint32_t(), KILN_ELEMENT_U32);
  function(int32_t(), KILN_ELEMENT_I32);
  function(uint64_t(), KILN_ELEMENT_U64);
  function(int64_t(), KILN_ELEMENT_I64);
  function(Bool(), KILN_ELEMENT_BOOL);
}

template <typename T> constexpr bool isReal = std::is_floating_point_v<T> || std::is_same_v<T, F16Bits> || std::is_same_v<T, Bf16Bits>;

template <typename T> T makeElement(double value) {
  if constexpr (std::is_same_v<T, F16Bits>)
    return {kiln::f32_to_f16(float(value))};
  else if constexpr (std::is_same_v<T, Bf16Bits>)
    return {kiln::f32_to_bf16(float(value))};
  else
    return T(value);
}

/// The data of a rank for a call. Numbers of very different size, so that another order of sums has other bits; also NaN and both zeros where nothing is added.
template <typename T> std::vector<T> makeData(int32_t rank, int64_t count, int32_t reduction) {
  std::mt19937_64 random(uint64_t(rank) * 1000003 + uint64_t(count) * 31 + uint64_t(reduction));
  std::vector<T> data;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t word = random();
    if constexpr (std::is_same_v<T, Bool>)
      data.push_back({uint8_t(word & 1)});
    else if constexpr (!isReal<T>)
      data.push_back(T(word));
    else if (reduction >= KILN_REDUCE_MIN && word % 16 == 0)
      data.push_back(makeElement<T>(word & 16 ? NAN : word & 32 ? 0.0 : -0.0));
    else
      data.push_back(makeElement<T>(std::ldexp(double(word >> 11) * 0x1p-53 - 0.5, int(word % 11))));
  }
  return data;
}

template <typename T> auto widen(T value) {
  if constexpr (std::is_same_v<T, F16Bits>)
    return kiln::f16_to_f32(value.bits);
  else if constexpr (std::is_same_v<T, Bf16Bits>)
    return kiln::bf16_to_f32(value.bits);
  else if constexpr (std::is_same_v<T, Bool>)
    return value.byte;
  else
    return value;
}

template <typename C> C join(C a, C b, int32_t reduction) {
  if constexpr (std::is_floating_point_v<C>) {
    if (reduction >= KILN_REDUCE_MIN && (std::isnan(a) || std::isnan(b)))
      return std::isnan(a) ? a : b;
    if (reduction <= KILN_REDUCE_PRODUCT)
      return reduction == KILN_REDUCE_SUM ? a + b : a * b;
  } else if (reduction <= KILN_REDUCE_PRODUCT) {
    return reduction == KILN_REDUCE_SUM ? C(uint64_t(a) + uint64_t(b)) : C(uint64_t(a) * uint64_t(b));
  }
  return (reduction == KILN_REDUCE_MIN ? b < a : b > a) ? b : a;
}

/// The reduction over the ranks, one element after the other.
template <typename T> std::vector<T> reducePlainly(const std::vector<int32_t> &ranks, int64_t count, int32_t reduction) {
  std::vector<std::vector<T>> all;
  for (int32_t rank : ranks)
    all.push_back(makeData<T>(rank, count, reduction));
  std::vector<T> result;
  for (size_t i = 0; i < size_t(count); ++i) {
    auto sum = widen(all[0][i]);
    for (size_t rank = 1; rank < all.size(); ++rank)
      sum = join(sum, widen(all[rank][i]), reduction);
    if constexpr (std::is_same_v<T, F16Bits>)
      result.push_back({kiln::f32_to_f16(sum)});
    else if constexpr (std::is_same_v<T, Bf16Bits>)
      result.push_back({kiln::f32_to_bf16(sum)});
    else if constexpr (std::is_same_v<T, Bool>)
      result.push_back({uint8_t(sum)});
    else
      result.push_back(sum);
  }
  return result;
}

/// Collects what was wrong on a rank.
class RankCases {
public:
  RankCases(const kiln_communicator &communicator) : communicator(communicator) {}

  /// All calls with these numbers of elements in one run, with groups of different shapes; `bytes` are only moved.
  std::string run(const std::vector<int64_t> &counts, int64_t bytes) {
    const uint8_t fingerprint[16] = {1, 2, 3};
    expect(communicator.begin(communicator.user, fingerprint), "begin");
    for (int64_t count : counts) {
      for (const std::vector<int32_t> &ranks : makeGroups())
        runGroup(ranks, count);
      halos(count);
      pipeline(count);
    }
    std::vector<int32_t> all = makeGroups()[0];
    movements(all, {all.data(), communicator.size, communicator.rank}, bytes);
    halos(bytes);
    pipeline(bytes);
    expect(communicator.end(communicator.user, KILN_STATUS_OK), "end");
    return wrong;
  }

  /// The groups of this rank: all, its row and its column of a grid with two columns, itself alone.
  std::vector<std::vector<int32_t>> makeGroups() const {
    std::vector<std::vector<int32_t>> groups(4);
    for (int32_t rank = 0; rank < communicator.size; ++rank) {
      groups[0].push_back(rank);
      if (rank / 2 == communicator.rank / 2)
        groups[1].push_back(rank);
      if (rank % 2 == communicator.rank % 2)
        groups[2].push_back(rank);
    }
    groups[3] = {communicator.rank};
    return groups;
  }

private:
  void expect(bool holds, const std::string &what) {
    if (!holds && wrong.empty())
      wrong = "rank " + std::to_string(communicator.rank) + " of " + std::to_string(communicator.size) + ": " + what;
  }
  void expect(kiln_status status, const std::string &what) { expect(status == KILN_STATUS_OK, what + " gave status " + std::to_string(status)); }
  template <typename T> bool equal(const T *a, const T *b, int64_t count) { return count == 0 || std::memcmp(a, b, size_t(count) * sizeof(T)) == 0; }

  void runGroup(const std::vector<int32_t> &ranks, int64_t count) {
    int32_t index = 0;
    while (ranks[size_t(index)] != communicator.rank)
      ++index;
    kiln_ranks group = {ranks.data(), int32_t(ranks.size()), index};
    forEachElementType([&](auto zero, int32_t type) {
      for (int32_t reduction : {KILN_REDUCE_SUM, KILN_REDUCE_PRODUCT, KILN_REDUCE_MIN, KILN_REDUCE_MAX})
        if (type != KILN_ELEMENT_BOOL || reduction != KILN_REDUCE_SUM)
          reductions<decltype(zero)>(ranks, group, count, type, reduction);
    });
    movements(ranks, group, count);
  }

  template <typename T> void reductions(const std::vector<int32_t> &ranks, const kiln_ranks &group, int64_t count, int32_t type, int32_t reduction) {
    std::string what = " of " + std::to_string(count) + " elements of type " + std::to_string(type) + ", reduction " + std::to_string(reduction) + ", " +
                       std::to_string(ranks.size()) + " ranks";
    std::vector<T> expected = reducePlainly<T>(ranks, count, reduction), data = makeData<T>(communicator.rank, count, reduction);
    expect(communicator.all_reduce(communicator.user, &group, data.data(), count, type, reduction), "all_reduce" + what);
    expect(equal(data.data(), expected.data(), count), "wrong all_reduce" + what);

    int64_t each = count / group.count, whole = each * group.count;
    std::vector<T> parts = reducePlainly<T>(ranks, whole, reduction), from = makeData<T>(communicator.rank, whole, reduction), part(size_t(each) + 1);
    expect(communicator.reduce_scatter(communicator.user, &group, from.data(), part.data(), each, type, reduction), "reduce_scatter" + what);
    expect(equal(part.data(), parts.data() + each * group.index, each), "wrong reduce_scatter" + what);
    // Once more, in place.
    expect(communicator.reduce_scatter(communicator.user, &group, from.data(), from.data() + each * group.index, each, type, reduction), "reduce_scatter" + what);
    expect(equal(from.data() + each * group.index, parts.data() + each * group.index, each), "wrong reduce_scatter in place" + what);
  }

  void movements(const std::vector<int32_t> &ranks, const kiln_ranks &group, int64_t bytes) {
    std::vector<uint8_t> expected, own = makeData<uint8_t>(communicator.rank, bytes, 0), whole(size_t(bytes * group.count) + 1);
    for (int32_t rank : ranks) {
      std::vector<uint8_t> part = makeData<uint8_t>(rank, bytes, 0);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    expect(communicator.all_gather(communicator.user, &group, own.data(), whole.data(), bytes), "all_gather");
    expect(equal(whole.data(), expected.data(), bytes * group.count), "wrong all_gather");
    std::vector<uint8_t> again(whole.size());
    std::copy(own.begin(), own.end(), again.begin() + bytes * group.index);
    expect(communicator.all_gather(communicator.user, &group, again.data() + bytes * group.index, again.data(), bytes), "all_gather");
    expect(equal(again.data(), expected.data(), bytes * group.count), "wrong all_gather in place");

    std::vector<uint8_t> to, from(size_t(bytes * group.count) + 1), turned;
    for (int32_t rank : ranks) {
      std::vector<uint8_t> out = makeData<uint8_t>(communicator.rank * 100 + rank, bytes, 0), in = makeData<uint8_t>(rank * 100 + communicator.rank, bytes, 0);
      to.insert(to.end(), out.begin(), out.end());
      turned.insert(turned.end(), in.begin(), in.end());
    }
    expect(communicator.all_to_all(communicator.user, &group, to.data(), from.data(), bytes), "all_to_all");
    expect(equal(from.data(), turned.data(), bytes * group.count), "wrong all_to_all");
  }

  /// Each rank sends to the next, then to the one before; the last has nobody to send to, and then around the ring.
  void halos(int64_t bytes) {
    int32_t rank = communicator.rank, size = communicator.size;
    halo(rank + 1 < size ? rank + 1 : -1, rank - 1, bytes);
    halo(rank - 1, rank + 1 < size ? rank + 1 : -1, bytes);
    halo((rank + 1) % size, (rank + size - 1) % size, bytes);
  }
  void halo(int32_t to, int32_t from, int64_t bytes) {
    // The number of bytes depends on the sender.
    std::vector<uint8_t> out = makeData<uint8_t>(communicator.rank, bytes + communicator.rank, 1), in(size_t(bytes + (from < 0 ? 0 : from)) + 1);
    expect(communicator.exchange(communicator.user, to, out.data(), int64_t(out.size()), from, in.data(), bytes + from), "exchange");
    if (from >= 0)
      expect(equal(in.data(), makeData<uint8_t>(from, bytes + from, 1).data(), bytes + from), "wrong exchange");
  }

  /// From rank 0 through all ranks, three times.
  void pipeline(int64_t bytes) {
    for (int32_t batch = 0; batch < 3; ++batch) {
      std::vector<uint8_t> expected = makeData<uint8_t>(batch, bytes, 2), data = expected;
      if (communicator.rank > 0) {
        data.assign(size_t(bytes), 0);
        expect(communicator.receive(communicator.user, communicator.rank - 1, data.data(), bytes), "receive");
        expect(data == expected, "wrong receive");
      }
      if (communicator.rank + 1 < communicator.size)
        expect(communicator.send(communicator.user, communicator.rank + 1, data.data(), bytes), "send");
    }
  }

  const kiln_communicator &communicator;
  std::string wrong;
};

} // namespace kiln_test

#endif // KILN_TEST_UNIT_RUNTIME_RANKCASES_H
