//===- CallRecorder.cpp - A rank without others -----------------------------===//
#include "tools/kiln/plan/CallRecorder.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace kiln {

CallRecorder::CallRecorder(int32_t ranks, Algorithms algorithms)
    : algorithms(algorithms),
      calls{KILN_ABI_VERSION, sizeof(kiln_communicator), 0, ranks, 0, this, begin, end, allReduce, allGather, reduceScatter, allToAll, send, receive,
            exchange, nullptr, nullptr, merged} {}

static std::vector<int32_t> listRanks(const kiln_ranks &group) { return std::vector<int32_t>(group.ranks, group.ranks + group.count); }

static double getBytes(int64_t count, int32_t type) { return double(count) * double(getByteSize(ElementType(type))); }

std::vector<int32_t> CallRecorder::listAll() const {
  std::vector<int32_t> all(size_t(calls.size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

kiln_status CallRecorder::add(std::vector<ExchangeStep> more, bool isCall) {
  llvm::append_range(steps, more);
  exchanges += isCall;
  return KILN_STATUS_OK;
}

/// All ranks send each other a fingerprint, and at the end nothing.
kiln_status CallRecorder::begin(void *user, const uint8_t *) {
  return of(user).add(allGatherSteps(of(user).algorithms, 0, of(user).listAll(), 16), /*isCall=*/false);
}

kiln_status CallRecorder::end(void *user, kiln_status status) {
  of(user).add(allGatherSteps(of(user).algorithms, 0, of(user).listAll(), 0), /*isCall=*/false);
  return status;
}

kiln_status CallRecorder::allReduce(void *user, const kiln_ranks *group, void *, int64_t count, int32_t type, int32_t) {
  return of(user).add(allReduceSteps(of(user).algorithms, 0, listRanks(*group), getBytes(count, type)));
}

kiln_status CallRecorder::allGather(void *user, const kiln_ranks *group, const void *, void *, int64_t bytes) {
  return of(user).add(allGatherSteps(of(user).algorithms, 0, listRanks(*group), double(bytes)));
}

kiln_status CallRecorder::reduceScatter(void *user, const kiln_ranks *group, const void *, void *, int64_t count, int32_t type, int32_t) {
  return of(user).add(reduceScatterSteps(of(user).algorithms, 0, listRanks(*group), getBytes(count, type)));
}

kiln_status CallRecorder::allToAll(void *user, const kiln_ranks *group, const void *, void *, int64_t bytes) {
  return of(user).add(allToAllSteps(of(user).algorithms, 0, listRanks(*group), double(bytes)));
}

kiln_status CallRecorder::send(void *user, int32_t rank, const void *, int64_t bytes) { return of(user).add(pairSteps(rank, double(bytes))); }
kiln_status CallRecorder::receive(void *user, int32_t rank, void *, int64_t bytes) { return of(user).add(pairSteps(rank, double(bytes))); }

/// A rank at the border of an image has one neighbour, where others have two.
kiln_status CallRecorder::exchange(void *user, int32_t to, const void *, int64_t sent, int32_t from, void *, int64_t received) {
  return of(user).add(pairSteps(to >= 0 ? to : from, double(std::max(sent, received))));
}

/// The steps of one call with the bytes of all.
kiln_status CallRecorder::merged(void *user, const kiln_exchange *what, int32_t count, int32_t) {
  kiln_exchange all = *what;
  for (const kiln_exchange &call : llvm::ArrayRef(what, size_t(count)).drop_front()) {
    all.count += call.count;
    all.taken_bytes += call.taken_bytes;
  }
  switch (all.kind) {
  case KILN_EXCHANGE_ALL_REDUCE:
    return allReduce(user, all.group, all.taken, all.count, all.element_type, all.reduction);
  case KILN_EXCHANGE_ALL_GATHER:
    return allGather(user, all.group, all.given, all.taken, all.count);
  case KILN_EXCHANGE_REDUCE_SCATTER:
    return reduceScatter(user, all.group, all.given, all.taken, all.count, all.element_type, all.reduction);
  case KILN_EXCHANGE_ALL_TO_ALL:
    return allToAll(user, all.group, all.given, all.taken, all.count);
  default:
    return exchange(user, all.to, all.given, all.count, all.from, all.taken, all.taken_bytes);
  }
}

} // namespace kiln
