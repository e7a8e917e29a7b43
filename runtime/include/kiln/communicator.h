/* What the ranks of a sharded model ask of each other: the calls behind `communicator` of kiln_context. C ABI, C11 and C++17. docs/Ranks.md says what holds for
 * all of them. */
#ifndef KILN_COMMUNICATOR_H
#define KILN_COMMUNICATOR_H

#include "kiln/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Some ranks of a communicator, in the order of their numbers. Each of them makes the same call with the same ranks. */
typedef struct kiln_ranks {
  const int32_t *ranks;
  int32_t count;
  int32_t index; /* the place of the calling rank among them */
} kiln_ranks;

/* What becomes of the elements of all ranks. */
typedef enum kiln_reduction {
  KILN_REDUCE_SUM = 0, /* integers wrap around */
  KILN_REDUCE_PRODUCT = 1,
  KILN_REDUCE_MIN = 2, /* NaN if any rank has one */
  KILN_REDUCE_MAX = 3 KILN_WIDEST(KILN_REDUCE_WIDEST)
} kiln_reduction;

/* Which call is started. */
typedef enum kiln_exchange_kind {
  KILN_EXCHANGE_ALL_REDUCE = 0,
  KILN_EXCHANGE_ALL_GATHER = 1,
  KILN_EXCHANGE_REDUCE_SCATTER = 2,
  KILN_EXCHANGE_ALL_TO_ALL = 3,
  KILN_EXCHANGE_PAIR = 4 KILN_WIDEST(KILN_EXCHANGE_WIDEST) /* the call `exchange` */
} kiln_exchange_kind;

/* A call of a communicator with its arguments, for start(). What a kind does not have is not read. */
typedef struct kiln_exchange {
  int32_t kind;         /* kiln_exchange_kind */
  int32_t element_type; /* of reductions */
  int32_t reduction;    /* kiln_reduction */
  int32_t to;           /* of a pair */
  int32_t from;         /* of a pair */
  int32_t reserved;     /* 0 */
  const kiln_ranks *group;
  const void *given;   /* what others read; an all_reduce copies it to `taken` first unless they are the same */
  void *taken;         /* what comes from others */
  int64_t count;       /* elements of reductions, bytes of others; of a pair, those that are given */
  int64_t taken_bytes; /* of a pair */
} kiln_exchange;

enum { KILN_STARTED_MAX = 4, KILN_MERGED_MAX = 8 };

/* What a rank of a sharded model has of the others. kiln_local_ranks_create() (kiln/ranks.h) makes one for each of several threads, and
 * kiln_mpi_communicator_create() (kiln/mpi.h) one for a process under MPI; a program may fill one in itself. The owner keeps it while runs use it. One thread
 * at a time makes its calls, in the order in which every rank makes them. Pointers are used only until a call returns, or
 * until wait() does for one that was started, also after a failure.
 *
 * Each call returns within the deadline, and a little more for its own work, whatever other ranks do. After KILN_STATUS_RANKS_MISMATCH of a collective,
 * KILN_STATUS_PEER_LATE or _PEER_FAILED, the communicator has failed: every later call returns that status at once, until the owner makes another
 * communicator. What a failed call was to write may have been written in part. */
struct kiln_communicator {
  uint32_t abi_version; /* KILN_ABI_VERSION */
  uint32_t struct_size; /* sizeof(kiln_communicator) when it was filled in */
  int32_t rank;         /* of this process or thread, from 0 */
  int32_t size;         /* the number of ranks */
  int64_t deadline_ns;  /* the longest time that a call waits for other ranks; 0: no limit */
  void *user;           /* the first argument of the calls */

  /* The first call of a run, before anything is computed. KILN_STATUS_RANKS_MISMATCH, on every rank, if the fingerprints are not all equal; the
   * communicator can be used for another run then. */
  kiln_status (*begin)(void *user, const uint8_t fingerprint[16]);

  /* The last call of a run, also after an error. `status` is this rank's. OK only if every rank's is; else this rank's own error, or
   * KILN_STATUS_PEER_FAILED. So no rank takes its outputs for whole when another has failed. If all ranks came here in step, the communicator has not
   * failed. After begin has not returned OK, it returns `status` and asks nobody. */
  kiln_status (*end)(void *user, kiln_status status);

