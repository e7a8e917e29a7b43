#include "Transfers.h"

#include "../System.h"

#include <stdlib.h>
#include <string.h>

using namespace kiln;

namespace {

Collectives &collectivesOf(void *user) { return *static_cast<Collectives *>(user); }

kiln_status beginCall(Collectives &c) {
  c.deadline = 0;
  c.looks = 0;
  return c.failure;
}

// Waits for the call that was added last, and for those that were started before it.
kiln_status finishLast(Collectives &c) { return finishCalls(c, c.started + 1, c.started + 1); }

uint64_t hashCall(const kiln_ranks &group, int32_t elementType, int32_t reduction) {
  uint64_t hash = mix(mix(mix(1, uint64_t(elementType)), uint64_t(reduction)), uint64_t(group.count));
  for (int32_t i = 0; i < group.count; ++i)
    hash = mix(hash, uint64_t(group.ranks[i]));
  return hash;
}

kiln_status checkGroup(const Collectives &c, const kiln_ranks *group) {
  if (!group || !group->ranks)
    return KILN_STATUS_NULL_POINTER;
  if (group->count < 1 || group->count > c.communicator.size || group->index < 0 || group->index >= group->count ||
      group->ranks[group->index] != c.communicator.rank || group->ranks[0] < 0 || group->ranks[group->count - 1] >= c.communicator.size)
    return KILN_STATUS_INVALID_ARGUMENT;
  for (int32_t i = 1; i < group->count; ++i)
    if (group->ranks[i] <= group->ranks[i - 1])
      return KILN_STATUS_INVALID_ARGUMENT;
  return KILN_STATUS_OK;
}

// Of one call, so that the sum of those that are merged is a number.
constexpr int64_t mostInCall = INT64_MAX / 2 / KILN_MERGED_MAX;

// The arguments that all calls with groups have; `bytes` for each of `count` elements.
kiln_status checkCall(const Collectives &c, const kiln_ranks *group, const void *data, const void *other, int64_t count, int64_t bytes) {
  if (kiln_status status = checkGroup(c, group))
    return status;
  if (count < 0 || bytes < 1 || count > mostInCall / bytes / group->count)
    return KILN_STATUS_INVALID_ARGUMENT;
  return count && (!data || !other) ? KILN_STATUS_NULL_POINTER : KILN_STATUS_OK;
}

void copy(void *to, const void *from, int64_t bytes) {
  if (bytes && to != from)
    memmove(to, from, size_t(bytes));
}

// Lanes to and from all others of a group: calls `add` with each lane and the place of its rank.
template <typename Add> void addLanes(Call &call, const kiln_ranks &group, Add add) {
  for (int32_t i = 0; i < group.count; ++i)
    if (i != group.index)
      add(addLane(call, group.ranks[i]), i);
}

// Calls that are merged into one; also one alone.
struct Merged {
  const kiln_exchange *list;
  int32_t count;

