// What the runtime asks of the operating system. posix/ and windows/ have a source file for each part of it.
#ifndef KILN_RUNTIME_SYSTEM_H
#define KILN_RUNTIME_SYSTEM_H

#include "kiln/runtime.h"

#include <stdio.h>

namespace kiln {

// The CPUs that this process may use, from 1 to KILN_POOL_MAX_THREADS.
int32_t countCpus();

// Null where there is no memory. `alignment` is a power of two, and a multiple of a pointer's size.
void *allocateAligned(size_t bytes, size_t alignment);
void freeAligned(void *memory);

// Large pages of memory have this size where a system has them.
constexpr size_t hugePage = size_t(2) << 20;

// Zeros in whole pages, of which large parts may be huge ones; null where there is no memory. `bytes` is a multiple of 64 KiB.
void *mapPages(size_t bytes);
void unmapPages(void *pages, size_t bytes);

// Has the system give these pages their memory now. False where it cannot do so at once.
bool populatePages(void *pages, size_t bytes);

// Maps a regular file for reading if it has this size; an empty one to null.
kiln_status mapFile(const char *path, size_t size, const void **data);
void unmapFile(const void *data, size_t size);

// A new file at this path, or in place of the one that is there; null where the system refuses it.
FILE *openToWrite(const char *path);

// A number that no other running thread has.
uint64_t currentThread();

// Nanoseconds of a clock that never goes back.
int64_t readClock();

// Lets other threads run for a while; 0: only if there are any that want to.
void restThread(int64_t nanoseconds);

} // namespace kiln

#endif // KILN_RUNTIME_SYSTEM_H
