// All 2^32 floats through exp in its three forms, sigmoid, tanh, erf and log. The reference is the double functions of
// the same headers, a sample of which is held against the C library's. Where a function has come to a limit no
// reference is computed: it is monotone, so the true value lies within half a unit of that limit. Nor is one for the
// negative half of an odd function, whose results must be those of the positive half but for the sign.
#include "Level.h"

#include "kiln/math.h"
#include "kiln/math/bounds.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using V = kiln::vec<float, kiln::vectorBytes / 4>;
using D = kiln::with_lane<V, double>;
using U = kiln::uint_like<V>;
constexpr int width = kiln::lanes<V>;
constexpr uint32_t blockSize = 1 << 16; // consecutive floats of one sign and exponent

struct Tally {
  double ulp = 0;
  uint64_t wrong = 0; // not the limit or the NaN that it must be, or a reference that the C library contradicts
  uint64_t tried = 0;
  float at = 0;

  void add(const Tally &other) {
    if (other.ulp > ulp || other.wrong)
      at = other.at;
    ulp = std::fmax(ulp, other.ulp);
    wrong += other.wrong;
    tried += other.tried;
  }
};

float floatOf(uint32_t bits) { return kiln::bitcast<float>(bits); }
// The numbers of the lanes. Written once: a loop of single lanes in front of each vector takes more time than all functions here.
constexpr U ascending = [] {
  U numbers{};
  for (int i = 0; i < width; ++i)
    numbers[i] = uint32_t(i);
  return numbers;
}();
V block(uint32_t first, uint32_t offset) { return kiln::bitcast<V>(ascending + (first + offset)); }
float largestLane(V x) {
  float largest = x[0];
  for (int i = 1; i < width; ++i)
    largest = x[i] > largest ? x[i] : largest;
  return largest;
}

// The distance of floats from `want` in ulp of a float there; an overflow counts as 2^128. 0 is right below `least`.
KILN_INLINE V ulpErrors(V got, D want, double least) {
  D magnitude = kiln::abs(want);
  D bounded = kiln::select(magnitude < 0x1p-126, D{} + 0x1p-126, magnitude);
  bounded = kiln::select(bounded > 0x1p127, D{} + 0x1p127, bounded);
  auto exponent = kiln::bitsOf(bounded) & uint64_t(0x7ff0000000000000);
  D perUlp = kiln::bitcast<D>((uint64_t(2046) << 52) - exponent) * 0x1p23;
  D reached = kiln::convert<D>(got);
  reached = kiln::select(kiln::abs(reached) > 0x1p128, kiln::copysign(D{} + 0x1p128, reached), reached);
  want = kiln::select(magnitude > 0x1p128, kiln::copysign(D{} + 0x1p128, want), want);
  D error = kiln::abs(reached - want) * perUlp;
  error = kiln::select((reached == D{}) & (magnitude < least), D{}, error);
  V narrow = kiln::convert<V>(error);
  return kiln::select(narrow == narrow, narrow, V{} + INFINITY);
}

template <typename F, typename Reference> Tally compareBlock(uint32_t first, Reference expected) {
  Tally tally;
  V worst{};
  for (uint32_t offset = 0; offset < blockSize; offset += width) {
    V x = block(first, offset);
    V error = ulpErrors(F::of(x), expected(kiln::convert<D>(x)), F::least);
    worst = kiln::select(error > worst, error, worst);
  }
  tally.ulp = largestLane(worst);
  tally.at = floatOf(first);
  for (uint32_t offset = 0; offset < blockSize; offset += 8191) {
    double x = floatOf(first + offset), truth = F::truth(x), reference = expected(D{} + x)[0];
    if (reference != truth && !(std::fabs(reference - truth) <= std::fabs(truth) * 0x1p-36)) {
      ++tally.wrong;
      tally.at = float(x);
    }
  }
  return tally;
}

