// Arithmetic that takes subnormal numbers for zero, for models that are compiled with --flush-subnormals.
#ifndef KILN_FLUSH_H
#define KILN_FLUSH_H

#include "kiln/vector.h"

namespace kiln {

// While one exists, operands and results of f32 and f64 that are subnormal are zero on its thread, and of f16 where the CPU computes with them. The
// thread's own setting comes back with its end. It has no effect on CPUs that have no such mode.
class flush_subnormals {
public:
  KILN_INLINE flush_subnormals() : before(read()) {
    if ((before & bits) != bits)
      write(before | bits);
  }
  KILN_INLINE ~flush_subnormals() {
    if ((before & bits) != bits)
      write(before);
  }
  flush_subnormals(const flush_subnormals &) = delete;
  flush_subnormals &operator=(const flush_subnormals &) = delete;

private:
#if defined(__SSE__)
  // MXCSR: results flushed to zero (FTZ), and operands taken for zero (DAZ).
  using word = unsigned;
  static constexpr word bits = 0x8040;
  static KILN_INLINE word read() { return __builtin_ia32_stmxcsr(); }
  static KILN_INLINE void write(word value) { __builtin_ia32_ldmxcsr(value); }
#elif defined(__aarch64__)
  // FPCR: FZ, and FZ16 for f16.
  using word = uint64_t;
  static constexpr word bits = (word(1) << 24) | (word(1) << 19);
  static KILN_INLINE word read() {
    word value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static KILN_INLINE void write(word value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#elif defined(__arm__) && defined(__ARM_FP)
  // FPSCR: FZ.
  using word = uint32_t;
  static constexpr word bits = word(1) << 24;
  static KILN_INLINE word read() {
    word value;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(value));
    return value;
  }
  static KILN_INLINE void write(word value) { __asm__ volatile("vmsr fpscr, %0" : : "r"(value) : "memory"); }
#else
  using word = unsigned;
  static constexpr word bits = 0;
  static KILN_INLINE word read() { return 0; }
  static KILN_INLINE void write(word) {}
#endif
  const word before;
};

} // namespace kiln

#endif // KILN_FLUSH_H
