#include "Level.h"

#include "kiln/fourier.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

using namespace kiln;

namespace {

class Fourier : public LevelTest {};

#if defined(__AVX512F__)
constexpr int bytes = 64;
#elif defined(__AVX__)
constexpr int bytes = 32;
#else
constexpr int bytes = 16;
#endif
template <typename T> constexpr int width = bytes / int(sizeof(T));

constexpr long double turn = 2 * 3.14159265358979323846264338327950288L;

std::vector<int32_t> factorize(int64_t length) {
  std::vector<int32_t> factors;
  for (int32_t factor : {4, 2})
    for (; length % factor == 0; length /= factor)
      factors.insert(factors.begin(), factor);
  for (int32_t factor = 3; length > 1; factor += 2)
    for (; length % factor == 0; length /= factor)
      factors.push_back(factor);
  return factors;
}

/// Rows of `given` points of one or two parts, of a transform of `length` points, of whose results `kept` stay.
struct Transform {
  int64_t length, given, parts, kept, keptParts;
  bool inverse;

  bool packs() const { return length % 2 == 0 && (keptParts == 1 || (parts == 1 && !inverse)); }
  int64_t points() const { return packs() ? length / 2 : length; }
  // Convolutions with a chirp, for some lengths of products of three, too.
  int64_t padded() const {
    int64_t size = points() % 2 ? 1 : 3;
    while (size < 2 * points() - 1)
      size *= 2;
    return points() > 20 && factorize(points()).back() > 20 ? size : 0;
  }
  int64_t staged() const { return padded() ? padded() : points(); }
};

void PrintTo(const Transform &t, std::ostream *out) {
  *out << t.given << " points of " << t.parts << " in, " << t.kept << " of " << t.keptParts << " out of " << t.length << (t.inverse ? ", inverse" : "");
}

// The chirp exp(-i pi k k / points), and the sums that define the transform of its conjugate divided by `padded`.
template <typename T> void addChirp(int64_t points, int64_t padded, std::vector<T> &table) {
  using Number = std::complex<long double>;
  auto root = [](int64_t power, int64_t of) { return std::polar(1.0L, -turn * (long double)(power % of) / (long double)of); };
  std::vector<Number> chirp, conjugate(static_cast<size_t>(padded)), roots, spectrum(static_cast<size_t>(padded));
  for (int64_t k = 0; k < points; ++k) {
    chirp.push_back(root(k * k, 2 * points));
    conjugate[size_t(k)] = conjugate[size_t(k ? padded - k : 0)] = std::conj(chirp.back()) / (long double)padded;
  }
  for (int64_t power = 0; power < padded; ++power)
    roots.push_back(root(power, padded));
  for (int64_t k = 0; k < padded; ++k)
    for (int64_t p = 0; p < padded; ++p)
      spectrum[size_t(k)] += conjugate[size_t(p)] * roots[size_t(k * p % padded)];
  for (const std::vector<Number> *numbers : {&chirp, &spectrum}) {
    for (Number number : *numbers)
      table.push_back(T(number.real()));
    for (Number number : *numbers)
      table.push_back(T(number.imag()));
  }
}

// The factors of the stages as FourierPlan lists them.
template <typename T> std::vector<T> makeTable(const Transform &t, const std::vector<int32_t> &radices) {
  std::vector<T> table;
  auto add = [&](int64_t power, int64_t of, bool imaginary) {
    const long double angle = -turn * (long double)(power % of) / (long double)of;
    table.push_back(T(imaginary ? std::sin(angle) : std::cos(angle)));
  };
  for (int64_t power = 0; t.packs() && power <= t.length / 2; ++power)
    add(power, t.length, false), add(power, t.length, true);
  if (t.padded())
    addChirp(t.points(), t.padded(), table);
  int64_t before = 1, after = t.staged();
  for (int64_t radix : radices) {
    after /= radix;
    for (bool imaginary : {false, true})
      for (int64_t j = 1; j < radix; ++j)
        for (int64_t i = 0; i < after; ++i)
          add(j * before * i, t.staged(), imaginary);
    for (int64_t power = 0; radix > 5 && power < radix; ++power)
      add(power, radix, false), add(power, radix, true);
    before *= radix;
  }
  return table;
}

// Row by row when `step` is 1.
template <typename T> std::vector<T> transformed(const Transform &t, const std::vector<T> &x, int64_t rows, int64_t step) {
  const std::vector<int32_t> radices = factorize(t.staged());
  const std::vector<T> table = makeTable<T>(t, radices);
  const int64_t largest = radices.empty() ? 0 : *std::max_element(radices.begin(), radices.end());
  std::vector<T> out(size_t(rows * t.kept * t.keptParts)), scratch(size_t((4 * std::max(t.length, t.padded()) + 2 * largest) * width<T>));
  for (int64_t row = 0; row < rows; row += step)
    fourier_rows<width<T>>(x.data(), table.data(), out.data(), scratch.data(), 0, row, std::min(row + step, rows), t.length, t.given, t.parts, t.kept,
                           t.keptParts, t.inverse, t.packs(), t.padded(), radices.data(), int64_t(radices.size()));
  return out;
}

// The sums that define the transform of one row.
template <typename T> std::vector<long double> summed(const Transform &t, const T *row) {
  std::vector<long double> cosines, sines, result;
  for (int64_t power = 0; power < t.length; ++power) {
    const long double angle = (t.inverse ? turn : -turn) * (long double)power / (long double)t.length;
    cosines.push_back(std::cos(angle)), sines.push_back(std::sin(angle));
  }
  // Real results come from the half of a spectrum whose other half is its mirror image: the points that are their own are real.
  auto part = [&](int64_t p, bool imaginary) -> long double {
    const bool isMirrored = t.keptParts == 1 && 2 * p > t.length;
    const int64_t at = isMirrored ? t.length - p : p;
    if (at >= t.given || (imaginary && (t.parts == 1 || (t.keptParts == 1 && 2 * at % t.length == 0))))
      return 0;
    const long double value = row[at * t.parts + imaginary];
    return imaginary && isMirrored ? -value : value;
  };
  for (int64_t k = 0; k < t.kept; ++k) {
    long double re = 0, im = 0;
    for (int64_t p = 0; p < t.length; ++p) {
      const long double a = part(p, false), b = part(p, true), c = cosines[size_t(p * k % t.length)], s = sines[size_t(p * k % t.length)];
      re += a * c - b * s;
      im += a * s + b * c;
    }
    const long double scale = t.inverse ? 1 / (long double)t.length : 1;
    result.push_back(re * scale);
    if (t.keptParts == 2)
      result.push_back(im * scale);
  }
  return result;
}

template <typename T> std::vector<T> makeRows(const Transform &t, int64_t rows) {
  std::vector<T> x(size_t(rows * t.given * t.parts));
  uint64_t state = 1;
  for (T &value : x)
    value = T(int64_t(state = state * 6364136223846793005u + 1442695040888963407u)) * T(0x1p-63);
  return x;
}

// Alone, side by side, with rows that leave lanes idle: always the same bits, near to the sums.
template <typename T> void check(const Transform &t) {
  SCOPED_TRACE(testing::PrintToString(t));
  const int64_t rows = 2 * width<T> + 1, size = t.kept * t.keptParts;
  const std::vector<T> x = makeRows<T>(t, rows), together = transformed(t, x, rows, rows);
  for (int64_t step : {1, width<T> - 1}) {
    const std::vector<T> apart = transformed(t, x, rows, step);
    ASSERT_EQ(0, memcmp(together.data(), apart.data(), together.size() * sizeof(T))) << step << " rows at a time";
  }
  const double bound = 16 * double(std::numeric_limits<T>::epsilon()) * std::sqrt(double(t.length)) * (t.inverse ? 1 / double(t.length) : 1);
  for (int64_t row : {int64_t(0), rows - 1}) {
    const std::vector<long double> expected = summed(t, x.data() + row * t.given * t.parts);
    for (int64_t i = 0; i < size; ++i)
      ASSERT_NEAR((long double)together[size_t(row * size + i)], expected[size_t(i)], bound) << "number " << i << " of row " << row;
  }
}

// Each radix with a function of its own, others, products of several, squares, primes; 1 is no stage at all.
const int64_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 14, 15, 16, 18, 42, 46, 49, 127, 128, 254, 509, 900};

