//===- NetworkProbe.cpp - Measuring what connects ranks ---------------------===//
#include "compiler/plan/NetworkProbe.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>

namespace kiln {

/// Messages in a row to one rank, to see what a message takes that need not be waited for.
static constexpr int streamed = 32;

namespace {

class Probe {
public:
  Probe(const kiln_communicator &c, double seconds, int64_t largest, CallTimes &times)
      : c(c), all(size_t(c.size)), seconds(seconds), largest(largest), first(size_t(largest * c.size), 1), second(first), times(times) {
    std::iota(all.begin(), all.end(), 0);
    group = {all.data(), c.size, c.rank};
  }

  kiln_status run() {
    for (int64_t bytes = 8; bytes <= largest && !failure; bytes *= 8) {
      measurePairs(bytes);
      measureGroups(bytes);
    }
    return failure;
  }

private:
  using Clock = std::chrono::steady_clock;

  /// What a rank sends, its kernels have just written: the other rank takes it out of this one's cache.
  void refresh(int64_t bytes) { std::memset(first.data(), lastValue ^= 1, size_t(bytes)); }
  void measurePairs(int64_t bytes);
  void measureGroups(int64_t bytes);

  void note(kiln_status status) { failure = failure ? failure : status; }
  void send(int32_t to, int64_t bytes) { note(c.send(c.user, to, first.data(), bytes)); }
  void receive(int32_t from, int64_t bytes) { note(c.receive(c.user, from, second.data(), bytes)); }

  double timeCalls(const std::function<void()> &call, int64_t calls) {
    float barrier = 0;
    note(c.all_reduce(c.user, &group, &barrier, 1, KILN_ELEMENT_F32, KILN_REDUCE_SUM));
    Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < calls && !failure; ++i)
      call();
    double time = std::chrono::duration<double>(Clock::now() - begin).count() / double(calls);
    note(c.all_reduce(c.user, &group, &time, 1, KILN_ELEMENT_F64, KILN_REDUCE_MAX)); // all must make as many calls next time
    return time;
  }

  double findBest(const std::function<void()> &call) {
    constexpr int turns = 20;
    double best = timeCalls(call, 3);
    int64_t calls = std::min<int64_t>(std::max<int64_t>(int64_t(seconds / 2 / turns / std::max(best, 1e-7)), 1), 100000);
    for (int turn = 0; turn < turns && !failure; ++turn)
      best = std::min(best, timeCalls(call, calls));
    return best;
  }

  /// Each call sends `given` bytes of what the rank has written before, `writers` ranks one after the other. The time is without what the writing takes alone.
  void measure(const char *name, int64_t bytes, int64_t given, int writers, double factor, const std::function<void()> &call) {
    double writing = findBest([&] { refresh(given); }) * writers;
    double both = findBest(call);
    constexpr double leastShare = 0.1; // of a call, where the clock is not exact
    times[name][bytes] = std::max(both - writing, both * leastShare) * factor;
  }

  const kiln_communicator &c;
  std::vector<int32_t> all;
  kiln_ranks group;
  double seconds;
  int64_t largest;
  std::vector<char> first, second;
  CallTimes &times;
  /// Small numbers in any element type.
  unsigned char lastValue = 0;
  kiln_status failure = KILN_STATUS_OK;
};

} // namespace

void Probe::measurePairs(int64_t bytes) {
  // There and back, so half of it is a message.
  measure("message", bytes, bytes, 2, 0.5, [&] {
    if (c.rank == 0)
      refresh(bytes), send(1, bytes), receive(1, bytes);
    else if (c.rank == 1)
      receive(0, bytes), refresh(bytes), send(0, bytes);
  });
  if (bytes == 8)
    measure("stream", bytes, 0, 0, 1.0 / streamed, [&] {
      for (int i = 0; i < streamed && c.rank < 2; ++i)
        c.rank == 0 ? send(1, bytes) : receive(0, bytes);
      if (c.rank < 2)
        c.rank == 0 ? receive(1, bytes) : send(0, bytes);
    });
  measure("exchange", bytes, bytes, 1, 1, [&] {
    refresh(bytes);
    int32_t next = (c.rank + 1) % c.size, before = (c.rank + c.size - 1) % c.size;
    note(c.exchange(c.user, next, first.data(), bytes, before, second.data(), bytes));
  });
}

