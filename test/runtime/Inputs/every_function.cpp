// Uses every function of the kernel headers, as scalar and in the widths that kernels use.
#include "kiln/best.h"
#include "kiln/boxes.h"
#include "kiln/col2im.h"
#include "kiln/coupling.h"
#include "kiln/decimal.h"
#include "kiln/depthwise.h"
#include "kiln/distances.h"
#include "kiln/dot.h"
#include "kiln/fourier.h"
#include "kiln/half.h"
#include "kiln/integer.h"
#include "kiln/math.h"
#include "kiln/partial.h"
#include "kiln/random.h"
#include "kiln/rows.h"
#include "kiln/strings.h"
#include "kiln/tokens.h"
#include "kiln/unique.h"

using namespace kiln;

#define UNARY(NAME)                                                                  \
  template <typename V> static void NAME##Of(lane<V> *p) { store<V>(p, kiln::NAME(load<V>(p))); } \
  void NAME##All(float *f, double *d) {                                              \
    NAME##Of<float>(f), NAME##Of<double>(d), NAME##Of<KILN_F>(f), NAME##Of<KILN_D>(d); \
  }
#define BINARY(NAME)                                                                                  \
  template <typename V> static void NAME##Of(lane<V> *p) { store<V>(p, kiln::NAME(load<V>(p), load<V>(p + 1))); } \
  void NAME##All(float *f, double *d) {                                                               \
    NAME##Of<float>(f), NAME##Of<double>(d), NAME##Of<KILN_F>(f), NAME##Of<KILN_D>(d);                  \
  }

#if defined(__AVX512F__)
#define KILN_F f32x16
#define KILN_D f64x8
#elif defined(__AVX__)
#define KILN_F f32x8
#define KILN_D f64x4
#else
#define KILN_F f32x4
#define KILN_D f64x2
#endif

UNARY(abs) UNARY(acos) UNARY(acosh) UNARY(asin) UNARY(asinh) UNARY(atan) UNARY(atanh) UNARY(ceil) UNARY(cos) UNARY(cosh)
UNARY(erf) UNARY(erfc) UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(floor) UNARY(log) UNARY(log1p) UNARY(log2) UNARY(round) UNARY(roundeven)
UNARY(rsqrt) UNARY(sigmoid) UNARY(sin) UNARY(sinh) UNARY(sqrt) UNARY(tan) UNARY(tanh) UNARY(trunc)
BINARY(copysign) BINARY(fmod) BINARY(max) BINARY(min) BINARY(pow)

void reductions(float *f) {
  KILN_F v = load_partial<KILN_F>(f, int(f[0]), 1);
  f[0] = reduce_add(v);
  f[1] = reduce_max(v);
  f[2] = reduce_min(v);
  f[3] = reduce_mul(v);
  f[4] = any(v > broadcast<KILN_F>(1)) ? 1 : all(v > broadcast<KILN_F>(0)) ? 2 : 3;
  store_partial(f, kiln::fma(v, v, v), int(f[4]));
}

void halves(float *f, uint16_t *w) {
  store(f, load_f16<KILN_F>(w) + load_bf16<KILN_F>(w + 32));
  store_f16(w, load<KILN_F>(f));
  store_bf16(w, load<KILN_F>(f));
}

void dots(const int8_t *bytes, int32_t *sums) {
  constexpr int count = lanes<KILN_F>;
  using V = vec<int32_t, count>;
  auto left = load<vec<int8_t, 4>>(bytes);
  auto right = load<vec<int8_t, 4 * count>>(bytes + 4);
  store(sums, dot_u8s8_pairs<count>(left, right, dot_u8s8<count>(left, right, load<V>(sums))));
  store(sums, dot_s8u8_pairs<count>(left, right, dot_s8u8<count>(left, right, load<V>(sums))));
  store(sums, dot_u8s8_bounded<count>(left, right, dot_s8u8_bounded<count>(left, right, load<V>(sums))));
  store(sums, dot_s8s8<count>(left, right, load<V>(sums)));
  auto eight = load<vec<int8_t, 8>>(bytes);
  auto sixteen = load<vec<int8_t, 16>>(bytes);
  sums[0] = dot_s8s8_eights<1>(eight, eight, dot_s8s8_sixteens<1>(sixteen, sixteen, sums[0]));
  alignas(16) int32_t rows[64];
  for (int row = 0; row < 4; ++row)
    rows_u8s8_take(rows, 0, 4, row, reinterpret_cast<const uint8_t *>(bytes), row, 5);
  rows_u8s8(sums, rows, 4, bytes, 0, 5);
  for (int row = 0; row < 3; ++row)
    rows_s8s8_take(rows, 0, 3, row, bytes, row, 3);
  rows_s8s8(sums, rows, 3, bytes, 0, 3);
  depthwise_u8s8_widen(rows, bytes, 0, 9);
  depthwise_u8s8(sums, rows, bytes, 0, 3, 3, 12, 4);
  depthwise_s8s8(sums, bytes, 0, bytes, 0, 3, 3, 24, 8);
  depthwise_u8s8_columns(rows, bytes, 0, 3, 12, 4);
  depthwise_u8s8_taps(rows + 32, bytes, 0);
  depthwise_u8s8_window(sums, rows, 0, rows + 32);
  depthwise_s8s8_columns(rows, bytes, 0, 3, 24, 8);
  depthwise_s8s8_taps(rows + 32, bytes, 0);
  depthwise_s8s8_window(sums, rows, 0, rows + 32, 8);
}

