// The runner's calls of Windows. A program starts at kiln_start.
#ifndef KILN_RUNNER_WINDOWS_H
#define KILN_RUNNER_WINDOWS_H

#include <runner/windows_stack.h>
#include <runner/windows_variables.h>
#include <stddef.h>

extern "C" {
[[noreturn]] void ExitProcess(uint32_t status);
void *GetStdHandle(uint32_t which);
int QueryPerformanceCounter(int64_t *ticks);
int QueryPerformanceFrequency(int64_t *rate);
int ReadFile(void *file, void *to, uint32_t bytes, uint32_t *done, void *overlapped);
void *VirtualAlloc(void *address, size_t size, uint32_t kind, uint32_t protection);
int WriteFile(void *file, const void *from, uint32_t bytes, uint32_t *done, void *overlapped);

[[noreturn]] void kiln_answer(const void *stack);
[[noreturn]] void kiln_start() { kiln_answer(nullptr); }
}

namespace {

constexpr uint64_t mostAtOnce = uint64_t(1) << 30;

[[noreturn]] void stop(int64_t status) { ExitProcess(uint32_t(status)); }

void startSystem(const void *) {}

// At least a byte, or less than one where there is no more.
intptr_t readSome(void *to, uintptr_t bytes) {
  constexpr uint32_t standardInput = uint32_t(-10);
  uint32_t done = 0;
  return ReadFile(GetStdHandle(standardInput), to, uint32_t(bytes < mostAtOnce ? bytes : mostAtOnce), &done, nullptr) ? done : -1;
}
intptr_t writeSome(const void *from, uintptr_t bytes) {
  constexpr uint32_t standardOutput = uint32_t(-11);
  uint32_t done = 0;
  return WriteFile(GetStdHandle(standardOutput), from, uint32_t(bytes < mostAtOnce ? bytes : mostAtOnce), &done, nullptr) ? done : -1;
}

// Zeros; null where there is no memory.
char *map(uintptr_t bytes) {
  constexpr uint32_t reserveAndCommit = 0x3000, readAndWrite = 4;
  return static_cast<char *>(VirtualAlloc(nullptr, bytes, reserveAndCommit, readAndWrite));
}

int64_t readClock() {
  int64_t ticks, rate;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&rate);
  return ticks / rate * 1000000000 + ticks % rate * 1000000000 / rate;
}

} // namespace

#endif // KILN_RUNNER_WINDOWS_H
