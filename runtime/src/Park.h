// Waiting for a 64-bit word to change, asleep in the kernel: a futex on Linux, a condition variable elsewhere
// (or everywhere with KILN_PORTABLE_PARK, so that tests reach it).
#ifndef KILN_RUNTIME_PARK_H
#define KILN_RUNTIME_PARK_H

#include <limits.h>
#include <pthread.h>
#include <stdint.h>

#if defined(__linux__) && !defined(KILN_PORTABLE_PARK)
#define KILN_FUTEX 1
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#define KILN_FUTEX 0
#endif

namespace kiln {

struct Park {
#if !KILN_FUTEX
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
#endif
};

#if KILN_FUTEX

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

#else

inline void parkWait(Park &park, const uint64_t *word, uint64_t old, uint32_t) {
  pthread_mutex_lock(&park.mutex);
  while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == old)
    pthread_cond_wait(&park.changed, &park.mutex);
  pthread_mutex_unlock(&park.mutex);
}
inline void parkWake(Park &park, const uint64_t *, uint32_t) {
  pthread_mutex_lock(&park.mutex);
  pthread_cond_broadcast(&park.changed);
  pthread_mutex_unlock(&park.mutex);
}

#endif

} // namespace kiln

#endif // KILN_RUNTIME_PARK_H
