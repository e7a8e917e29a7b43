// Prints the numbers of the pieces of each line of the standard input: wordpiece VOCABULARY
#include "wordpiece.hpp"

#include <cstdio>
#include <iostream>

int main(int, char **argv) {
  try {
    const wordpiece pieces(argv[1]);
    for (std::string line; std::getline(std::cin, line);) {
      for (int64_t id : pieces.encode(line, 24))
        std::printf("%d ", int(id));
      std::puts("");
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
