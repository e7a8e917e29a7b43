//===- NetworkProbe.h - Measuring what connects ranks -----------------------===//
#ifndef KILN_COMPILER_PLAN_NETWORKPROBE_H
#define KILN_COMPILER_PLAN_NETWORKPROBE_H

#include "compiler/plan/Network.h"
#include "kiln/communicator.h"

#include <map>
#include <string>

namespace kiln {

/// Seconds of calls, by name and bytes: message, exchange, all_reduce, reduce_scatter, all_gather, all_to_all; stream is what each of many messages to one
/// rank takes. all_reduce is of so many bytes on each rank; all_gather, reduce_scatter and all_to_all are of so many in all on each rank.
using CallTimes = std::map<std::string, std::map<int64_t, double>>;

/// Measures, for about `seconds` each. All ranks call it together and get the same times: those of the slowest rank, the best of many short turns, since
/// others use the machine, too. KILN_STATUS_OK, or what a call has failed with.
kiln_status probeNetwork(const kiln_communicator &communicator, double seconds, int64_t largest, CallTimes &times);

/// The link of the measured ranks, which must each have had a CPU: the one with the least relative errors.
Link fitLink(const CallTimes &times, int64_t ranks);

/// The part of call `name` that each other rank gets when it is of `bytes` bytes.
int64_t partBytes(int64_t bytes, int64_t ranks);

/// What the model says of a measured call.
double predictCall(const std::string &name, int64_t bytes, const Placement &placement);

} // namespace kiln

#endif // KILN_COMPILER_PLAN_NETWORKPROBE_H
