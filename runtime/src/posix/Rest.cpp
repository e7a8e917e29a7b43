#include "../System.h"

#include <sched.h>
#include <time.h>

void kiln::restThread(int64_t nanoseconds) {
  if (nanoseconds <= 0) {
    sched_yield();
    return;
  }
  struct timespec time = {};
  time.tv_sec = nanoseconds / 1000000000;
  time.tv_nsec = nanoseconds % 1000000000;
  nanosleep(&time, nullptr);
}
