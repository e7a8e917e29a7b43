/* Finds speech in a recording as it would in a stream: chunk by chunk, with a recurrent network that remembers what it has heard.
 * Usage: voice RECORDING.wav */
#include "vad.h"

#include <kiln/runtime.h>
#include <kiln/sound.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 16000, CHUNK = 512, CONTEXT = 64, PAUSE = 10 }; /* PAUSE: chunks of silence that end a sentence, 0.32 seconds */

/* What stays from one chunk to the next: the end of the last chunk, and the network's state, which a run reads from one place and writes to the other. */
typedef struct {
  float heard[CONTEXT + CHUNK];
  float state[2][2 * 128];
  int current;
} listener;

static _Alignas(KILN_ALIGNMENT) unsigned char workspace[VAD_WORKSPACE_SIZE];

/* The probability that there is speech in the chunk; negative if the model did not run. */
static float listen(listener *l, const float *chunk) {
  memcpy(l->heard, l->heard + CHUNK, CONTEXT * sizeof(float));
  memcpy(l->heard + CONTEXT, chunk, CHUNK * sizeof(float));
  float probability;
  const vad_inputs in = {l->heard, l->state[l->current]};
  const vad_outputs out = {&probability, l->state[1 - l->current]};
  const kiln_status status = vad_run(&in, &out, workspace, NULL);
  l->current = 1 - l->current;
  if (status == KILN_STATUS_OK)
    return probability;
  fprintf(stderr, "voice: %s\n", kiln_status_string(status));
  return -1;
}

/* The recording as one channel of 16,000 samples a second; NULL, with the status, if that fails. */
static float *read_recording(const char *path, int64_t *count, kiln_status *status) {
  FILE *stream = fopen(path, "rb");
  if (!stream || fseek(stream, 0, SEEK_END))
    return NULL;
  const long size = ftell(stream);
  uint8_t *file = malloc(size > 0 ? (size_t)size : 1);
  rewind(stream);
  const int64_t bytes = (int64_t)fread(file, 1, (size_t)size, stream);
  fclose(stream);
  kiln_sound sound;
  float *samples = NULL, *result = NULL;
  *status = kiln_wav_info(file, bytes, &sound);
  if (!*status) {
    *count = kiln_resample_count(sound.frames, sound.rate, RATE);
    samples = malloc(((size_t)sound.frames + 1) * sizeof(float));
    result = malloc(((size_t)*count + 1) * sizeof(float));
    *status = kiln_wav_read(file, bytes, KILN_WAV_MIX, 0, sound.frames, samples);
  }
  if (!*status)
    *status = kiln_resample(samples, sound.frames, sound.rate, RATE, result, *count);
  free(samples);
  free(file);
  if (!*status)
    return result;
  free(result);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: voice RECORDING.wav\n");
    return 2;
  }
  kiln_status status = KILN_STATUS_OK;
  int64_t samples;
  float *recording = read_recording(arguments[1], &samples, &status);
  if (!recording) {
    fprintf(stderr, "voice: %s: %s\n", arguments[1], status ? kiln_status_string(status) : "cannot be read");
    return 1;
  }
  static listener ear;
  int64_t begin = -1, last = 0; /* chunks: where speech began, and where it was heard last */
  for (int64_t chunk = 0; chunk < samples / CHUNK; ++chunk) {
    const float probability = listen(&ear, recording + chunk * CHUNK);
    if (probability < 0)
      return 1;
    /* It takes more to begin than to go on. */
    if (probability >= (begin < 0 ? 0.5f : 0.35f)) {
      begin = begin < 0 ? chunk : begin;
      last = chunk;
    }
    if (begin >= 0 && (chunk - last == PAUSE || chunk + 1 == samples / CHUNK)) {
      printf("speech from %.2f to %.2f seconds\n", (double)begin * CHUNK / RATE, (double)(last + 1) * CHUNK / RATE);
      begin = -1;
    }
  }
  free(recording);
  return 0;
}
