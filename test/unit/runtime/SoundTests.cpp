#include "kiln/sound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

// Built twice, as ImagesTests.cpp: with the library as it is, and its sources under sanitizers. Buffers have exactly the sizes that are asked for.

namespace {

using Bytes = std::vector<uint8_t>;
using Samples = std::vector<float>;

Bytes write(const Samples &samples, int32_t channels, kiln_wav_format format, int32_t rate = 16000) {
  const int64_t frames = int64_t(samples.size()) / channels;
  Bytes file(size_t(kiln_wav_size(frames, channels, format)));
  EXPECT_EQ(kiln_wav_write(samples.data(), frames, channels, rate, format, file.data(), int64_t(file.size())), KILN_STATUS_OK);
  return file;
}

kiln_status infoOf(const Bytes &bytes, kiln_sound &sound) {
  Bytes file(bytes);
  file.shrink_to_fit();
  static const uint8_t none = 0;
  return kiln_wav_info(file.empty() ? &none : file.data(), int64_t(file.size()), &sound);
}

Samples read(const Bytes &file, int32_t channel) {
  kiln_sound sound;
  if (infoOf(file, sound) != KILN_STATUS_OK)
    return {};
  Samples samples(size_t(sound.frames * (channel == KILN_WAV_ALL ? sound.channels : 1)));
  EXPECT_EQ(kiln_wav_read(file.data(), int64_t(file.size()), channel, 0, sound.frames, samples.data()), KILN_STATUS_OK);
  return samples;
}

TEST(Wav, EveryFormatComesBack) {
  const Samples samples = {0, 0.5f, -0.5f, 1 / 3.0f, -1, 0.999f, 0.25f, -0.125f, 0.0625f, 0.75f};
  const struct {
    kiln_wav_format format;
    double step;
  } formats[] = {{KILN_WAV_PCM8, 0x1p-7}, {KILN_WAV_PCM16, 0x1p-15}, {KILN_WAV_PCM24, 0x1p-23}, {KILN_WAV_PCM32, 0x1p-31}, {KILN_WAV_FLOAT, 0}};
  for (const auto &f : formats)
    for (int32_t channels : {1, 2, 5}) {
      const Bytes file = write(samples, channels, f.format, 22050);
      kiln_sound sound;
      ASSERT_EQ(infoOf(file, sound), KILN_STATUS_OK);
      EXPECT_EQ(sound.frames, 10 / channels);
      EXPECT_TRUE(sound.rate == 22050 && sound.channels == channels && sound.is_float == (f.format == KILN_WAV_FLOAT));
      EXPECT_EQ(sound.bits, f.format == KILN_WAV_FLOAT ? 32 : int(f.format));
      const Samples all = read(file, KILN_WAV_ALL), first = read(file, 0), last = read(file, channels - 1), mix = read(file, KILN_WAV_MIX);
      for (size_t i = 0; i < samples.size(); ++i)
        EXPECT_NEAR(all[i], samples[i], f.format == KILN_WAV_PCM8 ? f.step : f.step / 2 + 1e-8) << f.format;
      for (size_t frame = 0; frame < first.size(); ++frame) {
        double sum = 0;
        for (size_t c = 0; c < size_t(channels); ++c)
          sum += all[frame * size_t(channels) + c];
        EXPECT_EQ(mix[frame], float(sum / channels));
        EXPECT_TRUE(first[frame] == all[frame * size_t(channels)] && last[frame] == all[(frame + 1) * size_t(channels) - 1]);
      }
    }
}

// As Python's wave and struct have it.
TEST(Wav, TheBytesAreThoseOfTheFormat) {
  const std::string text("RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\4\0\0\0\0\x40\0\x80", 48);
  EXPECT_EQ(write({0.5f, -1}, 1, KILN_WAV_PCM16, 8000), Bytes(text.begin(), text.end()));
  const Bytes odd = write({1, -1, 0}, 1, KILN_WAV_PCM8);
  EXPECT_TRUE(odd.size() == 48 && odd[44] == 255 && odd[45] == 0 && odd[46] == 128 && odd[47] == 0);
}

TEST(Wav, WhatIsTooLoudSaturates) {
  const float infinite = std::numeric_limits<float>::infinity();
  const Bytes file = write({2, -2, infinite, -infinite, NAN}, 1, KILN_WAV_PCM16);
  const float most = 32767 / 32768.0f;
  EXPECT_EQ(read(file, 0), (Samples{most, -1, most, -1, 0}));
  EXPECT_EQ(read(write({2, -3}, 1, KILN_WAV_FLOAT), 0), (Samples{2, -3}));
}

void put(Bytes &file, size_t at, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    file[at + size_t(i)] = uint8_t(value >> (8 * i));
}

TEST(Wav, UnknownChunksAndOpenEndsAreFollowed) {
  const Samples samples = {0.5f, -0.5f, 0.25f};
  const Bytes file = write(samples, 1, KILN_WAV_PCM16);
  Bytes more(file.begin(), file.begin() + 12);
  const std::string list("LIST\5\0\0\0abcde\0", 14); // an odd size, padded
  more.insert(more.end(), list.begin(), list.end());
  more.insert(more.end(), file.begin() + 12, file.end());
  EXPECT_EQ(read(more, 0), samples);
  more.insert(more.end(), list.begin(), list.end());
  EXPECT_EQ(read(more, 0), samples);
  // What a recorder writes to a pipe.
  for (uint32_t length : {0x7ffff000u, 0xffffffffu}) {
    Bytes open = file;
    put(open, 40, length, 4);
    EXPECT_EQ(read(open, 0), samples);
    open.push_back(7); // half a sample
    EXPECT_EQ(read(open, 0), samples);
  }
  // The extensible form, and doubles.
  Bytes wide(file.begin(), file.begin() + 36);
  put(wide, 16, 40, 4);
  put(wide, 20, 0xfffe, 2);
  wide.resize(60);
  put(wide, 44, 1, 2);
  wide.insert(wide.end(), file.begin() + 36, file.end());
  EXPECT_EQ(read(wide, 0), samples);
  Bytes doubles(file.begin(), file.begin() + 44);
  put(doubles, 20, 3, 2);
  put(doubles, 32, 8, 2);
  put(doubles, 34, 64, 2);
  put(doubles, 40, 16, 4);
  for (uint64_t bits : {0x3fe0000000000000u, 0x7fefffffffffffffu})
    for (int i = 0; i < 8; ++i)
      doubles.push_back(uint8_t(bits >> (8 * i)));
  EXPECT_EQ(read(doubles, 0), (Samples{0.5f, std::numeric_limits<float>::max()}));
}

TEST(Wav, BrokenFilesAreRefused) {
  const Bytes file = write({0.5f, -0.5f, 0.25f, 1}, 2, KILN_WAV_PCM16);
  kiln_sound sound;
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(infoOf(Bytes(file.begin(), file.begin() + ptrdiff_t(size)), sound), KILN_STATUS_SOUND_UNREADABLE) << size;
    EXPECT_TRUE(sound.frames == 0 && sound.rate == 0 && sound.channels == 0);
  }
  const struct {
    size_t at;
    uint32_t value;
    int bytes;
  } changes[] = {{0, 'X', 1},         {8, 'X', 1},  {16, 15, 4}, {16, 0xfffffff0, 4}, {20, 2, 2},  {20, 0xfffe, 2}, {22, 0, 2},     {22, 257, 2},
                 {24, 0, 4},          {24, 0x80000000, 4}, {32, 3, 2},  {34, 12, 2},         {34, 0, 2},  {36, 'X', 1},    {40, 9, 4},      {40, 7, 4},
                 {40, 0x7fffefff, 4}};
  for (const auto &change : changes) {
    Bytes changed = file;
    put(changed, change.at, change.value, change.bytes);
    EXPECT_EQ(infoOf(changed, sound), KILN_STATUS_SOUND_UNREADABLE) << change.at << ": " << change.value;
  }
}