template <typename T> class FourierOf : public Fourier {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FourierOf, Types);

TYPED_TEST(FourierOf, ComplexPointsThereAndBack) {
  for (int64_t n : lengths)
    for (bool inverse : {false, true})
      check<TypeParam>({n, n, 2, n, 2, inverse});
}

TYPED_TEST(FourierOf, RealPoints) {
  for (int64_t n : lengths) {
    check<TypeParam>({n, n, 1, n / 2 + 1, 2, false});
    check<TypeParam>({n, n, 1, n, 2, false});
    check<TypeParam>({n, n, 1, n, 2, true});
  }
}

// What a half spectrum says of the points that are their own mirror images must be real: the imaginary parts there do not count.
TYPED_TEST(FourierOf, HalfSpectraToRealPoints) {
  for (int64_t n : lengths) {
    check<TypeParam>({n, n / 2 + 1, 2, n, 1, true});
    check<TypeParam>({n, n / 2 + 1, 1, n, 1, true});
  }
}

// Shorter rows count as if zeros followed, and of results the first ones stay.
TYPED_TEST(FourierOf, LessPointsThanTheLength) {
  for (int64_t n : {8, 15, 42, 127}) {
    const int64_t given = n / 3, kept = n / 4;
    for (int64_t parts : {1, 2}) {
      check<TypeParam>({n, given, parts, kept, 2, false});
      check<TypeParam>({n, given, parts, kept, 2, true});
      check<TypeParam>({n, given, parts, kept | 1, 1, true});
    }
  }
}

TYPED_TEST(FourierOf, RealPointsComeBack) {
  for (int64_t n : lengths) {
    const int64_t rows = width<TypeParam>, half = n / 2 + 1;
    const Transform there{n, n, 1, half, 2, false}, back{n, half, 2, n, 1, true};
    const std::vector<TypeParam> x = makeRows<TypeParam>(there, rows), y = transformed(back, transformed(there, x, rows, rows), rows, rows);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(y[i], x[i], 32 * double(std::numeric_limits<TypeParam>::epsilon())) << "number " << i << " of rows of " << n;
  }
}

} // namespace
