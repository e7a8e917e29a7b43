/* A program with a sharded model, in whose rank 1 something goes wrong at a moment that the caller chooses: for test/runtime/mpi/repeat.
 * Usage: repeated MODE DELAY_US DEADLINE_MS WEIGHTS [OUTPUT]   WEIGHTS: the folder with the files of the ranks' weights
 *   killed, stopped   rank 1 is, DELAY_US after its first run, wherever it is then; the others run the model until they see it. A thread first ends the call of the
 *                     communicator that it is in: while it reads the memory of another one, that one cannot go on
 *   other             rank 1 runs another model than the others (with -DOTHER)
 *   once              all run the model once
 *   pool              all run the model ten times, each with two threads
 *   full              rank 0 writes the output of the first run to OUTPUT, the others wait for it, and all go on only if it is whole
 * Ranks are processes under MPI, or with -DTHREADS two threads. Each prints `rank R: STATUS after T ms`, T from the end of its last run without an error. */
#define _GNU_SOURCE
#include "mlp.h"
#ifdef OTHER
#include "blocks.h"
#endif
#ifdef THREADS
#include <kiln/ranks.h>
#include <pthread.h>
#include <sys/syscall.h>
#else
#include <kiln/mpi.h>
#include <time.h>
#endif
#include <kiln/runtime.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 64 * 256 };

static const char *mode, *folder, *output;
static int64_t delay_us, deadline_ns;

static int is(const char *other) { return strcmp(mode, other) == 0; }

static void check(kiln_status status, const char *what) {
  if (status == KILN_STATUS_OK)
    return;
  printf("%s: %s\n", what, kiln_status_string(status));
  fflush(stdout);
  _exit(3);
}

static kiln_weights map_weights(const kiln_model_info *info, int32_t rank) {
  const kiln_rank_weights *own = &info->rank_weights[rank < info->num_ranks ? rank : 0];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, own->file);
  kiln_weights weights;
  check(kiln_weights_map(path, (size_t)own->size, own->checksum, &weights), path);
  return weights;
}

/* What a signal does to rank 1. */
#ifdef THREADS
static volatile sig_atomic_t is_calling, is_wanted;
static const kiln_communicator *inner;

static void strike(void) {
  while (is("stopped"))
    pause();
  syscall(SYS_exit, 0);
}

static void on_signal(int number) {
  (void)number;
  is_wanted = 1;
  if (!is_calling)
    strike();
}

/* The calls of rank 1's communicator, of which the model makes these. */
static kiln_status finish_call(kiln_status status) {
  is_calling = 0;
  if (is_wanted)
    strike();
  return status;
}

static kiln_status begin_run(void *user, const uint8_t fingerprint[16]) {
  is_calling = 1;
  return finish_call(inner->begin(user, fingerprint));
}

static kiln_status reduce(void *user, const kiln_ranks *group, void *data, int64_t count, int32_t type, int32_t reduction) {
  is_calling = 1;
  return finish_call(inner->all_reduce(user, group, data, count, type, reduction));
}

static kiln_status end_run(void *user, kiln_status status) {
  is_calling = 1;
  return finish_call(inner->end(user, status));
}

static const kiln_communicator *wrap(const kiln_communicator *ranks) {
  static kiln_communicator wrapped;
  inner = ranks;
  wrapped = (kiln_communicator){ranks->abi_version, ranks->struct_size, ranks->rank, ranks->size, ranks->deadline_ns, ranks->user, .begin = begin_run, .end = end_run, .all_reduce = reduce};
  return &wrapped;
}

static void strike_later(void) {}
#else
static void strike_later(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = is("killed") ? SIGKILL : SIGSTOP};
  struct itimerspec when = {.it_value = {delay_us / 1000000, delay_us % 1000000 * 1000 + 1}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
    check(KILN_STATUS_THREAD_FAILURE, "timer");
}
#endif

/* A file that is there is whole. */
static int write_output(const float *y) {
  char part[4096];
  snprintf(part, sizeof part, "%s.part", output);
  FILE *file = fopen(part, "wb");
  int is_whole = file && fwrite(y, sizeof *y, SIZE, file) == SIZE;
  is_whole &= file && fclose(file) == 0;
  if (is_whole && rename(part, output) == 0)
    return 1;
  fprintf(stderr, "cannot write %s: %s\n", output, strerror(errno));
  unlink(part);
  return 0;
}

/* A run of its own, in which the others learn whether rank 0 has written everything. */
static kiln_status save(const kiln_communicator *ranks, const float *y) {
  static const uint8_t fingerprint[16] = "output";
  kiln_status status = ranks->begin(ranks->user, fingerprint);
  if (status == KILN_STATUS_OK && ranks->rank == 0 && !write_output(y))
    status = KILN_STATUS_INVALID_ARGUMENT;
  return ranks->end(ranks->user, status);
}

