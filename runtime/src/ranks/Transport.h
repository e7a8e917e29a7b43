// What the collectives ask of whatever connects the ranks: memory of one process (LocalRanks.cpp), or MPI (../mpi/Mpi.cpp). No function waits for another rank.
#ifndef KILN_RUNTIME_RANKS_TRANSPORT_H
#define KILN_RUNTIME_RANKS_TRANSPORT_H

#include "kiln/communicator.h"

namespace kiln {

// What a message belongs to. The numbers go through networks.
enum class MessageKind : uint32_t { Begin = 1, End, ReduceWhole, ReducePieces, GatherPieces, Gather, Scatter, AllToAll, PointToPoint };

// In front of the bytes of a message.
struct MessageHeader {
  uint32_t kind;     // MessageKind
  int32_t status;    // of the sending rank, with MessageKind::End
  uint64_t sequence; // number of the transfer among those from this rank to that
  uint64_t call;     // hash of the arguments that must be equal on both ranks
  int64_t total;     // bytes of the transfer; it takes several messages if they are many
  int64_t offset;    // of this message within it
  int64_t bytes;     // of this message
};
static_assert(sizeof(MessageHeader) == 48, "ranks of different builds read each other's headers");

// Memory that is sent, or that receives, in several parts.
struct Part {
  char *data;
  int64_t bytes;
};
struct Parts {
  const Part *list;
  int32_t count;
};

// Calls visit(data, bytes) for the memory that has bytes [begin, begin + bytes) of the parts.
template <typename Visit> void eachPiece(const Parts &parts, int64_t begin, int64_t bytes, Visit visit) {
  for (int32_t i = 0; i < parts.count && bytes > 0; ++i) {
    const Part &part = parts.list[i];
    if (begin >= part.bytes) {
      begin -= part.bytes;
      continue;
    }
    const int64_t here = part.bytes - begin < bytes ? part.bytes - begin : bytes;
    visit(part.data + begin, here);
    begin = 0;
    bytes -= here;
  }
}

// Messages between two ranks arrive in the order in which they were posted.
struct Transport {
  void *user;
  int64_t mostBytes; // in one message; a multiple of 16, and at least 16 KiB
  int32_t spins;     // how often it pays to ask again at once

  // Starts to send a message of a transfer, and keeps a copy of the header. The parts are those of the whole transfer, and stay until it is taken.
  // False: there is no room now.
  bool (*post)(void *user, int32_t to, const MessageHeader &header, const Parts &parts);
  // Whether nothing that was posted to this rank will be read any more.
  bool (*isTaken)(void *user, int32_t to);
  // The header of the next message from this rank; null if none is there.
  const MessageHeader *(*findNext)(void *user, int32_t from);
  // The bytes of that message, until closeNext(). False if its sender has failed and taken it back.
  bool (*openNext)(void *user, int32_t from, Parts *parts);
  void (*closeNext)(void *user, int32_t from);
  // The failure that a rank has announced, or of the transport itself.
  kiln_status (*findFailure)(void *user);
  // Announces a failure to all ranks. Nothing that was posted is read from the caller's memory when it returns.
  void (*fail)(void *user, kiln_status status);
};

} // namespace kiln

#endif // KILN_RUNTIME_RANKS_TRANSPORT_H