  /* In place: data becomes the reduction over the ranks of the group, in the order of the ranks: always with the same bits, and on every rank. f16 and bf16 are
   * reduced in f32 and rounded once. Element types: integers of 8 to 64 bits, f16, bf16, f32, f64, and bool (not SUM). */
  kiln_status (*all_reduce)(void *user, const kiln_ranks *group, void *data, int64_t count, int32_t element_type, int32_t reduction);

  /* whole = the parts, each `bytes` long, one after the other in the order of the group. `part` may be at its place in whole. */
  kiln_status (*all_gather)(void *user, const kiln_ranks *group, const void *part, void *whole, int64_t bytes);

  /* part[0..count) = the reduction, as above, of every rank's whole[index * count ...]. `part` may be at its place in whole. */
  kiln_status (*reduce_scatter)(void *user, const kiln_ranks *group, const void *whole, void *part, int64_t count, int32_t element_type,
                                int32_t reduction);

  /* Piece i of `to` goes to rank i of the group, and piece i of `from` comes from there; each has `bytes`. They do not overlap. */
  kiln_status (*all_to_all)(void *user, const kiln_ranks *group, const void *to, void *from, int64_t bytes);

  /* To one rank, and from one rank. send may wait until the other rank receives. */
  kiln_status (*send)(void *user, int32_t rank, const void *data, int64_t bytes);
  kiln_status (*receive)(void *user, int32_t rank, void *data, int64_t bytes);

  /* Both at once, as for halos. Rank -1: nothing to send, or nothing to receive. */
  kiln_status (*exchange)(void *user, int32_t to, const void *sent, int64_t sent_bytes, int32_t from, void *received, int64_t received_bytes);

  /* A call in two halves, so that ranks compute in between; both NULL if the communicator has only whole calls, as those have that were filled in before these
   * fields existed (struct_size). start() begins the call and waits for nobody; *what and its group are not needed afterwards. wait() completes the oldest call
   * that was started and not waited for, of which there may be KILN_STARTED_MAX. Until then, nobody else may write what it is given, nor read or write what it
   * takes. Other calls may be made in between; they complete those that were started before them, which still are waited for. All ranks start the same calls
   * in the same order. Results, failures and the deadline, counted from wait(), are those of the whole call. */
  kiln_status (*start)(void *user, const kiln_exchange *what);
  kiln_status (*wait)(void *user);

  /* Several calls as one: what a rank sends to another one for all of them is one message. NULL if the communicator has no such call (struct_size); they are
   * made one after the other then. `count` calls, up to KILN_MERGED_MAX, have the kind and the group of the first one; reductions also its element type and
   * reduction, and pairs its two ranks. Results, failures and the deadline are those of the calls, bit for bit. With `starts` it counts as one call that was
   * started, which one wait() completes; else it is complete when it returns. `what` is not needed afterwards. */
  kiln_status (*merged)(void *user, const kiln_exchange *what, int32_t count, int32_t starts);
};

/* The weights of one rank of a sharded model, NAME_info.rank_weights, for kiln_weights_map(). */
typedef struct kiln_rank_weights {
  const char *file;  /* its name */
  int64_t size;      /* bytes */
  uint64_t checksum; /* kiln_checksum() of it */
} kiln_rank_weights;

KILN_STATIC_ASSERT(sizeof(kiln_reduction) == 4, "kiln_reduction is 32 bits wide");
KILN_STATIC_ASSERT(sizeof(kiln_ranks) == 8 + sizeof(void *), "kiln_ranks changed");
KILN_STATIC_ASSERT(sizeof(kiln_exchange_kind) == 4, "kiln_exchange_kind is 32 bits wide");
KILN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(kiln_exchange) == 64, "kiln_exchange changed");
KILN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(kiln_communicator) == 128, "kiln_communicator changed");
KILN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(kiln_rank_weights) == 24, "kiln_rank_weights changed");

#ifdef __cplusplus
}
#endif

#endif /* KILN_COMMUNICATOR_H */
