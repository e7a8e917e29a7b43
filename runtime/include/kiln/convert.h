/* Numbers of 16 bits and less from and to f32, for programs that fill the inputs and read the outputs of compiled models: f16, bf16, integers of 4 bits,
 * two of them in a byte, and integers of 8 bits with a scale and a zero point.
 *
 * Everything is `static inline` and needs no library. The results depend on neither the CPU nor the rounding mode, except for the division by a scale, which
 * rounds as the program's mode says. No function allocates or fails; all may be called from any thread. Arrays may have any alignment that their element
 * type allows; `from` and `to` must not overlap. C99 and C++. */
#ifndef KILN_CONVERT_H
#define KILN_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bits of a float as an integer, and the other way round. */
static inline uint32_t kiln_f32_bits(float number) {
  union {
    float number;
    uint32_t bits;
  } both;
  both.number = number;
  return both.bits;
}
static inline float kiln_f32_of_bits(uint32_t bits) {
  union {
    uint32_t bits;
    float number;
  } both;
  both.bits = bits;
  return both.number;
}

/* ---- f16 and bf16 ---------------------------------------------------------------------------------- */

/* Exact. A NaN stays one, with its sign and its upper bits, and becomes quiet. */
static inline float kiln_f16_to_f32(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31u, mantissa = half & 1023u;
  if (exponent == 31)
    return kiln_f32_of_bits(sign | 0x7f800000u | mantissa << 13 | (mantissa ? 0x400000u : 0u));
  if (exponent == 0) {
    if (mantissa == 0)
      return kiln_f32_of_bits(sign);
    /* Subnormal: a normal number of f32. */
    for (exponent = 1; !(mantissa & 1024u); --exponent)
      mantissa <<= 1;
    mantissa &= 1023u;
  }
  return kiln_f32_of_bits(sign | (exponent + 112u) << 23 | mantissa << 13);
}

/* To the nearest f16, of two the even one. From 65520 on the result is infinite. A NaN stays one. */
static inline uint16_t kiln_f32_to_f16(float number) {
  uint32_t bits = kiln_f32_bits(number), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
  if (magnitude >= 0x477ff000u)
    return (uint16_t)(sign | 0x7c00u);
  if (magnitude >= 0x38800000u)
    return (uint16_t)(sign | (magnitude + (magnitude >> 13 & 1u) + 0xfffu - 0x38000000u) >> 13);
  if (magnitude < 0x33000000u) /* less than half of 2^-24 */
    return (uint16_t)sign;
  {
    uint32_t shift = 126u - (magnitude >> 23), mantissa = (magnitude & 0x7fffffu) | 0x800000u; /* 14 to 24 */
    uint32_t whole = mantissa >> shift, rest = mantissa & ((1u << shift) - 1u), half = 1u << (shift - 1u);
    return (uint16_t)(sign | (whole + (rest > half || (rest == half && (whole & 1u)) ? 1u : 0u)));
  }
}

/* Exact. */
static inline float kiln_bf16_to_f32(uint16_t brain) { return kiln_f32_of_bits((uint32_t)brain << 16); }

/* To the nearest bf16, of two the even one. What is larger than the largest number by half a step is infinite. A NaN stays one. */
static inline uint16_t kiln_f32_to_bf16(float number) {
  uint32_t bits = kiln_f32_bits(number);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + (bits >> 16 & 1u) + 0x7fffu) >> 16);
}

/* The same for `count` numbers. */
static inline void kiln_f16_to_f32_array(const uint16_t *from, float *to, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i)
    to[i] = kiln_f16_to_f32(from[i]);
}
static inline void kiln_f32_to_f16_array(const float *from, uint16_t *to, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i)
    to[i] = kiln_f32_to_f16(from[i]);
}
static inline void kiln_bf16_to_f32_array(const uint16_t *from, float *to, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i)
    to[i] = kiln_bf16_to_f32(from[i]);
}
static inline void kiln_f32_to_bf16_array(const float *from, uint16_t *to, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i)
    to[i] = kiln_f32_to_bf16(from[i]);
}

/* ---- Pairs of 4 bits ------------------------------------------------------------------------------- */

/* ONNX packs two integers of 4 bits into a byte, the first one in its low half. Number `index` of such a buffer, and its replacement by the low 4 bits of
 * `number`. A buffer of n numbers has (n + 1) / 2 bytes. */
static inline uint8_t kiln_load_u4(const uint8_t *pairs, size_t index) { return (uint8_t)(pairs[index / 2] >> (index % 2 * 4) & 15u); }
static inline int8_t kiln_load_i4(const uint8_t *pairs, size_t index) { return (int8_t)((int)(kiln_load_u4(pairs, index) ^ 8u) - 8); }
static inline void kiln_store_u4(uint8_t *pairs, size_t index, uint8_t number) {
  unsigned shift = (unsigned)(index % 2 * 4);
  pairs[index / 2] = (uint8_t)((pairs[index / 2] & ~(15u << shift)) | (number & 15u) << shift);
}
static inline void kiln_store_i4(uint8_t *pairs, size_t index, int8_t number) { kiln_store_u4(pairs, index, (uint8_t)number); }

