/* Names the class of each row by the macros and by the table. */
#include "numbers.h"
#include "words.h"
#include <stdio.h>
#include <string.h>

static const char *const names[] = WORDS_PROBABILITIES_LABELS;
static const int64_t numbers[] = NUMBERS_SCORES_LABELS;
static char workspace[65536];

int main(void) {
  const kiln_labels_info *words_table = words_info.output_labels, *numbers_table = numbers_info.output_labels;
  float x[6] = {-1, 0, 1, -1, 1, 1}, probabilities[9], other[9], scores[30];
  kiln_string label[3];
  int64_t integer[3];
  char *aligned = workspace + (KILN_ALIGNMENT - (uintptr_t)workspace % KILN_ALIGNMENT) % KILN_ALIGNMENT;
  words_dims words_rows = {3};
  numbers_dims numbers_rows = {3};
  words_inputs words_in = {x};
  words_outputs words_out = {label, probabilities, other};
  numbers_inputs numbers_in = {x};
  numbers_outputs numbers_out = {integer, scores};
  int row, i;
  if (!KILN_HAS_FIELD(kiln_model_info, &words_info, output_labels) || !words_table || !numbers_table)
    return 1;
  if (words_table[0].axis != -1 || words_table[1].axis != 1 || words_table[1].count != WORDS_PROBABILITIES_NUM_LABELS || words_table[1].integers ||
      words_table[2].count != 0 || numbers_table[1].count != 10 || numbers_table[1].strings || numbers_table[1].integers[1] != INT64_MIN)
    return 2;
  if (words_run(&words_rows, &words_in, &words_out, aligned, NULL) || numbers_run(&numbers_rows, &numbers_in, &numbers_out, aligned, NULL))
    return 3;
  for (row = 0; row < 3; ++row) {
    const kiln_string *said = &words_table[1].strings[row];
    int best = 0;
    /* Row i is of class i. */
    if (probabilities[3 * row + row] != 1 || (int64_t)strlen(names[row]) != label[row].size || memcmp(names[row], label[row].data, strlen(names[row])) ||
        said->size != label[row].size || memcmp(said->data, label[row].data, (size_t)said->size))
      return 4;
    for (i = 1; i < 10; ++i)
      best = scores[10 * row + i] > scores[10 * row + best] ? i : best;
    if (integer[row] != numbers[best])
      return 5;
  }
  return 0;
}
