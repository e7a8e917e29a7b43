// Messages of the calls that a rank has begun. Several may be underway: messages between two ranks keep the order in which their calls began.
#ifndef KILN_RUNTIME_RANKS_TRANSFERS_H
#define KILN_RUNTIME_RANKS_TRANSFERS_H

#include "Collectives.h"
#include "Reduce.h"

namespace kiln {

// Up to here, each rank of an all_reduce sends everything to all others and reduces it itself: one step instead of two.
constexpr int64_t smallBytes = 16 << 10;

inline uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

// A transfer of one step of a call: the memory of all calls that were merged, as if it were one behind the other. One of no bytes is an empty message.
struct Transfer {
  Part list[KILN_MERGED_MAX];
  int32_t count;
  int64_t bytes;
  int64_t messages; // that have been posted or taken
  uint64_t number;  // among the transfers between the two ranks
  uint64_t sizes;   // hash of the sizes of the parts, which must be equal on both ranks

  Parts parts() const { return {list, count}; }
  void add(const void *data, int64_t size) {
    list[count++] = {const_cast<char *>(static_cast<const char *>(data)), size};
    bytes += size;
    sizes = mix(sizes, uint64_t(size));
  }
};

// What goes to another rank and comes from it in one step of a call.
struct Lane {
  int32_t rank;
  bool sends;
  bool receives;
  bool isTaken; // all that was sent, by the other rank
  Transfer out;
  Transfer in; // without memory for what is reduced
};

// What this rank reduces of one of the merged calls, and where the result goes when all have been reduced.
struct Reduced {
  const char *own;
  char *result;
  int64_t bytes;
  char *data;
  int64_t dataBytes;
};

// What a reduction is made of besides the lanes, which are in the order of the group without this rank.
struct Reduction {
  int32_t elementType;
  int32_t reduction;
  int64_t elementBytes;
  int32_t index; // of this rank
  Reduced list[KILN_MERGED_MAX];
  int32_t count;
};

// A call that has begun.
struct Call {
  MessageKind kind;
  uint64_t hash;      // of the arguments that must be equal on all ranks
  int32_t status;     // of this rank, for MessageKind::End
  kiln_status worst;  // of other ranks
  int32_t laneCount;
  Lane *lanes; // room for one for each rank
  bool isDone;
  bool reduces;
  Reduction what;
  // After an all_reduce: results go from the buffer for small data to their places, or the ranks gather their pieces there.
  char *small; // smallBytes
  bool copiesSmall;
  bool gathersPieces;
};

// One call that is waited for at once, behind those that were started.
constexpr int32_t callCount = KILN_STARTED_MAX + 1;

struct Collectives {
  kiln_communicator communicator;
  Transport transport;
  kiln_status failure;
  bool isBegun;
  int64_t deadline; // of the call that runs
  int64_t looks;    // of this call, since something last moved
  uint64_t *sent;   // transfers to each rank
  uint64_t *received;
  Call calls[callCount]; // a ring: those that were started and not waited for, the oldest at `first`
  int32_t first;
  int32_t started;
  const void **sources;
  Parts *opened; // messages that are being reduced, in the order of the group
  uint8_t *fingerprints;
};

// Marks the communicator as failed, and tells the others.
kiln_status fail(Collectives &collectives, kiln_status status);

// A new call behind those that were started. What is sent to a lane, or received from it, more than once is one transfer.
Call &addCall(Collectives &collectives, MessageKind kind, uint64_t hash);
Lane &addLane(Call &call, int32_t rank);
void addSend(Collectives &collectives, Lane &lane, const void *data, int64_t bytes);
void addReceive(Collectives &collectives, Lane &lane, void *data, int64_t bytes);

// Piece i of `bytes` bytes, in `count` pieces of whole cache lines.
struct Pieces {
  int64_t bytes;
  int64_t each;
  Pieces(int64_t bytes, int32_t count) : bytes(bytes), each(bytes ? ((bytes - 1) / count / 64 + 1) * 64 : 0) {}
  int64_t begin(int32_t i) const { return each * i < bytes ? each * i : bytes; }
  int64_t size(int32_t i) const { return begin(i + 1) - begin(i); }
};

// Moves what the first `count` calls can move without waiting. Sets `moved` if there was something.
kiln_status moveCalls(Collectives &collectives, int32_t count, bool &moved);

// Waits until the first `needed` of `count` calls are done.
kiln_status finishCalls(Collectives &collectives, int32_t count, int32_t needed);

inline char *at(void *base, int64_t bytes) { return base ? static_cast<char *>(base) + bytes : nullptr; }
inline const char *at(const void *base, int64_t bytes) { return base ? static_cast<const char *>(base) + bytes : nullptr; }

} // namespace kiln

#endif // KILN_RUNTIME_RANKS_TRANSFERS_H