  const kiln_exchange &first() const { return *list; }
  const kiln_exchange *begin() const { return list; }
  const kiln_exchange *end() const { return list + count; }
};

// Whether the calls are of one kind, and reductions and pairs of one.
bool areAlike(const Merged &calls) {
  for (const kiln_exchange &e : calls) {
    const kiln_exchange &first = calls.first();
    bool reduces = e.kind == KILN_EXCHANGE_ALL_REDUCE || e.kind == KILN_EXCHANGE_REDUCE_SCATTER, isPair = e.kind == KILN_EXCHANGE_PAIR;
    if (e.kind != first.kind || (reduces && (e.element_type != first.element_type || e.reduction != first.reduction)) ||
        (isPair && (e.to != first.to || e.from != first.from)))
      return false;
  }
  return true;
}

// The arguments of all calls; `bytes` for each element.
kiln_status checkCalls(const Collectives &c, const Merged &calls, int64_t bytes) {
  kiln_status status = KILN_STATUS_OK;
  for (const kiln_exchange &e : calls)
    status = status ? status : checkCall(c, calls.first().group, e.given, e.taken, e.count, bytes);
  return status;
}

// Each rank sends everything to all others and reduces it itself, or it reduces a piece in place, which nobody else reads, and all gather the pieces.
kiln_status prepareAllReduce(Collectives &c, const Merged &calls) {
  const kiln_ranks *group = calls.first().group;
  int32_t type = calls.first().element_type, reduction = calls.first().reduction;
  int64_t size = findReducedSize(type, reduction), all = 0;
  if (kiln_status status = checkCalls(c, calls, size))
    return status;
  for (const kiln_exchange &e : calls)
    all += e.count * size;
  bool isSmall = all <= smallBytes;
  Call &call = addCall(c, isSmall ? MessageKind::ReduceWhole : MessageKind::ReducePieces, hashCall(*group, type, reduction));
  for (const kiln_exchange &e : calls)
    copy(e.taken, e.given, e.count * size);
  if (group->count == 1)
    return KILN_STATUS_OK;
  call.reduces = true;
  call.copiesSmall = isSmall;
  call.gathersPieces = !isSmall;
  call.what.elementType = type;
  call.what.reduction = reduction;
  call.what.elementBytes = size;
  call.what.index = group->index;
  char *room = call.small;
  for (const kiln_exchange &e : calls) {
    int64_t bytes = e.count * size;
    Pieces pieces(bytes, group->count);
    char *data = static_cast<char *>(e.taken), *own = isSmall ? data : at(e.taken, pieces.begin(group->index));
    call.what.list[call.what.count++] = {own, isSmall ? room : own, isSmall ? bytes : pieces.size(group->index), data, bytes};
    room += isSmall ? bytes : 0;
  }
  addLanes(call, *group, [&](Lane &lane, int32_t i) {
    for (int32_t k = 0; k < call.what.count; ++k) {
      const Reduced &part = call.what.list[k];
      Pieces pieces(part.dataBytes, group->count);
      addSend(c, lane, isSmall ? part.data : at(static_cast<void *>(part.data), pieces.begin(i)), isSmall ? part.bytes : pieces.size(i));
      addReceive(c, lane, nullptr, part.bytes);
    }
    c.sent[lane.rank] += !isSmall;
    c.received[lane.rank] += !isSmall;
  });
  return KILN_STATUS_OK;
}

kiln_status prepareReduceScatter(Collectives &c, const Merged &calls) {
  const kiln_ranks *group = calls.first().group;
  int32_t type = calls.first().element_type, reduction = calls.first().reduction;
  int64_t size = findReducedSize(type, reduction);
  if (kiln_status status = checkCalls(c, calls, size))
    return status;
  Call &call = addCall(c, MessageKind::Scatter, hashCall(*group, type, reduction));
  call.reduces = group->count > 1;
  call.what.elementType = type;
  call.what.reduction = reduction;
  call.what.elementBytes = size;
  call.what.index = group->index;
  for (const kiln_exchange &e : calls) {
    int64_t bytes = e.count * size;
    const char *own = at(e.given, bytes * group->index);
    if (group->count == 1)
      copy(e.taken, own, bytes);
    call.what.list[call.what.count++] = {own, static_cast<char *>(e.taken), bytes, nullptr, 0};
  }
  addLanes(call, *group, [&](Lane &lane, int32_t i) {
    for (const kiln_exchange &e : calls) {
      addSend(c, lane, at(e.given, e.count * size * i), e.count * size);
      addReceive(c, lane, nullptr, e.count * size);
    }
  });
  return KILN_STATUS_OK;
}

kiln_status prepareAllGather(Collectives &c, const Merged &calls) {
  const kiln_ranks *group = calls.first().group;
  if (kiln_status status = checkCalls(c, calls, 1))
    return status;
  Call &call = addCall(c, MessageKind::Gather, hashCall(*group, 0, 0));
  addLanes(call, *group, [&](Lane &lane, int32_t i) {
    for (const kiln_exchange &e : calls) {
      addSend(c, lane, e.given, e.count);
      addReceive(c, lane, at(e.taken, e.count * i), e.count);
    }
  });
  for (const kiln_exchange &e : calls)
    copy(at(e.taken, e.count * group->index), e.given, e.count);
  return KILN_STATUS_OK;
}

kiln_status prepareAllToAll(Collectives &c, const Merged &calls) {
  const kiln_ranks *group = calls.first().group;
  if (kiln_status status = checkCalls(c, calls, 1))
    return status;
  Call &call = addCall(c, MessageKind::AllToAll, hashCall(*group, 0, 0));
  addLanes(call, *group, [&](Lane &lane, int32_t i) {
    for (const kiln_exchange &e : calls) {
      addSend(c, lane, at(e.given, e.count * i), e.count);
      addReceive(c, lane, at(e.taken, e.count * i), e.count);
    }
  });
  for (const kiln_exchange &e : calls)
    copy(at(e.taken, e.count * group->index), at(e.given, e.count * group->index), e.count);
  return KILN_STATUS_OK;
}

kiln_status checkPair(const Collectives &c, const kiln_exchange &e) {
  int32_t self = c.communicator.rank, size = c.communicator.size;
  if (e.to < -1 || e.to >= size || e.from < -1 || e.from >= size || (e.to == self) != (e.from == self) || (e.to == self && e.count != e.taken_bytes))
    return KILN_STATUS_INVALID_ARGUMENT;
  if ((e.to >= 0 && (e.count < 0 || e.count > mostInCall)) || (e.from >= 0 && (e.taken_bytes < 0 || e.taken_bytes > mostInCall)))
    return KILN_STATUS_INVALID_ARGUMENT;
  if ((e.to >= 0 && e.count && !e.given) || (e.from >= 0 && e.taken_bytes && !e.taken))
    return KILN_STATUS_NULL_POINTER;
  return KILN_STATUS_OK;
}

kiln_status preparePair(Collectives &c, const Merged &calls) {
  for (const kiln_exchange &e : calls)
    if (kiln_status status = checkPair(c, e))
      return status;
  const kiln_exchange &first = calls.first();
  Call &call = addCall(c, MessageKind::PointToPoint, 0);
  if (first.to == c.communicator.rank) {
    for (const kiln_exchange &e : calls)
      copy(e.taken, e.given, e.count);
    return KILN_STATUS_OK;
  }
  Lane *out = first.to >= 0 ? &addLane(call, first.to) : nullptr, *in = first.from >= 0 ? &addLane(call, first.from) : nullptr;
  for (const kiln_exchange &e : calls) {
    if (out)
      addSend(c, *out, e.given, e.count);
    if (in)
      addReceive(c, *in, e.taken, e.taken_bytes);
  }
  return KILN_STATUS_OK;
}

// Adds the calls, as one, behind those that were started.
kiln_status prepare(Collectives &c, const Merged &calls) {
  if (kiln_status status = beginCall(c))
    return status;
  switch (calls.first().kind) {
  case KILN_EXCHANGE_ALL_REDUCE:
    return prepareAllReduce(c, calls);
  case KILN_EXCHANGE_ALL_GATHER:
    return prepareAllGather(c, calls);
  case KILN_EXCHANGE_REDUCE_SCATTER:
    return prepareReduceScatter(c, calls);
  case KILN_EXCHANGE_ALL_TO_ALL:
    return prepareAllToAll(c, calls);
  case KILN_EXCHANGE_PAIR:
    return preparePair(c, calls);
  default:
    return KILN_STATUS_INVALID_ARGUMENT;
  }
}

kiln_status run(void *user, const kiln_exchange &e) {
  Collectives &c = collectivesOf(user);
  kiln_status status = prepare(c, {&e, 1});
  return status ? status : finishLast(c);
}

kiln_status allReduce(void *user, const kiln_ranks *group, void *data, int64_t count, int32_t elementType, int32_t reduction) {
  return run(user, {KILN_EXCHANGE_ALL_REDUCE, elementType, reduction, -1, -1, 0, group, data, data, count, 0});
}
kiln_status reduceScatter(void *user, const kiln_ranks *group, const void *whole, void *part, int64_t count, int32_t elementType, int32_t reduction) {
  return run(user, {KILN_EXCHANGE_REDUCE_SCATTER, elementType, reduction, -1, -1, 0, group, whole, part, count, 0});
}
kiln_status allGather(void *user, const kiln_ranks *group, const void *part, void *whole, int64_t bytes) {
  return run(user, {KILN_EXCHANGE_ALL_GATHER, 0, 0, -1, -1, 0, group, part, whole, bytes, 0});
}
kiln_status allToAll(void *user, const kiln_ranks *group, const void *to, void *from, int64_t bytes) {
  return run(user, {KILN_EXCHANGE_ALL_TO_ALL, 0, 0, -1, -1, 0, group, to, from, bytes, 0});
}
kiln_status exchange(void *user, int32_t to, const void *sent, int64_t sentBytes, int32_t from, void *received, int64_t receivedBytes) {
  return run(user, {KILN_EXCHANGE_PAIR, 0, 0, to, from, 0, nullptr, sent, received, sentBytes, receivedBytes});
}
kiln_status send(void *user, int32_t rank, const void *data, int64_t bytes) {
  return rank < 0 ? KILN_STATUS_INVALID_ARGUMENT : exchange(user, rank, data, bytes, -1, nullptr, 0);
}
kiln_status receive(void *user, int32_t rank, void *data, int64_t bytes) {
  return rank < 0 ? KILN_STATUS_INVALID_ARGUMENT : exchange(user, -1, nullptr, 0, rank, data, bytes);
}

kiln_status startCalls(Collectives &c, const Merged &calls) {
  if (c.started == KILN_STARTED_MAX)
    return KILN_STATUS_INVALID_ARGUMENT;
  if (kiln_status status = prepare(c, calls))
    return status;
  ++c.started;
  bool moved = false;
  return moveCalls(c, c.started, moved);
}

kiln_status start(void *user, const kiln_exchange *what) { return what ? startCalls(collectivesOf(user), {what, 1}) : KILN_STATUS_NULL_POINTER; }

kiln_status merged(void *user, const kiln_exchange *what, int32_t count, int32_t starts) {
  Collectives &c = collectivesOf(user);
  if (!what)
    return KILN_STATUS_NULL_POINTER;
  if (count < 1 || count > KILN_MERGED_MAX || !areAlike({what, count}))
    return KILN_STATUS_INVALID_ARGUMENT;
  if (starts)
    return startCalls(c, {what, count});
  kiln_status status = prepare(c, {what, count});
  return status ? status : finishLast(c);
}

kiln_status wait(void *user) {
  Collectives &c = collectivesOf(user);
  if (kiln_status status = beginCall(c))
    return status;
  if (c.started == 0)
    return KILN_STATUS_INVALID_ARGUMENT;
  if (kiln_status status = finishCalls(c, c.started, 1))
    return status;
  c.first = (c.first + 1) % callCount;
  --c.started;
  return KILN_STATUS_OK;
}

kiln_status begin(void *user, const uint8_t fingerprint[16]) {
  Collectives &c = collectivesOf(user);
  if (kiln_status status = beginCall(c))
    return status;
  c.isBegun = false;
  c.started = 0; // of a run that has failed
  if (!fingerprint)
    return KILN_STATUS_NULL_POINTER;
  if (kiln_status status = c.transport.findFailure(c.transport.user))
    return fail(c, status);
  Call &call = addCall(c, MessageKind::Begin, uint64_t(c.communicator.size));
  for (int32_t rank = 0; rank < c.communicator.size; ++rank) {
    if (rank == c.communicator.rank)
      continue;
    Lane &lane = addLane(call, rank);
    addSend(c, lane, fingerprint, 16);
    addReceive(c, lane, c.fingerprints + 16 * rank, 16);
  }
  if (kiln_status status = finishLast(c))
    return status;
  for (int32_t rank = 0; rank < c.communicator.size; ++rank)
    if (rank != c.communicator.rank && memcmp(c.fingerprints + 16 * rank, fingerprint, 16) != 0)
      return KILN_STATUS_RANKS_MISMATCH;
  c.isBegun = true;
  return KILN_STATUS_OK;
}

kiln_status end(void *user, kiln_status own) {
  Collectives &c = collectivesOf(user);
  kiln_status failure = beginCall(c);
  if (failure || !c.isBegun)
    return own ? own : failure;
  c.isBegun = false;
  // A run that ends with an error may have started calls; the others have started them, too.
  Call &call = addCall(c, MessageKind::End, 0);
  call.status = own;
  for (int32_t rank = 0; rank < c.communicator.size; ++rank) {
    if (rank == c.communicator.rank)
      continue;
    Lane &lane = addLane(call, rank);
    addSend(c, lane, nullptr, 0);
    addReceive(c, lane, nullptr, 0);
  }
  failure = finishLast(c);
  c.started = 0;
  if (own)
    return own;
  return failure ? failure : call.worst ? KILN_STATUS_PEER_FAILED : KILN_STATUS_OK;
}

} // namespace

