// Waiting for a 64-bit word to change: a condition variable of POSIX threads.
#ifndef KILN_RUNTIME_POSIX_PARK_H
#define KILN_RUNTIME_POSIX_PARK_H

#include <pthread.h>
#include <stdint.h>

namespace kiln {

struct Park {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
};

// Sleeps while *word == old. Every wake reaches it, whatever its mask.
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

} // namespace kiln

#endif // KILN_RUNTIME_POSIX_PARK_H