TEST(Wav, ChangedBytesDoNoHarm) {
  const Bytes file = write(Samples(40, 0.5f), 2, KILN_WAV_FLOAT);
  uint64_t state = 1;
  auto next = [&](size_t below) { return size_t((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) % below; };
  for (int round = 0; round < 20000; ++round) {
    Bytes changed(file.begin(), file.begin() + ptrdiff_t(next(2) ? file.size() : next(file.size() + 1)));
    for (size_t flips = 1 + next(3); flips > 0 && !changed.empty(); --flips)
      changed[next(std::min<size_t>(changed.size(), 64))] = uint8_t(next(2) ? next(256) : next(3) * 127);
    kiln_sound sound;
    if (infoOf(changed, sound) != KILN_STATUS_OK)
      continue;
    ASSERT_LE(sound.frames * sound.channels * sound.bits / 8, int64_t(file.size()));
    read(changed, KILN_WAV_ALL);
    read(changed, KILN_WAV_MIX);
  }
}

TEST(Wav, ArgumentsAreChecked) {
  const Bytes file = write({0.5f, -0.5f, 0.25f, 1}, 2, KILN_WAV_PCM16);
  float samples[4];
  kiln_sound sound;
  auto statusOf = [&](int32_t channel, int64_t first, int64_t count) {
    return kiln_wav_read(file.data(), int64_t(file.size()), channel, first, count, samples);
  };
  EXPECT_EQ(statusOf(1, 1, 1), KILN_STATUS_OK);
  EXPECT_NEAR(samples[0], 1, 1e-4);
  EXPECT_EQ(statusOf(0, 2, 0), KILN_STATUS_OK);
  EXPECT_EQ(statusOf(2, 0, 1), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf(-3, 0, 1), KILN_STATUS_INVALID_ARGUMENT);
  for (auto [first, count] : {std::pair<int64_t, int64_t>{0, 3}, {-1, 1}, {3, 0}, {1, -1}, {INT64_MAX, INT64_MAX}})
    EXPECT_EQ(statusOf(0, first, count), KILN_STATUS_INDEX_OUT_OF_BOUNDS);
  EXPECT_EQ(kiln_wav_read(file.data(), 20, 0, 0, 1, samples), KILN_STATUS_SOUND_UNREADABLE);
  EXPECT_EQ(kiln_wav_read(nullptr, 20, 0, 0, 1, samples), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_wav_read(file.data(), 20, 0, 0, 1, nullptr), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_wav_info(nullptr, 0, &sound), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_wav_info(file.data(), 20, nullptr), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_wav_info(file.data(), -1, &sound), KILN_STATUS_SOUND_UNREADABLE);
  EXPECT_EQ(kiln_wav_size(0, 1, KILN_WAV_PCM16), 44);
  for (auto [frames, channels] : {std::pair<int64_t, int32_t>{-1, 1}, {1, 0}, {1, 257}, {0x100000000, 1}, {0x80000000, 1}, {INT64_MAX, 2}})
    EXPECT_EQ(kiln_wav_size(frames, channels, KILN_WAV_PCM16), 0);
  EXPECT_EQ(kiln_wav_size(1, 1, kiln_wav_format(12)), 0);
  Bytes to(48);
  EXPECT_EQ(kiln_wav_write(samples, 2, 1, 0, KILN_WAV_PCM16, to.data(), 48), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_wav_write(samples, 2, 1, 8000, KILN_WAV_PCM16, to.data(), 47), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_wav_write(samples, -1, 1, 8000, KILN_WAV_PCM16, to.data(), 0), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_wav_write(nullptr, 2, 1, 8000, KILN_WAV_PCM16, to.data(), 48), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_wav_write(samples, 2, 1, 8000, KILN_WAV_PCM16, nullptr, 48), KILN_STATUS_NULL_POINTER);
}

Samples resample(const Samples &samples, int32_t from, int32_t to) {
  Samples result(size_t(kiln_resample_count(int64_t(samples.size()), from, to)));
  EXPECT_EQ(kiln_resample(samples.data(), int64_t(samples.size()), from, to, result.data(), int64_t(result.size())), KILN_STATUS_OK);
  return result;
}

Samples tone(double frequency, int32_t rate) {
  Samples samples(size_t(rate / 2));
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i] = float(std::cos(2 * M_PI * frequency * double(i) / rate + 0.3));
  return samples;
}

