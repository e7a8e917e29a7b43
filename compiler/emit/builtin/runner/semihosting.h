// What the program around a model asks of a debugger or an emulator, on a microcontroller of Arm's without a system. The command line has the files of the
// request and of the answer behind the program's name; without them it is the debugger's console.
#ifndef KILN_RUNNER_SEMIHOSTING_H
#define KILN_RUNNER_SEMIHOSTING_H

#include "kiln/abi.h"

// Where compiler/run/Board.cpp places them.
extern "C" char kiln_heap[], kiln_heap_end[], kiln_stack[];

namespace {

enum : int { callOpen = 0x01, callError = 0x04, callWrite = 0x05, callRead = 0x06, callCommandLine = 0x15, callExit = 0x20 };

intptr_t callHost(int number, const void *arguments) {
  register intptr_t r0 __asm__("r0") = number;
  register const void *r1 __asm__("r1") = arguments;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

[[noreturn]] void stop(int status) {
  constexpr uintptr_t applicationExit = 0x20026;
  const uintptr_t arguments[] = {applicationExit, uintptr_t(status)};
  for (;;)
    callHost(callExit, arguments);
}

char commandLine[1024], *nextMemory;
intptr_t requestFile, answerFile;

// The next word of the command line, ended by a zero; empty at the end.
char *takeWord(char *&at) {
  while (*at == ' ')
    ++at;
  char *word = at;
  while (*at && *at != ' ')
    ++at;
  if (*at)
    *at++ = 0;
  return word;
}

intptr_t openFile(const char *name, bool writes) {
  constexpr uintptr_t readBytes = 1, writeBytes = 5, console = 0, consoleOut = 4;
  uintptr_t length = 0;
  while (name[length])
    ++length;
  const uintptr_t toFile[] = {reinterpret_cast<uintptr_t>(name), writes ? writeBytes : readBytes, length};
  const uintptr_t toConsole[] = {reinterpret_cast<uintptr_t>(":tt"), writes ? consoleOut : console, 3};
  const intptr_t file = callHost(callOpen, length ? toFile : toConsole);
  if (file < 0)
    stop(2);
  return file;
}

void startSystem(const void *) {
  nextMemory = kiln_heap;
  uintptr_t arguments[] = {reinterpret_cast<uintptr_t>(commandLine), sizeof(commandLine)};
  if (callHost(callCommandLine, arguments) != 0)
    commandLine[0] = 0;
  char *at = commandLine;
  takeWord(at);
  requestFile = openFile(takeWord(at), false);
  answerFile = openFile(takeWord(at), true);
}

uintptr_t findAuxiliary(uintptr_t) { return 0; }
char *findVariable(const char *) { return nullptr; }

// Both calls return how many bytes are left.
intptr_t readSome(void *to, uintptr_t bytes) {
  const uintptr_t arguments[] = {uintptr_t(requestFile), reinterpret_cast<uintptr_t>(to), bytes};
  return intptr_t(bytes) - callHost(callRead, arguments);
}
intptr_t writeSome(const void *from, uintptr_t bytes) {
  const uintptr_t arguments[] = {uintptr_t(answerFile), reinterpret_cast<uintptr_t>(from), bytes};
  return intptr_t(bytes) - callHost(callWrite, arguments);
}

// Zeros, because an emulator's memory begins with zeros and nothing is given back.
char *map(uintptr_t bytes) {
  constexpr uintptr_t alignment = 64;
  const uintptr_t size = (bytes + alignment - 1) / alignment * alignment;
  if (size < bytes || size > uintptr_t(kiln_heap_end - nextMemory)) {
    callHost(callError, "the model and its tensors need more memory than the emulated board has\n");
    stop(3);
  }
  char *memory = nextMemory;
  nextMemory += size;
  return memory;
}

// The counter of 24 bits that every core has, and how often it has begun anew.
volatile uint32_t *const counter = reinterpret_cast<volatile uint32_t *>(0xe000e010);
constexpr uint32_t counterPeriod = 1 << 24;
volatile uint32_t counterPeriods;

// With QEMU's `-icount shift=0`, an instruction takes one nanosecond.
int64_t readClock() {
#if __ARM_ARCH_PROFILE == 'M' && __ARM_ARCH >= 8
  constexpr int64_t nanosecondsOf4 = 125; // 32 MHz
#else
  constexpr int64_t nanosecondsOf4 = 160; // 25 MHz
#endif
  if (!(counter[0] & 1)) {
    counter[1] = counterPeriod - 1;
    counter[2] = 0;
    counter[0] = 7; // runs by the core's clock, and interrupts
    while (!counter[2])
      ;
  }
  uint32_t periods, now;
  do {
    periods = counterPeriods;
    now = counter[2];
  } while (periods != counterPeriods);
  return (int64_t(periods) * counterPeriod + (counterPeriod - 1 - now)) * nanosecondsOf4 / 4;
}

} // namespace

extern "C" {
[[noreturn]] void kiln_answer(const void *stack);

void kiln_count_period() { counterPeriods = counterPeriods + 1; }

[[noreturn]] void kiln_fault() {
  callHost(callError, "the model has caused a fault of the core\n");
  stop(5);
}

// Floating point is switched on before any code that may use it.
__attribute__((naked)) void kiln_reset() {
#if defined(__ARM_FP)
  __asm__ volatile("ldr r0, =0xe000ed88\n  ldr r1, [r0]\n  orr r1, r1, #0xf00000\n  str r1, [r0]\n  dsb\n  isb\n  b kiln_answer");
#else
  __asm__ volatile("bl kiln_answer");
#endif
}
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    kiln_stack, reinterpret_cast<const void *>(kiln_reset), reinterpret_cast<const void *>(kiln_fault), reinterpret_cast<const void *>(kiln_fault),
    reinterpret_cast<const void *>(kiln_fault), reinterpret_cast<const void *>(kiln_fault), reinterpret_cast<const void *>(kiln_fault),
    reinterpret_cast<const void *>(kiln_fault), nullptr, nullptr, nullptr, reinterpret_cast<const void *>(kiln_fault),
    reinterpret_cast<const void *>(kiln_fault), nullptr, reinterpret_cast<const void *>(kiln_fault), reinterpret_cast<const void *>(kiln_count_period)};

extern "C" {
char *getenv(const char *name) { return findVariable(name); }
unsigned long getauxval(unsigned long type) { return findAuxiliary(type); }
}

#endif // KILN_RUNNER_SEMIHOSTING_H
