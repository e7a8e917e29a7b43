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

// The ranks of a collective: `count` of them, whose numbers are `step` apart, along an axis of the grid. Which ones follows from the own rank's number, so the
// text of all ranks is the same.
struct rank_group {
  static constexpr int64_t most = 256;
  rank_group(int32_t rank, int64_t count, int64_t step) {
    const int64_t index = rank / step % count, first = rank - index * step;
    for (int64_t i = 0; i < count; ++i)
      numbers[i] = int32_t(first + i * step);
    group = {numbers, int32_t(count), int32_t(index)};
  }
  rank_group(const rank_group &) = delete;

  int32_t numbers[most];
  kiln_ranks group;
};

// Whether the communicator has calls in two halves.
static inline bool rank_has_halves(const kiln_communicator &all) { return KILN_HAS_FIELD(kiln_communicator, &all, wait) && all.start && all.wait; }

static inline kiln_status rank_run_whole(const kiln_communicator &all, const kiln_exchange &what) {
  switch (what.kind) {
  case KILN_EXCHANGE_ALL_REDUCE:
    return all.all_reduce(all.user, what.group, what.taken, what.count, what.element_type, what.reduction);
  case KILN_EXCHANGE_ALL_GATHER:
    return all.all_gather(all.user, what.group, what.given, what.taken, what.count);
  case KILN_EXCHANGE_REDUCE_SCATTER:
    return all.reduce_scatter(all.user, what.group, what.given, what.taken, what.count, what.element_type, what.reduction);
  case KILN_EXCHANGE_ALL_TO_ALL:
    return all.all_to_all(all.user, what.group, what.given, what.taken, what.count);
  default:
    return all.exchange(all.user, what.to, what.given, what.count, what.from, what.taken, what.taken_bytes);
  }
}

// What an operation gives to the others and takes from them. `count` elements are given.
struct rank_buffers {
  const void *given;
  void *taken;
  int64_t count, element_bytes;
};

// An operation that ranks take part in: `num_ranks` of them, `step` apart.
struct rank_operation {
  int64_t kind, type, reduction, offset, num_ranks, step;

  // The call that it is on one rank.
  kiln_exchange describe(const rank_buffers &buffers, int64_t rank, const kiln_ranks *group) const {
    const int64_t count = buffers.count, bytes = count * buffers.element_bytes;
    switch (kind) {
    case KILN_EXCHANGE_ALL_REDUCE:
      if (buffers.taken != buffers.given)
        __builtin_memcpy(buffers.taken, buffers.given, size_t(bytes));
      return {int32_t(kind), int32_t(type), int32_t(reduction), -1, -1, 0, group, buffers.taken, buffers.taken, count, 0};
    case KILN_EXCHANGE_REDUCE_SCATTER:
      return {int32_t(kind), int32_t(type), int32_t(reduction), -1, -1, 0, group, buffers.given, buffers.taken, count / num_ranks, 0};
    case KILN_EXCHANGE_ALL_GATHER:
      return {int32_t(kind), 0, 0, -1, -1, 0, group, buffers.given, buffers.taken, bytes, 0};
    case KILN_EXCHANGE_ALL_TO_ALL:
      return {int32_t(kind), 0, 0, -1, -1, 0, group, buffers.given, buffers.taken, bytes / num_ranks, 0};
    default: {
      // To the rank `offset` places on, from the one on the other side; zeros where there is none.
      const int64_t index = rank / step % num_ranks;
      const bool gives = index + offset >= 0 && index + offset < num_ranks, takes = index - offset >= 0 && index - offset < num_ranks;
      if (!takes)
        __builtin_memset(buffers.taken, 0, size_t(bytes));
      return {KILN_EXCHANGE_PAIR, 0, 0, gives ? int32_t(rank + offset * step) : -1, takes ? int32_t(rank - offset * step) : -1, 0, group, buffers.given,
              buffers.taken, gives ? bytes : 0, takes ? bytes : 0};
    }
    }
  }
};

// Makes the call, or starts it: `starts` says which. A communicator without halves makes all of it at once. Without a communicator the run ends.
static inline void rank_call(int32_t *status, const int8_t *caller, bool starts, const rank_operation &operation, const rank_buffers &buffers) {
  const kiln_communicator *const communicator = rank_communicator(caller);
  if (!communicator)
    return report(status, KILN_STATUS_MISSING_COMMUNICATOR);
  const rank_group ranks(communicator->rank, operation.num_ranks, operation.step);
  const kiln_exchange what = operation.describe(buffers, communicator->rank, &ranks.group);
  report(status, starts && rank_has_halves(*communicator) ? communicator->start(communicator->user, &what) : rank_run_whole(*communicator, what));
}

// `count` is the number of elements of the first operand in all of these.
template <typename Element>
static inline void rank_all_reduce(const Element *part, Element *whole, int32_t *status, const int8_t *caller, int64_t count, int64_t type,
                                   int64_t reduction, int64_t num_ranks, int64_t step, bool starts = false) {
  rank_call(status, caller, starts, {KILN_EXCHANGE_ALL_REDUCE, type, reduction, 0, num_ranks, step}, {part, whole, count, int64_t(sizeof(Element))});
}

template <typename Element>
static inline void rank_reduce_scatter(const Element *whole, Element *part, int32_t *status, const int8_t *caller, int64_t count, int64_t type,
                                       int64_t reduction, int64_t num_ranks, int64_t step, bool starts = false) {
  rank_call(status, caller, starts, {KILN_EXCHANGE_REDUCE_SCATTER, type, reduction, 0, num_ranks, step}, {whole, part, count, int64_t(sizeof(Element))});
}

