// Probabilities of classes that agree best with those of pairs of classes. Nothing here owns memory.
#ifndef KILN_COUPLING_H
#define KILN_COUPLING_H

#include "kiln/entry.h"

namespace kiln {

// The second method of Wu, Lin and Weng (2004): the p that minimises the sum of (r[j][i] p[i] - r[i][j] p[j])^2 over pairs, where r[i][j] is the probability
// of i in the pair (i, j). It solves Q p = (p Q p) by coordinates, Q[i][i] being the sum of r[j][i]^2 and Q[i][j] = -r[j][i] r[i][j]. `pairs` has
// r[i][j] for i < j; `count` are its elements. `scratch` has room for 2 * `classes` numbers.
static inline void couple_pairs(const float *pairs, float *out, float *scratch, int64_t count, int64_t classes) {
  const int64_t each = classes * (classes - 1) / 2;
  const float limit = 0.005f / float(classes);
  float *diagonal = scratch, *product = scratch + classes;
  for (int64_t row = 0; row < count / each; ++row) {
    const float *r = pairs + row * each;
    float *p = out + row * classes;
    // The probability of i in the pair of i and j.
    const auto first = [&](int64_t i, int64_t j) {
      const int64_t low = i < j ? i : j, high = i < j ? j : i;
      const float both = r[low * (2 * classes - low - 1) / 2 + high - low - 1];
      return i < j ? both : 1 - both;
    };
    const auto entry = [&](int64_t i, int64_t j) { return i == j ? diagonal[i] : -(first(j, i) * first(i, j)); };
    for (int64_t i = 0; i < classes; ++i) {
      p[i] = 1 / float(classes);
      diagonal[i] = 0;
      for (int64_t j = 0; j < classes; ++j)
        diagonal[i] += j == i ? 0 : first(j, i) * first(j, i);
    }
    for (int step = 0; step < 100; ++step) {
      float sum = 0, worst = 0;
      for (int64_t i = 0; i < classes; ++i) {
        product[i] = 0;
        for (int64_t j = 0; j < classes; ++j)
          product[i] += entry(i, j) * p[j];
        sum += p[i] * product[i];
      }
      for (int64_t i = 0; i < classes; ++i) {
        const float error = product[i] < sum ? sum - product[i] : product[i] - sum;
        worst = error > worst ? error : worst;
      }
      // Also ends for numbers that are none.
      if (!(worst >= limit))
        break;
      for (int64_t i = 0; i < classes; ++i) {
        const float change = (sum - product[i]) / diagonal[i], grown = 1 + change;
        p[i] += change;
        sum = (sum + change * (change * diagonal[i] + 2 * product[i])) / grown / grown;
        for (int64_t j = 0; j < classes; ++j) {
          product[j] = (product[j] + change * entry(i, j)) / grown;
          p[j] /= grown;
        }
      }
    }
  }
}

} // namespace kiln

#endif // KILN_COUPLING_H
