// The largest errors of the float functions whose inputs are all tried by a test (test/unit/runtime/ExhaustiveSweepTests.cpp),
// in units in the last place. The compiler reports them, and docs/Runtime.md shows them. Kernels do not include this.
#ifndef KILN_MATH_BOUNDS_H
#define KILN_MATH_BOUNDS_H

namespace kiln {

struct MathBound {
  const char *function;
  double ulp;
};

inline constexpr MathBound mathBounds[] = {
    {"exp", 1.1}, {"exp_ulp4", 4}, {"exp_half", 2048}, {"log", 1}, {"tanh", 2.5}, {"erf", 1.5}, {"sigmoid", 2.5},
};

// Where the true value of exp_ulp4 and exp_half is smaller, 0 is a result, too: 2^-125.
inline constexpr double leastFastExp = 0x1p-125;

// 0 for a function that is not in the table.
constexpr double ulpBound(const char *function) {
  for (const MathBound &bound : mathBounds) {
    const char *a = bound.function, *b = function;
    while (*a && *a == *b)
      ++a, ++b;
    if (*a == *b)
      return bound.ulp;
  }
  return 0;
}

} // namespace kiln

#endif // KILN_MATH_BOUNDS_H
