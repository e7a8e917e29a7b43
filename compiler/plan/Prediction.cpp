//===- Prediction.cpp - What a run takes on some ranks ----------------------===//
#include "compiler/plan/Prediction.h"

#include <algorithm>
#include <cmath>

namespace kiln {

namespace {
/// The ranks of one machine, while they compute.
struct Neighbours {
  double ranks, running, turns, speed, memory, freeCache;
};
} // namespace

static Neighbours describeNeighbours(const RankPart &part, const PlanMachine &machine, const Placement &placement) {
  double ranks = double(placement.countNeighbours()), threads = double(part.threads), cores = double(machine.cores);
  double busy = std::min(ranks * threads, cores);
  double alone = std::min(threads, cores);
  // Not all of a cache is free.
  return {ranks, placement.running, placement.countTurns(), machine.speed * machine.getSpeed(busy, alone), machine.getMemory(busy), machine.cacheBytes / 2};
}

/// What of a kernel's bytes comes from memory: weights, if those of all neighbours do not stay in the cache until the next run; and what else is too much
/// to be there still from the kernel before. Kernels that read only a part of what they are given, such as gathers, are known by the time that they took alone:
/// no core reads more than so many bytes per second from its caches.
static double findStreamedBytes(const RankKernel &kernel, const RankPart &part, const Neighbours &neighbours) {
  constexpr double mostPerSecond = 5e11;
  double bytes = 0;
  if (neighbours.ranks * double(part.weights) > neighbours.freeCache)
    bytes += kernel.weightBytes;
  if (std::min(neighbours.ranks, neighbours.running) * kernel.otherBytes > neighbours.freeCache)
    bytes += kernel.otherBytes;
  return std::min(bytes, kernel.seconds * mostPerSecond);
}

static Placement placeRanks(const RankPart &part, const PlanMachine &machine) {
  Placement placement;
  placement.ranks = part.ranks;
  placement.ranksPerMachine = machine.ranksPerMachine;
  placement.running = std::max(double(machine.cores) / double(part.threads), 1.0);
  placement.inside = machine.inside.value_or(Link());
  placement.between = machine.between.value_or(Link());
  placement.turn = machine.turn;
  return placement;
}

PlanRow predictRow(const RankPart &part, const PlanMachine &machine) {
  Placement placement = placeRanks(part, machine);
  Neighbours neighbours = describeNeighbours(part, machine, placement);
  PlanRow row;
  row.ranks = part.ranks;
  row.machines = placement.countMachines();
  row.turns = neighbours.turns;
  double limited = 0;
  for (const RankKernel &kernel : part.kernels) {
    double computing = kernel.seconds * neighbours.turns / neighbours.speed;
    // All neighbours read their parts through the same memory, whether at one time or by turns.
    double reading = neighbours.memory > 0 ? findStreamedBytes(kernel, part, neighbours) * neighbours.ranks / neighbours.memory : 0;
    row.compute += std::max(computing, reading);
    limited += reading > computing ? reading : 0;
  }
  row.memoryShare = row.compute > 0 ? limited / row.compute : 0;
  for (const ExchangeStep &step : part.steps)
    row.exchange += predictSeconds(step, 0, placement);
  return row;
}

double gainPerDoubling(const PlanRow &fewer, const PlanRow &more) {
  double doublings = std::log2(double(more.ranks) / double(fewer.ranks));
  return doublings > 0 ? std::pow(fewer.getSeconds() / more.getSeconds(), 1 / doublings) : 1;
}

int64_t findPayingRanks(const std::vector<PlanRow> &rows) {
  int64_t paying = rows.front().ranks;
  for (size_t i = 1; i < rows.size() && gainPerDoubling(rows[i - 1], rows[i]) >= payingGain; ++i)
    paying = rows[i].ranks;
  return paying;
}

} // namespace kiln
