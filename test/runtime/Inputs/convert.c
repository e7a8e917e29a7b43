/* Every f16, a walk through the floats, every byte and pair: against the definitions, written in another way. */
#include "kiln/convert.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static int faults = 0;
#define EXPECT(condition, text, value)                                              \
  do {                                                                              \
    if (!(condition) && ++faults < 20)                                              \
      printf("%s: %.9g\n", text, (double)(value));                                  \
  } while (0)

static double value_of(uint32_t bits, int exponent_bits, int mantissa_bits) {
  int bias = (1 << (exponent_bits - 1)) - 1, exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  double mantissa = (double)(bits & ((1u << mantissa_bits) - 1u));
  double magnitude = exponent == (1 << exponent_bits) - 1 ? (mantissa != 0 ? NAN : INFINITY)
                     : exponent ? ldexp(mantissa + ldexp(1, mantissa_bits), exponent - bias - mantissa_bits)
                                : ldexp(mantissa, 1 - bias - mantissa_bits);
  return bits >> (exponent_bits + mantissa_bits) ? -magnitude : magnitude;
}

/* The nearest of `word` and its neighbours, of two the even one. What lies half a step beyond the largest number is infinite. */
static void check_nearest(float x, uint16_t word, int exponent_bits, int mantissa_bits, const char *text) {
  uint16_t infinity = (uint16_t)(((1u << exponent_bits) - 1u) << mantissa_bits);
  double largest = value_of(infinity - 1u, exponent_bits, mantissa_bits), step = largest - value_of(infinity - 2u, exponent_bits, mantissa_bits), error;
  int side;
  if (x != x) {
    EXPECT((word & 0x7fff) > infinity, text, x);
    return;
  }
  EXPECT((word >> 15) == (signbit(x) ? 1 : 0), text, x);
  if (fabs((double)x) >= largest + step / 2) {
    EXPECT((word & 0x7fff) == infinity, text, x);
    return;
  }
  error = fabs(value_of(word, exponent_bits, mantissa_bits) - x);
  for (side = -1; side <= 1; side += 2) {
    uint16_t other = (uint16_t)(word + side);
    double other_error;
    if ((other ^ word) & 0x8000 || (other & 0x7fff) >= infinity)
      continue;
    other_error = fabs(value_of(other, exponent_bits, mantissa_bits) - x);
    EXPECT(error < other_error || (error == other_error && word % 2 == 0), text, x);
  }
}

static void check_halves(void) {
  uint32_t i;
  uint64_t bits;
  for (i = 0; i < 65536; ++i) {
    float half = kiln_f16_to_f32((uint16_t)i), brain = kiln_bf16_to_f32((uint16_t)i);
    double exact = value_of(i, 5, 10), exact_brain = value_of(i, 8, 7);
    EXPECT(exact != exact ? half != half : half == exact && !signbit(half) == !signbit(exact), "f16_to_f32", i);
    EXPECT(exact_brain != exact_brain ? brain != brain : brain == exact_brain, "bf16_to_f32", i);
    if (half == half)
      EXPECT(kiln_f32_to_f16(half) == i, "f16 there and back", i);
    if (brain == brain)
      EXPECT(kiln_f32_to_bf16(brain) == i, "bf16 there and back", i);
  }
  for (bits = 0; bits < (uint64_t)1 << 32; bits += 4099) {
    float x = kiln_f32_of_bits((uint32_t)bits);
    check_nearest(x, kiln_f32_to_f16(x), 5, 10, "f32_to_f16");
    check_nearest(x, kiln_f32_to_bf16(x), 8, 7, "f32_to_bf16");
  }
  for (bits = 0x32f00000u; bits < 0x47900000u; bits += 0x800) { /* ties and their neighbours */
    int near;
    for (near = -1; near <= 1; ++near) {
      float x = kiln_f32_of_bits((uint32_t)bits + (uint32_t)near);
      check_nearest(x, kiln_f32_to_f16(x), 5, 10, "f32_to_f16 near a tie");
    }
  }
  EXPECT(kiln_f32_to_f16(65519.996f) == 0x7bff && kiln_f32_to_f16(65520.0f) == 0x7c00, "overflow to infinity", 65520);
  EXPECT(kiln_f32_to_bf16(3.4e38f) == 0x7f80 && kiln_f32_to_bf16(-INFINITY) == 0xff80, "overflow of bf16", 3.4e38);
}

