#include "../System.h"

#include "WindowsApi.h"

int64_t kiln::readClock() {
  LARGE_INTEGER ticks, rate;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&rate);
  // In two parts: the product of a long time would overflow.
  const int64_t seconds = ticks.QuadPart / rate.QuadPart, rest = ticks.QuadPart % rate.QuadPart;
  return seconds * 1000000000 + rest * 1000000000 / rate.QuadPart;
}