template <typename F> Tally compareWithPositive(uint32_t first) {
  Tally tally;
  U wrong{};
  for (uint32_t offset = 0; offset < blockSize; offset += width) {
    V x = block(first, offset);
    wrong |= kiln::bitsOf(F::of(x)) ^ kiln::bitsOf(F::of(-x)) ^ kiln::signBit<V>;
  }
  for (int i = 0; i < width; ++i)
    tally.wrong += wrong[i] != 0;
  tally.at = floatOf(first);
  return tally;
}

// Every result is `limit`, or NaN when that is (but for zeros).
template <typename F> Tally expectLimit(uint32_t first, float limit) {
  Tally tally;
  V wrong{};
  for (uint32_t offset = 0; offset < blockSize; offset += width) {
    V x = block(first, offset), got = F::of(x), one = V{} + 1.0f;
    V bad = limit == limit ? kiln::select(got == limit, V{}, one) : kiln::select((got == got) & (x != V{}), one, V{});
    wrong = kiln::select(bad > wrong, bad, wrong);
  }
  tally.wrong = largestLane(wrong) != 0;
  tally.at = floatOf(first);
  return tally;
}

// Infinity and the NaNs.
template <typename F> Tally expectSpecials(uint32_t first) {
  Tally tally;
  tally.at = floatOf(first);
  float got = F::of(V{} + floatOf(first))[0], want = float(F::truth(floatOf(first)));
  tally.wrong = !(got == want || (got != got && want != want));
  for (uint32_t offset = 0; offset < blockSize; offset += width) {
    V result = F::of(block(first, offset));
    for (int i = offset == 0; i < width; ++i)
      tally.wrong += result[i] == result[i];
  }
  return tally;
}

// The limit of a block whose numbers lie between x, the nearest to zero, and `last`.
struct Limit {
  bool known = false;
  float value = 0;
};

