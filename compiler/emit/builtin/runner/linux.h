// The runner's calls of Linux. A program starts at _start, which hands the stack as the system made it to kiln_answer.
#ifndef KILN_RUNNER_LINUX_H
#define KILN_RUNNER_LINUX_H

#include "kiln/abi.h"

namespace {

#if defined(__x86_64__)
enum : int64_t { callRead = 0, callWrite = 1, callMap = 9, callClock = 228, callExit = 231 };
int64_t callSystem(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d = 0, int64_t e = 0, int64_t f = 0) {
  register int64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return number;
}
__asm__(".globl _start\n_start:\n  xorl %ebp, %ebp\n  movq %rsp, %rdi\n  andq $-16, %rsp\n  call kiln_answer\n");
#elif defined(__aarch64__)
enum : int64_t { callRead = 63, callWrite = 64, callExit = 94, callClock = 113, callMap = 222 };
int64_t callSystem(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d = 0, int64_t e = 0, int64_t f = 0) {
  register int64_t x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  register int64_t x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  bl kiln_answer\n");
#elif defined(__riscv) && __riscv_xlen == 64
enum : int64_t { callRead = 63, callWrite = 64, callExit = 94, callClock = 113, callMap = 222 };
int64_t callSystem(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d = 0, int64_t e = 0, int64_t f = 0) {
  register int64_t a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
  register int64_t a3 __asm__("a3") = d, a4 __asm__("a4") = e, a5 __asm__("a5") = f;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
  return a0;
}
__asm__(".globl _start\n_start:\n  mv a0, sp\n  andi sp, sp, -16\n  call kiln_answer\n");
#else
#error "no system calls are known for this machine"
#endif

[[noreturn]] void stop(int64_t status) {
  for (;;)
    callSystem(callExit, status, 0, 0);
}

const uint64_t *startStack;

uint64_t findAuxiliary(uint64_t type) {
  const uint64_t *at = startStack + 1 + *startStack + 1; // behind the arguments
  while (*at)
    ++at;
  for (++at; at[0]; at += 2)
    if (at[0] == type)
      return at[1];
  return 0;
}

char *findVariable(const char *name) {
  for (char *const *at = reinterpret_cast<char *const *>(startStack + 1 + *startStack + 1); *at; ++at) {
    char *text = *at;
    const char *rest = name;
    while (*rest && *text == *rest)
      ++text, ++rest;
    if (!*rest && *text == '=')
      return text + 1;
  }
  return nullptr;
}

void start(const uint64_t *stack) { startStack = stack; }

// At least a byte, or less than one where there is no more.
int64_t readSome(void *to, uint64_t bytes) { return callSystem(callRead, 0, reinterpret_cast<int64_t>(to), int64_t(bytes)); }
int64_t writeSome(const void *from, uint64_t bytes) { return callSystem(callWrite, 1, reinterpret_cast<int64_t>(from), int64_t(bytes)); }

// Zeros; null where there is no memory.
char *mapMemory(uint64_t bytes) {
  constexpr int64_t readAndWrite = 3, privateAndAnonymous = 0x22;
  const int64_t at = callSystem(callMap, 0, int64_t(bytes), readAndWrite, privateAndAnonymous, -1, 0);
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<char *>(at);
}

int64_t readClock() {
  int64_t time[2] = {0, 0};
  constexpr int64_t monotonic = 1;
  callSystem(callClock, monotonic, reinterpret_cast<int64_t>(time), 0);
  return time[0] * 1000000000 + time[1];
}

} // namespace

extern "C" {
char *getenv(const char *name) { return findVariable(name); }
unsigned long getauxval(unsigned long type) { return findAuxiliary(type); }
}

#endif // KILN_RUNNER_LINUX_H
