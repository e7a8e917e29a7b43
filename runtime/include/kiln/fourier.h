// Discrete Fourier transforms of rows, of any length, real or complex: rows stand side by side in the lanes of vectors, or go one by one.
#ifndef KILN_FOURIER_H
#define KILN_FOURIER_H

#include "kiln/radix.h"

namespace kiln {

// Their functions belong to the translation unit: units for several targets meet in one library.
namespace {

template <int Offset, typename V, int... I> KILN_INLINE V interleaved(V a, V b, Indices<I...>) {
  return __builtin_shufflevector(a, b, (I % 2 * lanes<V> + I / 2 + Offset)...);
}

// Rows become columns: each step interleaves the two halves of the rows.
template <typename V> KILN_INLINE void transpose(V (&rows)[lanes<V>]) {
  constexpr int half = lanes<V> / 2;
  V next[lanes<V>];
  each<half>([&](int i) __attribute__((always_inline)) {
    next[2 * i] = interleaved<0>(rows[i], rows[i + half], LaneIndices<V>());
    next[2 * i + 1] = interleaved<half>(rows[i], rows[i + half], LaneIndices<V>());
  });
  each<lanes<V>>([&](int i) __attribute__((always_inline)) { rows[i] = next[i]; });
}
template <typename V, int Steps = lanes<V>> KILN_INLINE void transpose_all(V (&rows)[lanes<V>]) {
  if constexpr (Steps > 1) {
    transpose(rows);
    transpose_all<V, Steps / 2>(rows);
  }
}

// Element e of `count` rows of `size` becomes lane after lane of vector e; lanes without a row are zero.
template <typename V> void rows_to_lanes(const lane<V> *from, int64_t count, int64_t size, lane<V> *to) {
  constexpr int width = lanes<V>;
  const int64_t whole = size - size % width;
  for (int64_t e = 0; e < whole; e += width) {
    V block[width];
    each<width>([&](int i) __attribute__((always_inline)) { block[i] = i < count ? load<V>(from + i * size + e) : V{}; });
    transpose_all(block);
    each<width>([&](int i) __attribute__((always_inline)) { store(to + (e + i) * width, block[i]); });
  }
  for (int64_t e = whole; e < size; ++e)
    for (int i = 0; i < width; ++i)
      to[e * width + i] = i < count ? from[i * size + e] : 0;
}
template <typename V> void lanes_to_rows(const lane<V> *from, int64_t count, int64_t size, lane<V> *to) {
  constexpr int width = lanes<V>;
  const int64_t whole = size - size % width;
  for (int64_t e = 0; e < whole; e += width) {
    V block[width];
    each<width>([&](int i) __attribute__((always_inline)) { block[i] = load<V>(from + (e + i) * width); });
    transpose_all(block);
    each<width>([&](int i) __attribute__((always_inline)) {
      if (i < count)
        store(to + i * size + e, block[i]);
    });
  }
  for (int64_t e = whole; e < size; ++e)
    for (int i = 0; i < count; ++i)
      to[i * size + e] = from[e * width + i];
}

// What a transform is, and the arrays for the rows in hand.
template <typename T> struct FourierRows {
  int64_t length, given, parts, kept, kept_parts; // points; those of a row, real or complex; those of a result
  bool inverse, packs;                            // packs: of real numbers, even and odd ones are the parts of half as many points
  int64_t padded;                                 // points of the transforms that convolve with a chirp, or 0
  const T *twiddles, *roots;                      // of the stages one after the other; powers of exp(-2 pi i / length) when it packs
  const T *chirp;                                 // the chirp and the transform of its conjugate
  const int32_t *factors;
  int64_t stages, unit; // unit: rows side by side
  T *a, *b, *spare;

  int64_t points() const { return packs ? length / 2 : length; }
  int64_t staged() const { return padded ? padded : points(); }
  int64_t plane() const { return staged() * unit; }

  // An element of the input; `from` stores it row by row or lane by lane.
  template <typename V> KILN_INLINE Complex<V> read(const T *from, int64_t p) const {
    if (p >= given)
      return Complex<V>{V{}, V{}};
    const T *at = from + p * parts * unit;
    return {load<V>(at), parts == 2 ? load<V>(at + unit) : V{}};
  }
  // A point of the half of a spectrum whose other half mirrors it.
  template <typename V> KILN_INLINE Complex<V> mirrored(const T *from, int64_t p) const {
    const bool is_other = 2 * p > length;
    const Complex<V> value = read<V>(from, is_other ? length - p : p);
    return {value.re, p == 0 || 2 * p == length ? V{} : is_other ? -value.im : value.im};
  }
  template <typename V> KILN_INLINE Complex<V> root(int64_t power) const {
    return {broadcast<V>(roots[2 * power]), broadcast<V>(roots[2 * power + 1])};
  }
  // The value of point p before the first stage.
  template <typename V> KILN_INLINE Complex<V> source(const T *from, int64_t p) const {
    if (kept_parts == 2)
      return packs ? Complex<V>{read<V>(from, 2 * p).re, read<V>(from, 2 * p + 1).re} : read<V>(from, p);
    const Complex<V> x = mirrored<V>(from, p);
    if (!packs)
      return x;
    const Complex<V> y = mirrored<V>(from, length / 2 - p), w = root<V>(p);
    const Complex<V> even{x.re + y.re, x.im - y.im}, odd{x.re - y.re, x.im + y.im};
    return even + turn(odd * Complex<V>{w.re, -w.im});
  }
  // An inverse transform is one of parts that have changed places.
  template <typename V> void load_points(const T *from, T *to) const {
    for (int64_t p = 0; p < points(); ++p) {
      const Complex<V> value = source<V>(from, p);
      store(to + p * unit, inverse ? value.im : value.re), store(to + p * unit + plane(), inverse ? value.re : value.im);
    }
  }
  template <typename V> KILN_INLINE Complex<V> point(const T *from, int64_t p) const {
    return {load<V>(from + p * unit), load<V>(from + p * unit + plane())};
  }
  // Point p of the transform of real numbers, from that of their even and odd ones.
  template <typename V> KILN_INLINE Complex<V> unpacked(const T *from, int64_t p) const {
    const int64_t half = length / 2;
    const Complex<V> x = point<V>(from, p == half ? 0 : p), y = point<V>(from, p == 0 ? 0 : half - p);
    const Complex<V> even{x.re + y.re, x.im - y.im}, odd{x.re - y.re, x.im + y.im};
    return scaled(even + turn_back(odd) * root<V>(p), T(0.5));
  }
  template <typename V> KILN_INLINE void write(T *to, int64_t p, Complex<V> value) const {
    store(to + p * kept_parts * unit, value.re);
    if (kept_parts == 2)
      store(to + (2 * p + 1) * unit, value.im);
  }
  template <typename V> void store_points(const T *from, T *to) const {
    if (packs && kept_parts == 2) {
      for (int64_t p = 0; p < kept; ++p) {
        const bool is_other = 2 * p > length;
        const Complex<V> value = unpacked<V>(from, is_other ? length - p : p);
        write(to, p, Complex<V>{value.re, is_other ? -value.im : value.im});
      }
      return;
    }
    const T scale = T(1) / T(length);
    for (int64_t p = 0; p < (packs ? (kept + 1) / 2 : kept); ++p) {
      Complex<V> value = point<V>(from, p);
      if (inverse)
        value = scaled(Complex<V>{value.im, value.re}, scale);
      if (!packs) {
        write(to, p, value);
        continue;
      }
      store(to + 2 * p * unit, value.re);
      if (2 * p + 1 < kept)
        store(to + (2 * p + 1) * unit, value.im);
    }
  }
  // Multiplies point p by a factor; `before` and `after` say where real and imaginary parts change places.
  template <typename V, bool Along, bool Before, bool After> KILN_INLINE void multiply_point(T *x, const T *by, int64_t count, int64_t p) const {
    Complex<V> factor, value = point<V>(x, p);
    if constexpr (Along)
      factor = {load<V>(by + p), load<V>(by + count + p)};
    else
      factor = {broadcast<V>(by[p]), broadcast<V>(by[count + p])};
    value = (Before ? Complex<V>{value.im, value.re} : value) * factor;
    store(x + p * unit, After ? value.im : value.re), store(x + p * unit + plane(), After ? value.re : value.im);
  }
  // Multiplies the first `count` points by as many factors, whose imaginary parts follow the real ones.
  template <typename V, bool Before, bool After> void multiply(T *x, const T *by, int64_t count) const {
    int64_t p = 0;
    if (unit == 1) {
      for (; p + lanes<V> <= count; p += lanes<V>)
        multiply_point<V, true, Before, After>(x, by, count, p);
      for (; p < count; ++p)
        multiply_point<T, true, Before, After>(x, by, count, p);
    }
    for (; p < count; ++p)
      multiply_point<V, false, Before, After>(x, by, count, p);
  }
  // Bluestein's transform: point k times the chirp at k is a convolution with the chirp's conjugate, and so two transforms of more points. The
  // second is an inverse one, of parts that have changed places, and the chirp's transform is divided by the number of its points.
  template <int W> T *convolve() const {
    using V = vec<T, W>;
    const int64_t count = points();
    multiply<V, false, false>(a, chirp, count);
    for (int64_t e = count * unit; e < plane(); ++e)
      a[e] = a[e + plane()] = 0;
    T *spectrum = run_stages<W>(a, b);
    multiply<V, false, true>(spectrum, chirp + 2 * count, padded);
    T *result = run_stages<W>(spectrum, spectrum == a ? b : a);
    multiply<V, true, false>(result, chirp, count);
    return result;
  }
  // All stages, between two arrays, of which it returns the one with the result.
  template <int W> T *run_stages(T *from, T *to) const {
    const T *table = twiddles;
    int64_t before = 1, after = staged();
    for (int64_t stage = 0; stage < stages; ++stage) {
      const int64_t radix = factors[stage];
      after /= radix;
      const FourierStage<T> s{from, to, spare, table, unit, plane(), radix, before, after};
      radix == 2   ? run_stage<2, W>(s)
      : radix == 3 ? run_stage<3, W>(s)
      : radix == 4 ? run_stage<4, W>(s)
      : radix == 5 ? run_stage<5, W>(s)
                   : run_stage<0, W>(s);
      before *= radix;
      table += 2 * (radix - 1) * after + (radix > 5 ? 2 * radix : 0);
      T *last = from;
      from = to, to = last;
    }
    return from;
  }
  template <int W> T *run_transform() const { return padded ? convolve<W>() : run_stages<W>(a, b); }
  template <int W> void run(const T *x, T *out, int64_t count) const {
    using V = vec<T, W>;
    if (unit == 1) {
      load_points<T>(x, a);
      store_points<T>(run_transform<W>(), out);
      return;
    }
    rows_to_lanes<V>(x, count, given * parts, b);
    load_points<V>(b, a);
    const T *result = run_transform<W>();
    T *other = result == a ? b : a;
    store_points<V>(result, other);
    lanes_to_rows<V>(other, count, kept * kept_parts, out);
  }
};

} // namespace

// Transforms rows [begin, end) of `given` points, of which a result keeps `kept`; parts are 1 for real numbers and 2 for complex ones. Results
// of one part come from the half of a symmetric spectrum. `padded` is the number of points of the transforms of a convolution with a chirp, or 0.
// The scratch has room for 4 times the larger of length and padded, and two of the largest factor, in W lanes.
template <int W, typename T>
static inline void fourier_rows(const T *x, const T *table, T *out, T *scratch, int64_t scratch_start, int64_t begin, int64_t end, int64_t length,
                                int64_t given, int64_t parts, int64_t kept, int64_t kept_parts, int64_t inverse, int64_t packs, int64_t padded,
                                const int32_t *factors, int64_t stages) {
  const int64_t room = 2 * (padded > length ? padded : length) * W, points = packs ? length / 2 : length;
  T *first = scratch + scratch_start, *second = first + room, *spare = second + room;
  const T *chirp = packs ? table + length + 2 : table, *twiddles = padded ? chirp + 2 * (points + padded) : chirp;
  while (begin < end) {
    const int64_t left = end - begin;
    // Few rows would leave most lanes idle.
    const int64_t count = 4 * left < W ? 1 : left < W ? left : W;
    const FourierRows<T> rows{length, given, parts,   kept,   kept_parts,         inverse != 0, packs != 0, padded, twiddles,
                              table,  chirp, factors, stages, count == 1 ? 1 : W, first,        second,     spare};
    rows.template run<W>(x + begin * given * parts, out + begin * kept * kept_parts, count);
    begin += count;
  }
}

} // namespace kiln

#endif // KILN_FOURIER_H
