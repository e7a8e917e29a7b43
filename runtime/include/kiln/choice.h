// The choice among the targets that one library is compiled for, and whether the CPU can run the only one.
#ifndef KILN_CHOICE_H
#define KILN_CHOICE_H

#include "kiln/cpu.h"
#include "kiln/cpu/without.h"
#include <stddef.h>

// The C library's functions. ELF programs need not have them, whereas Windows has no references to functions that may be missing. The first finds nothing in
// programs with more rights than their caller's.
#if defined(_WIN32)
extern "C" char *kiln_getenv(const char *name) __asm__("getenv");
#elif defined(__APPLE__)
extern "C" char *kiln_getenv(const char *name) __asm__("_getenv");
#else
extern "C" __attribute__((weak)) char *kiln_secure_getenv(const char *name) __asm__("secure_getenv");
extern "C" __attribute__((weak)) char *kiln_getenv(const char *name) __asm__("getenv");
#endif

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

// In place of a row: this CPU could run one, but the operating system refuses the registers for tiles.
constexpr int32_t tiles_refused = -2;

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

// The same, where `ask` says whether the operating system gives the process the registers for tiles: it is asked only for a target that needs them. If it
// refuses, the CPU counts as one without them, and without a row for such a CPU the answer is tiles_refused.
template <typename Ask>
static inline int32_t find_granted_target(const target_row *rows, int32_t count, cpu::set have, const char *named, Ask ask) {
  const int32_t found = find_target(rows, count, have, named);
  if (found < 0 || !(rows[found].needs & cpu::tiles) || ask())
    return found;
  const int32_t other = find_target(rows, count, have & ~cpu::tiles, named);
  return other < 0 ? tiles_refused : other;
}

// A variable of the environment, or null.
static inline const char *find_variable(const char *name) {
#if defined(_WIN32) || defined(__APPLE__)
  return kiln_getenv(name);
#else
  return kiln_secure_getenv ? kiln_secure_getenv(name) : kiln_getenv ? kiln_getenv(name) : nullptr;
#endif
}

// The CPU's features without those that the environment takes away.
static inline cpu::set read_features() { return cpu::without(cpu::read(), find_variable("KILN_CPU_WITHOUT")); }

// The first choice stays: threads that are first at once find the same, and one of them is kept. A refusal does not stay, because Linux refuses only while
// a thread has an alternate signal stack that is too small for tiles.
static inline int32_t keep_target(int32_t found, int32_t *kept) {
  int32_t known = 0;
  if (found == tiles_refused)
    return found;
  return (__atomic_compare_exchange_n(kept, &known, found + 2, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? found + 2 : known) - 2;
}

// The row for this CPU and the environment variables KILN_TARGET and KILN_CPU_WITHOUT, found once in a process. `*kept` is 0 before that.
static inline int32_t choose_target(const target_row *rows, int32_t count, int32_t *kept) {
  const int32_t known = __atomic_load_n(kept, __ATOMIC_RELAXED);
  if (known != 0)
    return known - 2;
  const cpu::set have = read_features(); // before the other variable is read, because some systems keep a single one
  return keep_target(find_granted_target(rows, count, have, find_variable("KILN_TARGET"), cpu::ask_for_tiles), kept);
}

// The check of a single target, whatever the environment says: 0 when this CPU can run the only target, else
// a negative number.
static inline int32_t check_target(const target_row &row, int32_t *kept) {
  const int32_t known = __atomic_load_n(kept, __ATOMIC_RELAXED);
  return known != 0 ? known - 2 : keep_target(find_granted_target(&row, 1, cpu::read(), nullptr, cpu::ask_for_tiles), kept);
}

} // namespace kiln

#endif // KILN_CHOICE_H
