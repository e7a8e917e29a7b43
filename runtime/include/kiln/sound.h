/* libkiln_sound.a: WAV files and sample rates, for programs that call models with sound. C ABI, C11 and C++17.
 *
 *     kiln_sound sound;
 *     kiln_wav_info(file, bytes, &sound);
 *     float *samples = malloc(sound.frames * sizeof *samples);
 *     kiln_wav_read(file, bytes, KILN_WAV_MIX, 0, sound.frames, samples);
 *
 * Samples are f32, from -1 to 1 as far as the file's integers go. A frame has one sample for each channel. The caller owns all memory. No function allocates,
 * locks, prints or keeps a pointer, files may be hostile, and any number of threads may call all functions at once. A NULL argument gives NULL_POINTER. */
#ifndef KILN_SOUND_H
#define KILN_SOUND_H

#include "kiln/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { KILN_WAV_MIX = -1, KILN_WAV_ALL = -2, KILN_WAV_MAX_CHANNELS = 256 };

/* What a WAV file has. */
typedef struct kiln_sound {
  int64_t frames;
  int32_t rate;     /* frames per second, at least 1 */
  int32_t channels; /* 1 to KILN_WAV_MAX_CHANNELS */
  int32_t bits;     /* of a sample in the file: 8, 16, 24, 32 or 64 */
  int32_t is_float; /* 1: floats of 32 or 64 bits, 0: integers */
} kiln_sound;

KILN_STATIC_ASSERT(sizeof(kiln_sound) == 24, "kiln_sound changed");

/* Reads the file's header. Chunks that it does not know are skipped. A recorder that wrote to a pipe could not know how long the sound would be: where the
 * header says 2^31 - 4096 bytes or more, the sound ends with the file. Fails with SOUND_UNREADABLE (not a WAV file, broken, cut off, or compressed), and
 * *sound is then zero. */
kiln_status kiln_wav_info(const uint8_t *file, int64_t bytes, kiln_sound *sound);

/* Reads `count` frames from number `first` on. `channel` is that of a channel, from 0; or KILN_WAV_MIX, the mean of all channels; or KILN_WAV_ALL, and then
 * `samples` has room for count * channels, interleaved. Fails with SOUND_UNREADABLE, INVALID_ARGUMENT (no such channel) or INDEX_OUT_OF_BOUNDS (no such
 * frames); samples are then as they were. */
kiln_status kiln_wav_read(const uint8_t *file, int64_t bytes, int32_t channel, int64_t first, int64_t count, float *samples);

/* The samples of a file to write. */
typedef enum kiln_wav_format {
  KILN_WAV_FLOAT = 0, /* f32, as they are */
  KILN_WAV_PCM8 = 8,  /* integers: rounded to the nearest, and what is outside of -1 to 1 saturates; NaN is silence */
  KILN_WAV_PCM16 = 16,
  KILN_WAV_PCM24 = 24,
  KILN_WAV_PCM32 = 32
  KILN_WIDEST(KILN_WAV_WIDEST)
} kiln_wav_format;

/* Bytes of a file; 0 for arguments that kiln_wav_write() refuses: a file has at most 2^32 - 1 bytes. */
int64_t kiln_wav_size(int64_t frames, int32_t channels, kiln_wav_format format);

/* Writes a file of `frames` interleaved frames. `bytes` must be kiln_wav_size(). Fails with INVALID_ARGUMENT. */
kiln_status kiln_wav_write(const float *samples, int64_t frames, int32_t channels, int32_t rate, kiln_wav_format format, uint8_t *file, int64_t bytes);

/* Frames after resampling: frames * to_rate / from_rate, rounded up. -1 for rates below 1, negative frames and more than 2^40 of them. */
int64_t kiln_resample_count(int64_t frames, int32_t from_rate, int32_t to_rate);

/* Resamples one channel. Sample i of the result is the sound at the time i / to_rate: the input convolved with a sinc in a Hann window of 32 zero crossings on
 * each side, whose cutoff is 0.94 times half of the lower rate. Beyond its ends the sound is silent. `count` must be kiln_resample_count(), and the arrays
 * do not overlap. With equal rates it copies. Fails with INVALID_ARGUMENT or DIMENSION_MISMATCH. */
kiln_status kiln_resample(const float *from, int64_t frames, int32_t from_rate, int32_t to_rate, float *to, int64_t count);

#ifdef __cplusplus
}
#endif

#endif /* KILN_SOUND_H */