// Its middle, in which nothing of the silence beyond the ends is seen.
double loudness(const Samples &samples) {
  double sum = 0;
  const size_t begin = samples.size() / 5, end = samples.size() * 4 / 5;
  for (size_t i = begin; i < end; ++i)
    sum += double(samples[i]) * samples[i];
  return std::sqrt(2 * sum / double(end - begin));
}

constexpr std::pair<int32_t, int32_t> rates[] = {{22050, 16000}, {44100, 16000}, {48000, 16000}, {8000, 16000}, {16000, 48000}, {48000, 44100}, {16000, 22050}};

TEST(Resample, TonesKeepTheirPlaceAndAmplitude) {
  for (auto [from, to] : rates)
    for (double frequency : {0.01, 0.1, 0.25, 0.4, 0.43}) {
      const double hertz = frequency * std::min(from, to);
      const Samples expected = tone(hertz, to), result = resample(tone(hertz, from), from, to);
      double worst = 0;
      for (size_t i = result.size() / 5; i < result.size() * 4 / 5; ++i)
        worst = std::max(worst, double(std::fabs(result[i] - expected[i])));
      EXPECT_LT(worst, 0.0013) << from << " to " << to << ": " << frequency;
    }
}

TEST(Resample, WhatWouldAliasIsTakenAway) {
  for (auto [from, to] : rates)
    if (to < from)
      for (auto [frequency, most] : {std::pair{0.501, 9e-3}, {0.51, 1e-3}, {0.55, 1.2e-4}, {0.6, 1e-4}})
        if (frequency * to < from / 2.0)
          EXPECT_LT(loudness(resample(tone(frequency * to, from), from, to)), most) << from << " to " << to << ": " << frequency;
}

