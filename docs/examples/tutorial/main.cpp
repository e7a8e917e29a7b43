// The same for any number of wines at once: main.cpp of docs/Tutorial.md. Reads lines of 13 numbers.
#include "wine.hpp"

#include <cstdio>
#include <iostream>
#include <vector>

int main() {
  std::vector<float> measurements;
  for (float number; std::cin >> number;)
    measurements.push_back(number);

  wine_session wine;
  try {
    wine.measurements(measurements, {int64_t(measurements.size() / 13), 13}).run();
  } catch (const kiln::error &fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
  kiln::tensor<float> probabilities = wine.probabilities();
  for (int64_t i = 0; i < probabilities.extent(0); ++i)
    std::printf("%.3f %.3f %.3f\n", double(probabilities[3 * i]), double(probabilities[3 * i + 1]), double(probabilities[3 * i + 2]));
}
