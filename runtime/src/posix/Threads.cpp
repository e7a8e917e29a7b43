#include "../Threads.h"

#include "../System.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

int32_t kiln::countCpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return CPU_COUNT(&set);
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > KILN_POOL_MAX_THREADS ? KILN_POOL_MAX_THREADS : int32_t(online);
}

// Signals that come from outside are blocked in the thread, so that the program's handlers run on its own threads. Those that a thread raises itself stay open:
// where they are blocked, the system ends the program without its handlers.
bool kiln::startThread(Thread *thread, void *(*work)(void *), void *argument) {
  sigset_t outside, before;
  sigfillset(&outside);
  const int ownSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  for (int own : ownSignals)
    sigdelset(&outside, own);
  pthread_sigmask(SIG_BLOCK, &outside, &before);
  bool started = pthread_create(thread, nullptr, work, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void kiln::joinThread(Thread *thread) { pthread_join(*thread, nullptr); }

uint64_t kiln::currentThread() { return uint64_t((uintptr_t)pthread_self()); } // a number on Linux, a pointer on macOS

static void (*inChild)();
static void watch() { pthread_atfork(nullptr, nullptr, inChild); }

void kiln::watchForks(void (*function)()) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  inChild = function;
  pthread_once(&once, watch);
}