template <typename T> static void integersOf(T *p, const float *f) {
  using V = vec<T, 4>;
  V a = load<V>(p), b = load<V>(p + 4);
  store(p, V(floor_div(a, b) + floor_mod(a, b) + div(a, b) + rem(a, b) + max(a, b)));
  store(p, saturate<V>(load<f32x4>(f)));
  p[0] = T(floor_div(p[0], p[1]) + saturate<T>(f[0]));
}
void integers(int8_t *a, uint8_t *b, int32_t *c, int64_t *d, const float *f) {
  integersOf(a, f);
  integersOf(b, f);
  integersOf(c, f);
  integersOf(d, f);
}

void numbers(float *f, double *d) {
  random_uniform(f, 9, 1, 0, 1);
  random_normal(d, 9, 1, 0, 1);
}

void couplings(float *f) { couple_pairs(f, f + 9, f + 18, 9, 3); }

void blocks(float *f, double *d, const int32_t *table) { col2im<lanes<KILN_F>>(f, f + 9, 0, 9, table, 18), col2im<lanes<KILN_D>>(d, d + 9, 0, 9, table, 18); }

void pairs_of_rows(float *f, double *d) {
  distances<lanes<KILN_F>>(f, f, f, f, 0, 0, 9, 0, 3, 9, 9);
  distances<lanes<KILN_D>>(d, d, d, d, 0, 0, 9, 0, 3, 9, 9);
}

void transforms(float *f, double *d, const int32_t *factors) {
  fourier_rows<lanes<KILN_F>>(f, f, f, f, 0, 0, 9, 9, 9, 2, 9, 2, 0, 0, 0, factors, 2);
  fourier_rows<lanes<KILN_D>>(d, d, d, d, 0, 0, 9, 9, 9, 2, 9, 2, 0, 0, 0, factors, 2);
}

void sorts(float *f, double *d, uint16_t *w, int8_t *b, int64_t *n) {
  top_k<lanes<KILN_F>>(f, f, n, n, 0, 0, 9, 9, 3, 2, 1, 0x7f800000);
  top_k<lanes<KILN_D>>(d, d, n, n, 0, 0, 9, 9, 3, 2, 0, 0x7ff0000000000000);
  top_k<lanes<KILN_F>>(w, w, n, n, 0, 0, 9, 9, 3, 2, 0, 0x7c00);
  top_k<1>(b, b, n, n, 0, 0, 9, 9, 3, 2, 0, 0);
  top_k_row<lanes<KILN_F>>(f, f, n, n, 0, 0, 9, 3, 1, 0x7f800000);
  unique_rows(f, n, n, n, n, n, 9, 2, 1, 0x7f800000);
  unique_rows(n, n, n, n, n, n, 9, 2, 0, 0);
  greedy_boxes<lanes<KILN_F>>(f, f, n, n, n, 1, 2, 9, 3, 0.5f, 0.1f, 1, 0, 0x7f800000);
  greedy_boxes<1>(d, d, n, n, n, 1, 2, 9, 3, 0.5, 0.1, 0, 1, 0x7ff0000000000000);
}

void strings(const kiln_string *a, kiln_string *out, int64_t *n, uint8_t *bytes, int32_t *status, const int32_t *table) {
  string_fill(out, 9, a, 9);
  string_equal(a, out, bytes, 0, 9);
  string_find(a, n, 0, 9, a, 9, table, 16, 9);
  string_match(a, bytes, 0, 9, table, 256, table, 9, 3);
  string_concat(a, a, out, bytes, n, status, 9, 99, 9);
  string_case(a, out, bytes, n, status, 9, 99, 9, 1);
  string_filter(a, out, n, 9, a, 1, table, 2, 0);
  string_split(a, out, n, n + 1, status, 9, 9, 9, a[0]);
  string_order(a, n, n + 9, 9);
  string_hash(a, reinterpret_cast<uint32_t *>(n), 0, 9, 7);
  token_rows(a, out, n, status, 9, 9, table, 256, table, 9, table, 1, table, 1, 1, 1, 1, a[0]);
}

void decimals(const kiln_string *a, kiln_string *out, double *d, float *f, int64_t *n, uint64_t *u, uint8_t *bytes, int32_t *status) {
  decimal_parse(a, d, status, 0, 9);
  decimal_parse(a, n, status, 0, 9);
  decimal_parse(a, u, status, 0, 9);
  decimal_print(d, out, bytes, n, status, 9, 99, 9);
  decimal_print(f, out, bytes, n, status, 9, 99, 9);
  decimal_print(n, out, bytes, n, status, 9, 99, 9);
  decimal_print(u, out, bytes, n, status, 9, 99, 9);
}
