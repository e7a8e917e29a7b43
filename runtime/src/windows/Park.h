// Waiting for a 64-bit word to change: a condition variable of Windows.
#ifndef KILN_RUNTIME_WINDOWS_PARK_H
#define KILN_RUNTIME_WINDOWS_PARK_H

#include "WindowsApi.h"

#include <stdint.h>

namespace kiln {

struct Park {
  SRWLOCK lock = SRWLOCK_INIT;
  CONDITION_VARIABLE changed = CONDITION_VARIABLE_INIT;
};

// Sleeps while *word == old. Every wake reaches it, whatever its mask.
inline void parkWait(Park &park, const uint64_t *word, uint64_t old, uint32_t) {
  AcquireSRWLockExclusive(&park.lock);
  while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == old)
    SleepConditionVariableSRW(&park.changed, &park.lock, INFINITE, 0);
  ReleaseSRWLockExclusive(&park.lock);
}
inline void parkWake(Park &park, const uint64_t *, uint32_t) {
  AcquireSRWLockExclusive(&park.lock);
  WakeAllConditionVariable(&park.changed);
  ReleaseSRWLockExclusive(&park.lock);
}

} // namespace kiln

#endif // KILN_RUNTIME_WINDOWS_PARK_H
