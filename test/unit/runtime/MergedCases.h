// Several calls of a communicator as one must give the bits of the calls one by one, whatever connects the ranks.
#ifndef KILN_TEST_UNIT_RUNTIME_MERGEDCASES_H
#define KILN_TEST_UNIT_RUNTIME_MERGEDCASES_H

#include "RankCases.h"

namespace kiln_test {

class MergedCases {
public:
  explicit MergedCases(const kiln_communicator &communicator) : c(communicator) {}

  /// Calls of so many elements each. What was wrong, or nothing.
  std::string run(const std::vector<int64_t> &counts) {
    const uint8_t fingerprint[16] = {4, 5, 6};
    expect(c.begin(c.user, fingerprint) == KILN_STATUS_OK, "begin");
    const std::vector<std::vector<int32_t>> groups = RankCases(c).makeGroups();
    for (const std::vector<int32_t> &ranks : groups) {
      int32_t index = 0;
      while (ranks[size_t(index)] != c.rank)
        ++index;
      group = {ranks.data(), int32_t(ranks.size()), index};
      compare<float>({KILN_EXCHANGE_ALL_REDUCE, KILN_ELEMENT_F32, KILN_REDUCE_SUM}, counts);
      compare<F16Bits>({KILN_EXCHANGE_ALL_REDUCE, KILN_ELEMENT_F16, KILN_REDUCE_SUM}, counts);
      compare<double>({KILN_EXCHANGE_ALL_REDUCE, KILN_ELEMENT_F64, KILN_REDUCE_MAX}, counts);
      compare<float>({KILN_EXCHANGE_REDUCE_SCATTER, KILN_ELEMENT_F32, KILN_REDUCE_SUM}, counts);
      compare<uint8_t>({KILN_EXCHANGE_ALL_GATHER}, counts);
      compare<uint8_t>({KILN_EXCHANGE_ALL_TO_ALL}, counts);
    }
    int32_t next = c.rank + 1 < c.size ? c.rank + 1 : -1;
    compare<uint8_t>({KILN_EXCHANGE_PAIR, 0, 0, next, c.rank - 1}, counts);
    compare<uint8_t>({KILN_EXCHANGE_PAIR, 0, 0, c.rank - 1, next}, counts);
    compare<uint8_t>({KILN_EXCHANGE_PAIR, 0, 0, (c.rank + 1) % c.size, (c.rank + c.size - 1) % c.size}, counts);
    refuse();
    expect(c.end(c.user, KILN_STATUS_OK) == KILN_STATUS_OK, "end");
    return wrong;
  }

private:
  struct Kind {
    int32_t kind, type = 0, reduction = 0, to = -1, from = -1;
  };

  void expect(bool holds, const std::string &what) {
    if (!holds && wrong.empty())
      wrong = "rank " + std::to_string(c.rank) + " of " + std::to_string(c.size) + ": merged: " + what;
  }

  kiln_status runOne(const kiln_exchange &e) {
    switch (e.kind) {
    case KILN_EXCHANGE_ALL_REDUCE:
      std::memcpy(e.taken, e.given, size_t(e.count) * elementBytes);
      return c.all_reduce(c.user, e.group, e.taken, e.count, e.element_type, e.reduction);
    case KILN_EXCHANGE_REDUCE_SCATTER:
      return c.reduce_scatter(c.user, e.group, e.given, e.taken, e.count, e.element_type, e.reduction);
    case KILN_EXCHANGE_ALL_GATHER:
      return c.all_gather(c.user, e.group, e.given, e.taken, e.count);
    case KILN_EXCHANGE_ALL_TO_ALL:
      return c.all_to_all(c.user, e.group, e.given, e.taken, e.count);
    default:
      return c.exchange(c.user, e.to, e.given, e.count, e.from, e.taken, e.taken_bytes);
    }
  }

