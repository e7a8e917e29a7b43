// Prints the numbers of the pieces of each line of the standard input: unigram VOCABULARY
#include "unigram.hpp"
#include <cstdio>
#include <iostream>

int main(int count, char **arguments) {
  if (count != 2)
    return 2;
  try {
    const unigram vocabulary(arguments[1]);
    for (std::string line; std::getline(std::cin, line);) {
      for (int64_t id : vocabulary.encode(line))
        std::printf("%d ", int(id));
      std::printf("\n");
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "unigram: %s\n", error.what());
    return 1;
  }
  return 0;
}
