/* Goes on with a text by a decoder of Llama's form: always the word with the highest score.
 * Usage: generate [-n WORDS] [-t THREADS] [-w FOLDER] WORD... - the words of the prompt are numbers; FOLDER has the files of weights, if they are not where they
 * were built. Prints the words that follow; the times, and how far the best word was from the second best at least, go to stderr.
 *
 * The model may be in one piece. If it is cut for ranks, these are processes under MPI, or without it threads of this process. Each has its part of the weights
 * and of the caches, and gets all scores. These have the same bits on all ranks, so all choose the same word without asking each other. */
#include "llama.h"

#include <kiln/communicator.h>
#include <kiln/runtime.h>
#ifdef LLAMA_NUM_RANKS
#include <kiln/ranks.h>
#endif
#ifdef WITH_MPI
#include <kiln/mpi.h>
#endif

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Inputs: words, mask, then caches; outputs: scores, then caches in the same order. */
enum { FIRST_PAST = 2, FIRST_PRESENT = 1, MOST_TENSORS = 1024, DEADLINE_SECONDS = 60 };

typedef struct {
  int64_t *prompt, length, steps;
  int32_t threads;
  const char *weights;
} settings;

/* Everything that a run works on. */
typedef struct {
  const void *inputs[MOST_TENSORS];
  void *outputs[MOST_TENSORS];
  int64_t *words, *mask, places, vocabulary;
  float *scores;
  void *workspace;
} buffers;

/* What has become of a text. */
typedef struct {
  int64_t prompt_ns, steps_ns;
  float margin;
} summary;

/* MPI_Finalize() would wait for ranks that are gone, so a rank that gives up takes all others along. MPICH's mpirun drops what it has not yet passed on when a
 * rank aborts, so the message gets a tenth of a second. */
static void give_up(const char *what, kiln_status status) {
  fprintf(stderr, "generate: %s: %s\n", what, kiln_status_string(status));
#ifdef WITH_MPI
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  MPI_Abort(MPI_COMM_WORLD, 1);
#endif
  exit(1);
}

static void check(kiln_status status, const char *what) {
  if (status != KILN_STATUS_OK)
    give_up(what, status);
}

/* Caches that hold nothing yet must still be numbers. The first touch is by the rank that uses them. */
static void *allocate(size_t size) {
  void *memory = NULL;
  check(kiln_workspace_create(size, &memory), "memory");
  return memset(memory, 0, size);
}

/* The file of the weights, or of the rank's part of them. */
static kiln_weights map_weights(const char *folder, const kiln_communicator *ranks) {
  const char *file = llama_info.weights_file;
  int64_t size = llama_info.weights_size;
  uint64_t checksum = llama_info.weights_checksum;
#ifdef LLAMA_NUM_RANKS
  if (ranks->size != llama_info.num_ranks)
    give_up("the model is cut for another number of ranks", KILN_STATUS_MISSING_COMMUNICATOR);
  const kiln_rank_weights *own = &llama_info.rank_weights[ranks->rank];
  file = own->file, size = own->size, checksum = own->checksum;
#else
  (void)ranks;
#endif
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  kiln_weights weights;
  check(kiln_weights_map(path, (size_t)size, checksum, &weights), path);
  return weights;
}

/* The caches are inputs and outputs at once. Of a model that is cut, their sizes are those of the part. */
static void make_buffers(buffers *all, const settings *set) {
  const kiln_tensor_info *scores = &llama_info.outputs[0];
  all->places = llama_info.inputs[1].dims[1];
  all->vocabulary = scores->dims[2];
  if (llama_info.num_inputs > MOST_TENSORS || llama_info.num_inputs - FIRST_PAST != llama_info.num_outputs - FIRST_PRESENT)
    give_up("the model's inputs are not words, a mask and caches", KILN_STATUS_INVALID_ARGUMENT);
  if (set->length + set->steps - 1 > all->places)
    give_up("the caches have no room for so many words", KILN_STATUS_INVALID_ARGUMENT);
  for (int32_t i = FIRST_PAST; i < llama_info.num_inputs; ++i)
    all->inputs[i] = all->outputs[i - FIRST_PAST + FIRST_PRESENT] = allocate((size_t)llama_info.inputs[i].byte_size);
  all->inputs[0] = all->words = allocate((size_t)set->length * sizeof *all->words);
  all->inputs[1] = all->mask = allocate((size_t)all->places * sizeof *all->mask);
  /* Some models have scores for each word of the prompt, others only for the last one. */
  int64_t rows = scores->dims[1] == 1 ? 1 : set->length;
  all->outputs[0] = all->scores = allocate((size_t)(rows * all->vocabulary) * sizeof *all->scores);
  llama_dims longest = {.sequence_length = set->length}, single = {.sequence_length = 1};
  size_t one = llama_workspace_size(&single), most = llama_workspace_size(&longest);
  check(kiln_workspace_create(one > most ? one : most, &all->workspace), "workspace");
}

