// The choice among the targets that one library is compiled for.
#ifndef KILN_CHOICE_H
#define KILN_CHOICE_H

#include "kiln/cpu.h"
#include <stddef.h>

// The C library's getenv, where the program has one.
extern "C" __attribute__((weak)) char *kiln_getenv(const char *name) __asm__("getenv");

namespace kiln {

// A target, and what a CPU must have to run it.
struct target_row {
  const char *name;
  cpu::set needs;
};

static inline bool same_text(const char *a, const char *b) {
  for (; *a && *a == *b; ++a)
    ++b;
  return *a == *b;
}

// The first row that a CPU with these features can run, or -1. A row of the given name is taken instead of all others; a name that no
// row has is meant for some other model.
static inline int32_t find_target(const target_row *rows, int32_t count, cpu::set have, const char *named) {
  int32_t first = -1;
  for (int32_t i = count - 1; i >= 0; --i) {
    const bool runs = (rows[i].needs & ~have) == 0;
    if (named && same_text(named, rows[i].name))
      return runs ? i : -1;
    if (runs)
      first = i;
  }
  return first;
}

// The row for this CPU and the environment variable KILN_TARGET, found once in a process. `*kept` is 0 before that: threads that are first
// at once find the same, and one of them is kept.
static inline int32_t choose_target(const target_row *rows, int32_t count, int32_t *kept) {
  int32_t known = __atomic_load_n(kept, __ATOMIC_RELAXED);
  if (known == 0) {
    const char *named = kiln_getenv ? kiln_getenv("KILN_TARGET") : nullptr;
    const int32_t found = find_target(rows, count, cpu::read(), named) + 2;
    known = __atomic_compare_exchange_n(kept, &known, found, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? found : known;
  }
  return known - 2;
}

} // namespace kiln

#endif // KILN_CHOICE_H
