//===- Quotient.h - Divisions that are products ------------------*- C++ -*-===//
#ifndef KILN_DIALECTS_KERNEL_QUOTIENT_H
#define KILN_DIALECTS_KERNEL_QUOTIENT_H

namespace kiln::kernel {

/// Whether the integer nearest to x / divisor, in f32, is for every x also that of fma(x, high, x * low), where high + low is the inverse of the divisor.
/// Integers of more than so many bits are out of range on either way. It tries the numbers around each place where the nearest integer changes; everywhere
/// else the errors of both forms, less than two units in the last place, are too small to matter. `quantize.h` multiplies where the CPU can multiply and add
/// at once.
bool isDividedByProduct(float divisor, unsigned bits);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_QUOTIENT_H
