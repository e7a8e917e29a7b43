// The functions that touch the pages of large stack frames in order, as Windows wants it. Compilers call them with a size in a register and expect all others
// unchanged but for those that AArch64 keeps for this.
#ifndef KILN_RUNNER_WINDOWS_STACK_H
#define KILN_RUNNER_WINDOWS_STACK_H

#if defined(__x86_64__)
#if defined(__MINGW32__)
#define KILN_TOUCH "___chkstk_ms"
#else
#define KILN_TOUCH "__chkstk"
#endif
// rax is the size. The page of the return address is there.
__asm__(".globl " KILN_TOUCH "\n" KILN_TOUCH ":\n"
        "  pushq %rax\n"
        "  pushq %rcx\n"
        "  leaq 24(%rsp), %rcx\n"
        "1:\n"
        "  cmpq $4096, %rax\n"
        "  jb 2f\n"
        "  subq $4096, %rcx\n"
        "  subq $4096, %rax\n"
        "  testb %al, (%rcx)\n"
        "  jmp 1b\n"
        "2:\n"
        "  subq %rax, %rcx\n"
        "  testb %al, (%rcx)\n"
        "  popq %rcx\n"
        "  popq %rax\n"
        "  ret\n");
#undef KILN_TOUCH
#elif defined(__aarch64__)
// x15 is the size in units of 16 bytes; x16 and x17 are free.
__asm__(".globl __chkstk\n__chkstk:\n"
        "  lsl x16, x15, #4\n"
        "  mov x17, sp\n"
        "1:\n"
        "  sub x17, x17, #4096\n"
        "  subs x16, x16, #4096\n"
        "  ldr xzr, [x17]\n"
        "  b.gt 1b\n"
        "  ret\n");
#endif

#if !defined(__MINGW32__)
// What objects with floating-point numbers name for Visual C++'s linker.
extern "C" {
int _fltused = 1;
}
#endif

#endif // KILN_RUNNER_WINDOWS_STACK_H
