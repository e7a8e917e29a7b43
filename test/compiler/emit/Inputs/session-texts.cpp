// Compares the texts that a session has for statuses with those of the runtime, up to the first number that is no status.
#include "kiln/runtime.h"
#include "net.hpp"

#include <cstdio>
#include <cstring>

int main() {
  int count = 0, different = 0;
  for (;; ++count) {
    const char *mine = kiln::detail::status_text(kiln_status(count)), *other = kiln_status_string(kiln_status(count));
    if (std::strcmp(mine, other) != 0) {
      std::printf("%d: '%s', in the runtime '%s'\n", count, mine, other);
      ++different;
    }
    if (std::strcmp(other, "unknown status") == 0)
      break;
  }
  std::printf("%d texts, %d differ\n", count, different);
}
