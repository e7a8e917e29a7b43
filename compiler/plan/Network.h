//===- Network.h - What the calls of a communicator take --------------------===//
//
// An alpha-beta model of the algorithms in runtime/src/ranks/Collectives.cpp, and of others that a communicator may have. This file and NetworkProbe.h need
// nothing but the runtime's headers, so that programs under MPI use them, too.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_PLAN_NETWORK_H
#define KILN_COMPILER_PLAN_NETWORK_H

#include <cstdint>
#include <vector>

namespace kiln {

/// What connects two ranks. Times are in seconds.
struct Link {
  /// From the beginning of a call to its end, if it moves nothing.
  double latency = 0;
  /// What each further rank adds that a rank exchanges messages with in the same step.
  double message = 0;
  /// Of what a rank sends while it receives as much, and of the parts of a reduction, which are reduced as they arrive.
  double bytesPerSecond = 0, reducedBytesPerSecond = 0;
  /// Of what a message has beyond `longMessage` bytes, if that is slower; 0: it is not.
  double longBytesPerSecond = 0;
};

/// From here on, messages go through networks and caches in pieces.
inline constexpr double longMessage = 32 * 1024;

/// Where ranks are: `ranksPerMachine` on each machine, in the order of their numbers.
struct Placement {
  int64_t ranks = 1, ranksPerMachine = 1;
  /// Ranks that run on a machine at one time; the others of the machine take turns with them.
  double running = 1;
  Link inside, between;
  /// What a step takes in addition if the ranks of a machine take turns.
  double turn = 0;

  int64_t machineOf(int64_t rank) const { return rank / ranksPerMachine; }
  int64_t countMachines() const { return (ranks + ranksPerMachine - 1) / ranksPerMachine; }
  /// Ranks of the machine that has most.
  int64_t countNeighbours() const { return ranks < ranksPerMachine ? ranks : ranksPerMachine; }
  /// How many turns the ranks of a machine need.
  double countTurns() const { return countNeighbours() > running ? double(countNeighbours()) / running : 1; }
};

/// What all ranks of a call do at one time: send and receive `bytes` to and from each of `others`.
struct ExchangeStep {
  std::vector<int32_t> others;
  double bytes = 0;
  bool reduces = false;
  /// Each rank has one other, a neighbour: which one, differs from rank to rank, and the slowest pair counts.
  bool isPair = false;
};

/// How a communicator makes its collectives.
enum class Algorithms {
  /// All ranks send to all others directly, as those of the runtime do.
  Direct,
  /// Parts go around from each rank to the next.
  Ring,
  /// Ranks at distances that double exchange all that they have so far.
  Doubling,
  /// What implementations of MPI choose by size: doubling for small data, halving and doubling for large sums, a ring for what else is large.
  Mpi
};

/// The steps of the calls, for rank `self`. `group` has it among the others.
/// @{
std::vector<ExchangeStep> allReduceSteps(Algorithms algorithms, int32_t self, const std::vector<int32_t> &group, double bytes);
std::vector<ExchangeStep> reduceScatterSteps(Algorithms algorithms, int32_t self, const std::vector<int32_t> &group, double partBytes);
/// Each rank has `bytes` for all others.
std::vector<ExchangeStep> allGatherSteps(Algorithms algorithms, int32_t self, const std::vector<int32_t> &group, double bytes);
/// Each rank has other `bytes` for each.
std::vector<ExchangeStep> allToAllSteps(Algorithms algorithms, int32_t self, const std::vector<int32_t> &group, double bytes);
std::vector<ExchangeStep> pairSteps(int32_t other, double bytes);
/// @}

/// The bytes that a rank sends.
double countBytes(const ExchangeStep &step);

/// Seconds of a step for rank `self`: a latency, and its messages one after the other. Ranks of one machine share its connection to others.
double predictSeconds(const ExchangeStep &step, int32_t self, const Placement &placement);

} // namespace kiln

#endif // KILN_COMPILER_PLAN_NETWORK_H
