// WAV files: integers of 8 to 32 bits and floats, also in the header's extensible form.
#include "kiln/sound.h"

#include <string.h>

namespace {

constexpr uint32_t unknownLength = 0x7ffff000;
constexpr int64_t headerBytes = 44, floatHeaderBytes = 58;
constexpr int tagPcm = 1, tagFloat = 3, tagExtensible = 0xfffe;

uint32_t le16(const uint8_t *at) { return at[0] | uint32_t(at[1]) << 8; }
uint32_t le32(const uint8_t *at) { return le16(at) | le16(at + 2) << 16; }

void putLe16(uint8_t *at, uint32_t value) {
  at[0] = uint8_t(value);
  at[1] = uint8_t(value >> 8);
}
void putLe32(uint8_t *at, uint32_t value) {
  putLe16(at, value);
  putLe16(at + 2, value >> 16);
}

struct File {
  kiln_sound sound;
  const uint8_t *samples;
  int64_t frameBytes() const { return int64_t(sound.channels) * sound.bits / 8; }
};

bool readFormat(const uint8_t *chunk, int64_t size, kiln_sound &sound) {
  if (size < 16)
    return false;
  uint32_t tag = le16(chunk);
  if (tag == tagExtensible && size >= 40)
    tag = le16(chunk + 24);
  const uint32_t rate = le32(chunk + 4);
  sound.channels = int32_t(le16(chunk + 2));
  sound.bits = int32_t(le16(chunk + 14));
  sound.is_float = tag == tagFloat;
  if ((tag != tagPcm && tag != tagFloat) || rate < 1 || rate > 0x7fffffff || sound.channels < 1 || sound.channels > KILN_WAV_MAX_CHANNELS)
    return false;
  sound.rate = int32_t(rate);
  const bool isKnown = sound.is_float ? sound.bits == 32 || sound.bits == 64 : sound.bits == 8 || sound.bits == 16 || sound.bits == 24 || sound.bits == 32;
  return isKnown && int32_t(le16(chunk + 12)) == sound.channels * sound.bits / 8;
}

// Chunks have an even number of bytes; the last one may lack its padding.
bool readFile(const uint8_t *file, int64_t bytes, File &result) {
  if (bytes < 12 || memcmp(file, "RIFF", 4) != 0 || memcmp(file + 8, "WAVE", 4) != 0)
    return false;
  bool hasFormat = false;
  for (int64_t at = 12; bytes - at >= 8;) {
    const uint32_t length = le32(file + at + 4);
    const int64_t left = bytes - at - 8;
    const bool isData = memcmp(file + at, "data", 4) == 0, isOpen = isData && length >= unknownLength;
    const int64_t size = isOpen ? left : length;
    if (size > left)
      return false;
    if (isData) {
      result.samples = file + at + 8;
      result.sound.frames = hasFormat ? size / result.frameBytes() : 0;
      return hasFormat && (isOpen || size % result.frameBytes() == 0);
    }
    if (memcmp(file + at, "fmt ", 4) == 0) {
      if (!readFormat(file + at + 8, size, result.sound))
        return false;
      hasFormat = true;
    }
    at += 8 + size + size % 2;
  }
  return false;
}

float readSample(const uint8_t *at, const kiln_sound &sound) {
  if (sound.is_float && sound.bits == 32) {
    const uint32_t bits = le32(at);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
  }
  if (sound.is_float) {
    const uint64_t bits = le32(at) | uint64_t(le32(at + 4)) << 32;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value > 3.4028234663852886e38 ? 3.4028234663852886e38f : value < -3.4028234663852886e38 ? -3.4028234663852886e38f : float(value);
  }
  if (sound.bits == 8)
    return float(int(at[0]) - 128) / 128;
  // The upper bits of 32.
  uint32_t value = 0;
  for (int i = 0; i < sound.bits / 8; ++i)
    value |= uint32_t(at[i]) << (8 * i + 32 - sound.bits);
  return float(double(int32_t(value)) / 2147483648.0);
}

// The nearest integer, from -2^(bits - 1) to 2^(bits - 1) - 1.
int32_t toInteger(float sample, int bits) {
  const double scale = double(int64_t(1) << (bits - 1)), value = double(sample) * scale, nearest = value < 0 ? value - 0.5 : value + 0.5;
  if (!(nearest > -scale))
    return sample == sample ? int32_t(-scale) : 0;
  return nearest >= scale ? int32_t(scale - 1) : int32_t(nearest);
}

bool isFormat(kiln_wav_format format) {
  return format == KILN_WAV_FLOAT || format == KILN_WAV_PCM8 || format == KILN_WAV_PCM16 || format == KILN_WAV_PCM24 || format == KILN_WAV_PCM32;
}

void writeSample(uint8_t *at, float sample, int format) {
  if (format == KILN_WAV_FLOAT) {
    uint32_t bits;
    memcpy(&bits, &sample, sizeof(bits));
    return putLe32(at, bits);
  }
  const uint32_t value = uint32_t(toInteger(sample, format)) + (format == KILN_WAV_PCM8 ? 128 : 0);
  for (int i = 0; i < format / 8; ++i)
    at[i] = uint8_t(value >> (8 * i));
}

// Files of floats say how many bytes extend the format, none, and how many frames there are.
uint8_t *writeHeader(uint8_t *file, int64_t frames, int32_t channels, int32_t rate, int32_t bits, bool isFloat, int64_t bytes) {
  const uint32_t frameBytes = uint32_t(channels * bits / 8);
  memcpy(file, "RIFF", 4);
  putLe32(file + 4, uint32_t(bytes - 8));
  memcpy(file + 8, "WAVEfmt ", 8);
  putLe32(file + 16, isFloat ? 18 : 16);
  putLe16(file + 20, isFloat ? tagFloat : tagPcm);
  putLe16(file + 22, uint32_t(channels));
  putLe32(file + 24, uint32_t(rate));
  putLe32(file + 28, uint32_t(rate) * frameBytes);
  putLe16(file + 32, frameBytes);
  putLe16(file + 34, uint32_t(bits));
  uint8_t *data = file + 36;
  if (isFloat) {
    putLe16(data, 0);
    memcpy(data + 2, "fact", 4);
    putLe32(data + 6, 4);
    putLe32(data + 10, uint32_t(frames));
    data += 14;
  }
  memcpy(data, "data", 4);
  putLe32(data + 4, uint32_t(frames * frameBytes));
  return data + 8;
}

} // namespace