/* Reads `count` words that follow `past` others, and returns the scores of the next one. */
static const float *read_words(buffers *all, int64_t past, int64_t count, const kiln_weights *weights, const kiln_context *context) {
  for (int64_t i = 0; i < count; ++i)
    all->mask[past + i] = 1;
  llama_dims dims = {.sequence_length = count};
  llama_inputs inputs;
  llama_outputs outputs;
  memcpy(&inputs, all->inputs, sizeof inputs);
  memcpy(&outputs, all->outputs, sizeof outputs);
  check(llama_run(&dims, &inputs, &outputs, weights->data, all->workspace, context), "the model did not run");
  return llama_info.outputs[0].dims[1] == 1 ? all->scores : all->scores + (count - 1) * all->vocabulary;
}

static int64_t choose(const float *scores, int64_t count, float *margin) {
  int64_t best = scores[1] > scores[0], second = !best;
  for (int64_t i = 2; i < count; ++i) {
    if (scores[i] > scores[best])
      second = best, best = i;
    else if (scores[i] > scores[second])
      second = i;
  }
  float distance = scores[best] - scores[second];
  *margin = distance < *margin ? distance : *margin;
  return best;
}

static void generate(const settings *set, const kiln_communicator *ranks) {
  int prints = !ranks || ranks->rank == 0;
  kiln_pool *pool = NULL;
  kiln_context context;
  if (set->threads > 1)
    check(kiln_pool_create(set->threads, &pool), "threads");
  kiln_pool_context(pool, &context);
  context.communicator = ranks;
  kiln_weights weights = map_weights(set->weights, ranks);
  buffers *all = allocate(sizeof *all);
  make_buffers(all, set);
  memcpy(all->words, set->prompt, (size_t)set->length * sizeof *all->words);
  summary text = {0, 0, 1e30f};
  for (int64_t step = 0, past = 0; step < set->steps; ++step) {
    int64_t count = step ? 1 : set->length, start = kiln_clock_ns();
    const float *scores = read_words(all, past, count, &weights, &context);
    *(step ? &text.steps_ns : &text.prompt_ns) += kiln_clock_ns() - start;
    past += count;
    all->words[0] = choose(scores, all->vocabulary, &text.margin);
    if (prints)
      printf("%lld%c", (long long)all->words[0], step + 1 < set->steps ? ' ' : '\n');
  }
  if (prints)
    fprintf(stderr, "prompt of %lld words: %.2f ms; each word: %.2f ms; smallest margin: %g\n", (long long)set->length, (double)text.prompt_ns * 1e-6,
            (double)text.steps_ns * 1e-6 / (double)(set->steps > 1 ? set->steps - 1 : 1), (double)text.margin);
  kiln_weights_unmap(&weights);
  kiln_pool_destroy(pool);
}

#if defined(LLAMA_NUM_RANKS) && !defined(WITH_MPI)
/* A rank that is a thread. */
typedef struct {
  const settings *set;
  const kiln_communicator *communicator;
} member;

static void *run_member(void *argument) {
  const member *own = argument;
  generate(own->set, own->communicator);
  return NULL;
}

static void generate_in_threads(const settings *set) {
  enum { RANKS = LLAMA_NUM_RANKS };
  kiln_local_ranks *ranks = NULL;
  check(kiln_local_ranks_create(RANKS, DEADLINE_SECONDS * INT64_C(1000000000), &ranks), "ranks");
  pthread_t threads[RANKS];
  member members[RANKS];
  for (int32_t i = 0; i < RANKS; ++i) {
    members[i] = (member){set, kiln_local_ranks_get(ranks, i)};
    if (pthread_create(&threads[i], NULL, run_member, &members[i]))
      give_up("threads", KILN_STATUS_THREAD_FAILURE);
  }
  for (int32_t i = 0; i < RANKS; ++i)
    pthread_join(threads[i], NULL);
  kiln_local_ranks_destroy(ranks);
}
#endif

static settings read_settings(int argc, char **argv) {
  settings set = {malloc((size_t)argc * sizeof(int64_t)), 0, 64, 1, WEIGHTS_FOLDER};
  for (int i = 1; i < argc; ++i) {
    char *end = argv[i], option = argv[i][0] == '-' && i + 1 < argc ? argv[i][1] : '\0';
    if (option == 'n')
      set.steps = strtoll(argv[++i], &end, 10);
    else if (option == 't')
      set.threads = (int32_t)strtol(argv[++i], &end, 10);
    else if (option == 'w')
      set.weights = argv[++i], end = "";
    else
      set.prompt[set.length++] = strtoll(argv[i], &end, 10);
    if (*end || end == argv[i])
      set.steps = 0;
  }
  if (set.length < 1 || set.steps < 1 || set.threads < 1) {
    fprintf(stderr, "usage: generate [-n WORDS] [-t THREADS] [-w FOLDER] WORD...\n");
    exit(2);
  }
  return set;
}

int main(int argc, char **argv) {
#ifdef WITH_MPI
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  settings set = read_settings(argc, argv);
  kiln_communicator *communicator = NULL;
  check(kiln_mpi_communicator_create(MPI_COMM_WORLD, DEADLINE_SECONDS * INT64_C(1000000000), &communicator), "communicator");
  generate(&set, communicator);
  kiln_mpi_communicator_destroy(communicator);
  MPI_Finalize();
#else
  settings set = read_settings(argc, argv);
#ifdef LLAMA_NUM_RANKS
  generate_in_threads(&set);
#else
  generate(&set, NULL);
#endif
#endif
  free(set.prompt);
  return 0;
}
