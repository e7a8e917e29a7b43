// The floating-point mode in which kernels compute.
#ifndef KILN_MODE_H
#define KILN_MODE_H

#include "kiln/vector.h"

namespace kiln {

// While one exists, its thread rounds to the nearest number, halves to the even one. With `Flushes`, for models that are compiled with --flush-subnormals,
// operands and results of f32 and f64 that are subnormal are zero, too, and of f16 where the CPU computes with them. The thread's own setting comes back with
// its end. It has no effect on CPUs that have no such mode.
template <bool Flushes> class floating_mode {
public:
  KILN_INLINE floating_mode() : before(read()) {
    if (before != wanted())
      write(wanted());
  }
  KILN_INLINE ~floating_mode() {
    if (before != wanted())
      write(before);
  }
  floating_mode(const floating_mode &) = delete;
  floating_mode &operator=(const floating_mode &) = delete;

private:
#if defined(__SSE__)
  // MXCSR: the rounding mode, results flushed to zero (FTZ), and operands taken for zero (DAZ). Without the flags, which arithmetic sets.
  using word = unsigned;
  static constexpr word rounding = 0x6000, flush = 0x8040, flags = 0x3f;
  static KILN_INLINE word read() { return __builtin_ia32_stmxcsr() & ~flags; }
  static KILN_INLINE void write(word value) { __builtin_ia32_ldmxcsr(value | (__builtin_ia32_stmxcsr() & flags)); }
#elif defined(__aarch64__)
  // FPCR: RMode, FZ, and FZ16 for f16.
  using word = uint64_t;
  static constexpr word rounding = word(3) << 22, flush = (word(1) << 24) | (word(1) << 19);
  static KILN_INLINE word read() {
    word value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static KILN_INLINE void write(word value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#elif defined(__arm__) && defined(__ARM_FP)
  // FPSCR: RMode and FZ. Without the flags, which comparisons and arithmetic set.
  using word = uint32_t;
  static constexpr word rounding = word(3) << 22, flush = word(1) << 24, flags = 0xf000009f;
  static KILN_INLINE word readAll() {
    word value;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(value));
    return value;
  }
  static KILN_INLINE word read() { return readAll() & ~flags; }
  static KILN_INLINE void write(word value) { __asm__ volatile("vmsr fpscr, %0" : : "r"(value | (readAll() & flags)) : "memory"); }
#elif defined(__riscv_flen)
  using word = unsigned long;
  static constexpr word rounding = 7, flush = 0;
  static KILN_INLINE word read() {
    word value;
    __asm__ volatile("frrm %0" : "=r"(value));
    return value;
  }
  static KILN_INLINE void write(word value) { __asm__ volatile("fsrm %0" : : "r"(value) : "memory"); }
#else
  using word = unsigned;
  static constexpr word rounding = 0, flush = 0;
  static KILN_INLINE word read() { return 0; }
  static KILN_INLINE void write(word) {}
#endif
  KILN_INLINE word wanted() const { return (before & ~rounding) | (Flushes ? flush : 0); }

  const word before;
};

} // namespace kiln

#endif // KILN_MODE_H
