#include "Transfers.h"

#include "../System.h"

#include <string.h>

using namespace kiln;

namespace {

constexpr int64_t never = INT64_MAX;

Call &callAt(Collectives &c, int32_t i) { return c.calls[(c.first + i) % callCount]; }

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

int64_t countMessages(const Collectives &c, int64_t bytes) { return bytes <= c.transport.mostBytes ? 1 : (bytes - 1) / c.transport.mostBytes + 1; }

int64_t messageBytes(const Collectives &c, int64_t total, int64_t message) {
  int64_t left = total - message * c.transport.mostBytes;
  return left < c.transport.mostBytes ? left : c.transport.mostBytes;
}

bool hasPosted(const Collectives &c, const Lane &lane) { return !lane.sends || lane.posted == countMessages(c, lane.outBytes); }
bool hasReceived(const Collectives &c, const Lane &lane) { return !lane.receives || lane.taken == countMessages(c, lane.inBytes); }

bool hasSent(const Collectives &c, Lane &lane) {
  lane.isTaken = lane.isTaken || !lane.sends || (hasPosted(c, lane) && c.transport.isTaken(c.transport.user, lane.rank));
  return lane.isTaken;
}

// Calls visit(lane) for the lanes to or from a rank: a pair may have two.
template <typename Visit> void eachLane(Call &call, int32_t rank, Visit visit) {
  for (int32_t i = 0; i < call.laneCount; ++i)
    if (call.lanes[i].rank == rank)
      visit(call.lanes[i]);
}

// Whether no call before call `number` has more to send to the rank, or to receive from it.
bool isNext(Collectives &c, int32_t number, int32_t rank, bool toSend) {
  bool isNext = true;
  for (int32_t i = 0; i < number; ++i) {
    Call &call = callAt(c, i);
    if (!call.isDone)
      eachLane(call, rank, [&](const Lane &lane) { isNext = isNext && !call.gathersPieces && (toSend ? hasPosted(c, lane) : hasReceived(c, lane)); });
  }
  return isNext;
}

// Where there is room for a message, those before it have been taken: nothing that comes behind them may hide this.
void noteTaken(Collectives &c, int32_t number, int32_t rank) {
  for (int32_t i = 0; i < number; ++i)
    eachLane(callAt(c, i), rank, [&](Lane &lane) { hasSent(c, lane); });
}

// Posts what there is room for. Whether anything was.
bool postMessages(Collectives &c, int32_t number, Lane &lane) {
  const Call &call = callAt(c, number);
  int64_t first = lane.posted;
  if (hasPosted(c, lane) || !isNext(c, number, lane.rank, true))
    return false;
  noteTaken(c, number, lane.rank);
  for (; !hasPosted(c, lane); ++lane.posted) {
    int64_t offset = lane.posted * c.transport.mostBytes;
    MessageHeader header = {uint32_t(call.kind), call.status, lane.sendNumber, call.hash, lane.outBytes, offset,
                            messageBytes(c, lane.outBytes, lane.posted)};
    if (!c.transport.post(c.transport.user, lane.rank, header, lane.out ? lane.out + offset : nullptr))
      break;
  }
  return lane.posted > first;
}

// Whether a message is the one that this lane waits for. If this rank or the other has ended with an error, it need not be.
kiln_status checkMessage(const Collectives &c, Call &call, const Lane &lane, const MessageHeader &header) {
  if (header.kind == uint32_t(MessageKind::End) && header.status)
    call.worst = kiln_status(header.status);
  if (header.kind != uint32_t(call.kind))
    return call.worst || call.status ? KILN_STATUS_PEER_FAILED : KILN_STATUS_RANKS_MISMATCH;
  bool fits = header.sequence == lane.receiveNumber && header.call == call.hash && header.total == lane.inBytes &&
              header.offset == lane.taken * c.transport.mostBytes && header.bytes == messageBytes(c, lane.inBytes, lane.taken);
  return fits ? KILN_STATUS_OK : KILN_STATUS_RANKS_MISMATCH;
}

// Takes the messages of a lane that are there.
kiln_status takeMessages(Collectives &c, int32_t number, Lane &lane, bool &moved) {
  while (!hasReceived(c, lane) && isNext(c, number, lane.rank, false)) {
    const MessageHeader *header = c.transport.findNext(c.transport.user, lane.rank);
    if (!header)
      return KILN_STATUS_OK;
    if (kiln_status status = checkMessage(c, callAt(c, number), lane, *header))
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

// Whether the next message of every lane is there.
kiln_status findRow(Collectives &c, int32_t number, bool &complete) {
  Call &call = callAt(c, number);
  complete = true;
  for (int32_t i = 0; i < call.laneCount; ++i) {
    const MessageHeader *header = isNext(c, number, call.lanes[i].rank, false) ? c.transport.findNext(c.transport.user, call.lanes[i].rank) : nullptr;
    if (!header)
      complete = false;
    else if (kiln_status status = checkMessage(c, call, call.lanes[i], *header))
      return status;
  }
  return KILN_STATUS_OK;
}

// Reduces the next message of each lane with this rank's part. Messages are open only for as long as that takes.
bool reduceRow(Collectives &c, Call &call) {
  const Reduction &what = call.what;
  int64_t message = call.lanes[0].taken, offset = message * c.transport.mostBytes;
  int32_t opened = 0;
  for (; opened < call.laneCount; ++opened)
    if (!c.transport.openNext(c.transport.user, call.lanes[opened].rank, &c.sources[opened < what.index ? opened : opened + 1]))
      break;
  bool isWhole = opened == call.laneCount;
  if (isWhole) {
    c.sources[what.index] = what.own + offset;
    reduceInOrder(c.sources, call.laneCount + 1, what.result + offset, messageBytes(c, call.lanes[0].inBytes, message) / what.elementBytes, what.elementType,
                  what.reduction);
  }
  for (int32_t i = 0; i < opened; ++i, ++call.lanes[i - 1].taken)
    c.transport.closeNext(c.transport.user, call.lanes[i].rank);
  return isWhole;
}

// The second step of a large all_reduce: all ranks gather what each has reduced. Its transfers have had their numbers since the call began.
void addPieces(Call &call) {
  Pieces pieces(call.bytes, call.laneCount + 1);
  call.kind = MessageKind::GatherPieces;
  call.reduces = call.gathersPieces = false;
  for (int32_t i = 0; i < call.laneCount; ++i) {
    const Lane before = call.lanes[i];
    int32_t place = i < call.what.index ? i : i + 1;
    Lane &lane = call.lanes[i];
    lane = {};
    lane.rank = before.rank;
    lane.sends = lane.receives = true;
    lane.out = at(static_cast<const char *>(call.data), pieces.begin(call.what.index));
    lane.outBytes = pieces.size(call.what.index);
    lane.sendNumber = before.sendNumber + 1;
    lane.in = at(static_cast<char *>(call.data), pieces.begin(place));
    lane.inBytes = pieces.size(place);
    lane.receiveNumber = before.receiveNumber + 1;
  }
}

// What is left to do when all messages of a call have gone and come.
void finishCall(Call &call) {
  if (call.gathersPieces)
    return addPieces(call);
  if (call.reduces && call.data)
    memcpy(call.data, call.small, size_t(call.bytes));
  call.isDone = true;
}

kiln_status moveCall(Collectives &c, int32_t number, bool &moved) {
  Call &call = callAt(c, number);
  bool done = true, complete = false;
  for (int32_t i = 0; i < call.laneCount; ++i) {
    Lane &lane = call.lanes[i];
    moved |= postMessages(c, number, lane);
    if (kiln_status status = call.reduces ? KILN_STATUS_OK : takeMessages(c, number, lane, moved))
      return status;
  }
  if (call.reduces && !hasReceived(c, call.lanes[0])) {
    if (kiln_status status = findRow(c, number, complete))
      return status;
    if (complete && !reduceRow(c, call))
      return KILN_STATUS_PEER_FAILED;
    moved |= complete;
  }
  for (int32_t i = 0; i < call.laneCount; ++i)
    done = done && hasReceived(c, call.lanes[i]) && hasSent(c, call.lanes[i]);
  if (!done)
    return KILN_STATUS_OK;
  moved = true;
  finishCall(call);
  return KILN_STATUS_OK;
}

} // namespace

kiln_status kiln::fail(Collectives &c, kiln_status status) {
  if (!c.failure) {
    c.failure = status;
    c.transport.fail(c.transport.user, status);
  }
  return c.failure;
}

Call &kiln::addCall(Collectives &c, MessageKind kind, uint64_t hash) {
  Call &call = callAt(c, c.started);
  Lane *lanes = call.lanes;
  char *small = call.small;
  call = {};
  call.lanes = lanes;
  call.small = small;
  call.kind = kind;
  call.hash = hash;
  return call;
}

Lane &kiln::addLane(Call &call, int32_t rank) {
  Lane &lane = call.lanes[call.laneCount++];
  lane = {};
  lane.rank = rank;
  return lane;
}

void kiln::addSend(Collectives &c, Lane &lane, const void *data, int64_t bytes) {
  lane.sends = true;
  lane.out = static_cast<const char *>(data);
  lane.outBytes = bytes;
  lane.sendNumber = c.sent[lane.rank]++;
}

void kiln::addReceive(Collectives &c, Lane &lane, void *data, int64_t bytes) {
  lane.receives = true;
  lane.in = static_cast<char *>(data);
  lane.inBytes = bytes;
  lane.receiveNumber = c.received[lane.rank]++;
}

kiln_status kiln::moveCalls(Collectives &c, int32_t count, bool &moved) {
  for (int32_t i = 0; i < count; ++i) {
    kiln_status status = callAt(c, i).isDone ? KILN_STATUS_OK : moveCall(c, i, moved);
    if (status) {
      kiln_status announced = c.transport.findFailure(c.transport.user);
      return fail(c, announced ? announced : status);
    }
  }
  return KILN_STATUS_OK;
}

kiln_status kiln::finishCalls(Collectives &c, int32_t count, int32_t needed) {
  for (;;) {
    bool moved = false, done = true;
    if (kiln_status status = moveCalls(c, count, moved))
      return status;
    for (int32_t i = 0; i < needed; ++i)
      done = done && callAt(c, i).isDone;
    if (done)
      return KILN_STATUS_OK;
    if (moved)
      c.looks = 0;
    else if (kiln_status status = waitForOthers(c))
      return status;
  }
}
