#include "../Threads.h"

#include "../System.h"
#include "WindowsApi.h"

#include <process.h>

// The CPUs that the process is bound to; all of them where it runs in several groups of CPUs, for which its masks are zero.
int32_t kiln::countCpus() {
  DWORD_PTR mine = 0, all = 0;
  int64_t count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &all))
    for (; mine; mine &= mine - 1)
      ++count;
  if (count == 0)
    count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  return count < 1 ? 1 : count > KILN_POOL_MAX_THREADS ? KILN_POOL_MAX_THREADS : int32_t(count);
}

static unsigned __stdcall run(void *argument) {
  const kiln::Thread *thread = static_cast<const kiln::Thread *>(argument);
  thread->work(thread->argument);
  return 0;
}

bool kiln::startThread(Thread *thread, void *(*work)(void *), void *argument) {
  *thread = {0, work, argument};
  thread->handle = _beginthreadex(nullptr, 0, run, thread, 0, nullptr);
  return thread->handle != 0;
}

void kiln::joinThread(Thread *thread) {
  const HANDLE handle = reinterpret_cast<HANDLE>(thread->handle);
  WaitForSingleObject(handle, INFINITE);
  CloseHandle(handle);
}

void kiln::watchForks(void (*)()) {}

uint64_t kiln::currentThread() { return GetCurrentThreadId(); }
