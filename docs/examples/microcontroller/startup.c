/* What stands before main on a board without a system: the vectors, and floating point switched on. Newlib and a maker's startup file do the same. */
#include <stdint.h>

extern uint32_t stack_top[], data_start[], data_end[], data_source[], bss_start[], bss_end[];
int main(void);
void print(const char *text);

__attribute__((noreturn)) static void stop(int status) {
  /* The debugger, here QEMU, ends the program with this status. */
  uint32_t arguments[2] = {0x20026, (uint32_t)status};
  register uint32_t operation __asm__("r0") = 0x20;
  register uint32_t *pointer __asm__("r1") = arguments;
  __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(pointer) : "memory");
  for (;;)
    ;
}

/* Text goes through the debugger; a product would use a serial port. */
void print(const char *text) {
  register uint32_t operation __asm__("r0") = 0x04;
  register const char *pointer __asm__("r1") = text;
  __asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(pointer) : "memory");
}

static void fault(void) {
  print("the core has met a fault\n");
  stop(2);
}

static void reset(void) {
  *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20;
  __asm__ volatile("dsb\n  isb");
  for (uint32_t *to = data_start, *from = data_source; to < data_end;)
    *to++ = *from++;
  for (uint32_t *to = bss_start; to < bss_end;)
    *to++ = 0;
  stop(main());
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {stack_top, (void *)reset, (void *)fault, (void *)fault,
                                                                             (void *)fault, (void *)fault, (void *)fault};