static void check_pairs(void) {
  uint8_t pairs[3] = {0xf7, 0x80, 0x0a}, packed[3], numbers[5];
  int8_t integers[5], wanted[5] = {7, -1, 0, -8, -6};
  size_t i;
  kiln_unpack_i4(pairs, integers, 5);
  for (i = 0; i < 5; ++i)
    EXPECT(integers[i] == wanted[i] && kiln_load_i4(pairs, i) == wanted[i], "i4", i);
  kiln_pack_i4(integers, packed, 5);
  EXPECT(memcmp(packed, pairs, 3) == 0, "pack_i4", 0);
  kiln_unpack_u4(pairs, numbers, 5);
  EXPECT(numbers[0] == 7 && numbers[1] == 15 && numbers[3] == 8 && numbers[4] == 10, "u4", 0);
  kiln_pack_u4(numbers, packed, 5);
  EXPECT(memcmp(packed, pairs, 3) == 0, "pack_u4", 0);
  kiln_store_i4(packed, 3, -3);
  kiln_store_u4(packed, 2, 9);
  EXPECT(packed[1] == 0xd9 && packed[0] == 0xf7 && packed[2] == 0x0a, "store", packed[1]);
}

static void check_quantized(void) {
  float numbers[12], back[12], scales[2] = {0.5f, 0.25f};
  int32_t zeros[2] = {3, -5};
  int8_t integers[12];
  uint8_t bytes[12];
  int i;
  EXPECT(kiln_quantize_u8(0.5f, 1, 0) == 0 && kiln_quantize_u8(1.5f, 1, 0) == 2 && kiln_quantize_u8(2.5f, 1, 0) == 2, "ties to even", 0);
  EXPECT(kiln_quantize_i8(-0.5f, 1, 0) == 0 && kiln_quantize_i8(-1.5f, 1, 0) == -2 && kiln_quantize_i8(-1.4999999f, 1, 0) == -1, "ties below zero", 0);
  EXPECT(kiln_quantize_u8(300, 1, 0) == 255 && kiln_quantize_u8(-1, 1, 0) == 0 && kiln_quantize_u8(1e30f, 1e-30f, 7) == 255, "saturation", 0);
  EXPECT(kiln_quantize_i8(-INFINITY, 1, 5) == -128 && kiln_quantize_i8(INFINITY, 1, 5) == 127 && kiln_quantize_u8(NAN, 1, 9) == 0, "no number", 0);
  for (i = 0; i < 4096; ++i) {
    float x = (float)(i - 2048) / 16;
    int zero = i % 31 - 15;
    double exact = rint((double)x / 0.375) + zero;
    EXPECT(kiln_quantize_i8(x, 0.375f, zero) == (exact < -128 ? -128 : exact > 127 ? 127 : exact), "quantize_i8", x);
  }
  for (i = 0; i < 12; ++i)
    numbers[i] = (float)(i - 6) * 0.3f;
  /* [2,2,3] with scales along axis 1 */
  kiln_quantize_i8_array(numbers, integers, 2, 2, 3, scales, zeros);
  kiln_dequantize_i8_array(integers, back, 2, 2, 3, scales, zeros);
  for (i = 0; i < 12; ++i) {
    int channel = i / 3 % 2;
    EXPECT(integers[i] == kiln_quantize_i8(numbers[i], scales[channel], zeros[channel]), "quantize_i8_array", i);
    EXPECT(fabsf(back[i] - numbers[i]) <= scales[channel] / 2, "dequantize_i8_array", i);
  }
  kiln_quantize_u8_array(numbers, bytes, 1, 1, 12, scales, zeros);
  kiln_dequantize_u8_array(bytes, back, 1, 1, 12, scales, zeros);
  for (i = 3; i < 12; ++i)
    EXPECT(fabsf(back[i] - numbers[i]) <= 0.25f, "u8 arrays", i);
}

int main(void) {
  check_halves();
  check_pairs();
  check_quantized();
  return faults != 0;
}