static kiln_status run_model(const float *x, float *y, const kiln_weights *weights, void *workspace, const kiln_context *context) {
#ifdef OTHER
  if (is("other") && context->communicator->rank == 1) {
    blocks_inputs in = {x};
    blocks_outputs out = {y};
    return blocks_run(&in, &out, weights->data, workspace, context);
  }
#endif
  mlp_inputs in = {x};
  mlp_outputs out = {y};
  return mlp_run(&in, &out, weights->data, workspace, context);
}

static void report(const kiln_communicator *ranks, kiln_status status, int64_t last) {
  printf("rank %d: %s after %lld ms\n", (int)ranks->rank, kiln_status_string(status), (long long)(kiln_clock_ns() - last) / 1000000);
  fflush(stdout);
}

static kiln_status run_rank(const kiln_communicator *ranks) {
  const kiln_model_info *info = &mlp_info;
#ifdef OTHER
  if (is("other") && ranks->rank == 1)
    info = &blocks_info;
#endif
  kiln_weights weights = map_weights(info, ranks->rank);
  kiln_pool *pool = NULL;
  if (is("pool"))
    check(kiln_pool_create(2, &pool), "pool");
  kiln_context context;
  kiln_pool_context(pool, &context);
  context.communicator = ranks;
  float *x = calloc(SIZE, sizeof *x), *y = calloc(SIZE, sizeof *y);
  void *workspace = NULL;
  check(kiln_workspace_create((size_t)info->workspace_size, &workspace), "workspace");
  int64_t last = kiln_clock_ns();
  kiln_status status = run_model(x, y, &weights, workspace, &context);
  if (status == KILN_STATUS_OK && is("full"))
    status = save(ranks, y);
  int is_struck = is("killed") || is("stopped");
  if (ranks->rank == 1 && status == KILN_STATUS_OK && is_struck)
    strike_later();
  while (status == KILN_STATUS_OK && is_struck) {
    last = kiln_clock_ns();
    status = run_model(x, y, &weights, workspace, &context);
  }
  for (int i = 1; i < 10 && status == KILN_STATUS_OK && pool; ++i)
    status = run_model(x, y, &weights, workspace, &context);
  report(ranks, status, last);
  kiln_pool_destroy(pool);
  kiln_workspace_destroy(workspace, (size_t)info->workspace_size);
  kiln_weights_unmap(&weights);
  free(x);
  free(y);
  return status;
}

#ifdef THREADS
static void *run_thread(void *argument) {
  const kiln_communicator *ranks = argument;
  run_rank(ranks->rank == 1 ? wrap(ranks) : ranks);
  return NULL;
}

int main(int argc, char **argv) {
  enum { RANKS = 3 };
  pthread_t threads[RANKS];
  kiln_local_ranks *ranks = NULL;
  if (argc < 5)
    return 2;
  mode = argv[1], delay_us = atoll(argv[2]), deadline_ns = atoll(argv[3]) * 1000000, folder = argv[4], output = argc > 5 ? argv[5] : NULL;
  int32_t count = is("three") ? RANKS : MLP_NUM_RANKS;
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  check(kiln_local_ranks_create(count, deadline_ns, &ranks), "ranks");
  for (int32_t i = 0; i < count; ++i)
    if (pthread_create(&threads[i], NULL, run_thread, (void *)kiln_local_ranks_get(ranks, i)))
      check(KILN_STATUS_THREAD_FAILURE, "thread");
  int is_struck = is("killed") || is("stopped");
  if (is_struck) {
    usleep((useconds_t)delay_us);
    pthread_kill(threads[1], SIGUSR1);
  }
  for (int32_t i = 0; i < count; ++i)
    if (!is_struck || i != 1)
      pthread_join(threads[i], NULL);
  /* A thread that is stopped still uses them. */
  if (!is_struck)
    kiln_local_ranks_destroy(ranks);
  return 0;
}
#else
int main(int argc, char **argv) {
  int provided = 0;
  signal(SIGUSR1, SIG_IGN); /* by which mpirun of MPICH says that a process has died */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (argc < 5)
    return 2;
  mode = argv[1], delay_us = atoll(argv[2]), deadline_ns = atoll(argv[3]) * 1000000, folder = argv[4], output = argc > 5 ? argv[5] : NULL;
  kiln_communicator *ranks = NULL;
  MPI_Barrier(MPI_COMM_WORLD); /* processes of a busy machine start at very different times */
  check(kiln_mpi_communicator_create(MPI_COMM_WORLD, deadline_ns, &ranks), "communicator");
  run_rank(ranks);
  /* MPI_Finalize() would wait for the dead. One that was stopped has a word to say when the caller wakes it. */
  if (is("killed") || is("stopped"))
    _exit(0);
  kiln_mpi_communicator_destroy(ranks);
  MPI_Finalize();
  return 0;
}
#endif
