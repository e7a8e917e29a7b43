/* Calls in two halves on threads of one process: several underway, whole calls in between, and misuse. */
#include <kiln/ranks.h>
#include <pthread.h>
#include <stdio.h>

enum { RANKS = 3, COUNT = 6000 }; /* more bytes than go to all ranks at once */
static kiln_local_ranks *team;
static int faults;

#define EXPECT(condition)                                                        \
  do                                                                             \
    if (!(condition)) {                                                          \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
      __atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED);                          \
    }                                                                            \
  while (0)

static void *run(void *argument) {
  const int32_t rank = (int32_t)(size_t)argument, all[RANKS] = {0, 1, 2};
  const kiln_communicator *c = kiln_local_ranks_get(team, rank);
  const kiln_ranks group = {all, RANKS, rank};
  static float sums[RANKS][COUNT], shares[RANKS][COUNT];
  int32_t own = rank + 10, gathered[RANKS], whole[RANKS] = {0}, taken = -1;
  const uint8_t fingerprint[16] = {1};
  for (int round = 0; round < 50; ++round) {
    EXPECT(c->begin(c->user, fingerprint) == KILN_STATUS_OK);
    for (int i = 0; i < COUNT; ++i)
      sums[rank][i] = (float)(i % 7 + rank), shares[rank][i] = -1;
    const kiln_exchange gather = {KILN_EXCHANGE_ALL_GATHER, 0, 0, -1, -1, 0, &group, &own, gathered, sizeof own, 0};
    const kiln_exchange reduce = {KILN_EXCHANGE_ALL_REDUCE, KILN_ELEMENT_F32, KILN_REDUCE_SUM, -1, -1, 0, &group, sums[rank], shares[rank], COUNT, 0};
    const kiln_exchange pair = {KILN_EXCHANGE_PAIR, 0, 0, (rank + 1) % RANKS, (rank + RANKS - 1) % RANKS, 0, &group, &own, &taken, sizeof own, sizeof taken};
    EXPECT(c->wait(c->user) == KILN_STATUS_INVALID_ARGUMENT);
    EXPECT(c->start(c->user, NULL) == KILN_STATUS_NULL_POINTER);
    EXPECT(c->start(c->user, &reduce) == KILN_STATUS_OK);
    EXPECT(c->start(c->user, &gather) == KILN_STATUS_OK);
    EXPECT(c->start(c->user, &pair) == KILN_STATUS_OK);
    /* Ranks may wait at different places, as long as calls begin in one order. */
    if (rank == 1)
      EXPECT(c->wait(c->user) == KILN_STATUS_OK);
    EXPECT(c->all_gather(c->user, &group, &own, whole, sizeof own) == KILN_STATUS_OK);
    for (int i = rank == 1; i < 3; ++i)
      EXPECT(c->wait(c->user) == KILN_STATUS_OK);
    for (int i = 0; i < COUNT; ++i)
      EXPECT(shares[rank][i] == (float)(3 * (i % 7) + 3));
    for (int i = 0; i < RANKS; ++i)
      EXPECT(gathered[i] == i + 10 && whole[i] == i + 10);
    EXPECT(taken == (rank + RANKS - 1) % RANKS + 10);
    EXPECT(c->end(c->user, KILN_STATUS_OK) == KILN_STATUS_OK);
  }
  /* One more than may be underway. A run that ends early leaves none behind. */
  EXPECT(c->begin(c->user, fingerprint) == KILN_STATUS_OK);
  const kiln_exchange again = {KILN_EXCHANGE_ALL_GATHER, 0, 0, -1, -1, 0, &group, &own, gathered, sizeof own, 0};
  for (int i = 0; i < KILN_STARTED_MAX; ++i)
    EXPECT(c->start(c->user, &again) == KILN_STATUS_OK);
  EXPECT(c->start(c->user, &again) == KILN_STATUS_INVALID_ARGUMENT);
  EXPECT(c->end(c->user, rank == 2 ? KILN_STATUS_OUT_OF_MEMORY : KILN_STATUS_OK) == (rank == 2 ? KILN_STATUS_OUT_OF_MEMORY : KILN_STATUS_PEER_FAILED));
  EXPECT(c->begin(c->user, fingerprint) == KILN_STATUS_OK);
  EXPECT(c->end(c->user, KILN_STATUS_OK) == KILN_STATUS_OK);
  return NULL;
}

int main(void) {
  pthread_t threads[RANKS];
  if (kiln_local_ranks_create(RANKS, INT64_C(60000000000), &team) != KILN_STATUS_OK)
    return 2;
  for (size_t i = 0; i < RANKS; ++i)
    pthread_create(&threads[i], NULL, run, (void *)i);
  for (size_t i = 0; i < RANKS; ++i)
    pthread_join(threads[i], NULL);
  kiln_local_ranks_destroy(team);
  printf("%d faults\n", faults);
  return faults != 0;
}