void Probe::measureGroups(int64_t bytes) {
  int64_t part = partBytes(bytes, c.size);
  auto measureCall = [&](const char *name, int64_t given, const std::function<kiln_status()> &call) {
    measure(name, bytes, given, 1, 1, [&] {
      refresh(given);
      note(call());
    });
  };
  char *from = first.data(), *to = second.data();
  measureCall("all_reduce", bytes, [&] { return c.all_reduce(c.user, &group, from, bytes / 4, KILN_ELEMENT_F32, KILN_REDUCE_MAX); });
  measureCall("reduce_scatter", bytes, [&] { return c.reduce_scatter(c.user, &group, from, to, part / 4, KILN_ELEMENT_F32, KILN_REDUCE_SUM); });
  measureCall("all_gather", part, [&] { return c.all_gather(c.user, &group, from, to, part); });
  measureCall("all_to_all", bytes, [&] { return c.all_to_all(c.user, &group, from, to, part); });
}

kiln_status probeNetwork(const kiln_communicator &communicator, double seconds, int64_t largest, CallTimes &times) {
  return Probe(communicator, seconds, largest, times).run();
}

int64_t partBytes(int64_t bytes, int64_t ranks) { return std::max<int64_t>(bytes / ranks / 4 * 4, 4); }

//===- The fit ---------------------------------------------------------------===//

namespace {
/// A time that `latency + moved / rate` should be.
struct Sample {
  double moved, seconds;
};
} // namespace

/// The rate with the least sum of squares of relative errors, for a latency that is known.
static double fitRate(const std::vector<Sample> &samples, double latency) {
  double product = 0, square = 0;
  for (auto [moved, seconds] : samples) {
    double each = moved / seconds;
    product += each * (1 - latency / seconds);
    square += each * each;
  }
  // Where no number of bytes takes longer than an empty message, no rate is slow enough to be seen.
  constexpr double fastest = 1e12;
  return product > square / fastest ? square / product : fastest;
}

/// Latency and rate; a line with relative errors.
static std::pair<double, double> fitLine(const std::vector<Sample> &samples) {
  double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
  for (auto [moved, seconds] : samples) {
    double one = 1 / seconds, each = moved / seconds;
    aa += one * one, ab += one * each, bb += each * each, a += one, b += each;
  }
  double determinant = aa * bb - ab * ab;
  double latency = determinant > 0 ? std::max((a * bb - b * ab) / determinant, 0.0) : samples.front().seconds;
  return {latency, fitRate(samples, latency)};
}

Link fitLink(const CallTimes &times, int64_t ranks) {
  Link link;
  std::vector<Sample> exchanges, beyond, reductions;
  for (auto [bytes, seconds] : times.at("exchange"))
    if (double(bytes) <= longMessage)
      exchanges.push_back({double(bytes), seconds});
    else
      beyond.push_back({double(bytes) - longMessage, seconds});
  std::tie(link.latency, link.bytesPerSecond) = fitLine(exchanges);
  link.longBytesPerSecond = link.bytesPerSecond;
  if (!beyond.empty())
    link.longBytesPerSecond = std::min(fitRate(beyond, link.latency + longMessage / link.bytesPerSecond), link.bytesPerSecond);
  // A rank that exchanges with another one sends a message and receives one.
  link.message = 2 * times.at("stream").begin()->second;
  double others = double(ranks - 1), before = link.latency + (others - 1) * link.message;
  for (auto [bytes, seconds] : times.at("reduce_scatter"))
    if (double(partBytes(bytes, ranks)) <= longMessage)
      reductions.push_back({others * double(partBytes(bytes, ranks)), seconds});
  link.reducedBytesPerSecond = fitRate(reductions, before);
  return link;
}

double predictCall(const std::string &name, int64_t bytes, const Placement &placement) {
  std::vector<int32_t> group(size_t(placement.ranks));
  std::iota(group.begin(), group.end(), 0);
  double part = double(partBytes(bytes, placement.ranks));
  constexpr Algorithms own = Algorithms::Direct;
  std::vector<ExchangeStep> steps = name == "all_reduce"       ? allReduceSteps(own, 0, group, double(bytes))
                                    : name == "reduce_scatter" ? reduceScatterSteps(own, 0, group, part)
                                    : name == "all_gather"     ? allGatherSteps(own, 0, group, part)
                                    : name == "all_to_all"     ? allToAllSteps(own, 0, group, part)
                                                               : pairSteps(1, double(bytes));
  double seconds = 0;
  for (const ExchangeStep &step : steps)
    seconds += predictSeconds(step, 0, placement);
  return seconds;
}

} // namespace kiln
