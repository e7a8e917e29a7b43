// A session with weights that the program has read from their file.
#include "digits.hpp"

#include <cstdio>
#include <fstream>
#include <vector>

int main(int, char **arguments) {
  alignas(KILN_ALIGNMENT) static unsigned char weights[DIGITS_WEIGHTS_SIZE];
  std::ifstream(arguments[1], std::ios::binary).read(reinterpret_cast<char *>(weights), sizeof(weights));
  const std::vector<float> image(64, 8.0f);
  digits_session wrong({weights, 3});
  wrong.image(image).try_run();
  std::printf("%s\n", wrong.message());
  digits_session session(weights);
  float sum = 0;
  for (float value : session.image(image).run().probabilities())
    sum += value;
  std::printf("digits: sum %.3f\n", double(sum));
}
