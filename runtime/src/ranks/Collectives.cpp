#include "Collectives.h"

#include "../System.h"
#include "Reduce.h"

#include <stdlib.h>
#include <string.h>

using namespace kiln;

namespace {

// Up to here, each rank of an all_reduce sends everything to all others and reduces it itself: one step instead of two.
constexpr int64_t smallBytes = 16 << 10;

// What goes to another rank and comes from it in one step of a call. A transfer of no bytes is one empty message.
struct Lane {
  int32_t rank;
  bool sends;
  bool receives;
  const char *out;
  int64_t outBytes;
  int64_t posted; // messages
  char *in;
  int64_t inBytes;
  int64_t taken; // messages
};

// One step of a call.
struct Step {
  MessageKind kind;
  uint64_t call;
  int32_t status = KILN_STATUS_OK; // of this rank, for MessageKind::End
  kiln_status worst = KILN_STATUS_OK; // of other ranks
};

constexpr int64_t never = INT64_MAX;

} // namespace

struct kiln::Collectives {
  kiln_communicator communicator;
  Transport transport;
  kiln_status failure;
  bool isBegun;
  int64_t deadline; // of the call that runs
  int64_t looks;    // of this call, since something last moved
  uint64_t *sent; // transfers to each rank
  uint64_t *received;
  int32_t laneCount;
  Lane *lanes; // room for one for each rank, and one more
  const void **sources;
  uint8_t *fingerprints;
  char *small; // smallBytes
};

