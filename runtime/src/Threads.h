// Threads of the operating system, and waiting for a 64-bit word to change, asleep in the kernel.
#ifndef KILN_RUNTIME_THREADS_H
#define KILN_RUNTIME_THREADS_H

#if defined(_WIN32)
#include "windows/Park.h"
#include "windows/Thread.h"
#else
#if defined(__linux__) && !defined(KILN_PORTABLE_PARK)
#include "linux/Park.h"
#else
#include "posix/Park.h" // also with KILN_PORTABLE_PARK, so that tests reach it
#endif
#include "posix/Thread.h"
#endif

namespace kiln {

// `*thread` stays where it is until the thread has been joined.
bool startThread(Thread *thread, void *(*work)(void *), void *argument);
void joinThread(Thread *thread);

// Has the child of every fork from now on call a function, always the same; nothing where processes do not fork.
void watchForks(void (*function)());

} // namespace kiln

#endif // KILN_RUNTIME_THREADS_H
