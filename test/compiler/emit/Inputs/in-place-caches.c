/* Steps of a decoder: in buffers with room for all rows, updated in place and apart, against caches that are as long as what they hold. */
#include "plain.h"
#include "step.h"
#include <stdio.h>
#include <string.h>

enum { Heads = 2, Room = 16, Width = 4, Most = Heads * Room * Width };

static _Alignas(64) unsigned char workspace[1 << 16];

/* Whether the rows in use of a buffer with room are those of a cache without. */
static int sameRows(const float *roomy, const float *dense, int64_t rows) {
  for (int64_t head = 0; head < Heads; ++head)
    if (memcmp(roomy + head * Room * Width, dense + head * rows * Width, (size_t)(rows * Width) * sizeof(float)))
      return 0;
  return 1;
}

int main(void) {
  float keys[3][Most] = {{0}}, values[3][Most] = {{0}}, denseKeys[2][Most], denseValues[2][Most];
  float k[2 * Heads * Width], v[2 * Heads * Width], q[2 * Heads * Width], y[3][2 * Heads * Width] = {{0}};
  int64_t used = 0, step = 0;
  for (; used < Room; ++step) {
    int64_t new = step < 5 ? 2 : 1;
    for (int64_t i = 0; i < new * Heads * Width; ++i) {
      k[i] = 0.1f * (float)(i - step);
      v[i] = 0.2f * (float)((i + 1) * step % 7);
      q[i] = 0.3f * (float)(i + step) - 1;
    }
    int from = (int)(step % 2), to = 1 - from;
    step_dims dims = {.past = used, .new_ = new};
    plain_dims plainDims = {.past = used, .new_ = new};
    step_inputs same = {keys[2], values[2], k, v, q}, apart = {keys[from], values[from], k, v, q};
    step_outputs sameTo = {keys[2], values[2], y[0]}, apartTo = {keys[to], values[to], y[1]};
    plain_inputs plain = {denseKeys[from], denseValues[from], k, v, q};
    plain_outputs plainTo = {denseKeys[to], denseValues[to], y[2]};
    if (step_run(&dims, &same, &sameTo, workspace, NULL) || step_run(&dims, &apart, &apartTo, workspace, NULL) ||
        plain_run(&plainDims, &plain, &plainTo, workspace, NULL))
      return printf("step %d failed\n", (int)step), 1;
    used += new;
    if (memcmp(y[0], y[1], sizeof y[0]) || memcmp(y[0], y[2], sizeof y[0]) || !sameRows(keys[2], denseKeys[to], used) ||
        !sameRows(values[2], denseValues[to], used) || memcmp(keys[2], keys[to], sizeof keys[2]))
      return printf("step %d differs\n", (int)step), 1;
  }
  printf("%d steps: equal, %d rows in use\n", (int)step, (int)used);
  step_dims dims = {.past = used, .new_ = 1};
  step_inputs in = {keys[2], values[2], k, v, q};
  step_outputs out = {keys[2], values[2], y[0]};
  printf("no room: %d\n", (int)step_run(&dims, &in, &out, workspace, NULL));
  return 0;
}
