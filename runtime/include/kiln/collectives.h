// What the ranks of a sharded model exchange: calls of the communicator in the caller's context.
#ifndef KILN_COLLECTIVES_H
#define KILN_COLLECTIVES_H

#include "kiln/communicator.h"
#include "kiln/entry.h"

namespace kiln {

// The communicator, or NULL without one. The context must be one that check_context() accepts.
static inline const kiln_communicator *rank_communicator(const int8_t *caller) {
  const kiln_context *const context = reinterpret_cast<const kiln_context *>(caller);
  return context && KILN_HAS_FIELD(kiln_context, context, communicator) ? context->communicator : nullptr;
}

// Calls `exchange` with the communicator and the ranks that take part; without a communicator the run ends.
template <typename Exchange>
static inline void rank_call(int32_t *status, const int8_t *caller, const int32_t *ranks, int64_t num_ranks, int64_t index, Exchange exchange) {
  const kiln_communicator *const communicator = rank_communicator(caller);
  const kiln_ranks group = {ranks, int32_t(num_ranks), int32_t(index)};
  report(status, communicator ? exchange(*communicator, group) : KILN_STATUS_MISSING_COMMUNICATOR);
}

// `count` is the number of elements of the first operand in all of these.
template <typename Element>
static inline void rank_all_reduce(const Element *part, Element *whole, int32_t *status, const int8_t *caller, int64_t count, int64_t type,
                                   int64_t reduction, const int32_t *ranks, int64_t num_ranks, int64_t index) {
  if (whole != part)
    __builtin_memcpy(whole, part, size_t(count) * sizeof(Element));
  rank_call(status, caller, ranks, num_ranks, index, [&](const kiln_communicator &all, const kiln_ranks &group) {
    return all.all_reduce(all.user, &group, whole, count, int32_t(type), int32_t(reduction));
  });
}

template <typename Element>
static inline void rank_reduce_scatter(const Element *whole, Element *part, int32_t *status, const int8_t *caller, int64_t count, int64_t type,
                                       int64_t reduction, const int32_t *ranks, int64_t num_ranks, int64_t index) {
  rank_call(status, caller, ranks, num_ranks, index, [&](const kiln_communicator &all, const kiln_ranks &group) {
    return all.reduce_scatter(all.user, &group, whole, part, count / num_ranks, int32_t(type), int32_t(reduction));
  });
}

template <typename Element>
static inline void rank_all_gather(const Element *part, Element *whole, int32_t *status, const int8_t *caller, int64_t count, const int32_t *ranks,
                                   int64_t num_ranks, int64_t index) {
  rank_call(status, caller, ranks, num_ranks, index, [&](const kiln_communicator &all, const kiln_ranks &group) {
    return all.all_gather(all.user, &group, part, whole, count * int64_t(sizeof(Element)));
  });
}

template <typename Element>
static inline void rank_all_to_all(const Element *given, Element *taken, int32_t *status, const int8_t *caller, int64_t count, const int32_t *ranks,
                                   int64_t num_ranks, int64_t index) {
  rank_call(status, caller, ranks, num_ranks, index, [&](const kiln_communicator &all, const kiln_ranks &group) {
    return all.all_to_all(all.user, &group, given, taken, count / num_ranks * int64_t(sizeof(Element)));
  });
}

// To the rank `offset` places on, from the one on the other side; zeros where there is none.
template <typename Element>
static inline void rank_shift(const Element *given, Element *taken, int32_t *status, const int8_t *caller, int64_t count, int64_t offset,
                              const int32_t *ranks, int64_t num_ranks, int64_t index) {
  const int64_t to = index + offset, from = index - offset, bytes = count * int64_t(sizeof(Element));
  const bool gives = to >= 0 && to < num_ranks, takes = from >= 0 && from < num_ranks;
  if (!takes)
    __builtin_memset(taken, 0, size_t(bytes));
  rank_call(status, caller, ranks, num_ranks, index, [&](const kiln_communicator &all, const kiln_ranks &group) {
    return all.exchange(all.user, gives ? group.ranks[to] : -1, given, gives ? bytes : 0, takes ? group.ranks[from] : -1, taken, takes ? bytes : 0);
  });
}

// The run of a sharded model: all ranks begin and end it together.
class rank_run {
public:
  // `library` stands for the library and the cut; `sizes` are the dimensions of the run.
  rank_run(const kiln_context *context, int64_t ranks, uint64_t library, const int64_t *sizes, int64_t num_sizes)
      : communicator(nullptr), status(check_context(context)) {
    if (status != KILN_STATUS_OK)
      return;
    communicator = rank_communicator(reinterpret_cast<const int8_t *>(context));
    if (!communicator || communicator->size != ranks || communicator->rank < 0 || communicator->rank >= ranks) {
      status = KILN_STATUS_MISSING_COMMUNICATOR;
      communicator = nullptr;
      return;
    }
    uint64_t words[2] = {library, UINT64_C(0x9e3779b97f4a7c15)};
    for (int64_t i = 0; i < num_sizes; ++i)
      words[1] = (words[1] ^ uint64_t(sizes[i])) * UINT64_C(0x100000001b3) + uint64_t(i);
    uint8_t fingerprint[16];
    __builtin_memcpy(fingerprint, words, sizeof fingerprint);
    status = communicator->begin(communicator->user, fingerprint);
  }
  // -1 if the run has failed already.
  int32_t rank() const { return status == KILN_STATUS_OK ? communicator->rank : -1; }
  // The status of the run as all ranks see it.
  kiln_status end(kiln_status own) const {
    return communicator ? communicator->end(communicator->user, status == KILN_STATUS_OK ? own : status) : status;
  }

private:
  const kiln_communicator *communicator;
  kiln_status status;
};

} // namespace kiln

#endif // KILN_COLLECTIVES_H
