//===- Network.cpp - What the calls of a communicator take ------------------===//
#include "compiler/plan/Network.h"

#include <algorithm>

namespace kiln {

/// Up to here, all ranks of an all_reduce send everything to all others (smallBytes of Collectives.cpp).
static constexpr double smallBytes = 16 << 10;

static std::vector<int32_t> without(std::vector<int32_t> group, int32_t self) {
  group.erase(std::remove(group.begin(), group.end(), self), group.end());
  return group;
}

std::vector<ExchangeStep> allReduceSteps(int32_t self, std::vector<int32_t> group, double bytes) {
  double parts = double(group.size());
  std::vector<int32_t> others = without(std::move(group), self);
  if (others.empty())
    return {};
  if (bytes <= smallBytes)
    return {{others, bytes, true}};
  return {{others, bytes / parts, true}, {others, bytes / parts}};
}

std::vector<ExchangeStep> reduceScatterSteps(int32_t self, std::vector<int32_t> group, double partBytes) {
  std::vector<int32_t> others = without(std::move(group), self);
  return others.empty() ? std::vector<ExchangeStep>() : std::vector<ExchangeStep>{{others, partBytes, true}};
}

std::vector<ExchangeStep> gatherSteps(int32_t self, std::vector<int32_t> group, double bytes) {
  std::vector<int32_t> others = without(std::move(group), self);
  return others.empty() ? std::vector<ExchangeStep>() : std::vector<ExchangeStep>{{others, bytes}};
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
  auto rate = [&](const Link &link) { return step.reduces ? link.reducedBytesPerSecond : link.bytesPerSecond; };
  double seconds = std::max(near ? inside.latency : 0, far ? between.latency : 0);
  // The first message is in the latency.
  seconds += (near * inside.message + far * between.message - (far ? between.message : near ? inside.message : 0)) * turns;
  if (near)
    seconds += near * step.bytes / rate(inside) * turns;
  if (far) {
    double sharing = step.isPair ? 1 : double(placement.countNeighbours());
    seconds += far * step.bytes / rate(between) * sharing;
  }
  return seconds + (turns > 1 ? placement.turn : 0);
}

} // namespace kiln
