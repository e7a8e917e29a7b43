// Ranks that are processes under MPI. A message is a header and at most 64 KiB, in a buffer of a ring for each rank and direction. MPI sees no memory of the
// caller: what it was given for a rank that died or was stopped, it may use whenever that rank goes on.
#include "kiln/mpi.h"

#include "../System.h"
#include "../ranks/Collectives.h"

#include <stdlib.h>
#include <string.h>

using namespace kiln;

namespace {

constexpr int32_t ringSize = 4;
constexpr int64_t headerBytes = 64, payloadBytes = 64 << 10, bufferBytes = headerBytes + payloadBytes;
constexpr int messageTag = 1, failureTag = 2;
constexpr int64_t announcementNs = 20000000; // how long a rank that fails helps its announcement on its way

// Buffers that are sent or received in turn.
struct Ring {
  char *buffers; // null until the first use
  MPI_Request requests[ringSize];
  int32_t next;
  bool hasArrived; // the next one, of those that receive
  Part opened;
};

struct MpiRank {
  MPI_Comm comm;
  int32_t rank;
  int32_t size;
  kiln_status failure;
  Ring *out;
  Ring *in;
  int32_t announced; // what another rank has failed with
  MPI_Request announcement;
  int32_t ownFailure;
  MPI_Request *announcements; // to each rank
  Collectives *collectives;
};

MpiRank &rankOf(void *user) { return *static_cast<MpiRank *>(user); }

// Notes a failure of MPI. Whether there was none.
bool succeeded(MpiRank &self, int result) {
  if (result == MPI_SUCCESS)
    return true;
  if (!self.failure)
    self.failure = KILN_STATUS_PEER_FAILED;
  return false;
}

char *bufferOf(const Ring &ring, int32_t i) { return ring.buffers + i * bufferBytes; }

bool startReceive(MpiRank &self, Ring &ring, int32_t i, int32_t from) {
  return succeeded(self, MPI_Irecv(bufferOf(ring, i), int(bufferBytes), MPI_BYTE, from, messageTag, self.comm, &ring.requests[i]));
}

bool allocateRing(MpiRank &self, Ring &ring) {
  if (ring.buffers)
    return true;
  ring.buffers = static_cast<char *>(allocateAligned(size_t(bufferBytes * ringSize), KILN_ALIGNMENT));
  if (!ring.buffers && !self.failure)
    self.failure = KILN_STATUS_OUT_OF_MEMORY;
  return ring.buffers;
}

bool post(void *user, int32_t to, const MessageHeader &header, const Parts &parts) {
  MpiRank &self = rankOf(user);
  Ring &ring = self.out[to];
  if (self.failure || !allocateRing(self, ring))
    return false;
  MPI_Request &request = ring.requests[ring.next];
  int isDone = 0;
  if (!succeeded(self, MPI_Test(&request, &isDone, MPI_STATUS_IGNORE)) || !isDone)
    return false;
  char *buffer = bufferOf(ring, ring.next);
  memcpy(buffer, &header, sizeof(header));
  char *room = buffer + headerBytes;
  eachPiece(parts, header.offset, header.bytes, [&](const char *data, int64_t bytes) {
    memcpy(room, data, size_t(bytes));
    room += bytes;
  });
  ring.next = (ring.next + 1) % ringSize;
  return succeeded(self, MPI_Isend(buffer, int(headerBytes + header.bytes), MPI_BYTE, to, messageTag, self.comm, &request));
}

bool isTaken(void *, int32_t) { return true; } // it was copied

const MessageHeader *findNext(void *user, int32_t from) {
  MpiRank &self = rankOf(user);
  Ring &ring = self.in[from];
  if (self.failure)
    return nullptr;
  if (!ring.buffers) {
    if (!allocateRing(self, ring))
      return nullptr;
    for (int32_t i = 0; i < ringSize; ++i)
      if (!startReceive(self, ring, i, from))
        return nullptr;
  }
  const MessageHeader *header = reinterpret_cast<const MessageHeader *>(bufferOf(ring, ring.next));
  if (ring.hasArrived)
    return header;
  int isDone = 0, length = 0;
  MPI_Status status;
  if (!succeeded(self, MPI_Test(&ring.requests[ring.next], &isDone, &status)) || !isDone)
    return nullptr;
  if (!succeeded(self, MPI_Get_count(&status, MPI_BYTE, &length)))
    return nullptr;
  // The collectives compare the header with what they expect; here, it only must be one.
  if (length < headerBytes || header->bytes != length - headerBytes) {
    self.failure = KILN_STATUS_RANKS_MISMATCH;
    return nullptr;
  }
  ring.hasArrived = true;
  return header;
}

bool openNext(void *user, int32_t from, Parts *parts) {
  Ring &ring = rankOf(user).in[from];
  ring.opened = {bufferOf(ring, ring.next) + headerBytes, reinterpret_cast<const MessageHeader *>(bufferOf(ring, ring.next))->bytes};
  *parts = {&ring.opened, 1};
  return true;
}

void closeNext(void *user, int32_t from) {
  MpiRank &self = rankOf(user);
  Ring &ring = self.in[from];
  startReceive(self, ring, ring.next, from);
  ring.hasArrived = false;
  ring.next = (ring.next + 1) % ringSize;
}

// Whether a failure is one of all ranks, not of the one that announces it.
bool isShared(int32_t status) { return status == KILN_STATUS_RANKS_MISMATCH || status == KILN_STATUS_PEER_LATE; }

kiln_status findFailure(void *user) {
  MpiRank &self = rankOf(user);
  int isDone = 0;
  if (!self.failure && succeeded(self, MPI_Test(&self.announcement, &isDone, MPI_STATUS_IGNORE)) && isDone)
    self.failure = isShared(self.announced) ? kiln_status(self.announced) : KILN_STATUS_PEER_FAILED;
  return self.failure;
}

// MPI may need calls of this rank to send the announcement; to a dead rank, it never goes.
void fail(void *user, kiln_status status) {
  MpiRank &self = rankOf(user);
  self.ownFailure = status;
  for (int32_t to = 0; to < self.size; ++to)
    if (to != self.rank &&
        MPI_Isend(&self.ownFailure, int(sizeof(int32_t)), MPI_BYTE, to, failureTag, self.comm, &self.announcements[to]) != MPI_SUCCESS)
      self.announcements[to] = MPI_REQUEST_NULL;
  int areDone = 0;
  int64_t deadline = readClock() + announcementNs;
  for (int64_t looks = 0; !areDone && readClock() < deadline; ++looks) {
    if (MPI_Testall(self.size, self.announcements, &areDone, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
      break;
    passTime(looks, 100);
  }
  if (!self.failure)
    self.failure = status;
}

// Gives MPI time to complete a request. Whether it did so.
bool finishRequest(MPI_Request &request, int64_t deadline) {
  int isDone = 0;
  for (int64_t looks = 0; MPI_Test(&request, &isDone, MPI_STATUS_IGNORE) == MPI_SUCCESS && !isDone && readClock() < deadline; ++looks)
    passTime(looks, 100);
  return isDone;
}

bool cancelReceive(MPI_Request &request, int64_t deadline) {
  return request == MPI_REQUEST_NULL || (MPI_Cancel(&request) == MPI_SUCCESS && finishRequest(request, deadline));
}

// Frees the buffers if MPI uses none of them any more; else they stay, for the rest of the process.
bool finishRing(Ring &ring, bool receives, int64_t deadline) {
  bool isDone = true;
  for (int32_t i = 0; ring.buffers && i < ringSize; ++i)
    if (!(receives ? cancelReceive(ring.requests[i], deadline) : finishRequest(ring.requests[i], deadline)))
      isDone = false;
  if (isDone && ring.buffers)
    freeAligned(ring.buffers);
  return isDone;
}

void destroy(MpiRank *self) {
  constexpr int64_t patienceNs = 1000000000;
  int64_t deadline = readClock() + (self->failure ? 0 : patienceNs);
  bool isDone = cancelReceive(self->announcement, deadline);
  for (int32_t i = 0; i < self->size; ++i) {
    isDone &= !self->out || finishRing(self->out[i], false, deadline);
    isDone &= !self->in || finishRing(self->in[i], true, deadline);
    isDone &= !self->announcements || finishRequest(self->announcements[i], deadline);
  }
  destroyCollectives(self->collectives);
  if (!isDone)
    return; // MPI still has requests that write to this
  if (!self->failure && self->comm != MPI_COMM_NULL)
    MPI_Comm_free(&self->comm);
  free(self->out);
  free(self->in);
  free(self->announcements);
  free(self);
}

// Everything that needs no other rank.
MpiRank *allocateRank(MPI_Comm mpi, int64_t deadlineNs) {
  MpiRank *self = static_cast<MpiRank *>(calloc(1, sizeof(MpiRank)));
  if (!self)
    return nullptr;
  self->comm = MPI_COMM_NULL;
  self->announcement = MPI_REQUEST_NULL;
  MPI_Comm_rank(mpi, &self->rank);
  MPI_Comm_size(mpi, &self->size);
  self->out = static_cast<Ring *>(calloc(size_t(self->size), sizeof(Ring)));
  self->in = static_cast<Ring *>(calloc(size_t(self->size), sizeof(Ring)));
  self->announcements = static_cast<MPI_Request *>(calloc(size_t(self->size), sizeof(MPI_Request)));
  Transport transport = {self, payloadBytes, 1000, post, isTaken, findNext, openNext, closeNext, findFailure, fail};
  self->collectives = createCollectives(self->rank, self->size, deadlineNs, transport);
  bool isWhole = self->out && self->in && self->announcements && self->collectives;
  for (int32_t i = 0; i < self->size; ++i) {
    if (self->announcements)
      self->announcements[i] = MPI_REQUEST_NULL;
    for (int32_t k = 0; k < ringSize && self->out && self->in; ++k)
      self->out[i].requests[k] = self->in[i].requests[k] = MPI_REQUEST_NULL;
  }
  if (isWhole)
    return self;
  destroy(self);
  return nullptr;
}

// Duplicates `mpi` before the deadline, with errors that return also here.
kiln_status duplicate(MpiRank &self, MPI_Comm mpi, int64_t deadlineNs) {
  int64_t now = readClock(), deadline = deadlineNs > 0 && deadlineNs < INT64_MAX - now ? now + deadlineNs : INT64_MAX;
  MPI_Errhandler before;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_get_errhandler(mpi, &before);
  MPI_Comm_set_errhandler(mpi, MPI_ERRORS_RETURN);
  bool isMade = MPI_Comm_idup(mpi, &self.comm, &request) == MPI_SUCCESS && finishRequest(request, deadline);
  MPI_Comm_set_errhandler(mpi, before);
  MPI_Errhandler_free(&before);
  if (!isMade)
    return readClock() >= deadline ? KILN_STATUS_PEER_LATE : KILN_STATUS_PEER_FAILED;
  MPI_Comm_set_errhandler(self.comm, MPI_ERRORS_RETURN);
  bool listens = succeeded(self, MPI_Irecv(&self.announced, int(sizeof(self.announced)), MPI_BYTE, MPI_ANY_SOURCE, failureTag, self.comm, &self.announcement));
  return listens ? KILN_STATUS_OK : KILN_STATUS_PEER_FAILED;
}

} // namespace

kiln_status kiln_mpi_communicator_create(MPI_Comm mpi, int64_t deadline_ns, kiln_communicator **communicator) {
  if (!communicator)
    return KILN_STATUS_NULL_POINTER;
  *communicator = nullptr;
  int isInitialized = 0, isFinalized = 0;
  MPI_Initialized(&isInitialized);
  MPI_Finalized(&isFinalized);
  if (!isInitialized || isFinalized || mpi == MPI_COMM_NULL || deadline_ns < 0)
    return KILN_STATUS_INVALID_ARGUMENT;
  MpiRank *self = allocateRank(mpi, deadline_ns);
  if (!self)
    return KILN_STATUS_OUT_OF_MEMORY;
  // A process without memory does not get here: the others then see that it is late.
  if (kiln_status status = duplicate(*self, mpi, deadline_ns))
    return status; // MPI may write to what is allocated when the others come after all
  *communicator = communicatorOf(self->collectives);
  return KILN_STATUS_OK;
}

void kiln_mpi_communicator_destroy(kiln_communicator *communicator) {
  if (communicator)
    destroy(static_cast<MpiRank *>(transportOf(*communicator).user));
}
