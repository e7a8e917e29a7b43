// Waiting for a 64-bit word to change: a futex.
#ifndef KILN_RUNTIME_LINUX_PARK_H
#define KILN_RUNTIME_LINUX_PARK_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kiln {

struct Park {};

// The futex looks at 32 bits. Missing a change needs 2^32 values between the caller's check and the sleep.
inline void *futexWord(const uint64_t *word) {
  const char *bytes = reinterpret_cast<const char *>(word);
  return const_cast<char *>(bytes + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0));
}

// Sleeps while *word == old; may return early. Only wakes whose mask shares a bit with `mask` reach it.
inline void parkWait(Park &, const uint64_t *word, uint64_t old, uint32_t mask) {
  syscall(SYS_futex, futexWord(word), FUTEX_WAIT_BITSET_PRIVATE, uint32_t(old), nullptr, nullptr, mask);
}
inline void parkWake(Park &, const uint64_t *word, uint32_t mask) {
  syscall(SYS_futex, futexWord(word), FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, nullptr, mask);
}

} // namespace kiln

#endif // KILN_RUNTIME_LINUX_PARK_H
