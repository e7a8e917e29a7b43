// Measures the largest error of the float functions: MathSweep [--stride N] [function...]; all 2^32 numbers by default.
// Exits with 1 when a bound is exceeded or a vector lane differs from the scalar function.
#include "Sweep.h"

#include <cstdio>
#include <cstdlib>

static bool report(const sweep::Function &function, uint32_t stride) {
  sweep::Worst worst = sweep::run(function, stride);
  bool good = worst.ulp <= function.bound && worst.widthMismatches == 0;
  std::printf("%-10s %.4f ulp at %a (%.9g), bound %g%s\n", function.name, worst.ulp, double(worst.at), double(worst.at),
              function.bound, good ? "" : "  FAILED");
  if (worst.widthMismatches)
    std::printf("%-10s %llu lanes differ from the scalar function, the last at %a\n", function.name,
                static_cast<unsigned long long>(worst.widthMismatches), double(worst.mismatchAt));
  std::fflush(stdout);
  return good;
}

int main(int argc, char **argv) {
  int first = 1;
  uint32_t stride = 1;
  if (argc > 2 && std::strcmp(argv[1], "--stride") == 0) {
    stride = uint32_t(std::strtoul(argv[2], nullptr, 10));
    first = 3;
  }
  bool good = stride > 0;
  for (int i = first; good && i < argc; ++i)
    if (!sweep::find(argv[i]))
      good = false;
  if (!good) {
    std::fprintf(stderr, "usage: MathSweep [--stride N] [function...]\n");
    return 2;
  }
  for (int i = first; i < argc; ++i)
    good &= report(*sweep::find(argv[i]), stride);
  for (int i = 0; first == argc && i < sweep::numFunctions; ++i)
    good &= report(sweep::functions[i], stride);
  return good ? 0 : 1;
}
