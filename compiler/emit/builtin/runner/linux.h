// What the program around a model asks of Linux, by system calls.
#ifndef KILN_RUNNER_LINUX_H
#define KILN_RUNNER_LINUX_H

#include "kiln/abi.h"

namespace {

using Word = intptr_t;

#if defined(__x86_64__)
enum : Word { callRead = 0, callWrite = 1, callMap = 9, callClock = 228, callExit = 231 };
Word callSystem(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0, Word f = 0) {
  register Word r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return number;
}
__asm__(".globl _start\n_start:\n  xorl %ebp, %ebp\n  movq %rsp, %rdi\n  andq $-16, %rsp\n  call kiln_answer\n");
#elif defined(__aarch64__)
enum : Word { callRead = 63, callWrite = 64, callExit = 94, callClock = 113, callMap = 222 };
Word callSystem(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0, Word f = 0) {
  register Word x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  register Word x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  bl kiln_answer\n");
#elif defined(__riscv)
// With 32 bits, only calls with 64 bits of time exist.
enum : Word { callRead = 63, callWrite = 64, callExit = 94, callClock = __riscv_xlen == 64 ? 113 : 403, callMap = 222 };
Word callSystem(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0, Word f = 0) {
  register Word a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
  register Word a3 __asm__("a3") = d, a4 __asm__("a4") = e, a5 __asm__("a5") = f;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
  return a0;
}
__asm__(".globl _start\n_start:\n  mv a0, sp\n  andi sp, sp, -16\n  call kiln_answer\n");
#elif defined(__arm__)
// callMap is mmap2, whose last argument is a number of pages.
enum : Word { callRead = 3, callWrite = 4, callMap = 192, callExit = 248, callClock = 403 };
Word callSystem(Word number, Word a, Word b, Word c, Word d = 0, Word e = 0, Word f = 0) {
  register Word r7 __asm__("r7") = number, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
  register Word r3 __asm__("r3") = d, r4 __asm__("r4") = e, r5 __asm__("r5") = f;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
  return r0;
}
__asm__(".globl _start\n_start:\n  mov r0, sp\n  bic sp, sp, #15\n  bl kiln_answer\n");
#else
#error "no system calls are known for this machine"
#endif

[[noreturn]] void stop(int status) {
  for (;;)
    callSystem(callExit, status, 0, 0);
}

const uintptr_t *startStack;

void startSystem(const void *stack) { startStack = static_cast<const uintptr_t *>(stack); }

// The compiler would make the loops below calls of the C library.
__attribute__((no_builtin)) uintptr_t findAuxiliary(uintptr_t type) {
  const uintptr_t *at = startStack + 1 + *startStack + 1; // behind the arguments
  while (*at)
    ++at;
  for (++at; at[0]; at += 2)
    if (at[0] == type)
      return at[1];
  return 0;
}

__attribute__((no_builtin)) char *findVariable(const char *name) {
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

// The bytes that were read or written; none or fewer at the end, or if it fails.
intptr_t readSome(void *to, uintptr_t bytes) { return callSystem(callRead, 0, reinterpret_cast<Word>(to), Word(bytes)); }
intptr_t writeSome(const void *from, uintptr_t bytes) { return callSystem(callWrite, 1, reinterpret_cast<Word>(from), Word(bytes)); }

// Zeros; null if there are no more.
char *map(uintptr_t bytes) {
  constexpr Word readAndWrite = 3, privateAndAnonymous = 0x22;
  const Word at = callSystem(callMap, 0, Word(bytes), readAndWrite, privateAndAnonymous, -1, 0);
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<char *>(at);
}

int64_t readClock() {
  int64_t time[2] = {0, 0};
  constexpr Word monotonic = 1;
  callSystem(callClock, monotonic, reinterpret_cast<Word>(time), 0);
  return time[0] * 1000000000 + time[1];
}

} // namespace

extern "C" {
char *getenv(const char *name) { return findVariable(name); }
unsigned long getauxval(unsigned long type) { return findAuxiliary(type); }
}

#endif // KILN_RUNNER_LINUX_H