TEST(Resample, CountsAndArguments) {
  EXPECT_EQ(kiln_resample_count(22050, 22050, 16000), 16000);
  EXPECT_EQ(kiln_resample_count(1, 44100, 16000), 1);
  EXPECT_EQ(kiln_resample_count(0, 44100, 16000), 0);
  EXPECT_EQ(kiln_resample_count(3, 2, 3), 5);
  EXPECT_EQ(kiln_resample_count(int64_t(1) << 40, 2, 1), int64_t(1) << 39);
  for (auto [frames, from, to] : {std::tuple<int64_t, int32_t, int32_t>{-1, 1, 1}, {1, 0, 1}, {1, 1, -5}, {(int64_t(1) << 40) + 1, 1, 1}, {int64_t(1) << 40, 1, INT32_MAX}})
    EXPECT_EQ(kiln_resample_count(frames, from, to), -1);
  const Samples samples = {1, 2, 3};
  EXPECT_EQ(resample(samples, 5, 5), samples);
  EXPECT_EQ(resample(samples, 1, 1000).size(), 3000u);
  EXPECT_EQ(resample(samples, INT32_MAX, 1).size(), 1u);
  float to[5];
  EXPECT_EQ(kiln_resample(samples.data(), 3, 2, 3, to, 4), KILN_STATUS_DIMENSION_MISMATCH);
  EXPECT_EQ(kiln_resample(samples.data(), 3, 0, 3, to, 5), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_resample(nullptr, 3, 2, 3, to, 5), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_resample(samples.data(), 3, 2, 3, nullptr, 5), KILN_STATUS_NULL_POINTER);
}

} // namespace
