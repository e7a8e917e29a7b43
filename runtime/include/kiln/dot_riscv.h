// The instructions of RISC-V's Zvqdotq: four products of bytes for each 32-bit sum, by four bytes of a scalar register or of each lane.
#ifndef KILN_DOT_RISCV_H
#define KILN_DOT_RISCV_H

#include "kiln/vector.h"

#if defined(__riscv_zvqdotq) && defined(__riscv_v_min_vlen) && defined(__clang__)
#define KILN_RISCV_QUADS 1

namespace kiln {

// For so many sums: the instruction that sets their number can say up to 31.
template <int Lanes> constexpr bool hasQuads = Lanes > 1 && Lanes < 32 && Lanes * 32 <= __riscv_v_min_vlen;

// Clang's own functions for them take vectors whose length is known only where a register has exactly so many bits, which would keep the code from longer
// ones. So the number of lanes is set here, for registers of that length or more.
#define KILN_RISCV_QUADS_BY(name, instruction, constraint)                                                   \
  template <typename V, typename Left> KILN_INLINE V name(V sum, V right, Left left) {                       \
    __asm__("vsetivli zero, %3, e32, m1, ta, ma\n\t" instruction " %0, %1, %2"                               \
            : "+vr"(sum)                                                                                     \
            : "vr"(right), constraint(left), "i"(lanes<V>)                                                   \
            : "vl", "vtype");                                                                                \
    return sum;                                                                                              \
  }
KILN_RISCV_QUADS_BY(addQuads, "vqdot.vv", "vr")
KILN_RISCV_QUADS_BY(addQuadsOfScalar, "vqdot.vx", "r")
// The left operand is the signed one.
KILN_RISCV_QUADS_BY(addQuadsByUnsigned, "vqdotsu.vv", "vr")
KILN_RISCV_QUADS_BY(addQuadsByUnsignedScalar, "vqdotsu.vx", "r")
KILN_RISCV_QUADS_BY(addUnsignedQuadsByScalar, "vqdotus.vx", "r")
#undef KILN_RISCV_QUADS_BY

// sum[i] + left[0] * right[4 i] + ... + left[3] * right[4 i + 3]; the left side has four bytes for all sums, or four for each.
template <typename Four, typename Bytes, typename V> KILN_INLINE V addUnsignedBySigned(Four left, Bytes right, V sum) {
  if constexpr (sizeof(Four) == sizeof(V))
    return addQuadsByUnsigned(sum, bitcast<V>(right), bitcast<V>(left));
  else
    return addQuadsByUnsignedScalar(sum, bitcast<V>(right), bitcast<int32_t>(left));
}
template <typename Four, typename Bytes, typename V> KILN_INLINE V addSignedByUnsigned(Four left, Bytes right, V sum) {
  if constexpr (sizeof(Four) == sizeof(V))
    return addQuadsByUnsigned(sum, bitcast<V>(left), bitcast<V>(right));
  else
    return addUnsignedQuadsByScalar(sum, bitcast<V>(right), bitcast<int32_t>(left));
}
template <typename Four, typename Bytes, typename V> KILN_INLINE V addSignedBySigned(Four left, Bytes right, V sum) {
  if constexpr (sizeof(Four) == sizeof(V))
    return addQuads(sum, bitcast<V>(right), bitcast<V>(left));
  else
    return addQuadsOfScalar(sum, bitcast<V>(right), bitcast<int32_t>(left));
}

} // namespace kiln

#endif

#endif // KILN_DOT_RISCV_H
