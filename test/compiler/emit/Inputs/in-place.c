/* Ten steps of a decoder, with caches that are updated in place and with a pair of caches that change their roles. */
#include "step.h"
#include <stdio.h>
#include <string.h>

enum { Size = 2 * 16 * 4, Row = 2 * 4 };

static _Alignas(64) unsigned char workspace[STEP_WORKSPACE_SIZE + 1];

int main(void) {
  float keys[3][Size] = {{0}}, values[3][Size] = {{0}}, k[Row], v[Row], q[Row], y[2][Row];
  for (int64_t place = 0; place < 10; ++place) {
    for (int i = 0; i < Row; ++i) {
      k[i] = 0.1f * (float)(i - place);
      v[i] = 0.2f * (float)(i * place % 7);
      q[i] = 0.3f * (float)(i + place) - 1;
    }
    int from = (int)(place % 2), to = 1 - from;
    step_inputs apart = {keys[from], values[from], k, v, q, &place}, same = {keys[2], values[2], k, v, q, &place};
    step_outputs apartTo = {keys[to], values[to], y[0]}, sameTo = {keys[2], values[2], y[1]};
    if (step_run(&apart, &apartTo, workspace, NULL) || step_run(&same, &sameTo, workspace, NULL))
      return printf("step %d failed\n", (int)place), 1;
    if (memcmp(y[0], y[1], sizeof y[0]) || memcmp(keys[to], keys[2], sizeof keys[2]) || memcmp(values[to], values[2], sizeof values[2]))
      return printf("step %d differs\n", (int)place), 1;
  }
  printf("10 steps: equal\n");
  return 0;
}
