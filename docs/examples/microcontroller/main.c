/* Reads a handwritten digit on a microcontroller. The weights stay in flash; the model's working memory is one static array. */
#include "digits.h"
#include "picture.h" /* 64 grey values from 0 to 16, and what they show */

void print(const char *text);

static unsigned char workspace[DIGITS_WORKSPACE_SIZE] __attribute__((aligned(KILN_ALIGNMENT)));

int main(void) {
  float probabilities[10];
  digits_inputs inputs = {picture};
  digits_outputs outputs = {probabilities};
  if (digits_run(&inputs, &outputs, workspace, NULL) != KILN_STATUS_OK)
    return 1;
  int best = 0;
  for (int i = 1; i < 10; ++i)
    if (probabilities[i] > probabilities[best])
      best = i;
  char answer[] = "reads 0, is 0\n";
  answer[6] = (char)('0' + best);
  answer[12] = (char)('0' + shown);
  print(answer);
  return best == shown ? 0 : 1;
}