// What holds for a function unless it says otherwise.
struct Function {
  static constexpr bool isOdd = false;
  static constexpr double least = 0;
};
struct ExpBase : Function {
  static D reference(D x) { return kiln::exp(x); }
  static double truth(double x) { return std::exp(x); }
  static Limit limit(float x, float last) {
    if (std::fabs(last) < 0x1p-26f)
      return {true, 1.0f};
    return x > 89 ? Limit{true, INFINITY} : Limit{x < -104, 0.0f};
  }
};
struct Exp : ExpBase {
  static constexpr const char *name = "exp";
  static V of(V x) { return kiln::exp(x); }
};
struct ExpUlp4 : ExpBase {
  static constexpr const char *name = "exp_ulp4";
  static constexpr double least = kiln::leastFastExp;
  static V of(V x) { return kiln::exp_ulp4(x); }
};
struct ExpHalf : ExpBase {
  static constexpr const char *name = "exp_half";
  static constexpr double least = kiln::leastFastExp;
  static V of(V x) { return kiln::exp_half(x); }
};
struct Sigmoid : Function {
  static constexpr const char *name = "sigmoid";
  static V of(V x) { return kiln::sigmoid(x); }
  static D reference(D x) { return kiln::sigmoid(x); }
  static double truth(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
  static Limit limit(float x, float last) {
    if (std::fabs(last) < 0x1p-26f)
      return {true, 0.5f};
    return x > 18 ? Limit{true, 1.0f} : Limit{x < -104, 0.0f};
  }
};
struct Tanh : Function {
  static constexpr const char *name = "tanh";
  static constexpr bool isOdd = true;
  static V of(V x) { return kiln::tanh(x); }
  static D reference(D x) {
    D t = kiln::exp(x + x);
    return (t - 1.0) / (t + 1.0);
  }
  static D nearZero(D x) { return x - x * x * x * (1.0 / 3); }
  static double truth(double x) { return std::tanh(x); }
  static Limit limit(float x, float) { return {std::fabs(x) > 9.5f, x < 0 ? -1.0f : 1.0f}; }
};
struct Erf : Function {
  static constexpr const char *name = "erf";
  static constexpr bool isOdd = true;
  static V of(V x) { return kiln::erf(x); }
  static D reference(D x) { return kiln::erf(x); }
  static D nearZero(D x) { return (x - x * x * x * (1.0 / 3)) * 1.12837916709551257390; }
  static double truth(double x) { return std::erf(x); }
  static Limit limit(float x, float) { return {std::fabs(x) > 4, x < 0 ? -1.0f : 1.0f}; }
};
struct Log : Function {
  static constexpr const char *name = "log";
  static V of(V x) { return kiln::log(x); }
  static D reference(D x) { return kiln::log(x); }
  static double truth(double x) { return std::log(x); }
  static Limit limit(float x, float) { return {std::signbit(x), NAN}; }
};

template <typename F> Tally sweepBlock(uint32_t first) {
  uint32_t magnitude = first & 0x7fffffff;
  if (magnitude == 0x7f800000)
    return expectSpecials<F>(first);
  if (magnitude > 0x7f800000)
    return expectLimit<F>(first, NAN);
  Limit limit = F::limit(floatOf(first), floatOf(first + blockSize - 1));
  if (limit.known)
    return expectLimit<F>(first, limit.value);
  if constexpr (F::isOdd) {
    if (first != magnitude)
      return compareWithPositive<F>(first);
    if (floatOf(first + blockSize - 1) < 0x1p-13f) // the next term is less than 2^-54
      return compareBlock<F>(first, [](D x) { return F::nearZero(x); });
  }
  return compareBlock<F>(first, [](D x) { return F::reference(x); });
}

// Each machine runs the widest code that it can; KILN_SWEEP_ALL in the environment runs the others, too.
class ExhaustiveSweep : public LevelTest {
protected:
  void SetUp() override {
    LevelTest::SetUp();
    int level = kiln_cpu_level() >= 4 ? 4 : kiln_cpu_level() >= 3 ? 3 : 1;
    if (KILN_TEST_LEVEL < level && !std::getenv("KILN_SWEEP_ALL"))
      GTEST_SKIP() << "the code for x86-64-v" << level << " is swept on this machine";
  }
  template <typename F> static void sweep() {
    std::atomic<uint32_t> next{0};
    std::vector<Tally> tallies(std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::thread> threads;
    for (Tally &tally : tallies)
      threads.emplace_back([&next, &tally] {
        for (uint32_t i; (i = next++) < 0x10000;) {
          Tally one = sweepBlock<F>(i * blockSize);
          one.tried = blockSize;
          tally.add(one);
        }
      });
    Tally all;
    for (size_t i = 0; i < threads.size(); ++i) {
      threads[i].join();
      all.add(tallies[i]);
    }
    std::printf("%s: %.4f ulp, bound %g\n", F::name, all.ulp, kiln::ulpBound(F::name));
    EXPECT_EQ(all.tried, uint64_t(1) << 32);
    EXPECT_EQ(all.wrong, 0u) << "near " << all.at;
    EXPECT_LE(all.ulp, kiln::ulpBound(F::name)) << "near " << all.at;
    EXPECT_GT(kiln::ulpBound(F::name), 0);
  }
};

TEST_F(ExhaustiveSweep, Exp) { sweep<Exp>(); }
TEST_F(ExhaustiveSweep, ExpUlp4) { sweep<ExpUlp4>(); }
TEST_F(ExhaustiveSweep, ExpHalf) { sweep<ExpHalf>(); }
TEST_F(ExhaustiveSweep, Sigmoid) { sweep<Sigmoid>(); }
TEST_F(ExhaustiveSweep, Tanh) { sweep<Tanh>(); }
TEST_F(ExhaustiveSweep, Erf) { sweep<Erf>(); }
TEST_F(ExhaustiveSweep, Log) {
  sweep<Log>();
  EXPECT_EQ(kiln::log(0.0f), -INFINITY);
  EXPECT_EQ(kiln::log(-0.0f), -INFINITY);
}

} // namespace
