//===- CallRecorder.h - A rank without others -------------------------------===//
#ifndef KILN_TOOLS_KILN_PLAN_CALLRECORDER_H
#define KILN_TOOLS_KILN_PLAN_CALLRECORDER_H

#include "compiler/plan/Network.h"
#include "kiln/communicator.h"

namespace kiln {

/// The communicator of rank 0 of so many, which runs alone: all calls succeed at once, and their steps are noted, as these algorithms make them.
class CallRecorder {
public:
  CallRecorder(int32_t ranks, Algorithms algorithms);
  CallRecorder(const CallRecorder &) = delete;

  const kiln_communicator *get() const { return &calls; }
  void clear() {
    steps.clear();
    exchanges = 0;
  }

  std::vector<ExchangeStep> steps;
  /// Calls, without those that begin and end a run.
  int64_t exchanges = 0;

private:
  static CallRecorder &of(void *user) { return *static_cast<CallRecorder *>(user); }
  kiln_status add(std::vector<ExchangeStep> more, bool isCall = true);
  std::vector<int32_t> listAll() const;

  static kiln_status begin(void *user, const uint8_t *fingerprint);
  static kiln_status end(void *user, kiln_status status);
  static kiln_status allReduce(void *user, const kiln_ranks *group, void *data, int64_t count, int32_t type, int32_t reduction);
  static kiln_status allGather(void *user, const kiln_ranks *group, const void *part, void *whole, int64_t bytes);
  static kiln_status reduceScatter(void *user, const kiln_ranks *group, const void *whole, void *part, int64_t count, int32_t type, int32_t reduction);
  static kiln_status allToAll(void *user, const kiln_ranks *group, const void *to, void *from, int64_t bytes);
  static kiln_status send(void *user, int32_t rank, const void *data, int64_t bytes);
  static kiln_status receive(void *user, int32_t rank, void *data, int64_t bytes);
  static kiln_status exchange(void *user, int32_t to, const void *out, int64_t sent, int32_t from, void *in, int64_t received);
  static kiln_status merged(void *user, const kiln_exchange *what, int32_t count, int32_t starts);

  Algorithms algorithms;
  kiln_communicator calls;
};

} // namespace kiln

#endif // KILN_TOOLS_KILN_PLAN_CALLRECORDER_H
