// Features that are taken away from a CPU, for tests and reports of bugs.
#ifndef KILN_CPU_WITHOUT_H
#define KILN_CPU_WITHOUT_H

#include "kiln/cpu.h"

namespace kiln::cpu {

// The names of this architecture's features in their order, each with a comma after it: text without addresses, which loaders would have to fill in.
#define KILN_FEATURE(id, name, ...) name ","
#if defined(__x86_64__)
constexpr char names_here[] = KILN_X86_FEATURES(KILN_FEATURE);
#elif defined(__aarch64__)
constexpr char names_here[] = KILN_AARCH64_FEATURES(KILN_FEATURE);
#elif defined(__riscv) && __riscv_xlen == 64
constexpr char names_here[] = KILN_RISCV64_FEATURES(KILN_FEATURE);
#else
constexpr char names_here[] = "";
#endif
#undef KILN_FEATURE

static inline const char *skip_marks(const char *text) {
  while (*text == '_' || *text == '-' || *text == '.')
    ++text;
  return text;
}

// Whether a name begins with an item of a list, which ends at a comma: "avx512vnni" begins with "avx512" and "avx512_vnni". No name begins with an empty item.
static inline bool begins_with(const char *name, const char *item) {
  item = skip_marks(item);
  if (!*item || *item == ',')
    return false;
  for (name = skip_marks(name); *name == *item; name = skip_marks(name + 1)) {
    item = skip_marks(item + 1);
    if (!*item || *item == ',')
      return true;
  }
  return false;
}

// The rest of a list after its first item.
static inline const char *skip_item(const char *list) {
  while (*list && *list++ != ',') {
  }
  return list;
}

// `have` without the features whose names begin with an item of the list, such as "avx512,amx"; null: all of `have`.
static inline set without(set have, const char *list) {
  for (; list && *list; list = skip_item(list)) {
    const char *name = names_here;
    for (int i = 0; *name; ++i, name = skip_item(name))
      have &= ~(set(begins_with(name, list)) << i);
  }
  return have;
}

} // namespace kiln::cpu

#endif // KILN_CPU_WITHOUT_H