/* `count` numbers from pairs to bytes, as models take and give them, and back. The unused half of the last byte is 0. */
static inline void kiln_unpack_u4(const uint8_t *from, uint8_t *to, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i)
    to[i] = kiln_load_u4(from, i);
}
static inline void kiln_unpack_i4(const uint8_t *from, int8_t *to, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i)
    to[i] = kiln_load_i4(from, i);
}
static inline void kiln_pack_u4(const uint8_t *from, uint8_t *to, size_t count) {
  size_t i;
  for (i = 0; i < count; i += 2)
    to[i / 2] = (uint8_t)((from[i] & 15u) | (i + 1 < count ? (from[i + 1] & 15u) << 4 : 0u));
}
static inline void kiln_pack_i4(const int8_t *from, uint8_t *to, size_t count) {
  size_t i;
  for (i = 0; i < count; i += 2)
    to[i / 2] = (uint8_t)(((unsigned)from[i] & 15u) | (i + 1 < count ? ((unsigned)from[i + 1] & 15u) << 4 : 0u));
}

/* ---- Integers with a scale and a zero point -------------------------------------------------------- */

/* An integer q stands for the number (q - zero_point) * scale. number / scale to the nearest integer, of two the even one, plus the zero point, saturated to
 * [low, high], as QuantizeLinear does. NaN gives `low`. */
static inline int32_t kiln_quantize(float number, float scale, int32_t zero_point, int32_t low, int32_t high) {
  float steps = number / scale, least = (float)(low - zero_point), most = (float)(high - zero_point), rest;
  int32_t whole;
  if (!(steps > least))
    return low;
  if (!(steps < most))
    return high;
  whole = (int32_t)steps;
  rest = steps - (float)whole;
  if (rest > 0.5f || (rest == 0.5f && whole % 2 != 0))
    ++whole;
  else if (rest < -0.5f || (rest == -0.5f && whole % 2 != 0))
    --whole;
  return whole + zero_point;
}
static inline uint8_t kiln_quantize_u8(float number, float scale, int32_t zero_point) { return (uint8_t)kiln_quantize(number, scale, zero_point, 0, 255); }
static inline int8_t kiln_quantize_i8(float number, float scale, int32_t zero_point) {
  return (int8_t)kiln_quantize(number, scale, zero_point, -128, 127);
}
static inline float kiln_dequantize(int32_t integer, float scale, int32_t zero_point) { return (float)(integer - zero_point) * scale; }

/* The same for arrays of outer * channels * inner elements, row-major, where channel c has scales[c] and zero_points[c]. With one scale for the whole
 * tensor, outer = channels = 1. A tensor that is quantised along an axis has the product of the dimensions before it as `outer`, and of those behind it as
 * `inner`. */
static inline void kiln_quantize_u8_array(const float *from, uint8_t *to, size_t outer, size_t channels, size_t inner, const float *scales,
                                          const int32_t *zero_points) {
  size_t i, count = outer * channels * inner;
  for (i = 0; i < count; ++i)
    to[i] = kiln_quantize_u8(from[i], scales[i / inner % channels], zero_points[i / inner % channels]);
}
static inline void kiln_quantize_i8_array(const float *from, int8_t *to, size_t outer, size_t channels, size_t inner, const float *scales,
                                          const int32_t *zero_points) {
  size_t i, count = outer * channels * inner;
  for (i = 0; i < count; ++i)
    to[i] = kiln_quantize_i8(from[i], scales[i / inner % channels], zero_points[i / inner % channels]);
}
static inline void kiln_dequantize_u8_array(const uint8_t *from, float *to, size_t outer, size_t channels, size_t inner, const float *scales,
                                            const int32_t *zero_points) {
  size_t i, count = outer * channels * inner;
  for (i = 0; i < count; ++i)
    to[i] = kiln_dequantize(from[i], scales[i / inner % channels], zero_points[i / inner % channels]);
}
static inline void kiln_dequantize_i8_array(const int8_t *from, float *to, size_t outer, size_t channels, size_t inner, const float *scales,
                                            const int32_t *zero_points) {
  size_t i, count = outer * channels * inner;
  for (i = 0; i < count; ++i)
    to[i] = kiln_dequantize(from[i], scales[i / inner % channels], zero_points[i / inner % channels]);
}

#ifdef __cplusplus
}
#endif

#endif /* KILN_CONVERT_H */
