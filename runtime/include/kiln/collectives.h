// What the ranks of a sharded model exchange: calls of the communicator in the caller's context.
#ifndef KILN_COLLECTIVES_H
#define KILN_COLLECTIVES_H

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

// The slices of the neighbours before and behind the own ones. Each rank sends forwards while it receives from before, and then the other way.
template <typename Element>
static inline void rank_halo(const Element *own, Element *wide, int32_t *status, const int8_t *caller, int64_t count, int64_t slices, int64_t before,
                             int64_t after, int64_t give_before, int64_t give_after, const int32_t *ranks, int64_t num_ranks, int64_t index) {
  const int64_t slice = slices ? count / slices : 0, bytes = slice * int64_t(sizeof(Element));
  __builtin_memcpy(wide + before * slice, own, size_t(slices * bytes));
  rank_call(status, caller, ranks, num_ranks, index, [&](const kiln_communicator &all, const kiln_ranks &group) {
    const int32_t previous = index > 0 ? group.ranks[index - 1] : -1, next = index + 1 < num_ranks ? group.ranks[index + 1] : -1;
    const kiln_status forwards = all.exchange(all.user, give_after ? next : -1, own + (slices - give_after) * slice, give_after * bytes,
                                              before ? previous : -1, wide, before * bytes);
    if (forwards != KILN_STATUS_OK)
      return forwards;
    return all.exchange(all.user, give_before ? previous : -1, own, give_before * bytes, after ? next : -1, wide + (before + slices) * slice,
                        after * bytes);
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
      status = communicator ? KILN_STATUS_RANKS_MISMATCH : KILN_STATUS_MISSING_COMMUNICATOR;
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
