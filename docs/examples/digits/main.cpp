// Reads handwritten digits that the model has never seen, with a model that was compiled into this program.
// Usage: digits [FOLDER] - FOLDER holds held_out.pgm (8x8 images, one below the other) and held_out.txt (their labels).

#include "digits.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr int Side = 8, Pixels = Side * Side, Classes = 10;

struct Sample {
  std::array<float, Pixels> image; // 0 is paper, 16 is ink
  int label;
};

std::vector<Sample> readSamples(const std::string &folder) {
  std::ifstream pictures(folder + "/held_out.pgm", std::ios::binary), labels(folder + "/held_out.txt");
  std::string magic;
  int width = 0, height = 0, brightest = 0;
  pictures >> magic >> width >> height >> brightest;
  pictures.get();
  std::vector<Sample> samples;
  if (magic != "P5" || width != Side || brightest != 16)
    return samples;
  std::array<char, Pixels> bytes;
  for (Sample sample; labels >> sample.label && pictures.read(bytes.data(), Pixels); samples.push_back(sample))
    std::copy(bytes.begin(), bytes.end(), sample.image.begin());
  return samples;
}

/// The compiled model never allocates, so its working memory is the caller's.
bool classify(const Sample &sample, std::array<float, Classes> &probabilities) {
  alignas(64) static unsigned char workspace[DIGITS_WORKSPACE_SIZE];
  digits_inputs inputs = {sample.image.data()};
  digits_outputs outputs = {probabilities.data()};
  return digits_run(&inputs, &outputs, workspace, nullptr) == KILN_STATUS_OK;
}

void show(const Sample &sample, int answer, float probability) {
  const char *shades = " .:-=+*#%@";
  for (int y = 0; y < Side; ++y) {
    for (int x = 0; x < Side; ++x) {
      char shade = shades[int(sample.image[y * Side + x]) * 9 / 16];
      std::printf("%c%c", shade, shade);
    }
    std::printf(y == Side / 2 ? "    reads %d (%.1f %%), is %d\n" : "\n", answer, 100 * probability, sample.label);
  }
}

} // namespace

int main(int argc, char **argv) {
  std::string folder = argc > 1 ? argv[1] : ".";
  std::vector<Sample> samples = readSamples(folder);
  if (samples.empty()) {
    std::fprintf(stderr, "digits: no images in %s (held_out.pgm, held_out.txt)\n", folder.c_str());
    return 1;
  }
  int right = 0, shown = 0;
  for (const Sample &sample : samples) {
    std::array<float, Classes> probabilities;
    if (!classify(sample, probabilities)) {
      std::fprintf(stderr, "digits: the model did not run\n");
      return 1;
    }
    auto best = std::max_element(probabilities.begin(), probabilities.end());
    int answer = int(best - probabilities.begin());
    right += answer == sample.label;
    // Six pictures, and every one that the model gets wrong up to a dozen in all.
    if (shown < 6 || (shown < 12 && answer != sample.label)) {
      show(sample, answer, *best);
      ++shown;
    }
  }
  std::printf("%d of %zu held-out digits are right (%.2f %%)\n", right, samples.size(), 100.0 * right / double(samples.size()));
  return right * 100 >= int(samples.size()) * 95 ? 0 : 1;
}
