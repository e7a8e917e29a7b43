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

bool hasPosted(const Collectives &c, const Lane &lane) { return !lane.sends || lane.out.messages == countMessages(c, lane.out.bytes); }
bool hasReceived(const Collectives &c, const Lane &lane) { return !lane.receives || lane.in.messages == countMessages(c, lane.in.bytes); }

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
  Transfer &out = lane.out;
  int64_t first = out.messages;
  if (hasPosted(c, lane) || !isNext(c, number, lane.rank, true))
    return false;
  noteTaken(c, number, lane.rank);
  for (; !hasPosted(c, lane); ++out.messages) {
    MessageHeader header = {uint32_t(call.kind), call.status, out.number, mix(call.hash, out.sizes), out.bytes, out.messages * c.transport.mostBytes,
                            messageBytes(c, out.bytes, out.messages)};
    if (!c.transport.post(c.transport.user, lane.rank, header, out.parts()))
      break;
  }
  return out.messages > first;
}

// Whether a message is the one that this lane waits for. If this rank or the other has ended with an error, it need not be.
kiln_status checkMessage(const Collectives &c, Call &call, const Lane &lane, const MessageHeader &header) {
  if (header.kind == uint32_t(MessageKind::End) && header.status)
    call.worst = kiln_status(header.status);
  if (header.kind != uint32_t(call.kind))
    return call.worst || call.status ? KILN_STATUS_PEER_FAILED : KILN_STATUS_RANKS_MISMATCH;
  const Transfer &in = lane.in;
  bool fits = header.sequence == in.number && header.call == mix(call.hash, in.sizes) && header.total == in.bytes &&
              header.offset == in.messages * c.transport.mostBytes && header.bytes == messageBytes(c, in.bytes, in.messages);
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
    int64_t bytes = header->bytes, begin = lane.in.messages * c.transport.mostBytes;
    Parts parts;
    if (!c.transport.openNext(c.transport.user, lane.rank, &parts))
      return KILN_STATUS_PEER_FAILED;
    eachPiece(parts, 0, bytes, [&](const char *from, int64_t size) {
      eachPiece(lane.in.parts(), begin, size, [&](char *to, int64_t here) {
        memcpy(to, from, size_t(here));
        from += here;
      });
      begin += size;
    });
    c.transport.closeNext(c.transport.user, lane.rank);
    ++lane.in.messages;
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

// Reduces bytes [begin, end) of what a rank reduces, which are in the opened messages. Messages end where elements do, and parts are of one size on all ranks.
void reduceOpened(Collectives &c, const Call &call, int64_t begin, int64_t end) {
  const Reduction &what = call.what;
  int64_t first = 0;
  for (int32_t i = 0; i < what.count; first += what.list[i].bytes, ++i) {
    const Reduced &part = what.list[i];
    int64_t from = begin > first ? begin : first, to = end < first + part.bytes ? end : first + part.bytes;
    if (from >= to)
      continue;
    for (int32_t rank = 0; rank <= call.laneCount; ++rank)
      if (rank != what.index)
        eachPiece(c.opened[rank], from - begin, 1, [&](const char *data, int64_t) { c.sources[rank] = data; });
    c.sources[what.index] = part.own + (from - first);
    reduceInOrder(c.sources, call.laneCount + 1, part.result + (from - first), (to - from) / what.elementBytes, what.elementType, what.reduction);
  }
}

// Reduces the next message of each lane with this rank's part. Messages are open only for as long as that takes.
bool reduceRow(Collectives &c, Call &call) {
  int64_t message = call.lanes[0].in.messages, begin = message * c.transport.mostBytes;
  int32_t opened = 0;
  for (; opened < call.laneCount; ++opened)
    if (!c.transport.openNext(c.transport.user, call.lanes[opened].rank, &c.opened[opened < call.what.index ? opened : opened + 1]))
      break;
  bool isWhole = opened == call.laneCount;
  if (isWhole)
    reduceOpened(c, call, begin, begin + messageBytes(c, call.lanes[0].in.bytes, message));
  for (int32_t i = 0; i < opened; ++i, ++call.lanes[i - 1].in.messages)
    c.transport.closeNext(c.transport.user, call.lanes[i].rank);
  return isWhole;
}

// The second step of a large all_reduce: all ranks gather what each has reduced. Its transfers have had their numbers since the call began.
void addPieces(Call &call) {
  call.kind = MessageKind::GatherPieces;
  call.reduces = call.gathersPieces = false;
  for (int32_t i = 0; i < call.laneCount; ++i) {
    Lane &lane = call.lanes[i];
    int32_t rank = lane.rank, place = i < call.what.index ? i : i + 1;
    uint64_t sent = lane.out.number, received = lane.in.number;
    lane = {};
    lane.rank = rank;
    lane.sends = lane.receives = true;
    lane.out.number = sent + 1;
    lane.in.number = received + 1;
    for (int32_t part = 0; part < call.what.count; ++part) {
      const Reduced &reduced = call.what.list[part];
      Pieces pieces(reduced.dataBytes, call.laneCount + 1);
      lane.out.add(reduced.data + pieces.begin(call.what.index), pieces.size(call.what.index));
      lane.in.add(reduced.data + pieces.begin(place), pieces.size(place));
    }
  }
}

// What is left to do when all messages of a call have gone and come.
void finishCall(Call &call) {
  if (call.gathersPieces)
    return addPieces(call);
  for (int32_t i = 0; call.copiesSmall && i < call.what.count; ++i)
    if (const Reduced &part = call.what.list[i]; part.bytes)
      memcpy(part.data, part.result, size_t(part.bytes));
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
  if (!lane.sends)
    lane.out.number = c.sent[lane.rank]++;
  lane.sends = true;
  lane.out.add(data, bytes);
}

void kiln::addReceive(Collectives &c, Lane &lane, void *data, int64_t bytes) {
  if (!lane.receives)
    lane.in.number = c.received[lane.rank]++;
  lane.receives = true;
  lane.in.add(data, bytes);
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