  /// The calls one by one, as one call, and as one that is started before another one.
  template <typename T> void compare(const Kind &kind, const std::vector<int64_t> &counts) {
    elementBytes = sizeof(T);
    size_t parts = size_t(group.count);
    std::vector<std::vector<T>> given;
    std::vector<std::vector<uint8_t>> apart, merged, started;
    std::vector<kiln_exchange> calls;
    for (int64_t count : counts) {
      given.push_back(makeData<T>(c.rank + int32_t(given.size()) * 50, count * int64_t(parts) + 1, kind.reduction));
      for (auto *results : {&apart, &merged, &started})
        results->emplace_back((size_t(count) + 1) * parts * sizeof(T), uint8_t(7));
      calls.push_back({kind.kind, kind.type, kind.reduction, kind.to, kind.from, 0, &group, given.back().data(), nullptr, count, count});
    }
    auto all = [&](std::vector<std::vector<uint8_t>> &results) {
      for (size_t i = 0; i < calls.size(); ++i)
        calls[i].taken = results[i].data();
      return calls.data();
    };
    std::string what = "kind " + std::to_string(kind.kind) + ", type " + std::to_string(kind.type) + ", " + std::to_string(parts) + " ranks";
    all(apart);
    for (const kiln_exchange &call : calls)
      expect(runOne(call) == KILN_STATUS_OK, what + ": one call");
    int32_t count = int32_t(calls.size()), own = c.rank;
    expect(c.merged(c.user, all(merged), count, 0) == KILN_STATUS_OK, what + ": status");
    expect(c.merged(c.user, all(started), count, 1) == KILN_STATUS_OK, what + ": status of a start");
    std::vector<int32_t> others(parts);
    expect(c.all_gather(c.user, &group, &own, others.data(), 4) == KILN_STATUS_OK, what + ": another call");
    expect(c.wait(c.user) == KILN_STATUS_OK, what + ": status of a wait");
    expect(merged == apart, what + ": wrong");
    expect(started == apart, what + ": wrong when started");
  }

  void refuse() {
    float data[4] = {}, more[4] = {};
    kiln_exchange calls[2] = {{KILN_EXCHANGE_ALL_REDUCE, KILN_ELEMENT_F32, KILN_REDUCE_SUM, -1, -1, 0, &group, data, data, 1, 0},
                              {KILN_EXCHANGE_ALL_REDUCE, KILN_ELEMENT_F32, KILN_REDUCE_SUM, -1, -1, 0, &group, more, more, 1, 0}};
    auto status = [&](int32_t count) { return c.merged(c.user, calls, count, 0); };
    expect(c.merged(c.user, nullptr, 2, 0) == KILN_STATUS_NULL_POINTER, "no calls");
    expect(status(0) == KILN_STATUS_INVALID_ARGUMENT && status(KILN_MERGED_MAX + 1) == KILN_STATUS_INVALID_ARGUMENT, "their number");
    calls[1].kind = KILN_EXCHANGE_ALL_GATHER;
    expect(status(2) == KILN_STATUS_INVALID_ARGUMENT, "other kinds");
    calls[1].kind = KILN_EXCHANGE_ALL_REDUCE;
    calls[1].reduction = KILN_REDUCE_MAX;
    expect(status(2) == KILN_STATUS_INVALID_ARGUMENT, "other reductions");
    calls[1].reduction = KILN_REDUCE_SUM;
    calls[0].count = calls[1].count = INT64_MAX / 2 / int64_t(sizeof(float)) / group.count;
    expect(status(2) == KILN_STATUS_INVALID_ARGUMENT, "more than a number of bytes in all");
    calls[0].kind = calls[1].kind = KILN_EXCHANGE_PAIR;
    calls[0].from = calls[1].from = (c.rank + 1) % c.size;
    calls[0].taken_bytes = calls[1].taken_bytes = INT64_MAX;
    expect(status(2) == KILN_STATUS_INVALID_ARGUMENT, "more than a number of bytes from one rank");
    calls[0] = calls[1] = {KILN_EXCHANGE_PAIR, KILN_ELEMENT_F32, KILN_REDUCE_SUM, -1, -1, 0, &group, data, more, 1, 0};
    calls[1].to = 0;
    expect(status(2) == KILN_STATUS_INVALID_ARGUMENT, "other ranks");
    calls[0].kind = calls[1].kind = KILN_EXCHANGE_ALL_GATHER;
    calls[1].taken = nullptr;
    expect(status(2) == KILN_STATUS_NULL_POINTER, "no memory");
  }

  const kiln_communicator &c;
  kiln_ranks group = {};
  size_t elementBytes = 1;
  std::string wrong;
};

} // namespace kiln_test

#endif // KILN_TEST_UNIT_RUNTIME_MERGEDCASES_H