void kiln::passTime(int64_t looks, int32_t spins) {
  constexpr int64_t yields = 2000; // about a millisecond
  constexpr int64_t sleepNs = 50000;
  if (looks < spins) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
    return;
  }
  restThread(looks < spins + yields ? 0 : sleepNs);
}

Collectives *kiln::createCollectives(int32_t rank, int32_t size, int64_t deadlineNs, const Transport &transport) {
  Collectives *c = static_cast<Collectives *>(calloc(1, sizeof(Collectives)));
  if (!c)
    return nullptr;
  size_t ranks = size_t(size);
  c->communicator = {KILN_ABI_VERSION, uint32_t(sizeof(kiln_communicator)), rank, size, deadlineNs, c, begin, end, allReduce, allGather, reduceScatter,
                     allToAll,         send, receive, exchange, start, wait, merged};
  c->transport = transport;
  c->sent = static_cast<uint64_t *>(calloc(ranks, sizeof(uint64_t)));
  c->received = static_cast<uint64_t *>(calloc(ranks, sizeof(uint64_t)));
  c->sources = static_cast<const void **>(calloc(ranks, sizeof(void *)));
  c->opened = static_cast<Parts *>(calloc(ranks, sizeof(Parts)));
  c->fingerprints = static_cast<uint8_t *>(calloc(ranks, 16));
  bool isWhole = c->sent && c->received && c->sources && c->opened && c->fingerprints;
  for (Call &call : c->calls) {
    call.lanes = static_cast<Lane *>(calloc(ranks + 1, sizeof(Lane)));
    call.small = static_cast<char *>(allocateAligned(size_t(smallBytes), KILN_ALIGNMENT));
    isWhole = isWhole && call.lanes && call.small;
  }
  if (isWhole)
    return c;
  destroyCollectives(c);
  return nullptr;
}

void kiln::destroyCollectives(Collectives *c) {
  if (!c)
    return;
  free(c->sent);
  free(c->received);
  free(c->sources);
  free(c->opened);
  free(c->fingerprints);
  for (Call &call : c->calls) {
    free(call.lanes);
    if (call.small)
      freeAligned(call.small);
  }
  free(c);
}

kiln_communicator *kiln::communicatorOf(Collectives *collectives) { return &collectives->communicator; }
const Transport &kiln::transportOf(const kiln_communicator &communicator) { return collectivesOf(communicator.user).transport; }

void kiln::resetCollectives(Collectives *c) {
  c->failure = KILN_STATUS_OK;
  c->isBegun = false;
  c->started = 0;
  memset(c->sent, 0, size_t(c->communicator.size) * sizeof(uint64_t));
  memset(c->received, 0, size_t(c->communicator.size) * sizeof(uint64_t));
}