namespace {

Collectives &collectivesOf(void *user) { return *static_cast<Collectives *>(user); }

kiln_status fail(Collectives &c, kiln_status status) {
  if (!c.failure) {
    c.failure = status;
    c.transport.fail(c.transport.user, status);
  }
  return c.failure;
}

kiln_status startCall(Collectives &c) {
  c.deadline = 0;
  c.looks = 0;
  return c.failure;
}

// After a look that found nothing new.
kiln_status waitForOthers(Collectives &c) {
  if (kiln_status status = c.transport.findFailure(c.transport.user))
    return fail(c, status);
  // The clock at each look: under an MPI that yields, a look may take milliseconds.
  if (c.communicator.deadline_ns > 0) {
    int64_t now = readClock();
    if (c.deadline == 0)
      c.deadline = c.communicator.deadline_ns < never - now ? now + c.communicator.deadline_ns : never;
    if (now >= c.deadline)
      return fail(c, KILN_STATUS_PEER_LATE);
  }
  passTime(c.looks++, c.transport.spins);
  return KILN_STATUS_OK;
}

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

uint64_t hashCall(const kiln_ranks &group, int32_t elementType, int32_t reduction) {
  uint64_t hash = mix(mix(mix(1, uint64_t(elementType)), uint64_t(reduction)), uint64_t(group.count));
  for (int32_t i = 0; i < group.count; ++i)
    hash = mix(hash, uint64_t(group.ranks[i]));
  return hash;
}

Lane &addLane(Collectives &c, int32_t rank) {
  Lane &lane = c.lanes[c.laneCount++];
  lane = {};
  lane.rank = rank;
  return lane;
}
void addSend(Lane &lane, const void *data, int64_t bytes) {
  lane.sends = true;
  lane.out = static_cast<const char *>(data);
  lane.outBytes = bytes;
}
void addReceive(Lane &lane, void *data, int64_t bytes) {
  lane.receives = true;
  lane.in = static_cast<char *>(data);
  lane.inBytes = bytes;
}

int64_t countMessages(const Collectives &c, int64_t bytes) { return bytes <= c.transport.mostBytes ? 1 : (bytes - 1) / c.transport.mostBytes + 1; }

int64_t messageBytes(const Collectives &c, int64_t total, int64_t message) {
  int64_t left = total - message * c.transport.mostBytes;
  return left < c.transport.mostBytes ? left : c.transport.mostBytes;
}

// Posts what there is room for. Whether anything was.
bool postMessages(Collectives &c, const Step &step, Lane &lane) {
  int64_t first = lane.posted;
  for (; lane.sends && lane.posted < countMessages(c, lane.outBytes); ++lane.posted) {
    int64_t offset = lane.posted * c.transport.mostBytes;
    MessageHeader header = {uint32_t(step.kind), step.status,  c.sent[lane.rank], step.call, lane.outBytes, offset,
                            messageBytes(c, lane.outBytes, lane.posted)};
    if (!c.transport.post(c.transport.user, lane.rank, header, lane.out ? lane.out + offset : nullptr))
      break;
  }
  return lane.posted > first;
}

bool hasSent(Collectives &c, const Lane &lane) {
  return !lane.sends || (lane.posted == countMessages(c, lane.outBytes) && c.transport.isTaken(c.transport.user, lane.rank));
}
bool hasReceived(const Collectives &c, const Lane &lane) { return !lane.receives || lane.taken == countMessages(c, lane.inBytes); }

// Whether a message is the one that this lane waits for. If this rank or the other has ended with an error, it need not be.
kiln_status checkMessage(const Collectives &c, Step &step, const Lane &lane, const MessageHeader &header) {
  if (header.kind == uint32_t(MessageKind::End) && header.status)
    step.worst = kiln_status(header.status);
  if (header.kind != uint32_t(step.kind))
    return step.worst || step.status ? KILN_STATUS_PEER_FAILED : KILN_STATUS_RANKS_MISMATCH;
  bool fits = header.sequence == c.received[lane.rank] && header.call == step.call && header.total == lane.inBytes &&
              header.offset == lane.taken * c.transport.mostBytes && header.bytes == messageBytes(c, lane.inBytes, lane.taken);
  return fits ? KILN_STATUS_OK : KILN_STATUS_RANKS_MISMATCH;
}

// Takes the messages of a lane that are there.
kiln_status takeMessages(Collectives &c, Step &step, Lane &lane, bool &moved) {
  while (!hasReceived(c, lane)) {
    const MessageHeader *header = c.transport.findNext(c.transport.user, lane.rank);
    if (!header)
      return KILN_STATUS_OK;
    if (kiln_status status = checkMessage(c, step, lane, *header))
      return status;
    int64_t bytes = header->bytes;
    const void *data;
    if (!c.transport.openNext(c.transport.user, lane.rank, &data))
      return KILN_STATUS_PEER_FAILED;
    if (bytes)
      memcpy(lane.in + lane.taken * c.transport.mostBytes, data, size_t(bytes));
    c.transport.closeNext(c.transport.user, lane.rank);
    ++lane.taken;
    moved = true;
  }
  return KILN_STATUS_OK;
}

void countTransfers(Collectives &c) {
  for (int32_t i = 0; i < c.laneCount; ++i) {
    c.sent[c.lanes[i].rank] += c.lanes[i].sends;
    c.received[c.lanes[i].rank] += c.lanes[i].receives;
  }
  c.laneCount = 0;
}

kiln_status failStep(Collectives &c, kiln_status status) {
  c.laneCount = 0;
  kiln_status announced = c.transport.findFailure(c.transport.user);
  return fail(c, announced ? announced : status);
}

// Sends and receives all that the lanes have.
kiln_status transfer(Collectives &c, Step &step) {
  for (;;) {
    bool moved = false, done = true;
    for (int32_t i = 0; i < c.laneCount; ++i) {
      Lane &lane = c.lanes[i];
      moved |= postMessages(c, step, lane);
      if (kiln_status status = takeMessages(c, step, lane, moved))
        return failStep(c, status);
      done = done && hasReceived(c, lane) && hasSent(c, lane);
    }
    if (done)
      break;
    if (moved)
      c.looks = 0;
    else if (kiln_status status = waitForOthers(c))
      return failStep(c, status);
  }
  countTransfers(c);
  return KILN_STATUS_OK;
}

// What a reduction is made of besides the lanes, which are in the order of the group without this rank.
struct Reduction {
  int32_t elementType;
  int32_t reduction;
  int64_t elementBytes;
  int32_t index;   // of this rank
  const char *own; // this rank's part
  char *result;
};

// Whether the next message of every lane is there.
kiln_status findRow(Collectives &c, Step &step, bool &complete) {
  complete = true;
  for (int32_t i = 0; i < c.laneCount; ++i) {
    const MessageHeader *header = c.transport.findNext(c.transport.user, c.lanes[i].rank);
    if (!header)
      complete = false;
    else if (kiln_status status = checkMessage(c, step, c.lanes[i], *header))
      return status;
  }
  return KILN_STATUS_OK;
}

// Reduces the next message of each lane with this rank's part. Messages are open only for as long as that takes.
bool reduceRow(Collectives &c, const Reduction &what) {
  int64_t message = c.lanes[0].taken, offset = message * c.transport.mostBytes;
  int32_t opened = 0;
  for (; opened < c.laneCount; ++opened)
    if (!c.transport.openNext(c.transport.user, c.lanes[opened].rank, &c.sources[opened < what.index ? opened : opened + 1]))
      break;
  bool isWhole = opened == c.laneCount;
  if (isWhole) {
    c.sources[what.index] = what.own + offset;
    reduceInOrder(c.sources, c.laneCount + 1, what.result + offset, messageBytes(c, c.lanes[0].inBytes, message) / what.elementBytes, what.elementType,
                  what.reduction);
  }
  for (int32_t i = 0; i < opened; ++i, ++c.lanes[i - 1].taken)
    c.transport.closeNext(c.transport.user, c.lanes[i].rank);
  return isWhole;
}

// Sends what the lanes have, and reduces what they receive.
kiln_status transferAndReduce(Collectives &c, Step &step, const Reduction &what) {
  for (;;) {
    bool moved = false, sent = true;
    for (int32_t i = 0; i < c.laneCount; ++i) {
      moved |= postMessages(c, step, c.lanes[i]);
      sent = sent && hasSent(c, c.lanes[i]);
    }
    bool reduced = hasReceived(c, c.lanes[0]);
    if (!reduced) {
      bool complete;
      if (kiln_status status = findRow(c, step, complete))
        return failStep(c, status);
      if (complete && !reduceRow(c, what))
        return failStep(c, KILN_STATUS_PEER_FAILED);
      moved |= complete;
    } else if (sent) {
      break;
    }
    if (moved)
      c.looks = 0;
    else if (kiln_status status = waitForOthers(c))
      return failStep(c, status);
  }
  countTransfers(c);
  return KILN_STATUS_OK;
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

// The arguments that all calls with groups have; `bytes` for each of `count` elements.
kiln_status checkCall(const Collectives &c, const kiln_ranks *group, const void *data, const void *other, int64_t count, int64_t bytes) {
  if (kiln_status status = checkGroup(c, group))
    return status;
  if (count < 0 || bytes < 1 || count > INT64_MAX / 2 / bytes / group->count)
    return KILN_STATUS_INVALID_ARGUMENT;
  return count && (!data || !other) ? KILN_STATUS_NULL_POINTER : KILN_STATUS_OK;
}

char *at(void *base, int64_t bytes) { return base ? static_cast<char *>(base) + bytes : nullptr; }
const char *at(const void *base, int64_t bytes) { return base ? static_cast<const char *>(base) + bytes : nullptr; }

void copy(void *to, const void *from, int64_t bytes) {
  if (bytes && to != from)
    memmove(to, from, size_t(bytes));
}

kiln_status reduceWhole(Collectives &c, const kiln_ranks &group, void *data, int64_t bytes, const Reduction &what) {
  for (int32_t i = 0; i < group.count; ++i) {
    if (i == group.index)
      continue;
    Lane &lane = addLane(c, group.ranks[i]);
    addSend(lane, data, bytes);
    addReceive(lane, nullptr, bytes);
  }
  Step step = {MessageKind::ReduceWhole, hashCall(group, what.elementType, what.reduction)};
  if (kiln_status status = transferAndReduce(c, step, what))
    return status;
  copy(data, c.small, bytes);
  return KILN_STATUS_OK;
}

// Piece i of `bytes` bytes, in `count` pieces of whole cache lines.
struct Pieces {
  int64_t bytes;
  int64_t each;
  Pieces(int64_t bytes, int32_t count) : bytes(bytes), each(((bytes - 1) / count / 64 + 1) * 64) {}
  int64_t begin(int32_t i) const { return each * i < bytes ? each * i : bytes; }
  int64_t size(int32_t i) const { return begin(i + 1) - begin(i); }
};

// Each rank reduces a piece in place, and all gather the pieces. Nobody else reads the piece that a rank reduces.
kiln_status reducePieces(Collectives &c, const kiln_ranks &group, void *data, int64_t bytes, Reduction what) {
  Pieces pieces(bytes, group.count);
  int64_t own = pieces.begin(group.index), ownBytes = pieces.size(group.index);
  for (int32_t i = 0; i < group.count; ++i) {
    if (i == group.index)
      continue;
    Lane &lane = addLane(c, group.ranks[i]);
    addSend(lane, at(data, pieces.begin(i)), pieces.size(i));
    addReceive(lane, nullptr, ownBytes);
  }
  what.own = what.result = at(data, own);
  uint64_t call = hashCall(group, what.elementType, what.reduction);
  Step reduction = {MessageKind::ReducePieces, call};
  if (kiln_status status = transferAndReduce(c, reduction, what))
    return status;
  for (int32_t i = 0; i < group.count; ++i) {
    if (i == group.index)
      continue;
    Lane &lane = addLane(c, group.ranks[i]);
    addSend(lane, at(data, own), ownBytes);
    addReceive(lane, at(data, pieces.begin(i)), pieces.size(i));
  }
  Step gather = {MessageKind::GatherPieces, call};
  return transfer(c, gather);
}

kiln_status allReduce(void *user, const kiln_ranks *group, void *data, int64_t count, int32_t elementType, int32_t reduction) {
  Collectives &c = collectivesOf(user);
  if (kiln_status status = startCall(c))
    return status;
  int64_t size = findReducedSize(elementType, reduction);
  if (kiln_status status = checkCall(c, group, data, data, count, size))
    return status;
  if (group->count == 1)
    return KILN_STATUS_OK;
  int64_t bytes = count * size;
  Reduction what = {elementType, reduction, size, group->index, static_cast<const char *>(data), c.small};
  return bytes <= smallBytes ? reduceWhole(c, *group, data, bytes, what) : reducePieces(c, *group, data, bytes, what);
}

kiln_status reduceScatter(void *user, const kiln_ranks *group, const void *whole, void *part, int64_t count, int32_t elementType, int32_t reduction) {
  Collectives &c = collectivesOf(user);
  if (kiln_status status = startCall(c))
    return status;
  int64_t size = findReducedSize(elementType, reduction), bytes = count * size;
  if (kiln_status status = checkCall(c, group, whole, part, count, size))
    return status;
  const char *own = at(whole, bytes * group->index);
  if (group->count == 1) {
    copy(part, own, bytes);
    return KILN_STATUS_OK;
  }
  for (int32_t i = 0; i < group->count; ++i) {
    if (i == group->index)
      continue;
    Lane &lane = addLane(c, group->ranks[i]);
    addSend(lane, at(whole, bytes * i), bytes);
    addReceive(lane, nullptr, bytes);
  }
  Step step = {MessageKind::Scatter, hashCall(*group, elementType, reduction)};
  return transferAndReduce(c, step, {elementType, reduction, size, group->index, own, static_cast<char *>(part)});
}

kiln_status allGather(void *user, const kiln_ranks *group, const void *part, void *whole, int64_t bytes) {
  Collectives &c = collectivesOf(user);
  if (kiln_status status = startCall(c))
    return status;
  if (kiln_status status = checkCall(c, group, part, whole, bytes, 1))
    return status;
  for (int32_t i = 0; i < group->count; ++i) {
    if (i == group->index)
      continue;
    Lane &lane = addLane(c, group->ranks[i]);
    addSend(lane, part, bytes);
    addReceive(lane, at(whole, bytes * i), bytes);
  }
  copy(at(whole, bytes * group->index), part, bytes);
  Step step = {MessageKind::Gather, hashCall(*group, 0, 0)};
  return transfer(c, step);
}

kiln_status allToAll(void *user, const kiln_ranks *group, const void *to, void *from, int64_t bytes) {
  Collectives &c = collectivesOf(user);
  if (kiln_status status = startCall(c))
    return status;
  if (kiln_status status = checkCall(c, group, to, from, bytes, 1))
    return status;
  for (int32_t i = 0; i < group->count; ++i) {
    if (i == group->index)
      continue;
    Lane &lane = addLane(c, group->ranks[i]);
    addSend(lane, at(to, bytes * i), bytes);
    addReceive(lane, at(from, bytes * i), bytes);
  }
  copy(at(from, bytes * group->index), at(to, bytes * group->index), bytes);
  Step step = {MessageKind::AllToAll, hashCall(*group, 0, 0)};
  return transfer(c, step);
}

kiln_status exchange(void *user, int32_t to, const void *sent, int64_t sentBytes, int32_t from, void *received, int64_t receivedBytes) {
  Collectives &c = collectivesOf(user);
  if (kiln_status status = startCall(c))
    return status;
  int32_t self = c.communicator.rank, size = c.communicator.size;
  if (to < -1 || to >= size || from < -1 || from >= size || (to == self) != (from == self) || (to >= 0 && sentBytes < 0) || (from >= 0 && receivedBytes < 0))
    return KILN_STATUS_INVALID_ARGUMENT;
  if ((to >= 0 && sentBytes && !sent) || (from >= 0 && receivedBytes && !received))
    return KILN_STATUS_NULL_POINTER;
  if (to == self) {
    if (sentBytes != receivedBytes)
      return KILN_STATUS_INVALID_ARGUMENT;
    copy(received, sent, sentBytes);
    return KILN_STATUS_OK;
  }
  if (to >= 0)
    addSend(addLane(c, to), sent, sentBytes);
  if (from >= 0)
    addReceive(addLane(c, from), received, receivedBytes);
  Step step = {MessageKind::PointToPoint, 0};
  return transfer(c, step);
}

kiln_status send(void *user, int32_t rank, const void *data, int64_t bytes) {
  return rank < 0 ? KILN_STATUS_INVALID_ARGUMENT : exchange(user, rank, data, bytes, -1, nullptr, 0);
}
kiln_status receive(void *user, int32_t rank, void *data, int64_t bytes) {
  return rank < 0 ? KILN_STATUS_INVALID_ARGUMENT : exchange(user, -1, nullptr, 0, rank, data, bytes);
}

kiln_status begin(void *user, const uint8_t fingerprint[16]) {
  Collectives &c = collectivesOf(user);
  if (kiln_status status = startCall(c))
    return status;
  c.isBegun = false;
  if (!fingerprint)
    return KILN_STATUS_NULL_POINTER;
  if (kiln_status status = c.transport.findFailure(c.transport.user))
    return fail(c, status);
  for (int32_t rank = 0; rank < c.communicator.size; ++rank) {
    if (rank == c.communicator.rank)
      continue;
    Lane &lane = addLane(c, rank);
    addSend(lane, fingerprint, 16);
    addReceive(lane, c.fingerprints + 16 * rank, 16);
  }
  Step step = {MessageKind::Begin, uint64_t(c.communicator.size)};
  if (kiln_status status = transfer(c, step))
    return status;
  for (int32_t rank = 0; rank < c.communicator.size; ++rank)
    if (rank != c.communicator.rank && memcmp(c.fingerprints + 16 * rank, fingerprint, 16) != 0)
      return KILN_STATUS_RANKS_MISMATCH;
  c.isBegun = true;
  return KILN_STATUS_OK;
}

kiln_status end(void *user, kiln_status own) {
  Collectives &c = collectivesOf(user);
  kiln_status failure = startCall(c);
  if (failure || !c.isBegun)
    return own ? own : failure;
  c.isBegun = false;
  for (int32_t rank = 0; rank < c.communicator.size; ++rank) {
    if (rank == c.communicator.rank)
      continue;
    Lane &lane = addLane(c, rank);
    addSend(lane, nullptr, 0);
    addReceive(lane, nullptr, 0);
  }
  Step step = {MessageKind::End, 0, own};
  failure = transfer(c, step);
  if (own)
    return own;
  return failure ? failure : step.worst ? KILN_STATUS_PEER_FAILED : KILN_STATUS_OK;
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
                     allToAll,         send, receive, exchange};
  c->transport = transport;
  c->sent = static_cast<uint64_t *>(calloc(ranks, sizeof(uint64_t)));
  c->received = static_cast<uint64_t *>(calloc(ranks, sizeof(uint64_t)));
  c->lanes = static_cast<Lane *>(calloc(ranks + 1, sizeof(Lane)));
  c->sources = static_cast<const void **>(calloc(ranks, sizeof(void *)));
  c->fingerprints = static_cast<uint8_t *>(calloc(ranks, 16));
  c->small = static_cast<char *>(allocateAligned(size_t(smallBytes), KILN_ALIGNMENT));
  if (c->sent && c->received && c->lanes && c->sources && c->fingerprints && c->small)
    return c;
  destroyCollectives(c);
  return nullptr;
}

void kiln::destroyCollectives(Collectives *c) {
  if (!c)
    return;
  free(c->sent);
  free(c->received);
  free(c->lanes);
  free(c->sources);
  free(c->fingerprints);
  if (c->small)
    freeAligned(c->small);
  free(c);
}

kiln_communicator *kiln::communicatorOf(Collectives *collectives) { return &collectives->communicator; }
const Transport &kiln::transportOf(const kiln_communicator &communicator) { return collectivesOf(communicator.user).transport; }

void kiln::resetCollectives(Collectives *c) {
  c->failure = KILN_STATUS_OK;
  c->isBegun = false;
  memset(c->sent, 0, size_t(c->communicator.size) * sizeof(uint64_t));
  memset(c->received, 0, size_t(c->communicator.size) * sizeof(uint64_t));
}