kiln_status kiln_wav_info(const uint8_t *file, int64_t bytes, kiln_sound *sound) {
  if (!file || !sound)
    return KILN_STATUS_NULL_POINTER;
  File read = {};
  const bool isRead = readFile(file, bytes, read);
  *sound = isRead ? read.sound : kiln_sound{};
  return isRead ? KILN_STATUS_OK : KILN_STATUS_SOUND_UNREADABLE;
}

kiln_status kiln_wav_read(const uint8_t *file, int64_t bytes, int32_t channel, int64_t first, int64_t count, float *samples) {
  if (!file || (!samples && count))
    return KILN_STATUS_NULL_POINTER;
  File read = {};
  if (!readFile(file, bytes, read))
    return KILN_STATUS_SOUND_UNREADABLE;
  const kiln_sound &sound = read.sound;
  if (channel < KILN_WAV_ALL || channel >= sound.channels)
    return KILN_STATUS_INVALID_ARGUMENT;
  if (first < 0 || count < 0 || first > sound.frames || count > sound.frames - first)
    return KILN_STATUS_INDEX_OUT_OF_BOUNDS;
  const int32_t begin = channel < 0 ? 0 : channel, end = channel < 0 ? sound.channels : channel + 1, step = sound.bits / 8;
  for (int64_t frame = 0; frame < count; ++frame) {
    const uint8_t *at = read.samples + (first + frame) * read.frameBytes();
    double sum = 0;
    for (int32_t c = begin; c < end; ++c) {
      const float sample = readSample(at + c * step, sound);
      sum += sample;
      if (channel == KILN_WAV_ALL)
        *samples++ = sample;
    }
    if (channel != KILN_WAV_ALL)
      *samples++ = float(sum / (end - begin));
  }
  return KILN_STATUS_OK;
}

int64_t kiln_wav_size(int64_t frames, int32_t channels, kiln_wav_format format) {
  if (!isFormat(format) || frames < 0 || frames > 0xffffffff || channels < 1 || channels > KILN_WAV_MAX_CHANNELS)
    return 0;
  const int64_t data = frames * channels * (format == KILN_WAV_FLOAT ? 4 : int64_t(format) / 8);
  const int64_t bytes = (format == KILN_WAV_FLOAT ? floatHeaderBytes : headerBytes) + data + data % 2;
  return bytes > 0xffffffff ? 0 : bytes;
}

kiln_status kiln_wav_write(const float *samples, int64_t frames, int32_t channels, int32_t rate, kiln_wav_format format, uint8_t *file, int64_t bytes) {
  if (!samples || !file)
    return KILN_STATUS_NULL_POINTER;
  if (bytes <= 0 || rate < 1 || bytes != kiln_wav_size(frames, channels, format))
    return KILN_STATUS_INVALID_ARGUMENT;
  const int32_t bits = format == KILN_WAV_FLOAT ? 32 : int32_t(format);
  uint8_t *at = writeHeader(file, frames, channels, rate, bits, format == KILN_WAV_FLOAT, bytes);
  for (int64_t i = 0; i < frames * channels; ++i, at += bits / 8)
    writeSample(at, samples[i], format);
  if (at < file + bytes)
    *at = 0;
  return KILN_STATUS_OK;
}
