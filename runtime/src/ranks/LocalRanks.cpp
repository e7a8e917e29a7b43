// Ranks that are threads of one process. A message is the whole of a transfer: the parts of the sender's memory, in a mailbox of the two ranks that holds one.
#include "kiln/ranks.h"

#include "../System.h"
#include "Collectives.h"

#include <stdlib.h>

using namespace kiln;

namespace {

enum State : uint32_t { Empty, Posted, Open, Withdrawn };

struct alignas(64) Mailbox {
  uint32_t state;
  MessageHeader header; // these two belong to the sender while it is empty, and to the receiver otherwise
  Parts parts;
};

struct LocalRank {
  kiln_local_ranks *ranks;
  int32_t rank;
  Collectives *collectives;
};

} // namespace

struct kiln_local_ranks {
  int32_t size;
  int32_t failure; // the first one
  Mailbox *mailboxes;
  LocalRank *ends;
};

namespace {

LocalRank &endOf(void *user) { return *static_cast<LocalRank *>(user); }
Mailbox &mailbox(const kiln_local_ranks &ranks, int32_t from, int32_t to) { return ranks.mailboxes[size_t(from) * size_t(ranks.size) + size_t(to)]; }

bool changeState(Mailbox &box, uint32_t before, uint32_t after) {
  return __atomic_compare_exchange_n(&box.state, &before, after, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

bool post(void *user, int32_t to, const MessageHeader &header, const Parts &parts) {
  LocalRank &end = endOf(user);
  Mailbox &box = mailbox(*end.ranks, end.rank, to);
  if (__atomic_load_n(&box.state, __ATOMIC_ACQUIRE) != Empty)
    return false;
  box.header = header;
  box.parts = parts;
  __atomic_store_n(&box.state, Posted, __ATOMIC_RELEASE);
  return true;
}

bool isTaken(void *user, int32_t to) {
  LocalRank &end = endOf(user);
  return __atomic_load_n(&mailbox(*end.ranks, end.rank, to).state, __ATOMIC_ACQUIRE) == Empty;
}

const MessageHeader *findNext(void *user, int32_t from) {
  LocalRank &end = endOf(user);
  Mailbox &box = mailbox(*end.ranks, from, end.rank);
  return __atomic_load_n(&box.state, __ATOMIC_ACQUIRE) == Posted ? &box.header : nullptr;
}

bool openNext(void *user, int32_t from, Parts *parts) {
  LocalRank &end = endOf(user);
  Mailbox &box = mailbox(*end.ranks, from, end.rank);
  if (!changeState(box, Posted, Open))
    return false;
  *parts = box.parts;
  return true;
}

void closeNext(void *user, int32_t from) {
  LocalRank &end = endOf(user);
  __atomic_store_n(&mailbox(*end.ranks, from, end.rank).state, Empty, __ATOMIC_RELEASE);
}

kiln_status findFailure(void *user) { return kiln_status(__atomic_load_n(&endOf(user).ranks->failure, __ATOMIC_ACQUIRE)); }

// A rank that has a message open is computing with it, and waits for nobody.
void fail(void *user, kiln_status status) {
  LocalRank &end = endOf(user);
  int32_t none = KILN_STATUS_OK;
  __atomic_compare_exchange_n(&end.ranks->failure, &none, int32_t(status), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  for (int32_t to = 0; to < end.ranks->size; ++to) {
    Mailbox &box = mailbox(*end.ranks, end.rank, to);
    changeState(box, Posted, Withdrawn);
    for (int64_t looks = 0; __atomic_load_n(&box.state, __ATOMIC_ACQUIRE) == Open; ++looks)
      passTime(looks, 100);
  }
}

int32_t chooseSpins(int32_t size) { return countCpus() >= size ? 2000 : 20; }

} // namespace

kiln_status kiln_local_ranks_create(int32_t size, int64_t deadline_ns, kiln_local_ranks **ranks) {
  if (!ranks)
    return KILN_STATUS_NULL_POINTER;
  *ranks = nullptr;
  if (size < 1 || size > KILN_LOCAL_RANKS_MAX || deadline_ns < 0)
    return KILN_STATUS_INVALID_ARGUMENT;
  kiln_local_ranks *made = static_cast<kiln_local_ranks *>(calloc(1, sizeof(kiln_local_ranks)));
  if (!made)
    return KILN_STATUS_OUT_OF_MEMORY;
  made->size = size;
  made->mailboxes = static_cast<Mailbox *>(allocateAligned(size_t(size) * size_t(size) * sizeof(Mailbox), alignof(Mailbox)));
  made->ends = static_cast<LocalRank *>(calloc(size_t(size), sizeof(LocalRank)));
  bool isWhole = made->mailboxes && made->ends;
  for (int32_t rank = 0; isWhole && rank < size; ++rank) {
    LocalRank &end = made->ends[rank];
    Transport transport = {&end, INT64_MAX - 63, chooseSpins(size), post, isTaken, findNext, openNext, closeNext, findFailure, fail};
    end = {made, rank, createCollectives(rank, size, deadline_ns, transport)};
    isWhole = end.collectives != nullptr;
  }
  if (!isWhole) {
    kiln_local_ranks_destroy(made);
    return KILN_STATUS_OUT_OF_MEMORY;
  }
  kiln_local_ranks_reset(made);
  *ranks = made;
  return KILN_STATUS_OK;
}

const kiln_communicator *kiln_local_ranks_get(const kiln_local_ranks *ranks, int32_t rank) {
  return ranks && rank >= 0 && rank < ranks->size ? communicatorOf(ranks->ends[rank].collectives) : nullptr;
}

void kiln_local_ranks_reset(kiln_local_ranks *ranks) {
  if (!ranks)
    return;
  __atomic_store_n(&ranks->failure, int32_t(KILN_STATUS_OK), __ATOMIC_RELEASE);
  for (int64_t i = 0; i < int64_t(ranks->size) * ranks->size; ++i)
    __atomic_store_n(&ranks->mailboxes[i].state, Empty, __ATOMIC_RELEASE);
  for (int32_t rank = 0; rank < ranks->size; ++rank)
    resetCollectives(ranks->ends[rank].collectives);
}

void kiln_local_ranks_destroy(kiln_local_ranks *ranks) {
  if (!ranks)
    return;
  for (int32_t rank = 0; ranks->ends && rank < ranks->size; ++rank)
    destroyCollectives(ranks->ends[rank].collectives);
  if (ranks->mailboxes)
    freeAligned(ranks->mailboxes);
  free(ranks->ends);
  free(ranks);
}
