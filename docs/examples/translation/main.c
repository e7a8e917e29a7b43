/* Translates by three models of one library: the encoder once for a sentence, the decoder and the output layer once for a word. The words are drawn numbers. */
#include "mt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 4, WIDTH = 16, LONGEST = 32, MOST_CANDIDATES = 256, END = 0 };

/* What the decoder attends to: keys and values of its two layers. */
typedef struct {
  float keys[2][HEADS * LONGEST * WIDTH], values[2][HEADS * LONGEST * WIDTH];
} states;

static states source_states, caches;
static void *workspace;

static void check(kiln_status status, const char *of) {
  if (status == KILN_STATUS_OK)
    return;
  fprintf(stderr, "translate: %s ends with status %d\n", of, (int)status);
  exit(1);
}

/* The encoder's outputs are the decoder's inputs, by their pointers. */
static void encode(const int64_t *source, int64_t words) {
  int64_t positions[LONGEST];
  for (int64_t i = 0; i < words; ++i)
    positions[i] = i;
  mt_encoder_dims dims = {.words = words};
  mt_encoder_inputs in = {.source = source, .positions_of_source = positions};
  mt_encoder_outputs out = {.source_key_0 = source_states.keys[0],
                            .source_value_0 = source_states.values[0],
                            .source_key_1 = source_states.keys[1],
                            .source_value_1 = source_states.values[1]};
  check(mt_encoder_run(&dims, &in, &out, workspace, NULL), "the encoder");
}

/* One step. The caches grow where they are: each is an input and an output. */
static void decode(int64_t word, int64_t position, int64_t words, float *hidden) {
  mt_decoder_dims dims = {.past = position, .words = words};
  mt_decoder_inputs in = {.word = &word,
                          .position = &position,
                          .past_key_0 = caches.keys[0],
                          .past_value_0 = caches.values[0],
                          .past_key_1 = caches.keys[1],
                          .past_value_1 = caches.values[1],
                          .source_key_0 = source_states.keys[0],
                          .source_value_0 = source_states.values[0],
                          .source_key_1 = source_states.keys[1],
                          .source_value_1 = source_states.values[1]};
  mt_decoder_outputs out = {.hidden = hidden,
                            .present_key_0 = caches.keys[0],
                            .present_value_0 = caches.values[0],
                            .present_key_1 = caches.keys[1],
                            .present_value_1 = caches.values[1]};
  check(mt_decoder_run(&dims, &in, &out, workspace, NULL), "the decoder");
}

/* The word of the shortlist with the highest score. */
static int64_t choose(const float *hidden, const int64_t *shortlist, int64_t candidates) {
  float scores[MOST_CANDIDATES];
  mt_output_dims dims = {.candidates = candidates};
  mt_output_inputs in = {.hidden = hidden, .shortlist = shortlist};
  mt_output_outputs out = {.scores = scores};
  check(mt_output_run(&dims, &in, &out, workspace, NULL), "the output layer");
  int64_t best = 0;
  for (int64_t i = 1; i < candidates; ++i)
    if (scores[i] > scores[best])
      best = i;
  return shortlist[best];
}

static void translate(const int64_t *source, int64_t words, const int64_t *shortlist, int64_t candidates) {
  float hidden[HEADS * WIDTH];
  int64_t word = END;
  encode(source, words);
  for (int64_t position = 0; position < LONGEST; ++position) {
    decode(word, position, words, hidden);
    word = choose(hidden, shortlist, candidates);
    if (word == END)
      break;
    printf("%s%d", position ? " " : "", (int)word);
  }
  printf("\n");
}

/* The numbers up to `end`, behind which the text goes on. */
static int64_t read_numbers(char **text, char end, int64_t *numbers, int64_t most) {
  int64_t count = 0;
  for (char *next; count < most; *text = next) {
    long number = strtol(*text, &next, 10);
    if (next == *text)
      break;
    numbers[count++] = number;
  }
  *text += strspn(*text, " ");
  if (count == 0 || **text != end) {
    fprintf(stderr, "translate: expected lines of at most %d words, ':' and at most %d candidates\n", (int)LONGEST, (int)MOST_CANDIDATES);
    exit(1);
  }
  ++*text;
  return count;
}

/* Room for every run of this program; one workspace is enough, because the models run one after the other. */
static void make_workspace(void) {
  mt_encoder_dims encoder = {.words = LONGEST};
  mt_decoder_dims decoder = {.past = LONGEST - 1, .words = LONGEST};
  mt_output_dims output = {.candidates = MOST_CANDIDATES};
  size_t sizes[] = {mt_encoder_workspace_size(&encoder), mt_decoder_workspace_size(&decoder), mt_output_workspace_size(&output)}, most = KILN_ALIGNMENT;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    most = sizes[i] > most ? sizes[i] : most;
  workspace = aligned_alloc(KILN_ALIGNMENT, (most + KILN_ALIGNMENT - 1) / KILN_ALIGNMENT * KILN_ALIGNMENT);
  if (!workspace) {
    fprintf(stderr, "translate: no memory\n");
    exit(1);
  }
}

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) {
    fprintf(stderr, "usage: translate SENTENCES\n");
    return 2;
  }
  make_workspace();
  char line[4096];
  while (fgets(line, sizeof line, file)) {
    int64_t source[LONGEST], shortlist[MOST_CANDIDATES];
    char *text = line;
    int64_t words = read_numbers(&text, ':', source, LONGEST);
    int64_t candidates = read_numbers(&text, '\n', shortlist, MOST_CANDIDATES);
    translate(source, words, shortlist, candidates);
  }
  free(workspace);
  return fclose(file) != 0;
}
