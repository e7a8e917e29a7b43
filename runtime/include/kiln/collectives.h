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

// Makes the call, or starts it: `starts` says which. A communicator without halves makes all of it at once. Without a communicator the run ends.
static inline void rank_call(int32_t *status, const int8_t *caller, int64_t num_ranks, int64_t step, bool starts, kiln_exchange what) {
  const kiln_communicator *const communicator = rank_communicator(caller);
  if (!communicator)
    return report(status, KILN_STATUS_MISSING_COMMUNICATOR);
  const rank_group ranks(communicator->rank, num_ranks, step);
  what.group = &ranks.group;
  report(status, starts && rank_has_halves(*communicator) ? communicator->start(communicator->user, &what) : rank_run_whole(*communicator, what));
}

// `count` is the number of elements of the first operand in all of these.
template <typename Element>
static inline void rank_all_reduce(const Element *part, Element *whole, int32_t *status, const int8_t *caller, int64_t count, int64_t type,
                                   int64_t reduction, int64_t num_ranks, int64_t step, bool starts = false) {
  if (whole != part)
    __builtin_memcpy(whole, part, size_t(count) * sizeof(Element));
  rank_call(status, caller, num_ranks, step, starts,
            {KILN_EXCHANGE_ALL_REDUCE, int32_t(type), int32_t(reduction), -1, -1, 0, nullptr, whole, whole, count, 0});
}

template <typename Element>
static inline void rank_reduce_scatter(const Element *whole, Element *part, int32_t *status, const int8_t *caller, int64_t count, int64_t type,
                                       int64_t reduction, int64_t num_ranks, int64_t step, bool starts = false) {
  rank_call(status, caller, num_ranks, step, starts,
            {KILN_EXCHANGE_REDUCE_SCATTER, int32_t(type), int32_t(reduction), -1, -1, 0, nullptr, whole, part, count / num_ranks, 0});
}

template <typename Element>
static inline void rank_all_gather(const Element *part, Element *whole, int32_t *status, const int8_t *caller, int64_t count, int64_t num_ranks,
                                   int64_t step, bool starts = false) {
  rank_call(status, caller, num_ranks, step, starts,
            {KILN_EXCHANGE_ALL_GATHER, 0, 0, -1, -1, 0, nullptr, part, whole, count * int64_t(sizeof(Element)), 0});
}

template <typename Element>
static inline void rank_all_to_all(const Element *given, Element *taken, int32_t *status, const int8_t *caller, int64_t count, int64_t num_ranks,
                                   int64_t step, bool starts = false) {
  rank_call(status, caller, num_ranks, step, starts,
            {KILN_EXCHANGE_ALL_TO_ALL, 0, 0, -1, -1, 0, nullptr, given, taken, count / num_ranks * int64_t(sizeof(Element)), 0});
}

// To the rank `offset` places on, from the one on the other side; zeros where there is none.
template <typename Element>
static inline void rank_shift(const Element *given, Element *taken, int32_t *status, const int8_t *caller, int64_t count, int64_t offset,
                              int64_t num_ranks, int64_t step, bool starts = false) {
  const kiln_communicator *const communicator = rank_communicator(caller);
  const int64_t rank = communicator ? communicator->rank : 0, index = rank / step % num_ranks, bytes = count * int64_t(sizeof(Element));
  const bool gives = index + offset >= 0 && index + offset < num_ranks, takes = index - offset >= 0 && index - offset < num_ranks;
  if (!takes)
    __builtin_memset(taken, 0, size_t(bytes));
  rank_call(status, caller, num_ranks, step, starts,
            {KILN_EXCHANGE_PAIR, 0, 0, gives ? int32_t(rank + offset * step) : -1, takes ? int32_t(rank - offset * step) : -1, 0, nullptr, given, taken,
             gives ? bytes : 0, takes ? bytes : 0});
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
// Completes the oldest call that was started. The arguments are those of the call, whose memory it needs.
template <typename Element, typename... Others>
static inline void rank_wait(const Element *, Element *, int32_t *status, const int8_t *caller, Others...) {
  const kiln_communicator *const communicator = rank_communicator(caller);
  report(status, !communicator                     ? KILN_STATUS_MISSING_COMMUNICATOR
                 : rank_has_halves(*communicator) ? communicator->wait(communicator->user)
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
