// Another sample rate: each result is a sum over the input, weighted by a sinc in a Hann window. The sines of neighbouring weights follow from each other by
// rotations, so nothing is looked up or allocated.
#include "kiln/sound.h"

#include "../SinPi.h"

#include <string.h>

using namespace kiln_runtime;

namespace {

constexpr int64_t mostFrames = int64_t(1) << 40;
constexpr double crossings = 32, rolloff = 0.94, pi = 3.14159265358979323846;

// An angle, in units of pi, that grows by equal steps.
struct Rotation {
  double sine, cosine, stepSine, stepCosine;
  Rotation(double angle, double step) : sine(sinPi(angle)), cosine(cosPi(angle)), stepSine(sinPi(step)), stepCosine(cosPi(step)) {}
  void next() {
    const double old = sine;
    sine = sine * stepCosine + cosine * stepSine;
    cosine = cosine * stepCosine - old * stepSine;
  }
};

int64_t greatestCommonDivisor(int64_t a, int64_t b) { return b ? greatestCommonDivisor(b, a % b) : a; }

// The sound at the time `whole + part` in samples of the input, with frequencies below `cutoff` (1: half of the input's rate).
float interpolate(const float *from, int64_t frames, int64_t whole, double part, double cutoff) {
  const double reach = crossings / cutoff;
  int64_t begin = whole - int64_t(reach), end = whole + int64_t(reach) + 2;
  begin = begin < 0 ? 0 : begin;
  end = end > frames ? frames : end;
  const double start = double(begin - whole) - part;
  Rotation sinc(start * cutoff, cutoff), window(start * cutoff / crossings, cutoff / crossings);
  double sum = 0;
  for (int64_t i = begin; i < end; ++i, sinc.next(), window.next()) {
    const double x = double(i - whole) - part, angle = pi * cutoff * x;
    if (x <= -reach || x >= reach)
      continue;
    const double weight = x * cutoff < 1e-9 && x * cutoff > -1e-9 ? 1 : sinc.sine / angle;
    sum += double(from[i]) * weight * (0.5 + 0.5 * window.cosine);
  }
  return float(sum * cutoff);
}

} // namespace

int64_t kiln_resample_count(int64_t frames, int32_t from_rate, int32_t to_rate) {
  if (frames < 0 || frames > mostFrames || from_rate < 1 || to_rate < 1)
    return -1;
  const int64_t divisor = greatestCommonDivisor(from_rate, to_rate), from = from_rate / divisor, to = to_rate / divisor;
  // frames * to may not fit.
  const int64_t whole = frames / from, rest = frames % from;
  if (whole > mostFrames / to)
    return -1;
  const int64_t count = whole * to + (rest * to + from - 1) / from;
  return count > mostFrames ? -1 : count;
}

kiln_status kiln_resample(const float *from, int64_t frames, int32_t from_rate, int32_t to_rate, float *to, int64_t count) {
  if (!from || !to)
    return KILN_STATUS_NULL_POINTER;
  const int64_t expected = kiln_resample_count(frames, from_rate, to_rate);
  if (expected < 0)
    return KILN_STATUS_INVALID_ARGUMENT;
  if (count != expected)
    return KILN_STATUS_DIMENSION_MISMATCH;
  if (from_rate == to_rate) {
    memcpy(to, from, size_t(count) * sizeof(float));
    return KILN_STATUS_OK;
  }
  const int64_t divisor = greatestCommonDivisor(from_rate, to_rate), step = from_rate / divisor, steps = to_rate / divisor;
  const double cutoff = rolloff * (to_rate < from_rate ? double(to_rate) / from_rate : 1);
  // The time of sample i is whole + rest / steps.
  int64_t whole = 0, rest = 0;
  for (int64_t i = 0; i < count; ++i) {
    to[i] = interpolate(from, frames, whole, double(rest) / double(steps), cutoff);
    whole += (rest + step) / steps;
    rest = (rest + step) % steps;
  }
  return KILN_STATUS_OK;
}
