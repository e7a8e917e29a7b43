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

/* What a rank of a sharded model has of the others. kiln_local_ranks_create() (kiln/ranks.h) makes one for each of several threads, and
 * kiln_mpi_communicator_create() (kiln/mpi.h) one for a process under MPI; a program may fill one in itself. The owner keeps it while runs use it. One thread
 * at a time makes its calls, in the order in which every rank makes them. Pointers are used only until a call returns, also after a failure.
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
};

/* The weights of one rank of a sharded model, NAME_info.rank_weights, for kiln_weights_map(). */
typedef struct kiln_rank_weights {
  const char *file;  /* its name */
  int64_t size;      /* bytes */
  uint64_t checksum; /* kiln_checksum() of it */
} kiln_rank_weights;

KILN_STATIC_ASSERT(sizeof(kiln_reduction) == 4, "kiln_reduction is 32 bits wide");
KILN_STATIC_ASSERT(sizeof(kiln_ranks) == 8 + sizeof(void *), "kiln_ranks changed");
KILN_STATIC_ASSERT(sizeof(kiln_communicator) == 24 + 10 * sizeof(void *), "kiln_communicator changed");
KILN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(kiln_rank_weights) == 24, "kiln_rank_weights changed");

#ifdef __cplusplus
}
#endif

#endif /* KILN_COMMUNICATOR_H */
