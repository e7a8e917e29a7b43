/* Repeats runs of `speech` with the room that they have asked for. */
#include "speech.h"
#include <stdio.h>
#include <stdlib.h>

int speak(const float *durations, int64_t words, int64_t guess);

int speak(const float *durations, int64_t words, int64_t guess) {
  speech_dims dims = {words, guess, -1};
  kiln_status status;
  int runs = 0;
  for (;;) {
    const int64_t before = dims.frames_count_most;
    const size_t bytes = (speech_workspace_size(&dims) + KILN_ALIGNMENT) / KILN_ALIGNMENT * KILN_ALIGNMENT;
    const size_t room = (size_t)SPEECH_SOUND_MOST_ELEMENTS(&dims) * sizeof(float);
    void *workspace = aligned_alloc(KILN_ALIGNMENT, bytes);
    float *sound = malloc(room ? room : 1);
    const speech_inputs in = {durations};
    const speech_outputs out = {sound};
    status = speech_run(&dims, &in, &out, workspace, NULL);
    ++runs;
    if (status == KILN_STATUS_OK)
      printf("c: %d runs, %d frames, last %g\n", runs, (int)dims.frames_count, dims.frames_count ? (double)sound[3 * dims.frames_count - 3] : -1.0);
    free(sound);
    free(workspace);
    if (status != KILN_STATUS_DIMENSION_OUT_OF_BOUNDS || dims.frames_count_most == before || dims.frames_count_most > SPEECH_FRAMES_COUNT_MOST_MAX)
      return status;
  }
}
