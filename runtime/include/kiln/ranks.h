/* Communicators for ranks that are threads of one process, part of libkiln_runtime.a: for tests of sharded models, and for processes with a thread for each
 * rank. C ABI, C11 and C++17. kiln_communicator (kiln/communicator.h) is the contract of what they are for.
 *
 *     kiln_local_ranks *ranks;
 *     kiln_local_ranks_create(4, 10000000000, &ranks);
 *     context.communicator = kiln_local_ranks_get(ranks, k);      in thread k, which then runs the part of rank k
 *
 * Ranks read each other's memory in place: nothing is copied but what a call is to copy, and no call allocates. A thread that waits spins for some
 * microseconds, then yields, and sleeps after about a millisecond. */
#ifndef KILN_RANKS_H
#define KILN_RANKS_H

#include "kiln/communicator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The communicators of all ranks. */
typedef struct kiln_local_ranks kiln_local_ranks;

enum { KILN_LOCAL_RANKS_MAX = 256 };

/* Makes communicators for ranks 0 to size - 1. A call of theirs waits for other ranks for deadline_ns nanoseconds at most; 0: without a limit. The caller
 * owns *ranks and frees it with kiln_local_ranks_destroy(). Fails with INVALID_ARGUMENT (size, or a deadline below 0) or OUT_OF_MEMORY, and then *ranks is
 * NULL. Any thread. */
kiln_status kiln_local_ranks_create(int32_t size, int64_t deadline_ns, kiln_local_ranks **ranks);

/* The communicator of a rank, which lives as long as `ranks`; NULL if there is no such rank. Any thread. */
const kiln_communicator *kiln_local_ranks_get(const kiln_local_ranks *ranks, int32_t rank);

/* Makes all communicators as new after a failure. No thread may be in a call of theirs. */
void kiln_local_ranks_reset(kiln_local_ranks *ranks);

/* NULL is allowed. No thread may be in a call of its communicators. */
void kiln_local_ranks_destroy(kiln_local_ranks *ranks);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RANKS_H */
