//===- Network.cpp - What the calls of a communicator take ------------------===//
#include "compiler/plan/Network.h"

#include <algorithm>

namespace kiln {

static constexpr double kilobyte = 1024;
/// Up to here, all ranks of an all_reduce send everything to all others (smallBytes of Collectives.cpp).
static constexpr double smallBytes = 16 * kilobyte;
/// Where MPICH changes its algorithms: sums of ranks, data of all ranks together, and what goes to one rank.
static constexpr double shortSum = 2 * kilobyte, shortWhole = 512 * kilobyte, shortPart = 256, mediumPart = 32 * kilobyte;

namespace {
/// The ranks of a call, seen from one of them.
class Group {
public:
  Group(int32_t self, const std::vector<int32_t> &ranks) : ranks(ranks) {
    index = size_t(std::find(ranks.begin(), ranks.end(), self) - ranks.begin());
  }
  size_t size() const { return ranks.size(); }

  std::vector<ExchangeStep> direct(double bytes, bool reduces) const {
    std::vector<int32_t> others = ranks;
    others.erase(others.begin() + long(index));
    return {{others, bytes, reduces}};
  }
  /// One part after the other.
  std::vector<ExchangeStep> ring(double bytes, bool reduces) const {
    return std::vector<ExchangeStep>(size() - 1, {{ranks[(index + 1) % size()]}, bytes, reduces, /*isPair=*/true});
  }
  /// A step for each doubling of the distance.
  template <typename BytesOfStep> std::vector<ExchangeStep> doubling(bool reduces, BytesOfStep bytes) const {
    std::vector<ExchangeStep> steps;
    bool isPower = (size() & (size() - 1)) == 0;
    for (size_t distance = 1; distance < size(); distance *= 2)
      steps.push_back({{ranks[isPower ? index ^ distance : (index + distance) % size()]}, bytes(distance), reduces});
    return steps;
  }
  /// Parts that become more with each step, or fewer, down to one.
  std::vector<ExchangeStep> doublingParts(double bytes, bool reduces) const {
    return doubling(reduces, [&](size_t distance) { return bytes * double(std::min(distance, size() - distance)); });
  }

private:
  const std::vector<int32_t> &ranks;
  size_t index;
};
} // namespace

static std::vector<ExchangeStep> join(std::vector<ExchangeStep> first, const std::vector<ExchangeStep> &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<ExchangeStep> allReduceSteps(Algorithms algorithms, int32_t self, const std::vector<int32_t> &ranks, double bytes) {
  Group group(self, ranks);
  double part = bytes / double(group.size());
  if (group.size() == 1)
    return {};
  switch (algorithms) {
  case Algorithms::Direct:
    return bytes <= smallBytes ? group.direct(bytes, true) : join(group.direct(part, true), group.direct(part, false));
  case Algorithms::Ring:
    return join(group.ring(part, true), group.ring(part, false));
  case Algorithms::Mpi:
    if (bytes > shortSum)
      return join(group.doublingParts(part, true), group.doublingParts(part, false));
    [[fallthrough]];
  case Algorithms::Doubling:
    return group.doubling(true, [&](size_t) { return bytes; });
  }
  return {};
}

/// Of parts that each rank collects, or whose sums it does.
static std::vector<ExchangeStep> partSteps(Algorithms algorithms, const Group &group, double bytes, bool reduces) {
  if (group.size() == 1)
    return {};
  if (algorithms == Algorithms::Mpi)
    algorithms = bytes * double(group.size()) < shortWhole ? Algorithms::Doubling : Algorithms::Ring;
  return algorithms == Algorithms::Direct ? group.direct(bytes, reduces)
         : algorithms == Algorithms::Ring ? group.ring(bytes, reduces)
                                          : group.doublingParts(bytes, reduces);
}

std::vector<ExchangeStep> reduceScatterSteps(Algorithms algorithms, int32_t self, const std::vector<int32_t> &ranks, double partBytes) {
  return partSteps(algorithms, Group(self, ranks), partBytes, /*reduces=*/true);
}

std::vector<ExchangeStep> allGatherSteps(Algorithms algorithms, int32_t self, const std::vector<int32_t> &ranks, double bytes) {
  return partSteps(algorithms, Group(self, ranks), bytes, /*reduces=*/false);
}

std::vector<ExchangeStep> allToAllSteps(Algorithms algorithms, int32_t self, const std::vector<int32_t> &ranks, double bytes) {
  Group group(self, ranks);
  if (group.size() == 1)
    return {};
  if (algorithms == Algorithms::Mpi)
    algorithms = bytes <= shortPart ? Algorithms::Doubling : bytes <= mediumPart ? Algorithms::Direct : Algorithms::Ring;
  if (algorithms == Algorithms::Direct)
    return group.direct(bytes, false);
  if (algorithms == Algorithms::Ring)
    return group.ring(bytes, false);
  // What is for others goes through ranks on the way: half of it in each step.
  return group.doubling(false, [&](size_t) { return bytes * double(group.size() / 2); });
}

std::vector<ExchangeStep> pairSteps(int32_t other, double bytes) { return {{{other}, bytes, false, true}}; }

double countBytes(const ExchangeStep &step) { return step.bytes * double(step.others.size()); }

double predictSeconds(const ExchangeStep &step, int32_t self, const Placement &placement) {
  double near = 0, far = 0;
  for (int32_t other : step.others)
    ++(placement.machineOf(other) == placement.machineOf(self) ? near : far);
  if (step.isPair && placement.countMachines() > 1)
    near = 0, far = 1;
  double turns = placement.countTurns();
  const Link &inside = placement.inside, &between = placement.between;
  auto moving = [&](const Link &link) {
    double rate = step.reduces ? link.reducedBytesPerSecond : link.bytesPerSecond, beyond = std::max(step.bytes - longMessage, 0.0);
    double slow = link.longBytesPerSecond > 0 ? std::min(rate, link.longBytesPerSecond) : rate;
    return (step.bytes - beyond) / rate + beyond / slow;
  };
  double seconds = std::max(near ? inside.latency : 0, far ? between.latency : 0);
  // The first message is in the latency.
  seconds += (near * inside.message + far * between.message - (far ? between.message : near ? inside.message : 0)) * turns;
  if (near)
    seconds += near * moving(inside) * turns;
  if (far) {
    double sharing = step.isPair ? 1 : double(placement.countNeighbours());
    seconds += far * moving(between) * sharing;
  }
  return seconds + (turns > 1 ? placement.turn : 0);
}

} // namespace kiln
