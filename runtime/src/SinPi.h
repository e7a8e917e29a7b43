// sin(pi x) without the C library, which a program may not link.
#ifndef KILN_SINPI_H
#define KILN_SINPI_H

#include <stdint.h>

namespace kiln_runtime {

// For x below 2^31 in magnitude, by its series around the nearest integer: within a few units in the last place.
inline double sinPi(double x) {
  const int64_t whole = int64_t(x < 0 ? x - 0.5 : x + 0.5);
  const double t = (x - double(whole)) * 3.14159265358979323846, square = t * t;
  double sum = 0;
  for (int i = 23; i > 1; i -= 2)
    sum = (1 + sum) * -square / (i * (i - 1));
  return (whole % 2 ? -t : t) * (1 + sum);
}

inline double cosPi(double x) { return sinPi(x < 0 ? x + 0.5 : 0.5 - x); }

} // namespace kiln_runtime

#endif // KILN_SINPI_H