template <typename Element>
static inline void rank_all_gather(const Element *part, Element *whole, int32_t *status, const int8_t *caller, int64_t count, int64_t num_ranks,
                                   int64_t step, bool starts = false) {
  rank_call(status, caller, starts, {KILN_EXCHANGE_ALL_GATHER, 0, 0, 0, num_ranks, step}, {part, whole, count, int64_t(sizeof(Element))});
}

template <typename Element>
static inline void rank_all_to_all(const Element *given, Element *taken, int32_t *status, const int8_t *caller, int64_t count, int64_t num_ranks,
                                   int64_t step, bool starts = false) {
  rank_call(status, caller, starts, {KILN_EXCHANGE_ALL_TO_ALL, 0, 0, 0, num_ranks, step}, {given, taken, count, int64_t(sizeof(Element))});
}

template <typename Element>
static inline void rank_shift(const Element *given, Element *taken, int32_t *status, const int8_t *caller, int64_t count, int64_t offset,
                              int64_t num_ranks, int64_t step, bool starts = false) {
  rank_call(status, caller, starts, {KILN_EXCHANGE_PAIR, 0, 0, offset, num_ranks, step}, {given, taken, count, int64_t(sizeof(Element))});
}

// Whether the communicator has calls of several in one.
static inline bool rank_has_merged(const kiln_communicator &all) { return KILN_HAS_FIELD(kiln_communicator, &all, merged) && all.merged; }

// Several operations of one kind as one call. A communicator without such a call makes one after the other.
static inline void rank_merge(int32_t *status, const int8_t *caller, bool starts, const rank_buffers *list, int32_t count, int64_t kind, int64_t type,
                              int64_t reduction, int64_t offset, int64_t num_ranks, int64_t step) {
  const kiln_communicator *const communicator = rank_communicator(caller);
  if (!communicator)
    return report(status, KILN_STATUS_MISSING_COMMUNICATOR);
  const rank_group ranks(communicator->rank, num_ranks, step);
  const rank_operation operation = {kind, type, reduction, offset, num_ranks, step};
  kiln_exchange calls[KILN_MERGED_MAX];
  for (int32_t i = 0; i < count; ++i)
    calls[i] = operation.describe(list[i], communicator->rank, &ranks.group);
  if (rank_has_merged(*communicator))
    return report(status, communicator->merged(communicator->user, calls, count, starts && rank_has_halves(*communicator)));
  kiln_status own = KILN_STATUS_OK;
  for (int32_t i = 0; i < count && own == KILN_STATUS_OK; ++i)
    own = rank_run_whole(*communicator, calls[i]);
  report(status, own);
}
template <typename Element, typename... Others>
static inline void rank_merge(int32_t *status, const int8_t *caller, bool starts, rank_buffers *list, int32_t count, const Element *given, Element *taken,
                              int64_t elements, Others... others) {
  list[count] = {given, taken, elements, int64_t(sizeof(Element))};
  rank_merge(status, caller, starts, list, count + 1, others...);
}

// For each operation what it gives, what it takes and how many elements it gives; then what they have in common.
template <typename... Others> static inline void rank_merged(int32_t *status, const int8_t *caller, Others... others) {
  rank_buffers list[KILN_MERGED_MAX];
  rank_merge(status, caller, false, list, 0, others...);
}

// The same, started: the arguments are those of the call above.
template <typename Element, typename... Others>
static inline void rank_start_all_reduce(const Element *given, Element *taken, Others... others) {
  rank_all_reduce(given, taken, others..., true);
}
template <typename Element, typename... Others>
static inline void rank_start_reduce_scatter(const Element *given, Element *taken, Others... others) {
  rank_reduce_scatter(given, taken, others..., true);
}
template <typename Element, typename... Others>
static inline void rank_start_all_gather(const Element *given, Element *taken, Others... others) {
  rank_all_gather(given, taken, others..., true);
}
template <typename Element, typename... Others>
static inline void rank_start_all_to_all(const Element *given, Element *taken, Others... others) {
  rank_all_to_all(given, taken, others..., true);
}
template <typename Element, typename... Others>
static inline void rank_start_shift(const Element *given, Element *taken, Others... others) {
  rank_shift(given, taken, others..., true);
}
template <typename... Others> static inline void rank_start_merged(int32_t *status, const int8_t *caller, Others... others) {
  rank_buffers list[KILN_MERGED_MAX];
  rank_merge(status, caller, true, list, 0, others...);
}
// Completes the oldest call that was started. The arguments are those of the call, whose memory it needs.
template <typename Element, typename... Others>
static inline void rank_wait(const Element *, Element *, int32_t *status, const int8_t *caller, Others...) {
  const kiln_communicator *const communicator = rank_communicator(caller);
  report(status, !communicator                     ? KILN_STATUS_MISSING_COMMUNICATOR
                 : rank_has_halves(*communicator) ? communicator->wait(communicator->user)
                                                  : KILN_STATUS_OK);
}

template <typename... Others> static inline void rank_wait_merged(int32_t *status, const int8_t *caller, Others...) {
  const kiln_communicator *const communicator = rank_communicator(caller);
  report(status, !communicator                                                        ? KILN_STATUS_MISSING_COMMUNICATOR
                 : rank_has_merged(*communicator) && rank_has_halves(*communicator) ? communicator->wait(communicator->user)
                                                                                     : KILN_STATUS_OK);
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
