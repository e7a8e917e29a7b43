#include "Sweep.h"

#include "kiln/math.h"
#include "kiln/math/bounds.h"

namespace sweep {
namespace {

struct Sigmoid {
  static double of(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
};
double rsqrtOf(double x) { return 1 / std::sqrt(x); }
double sigmoidOf(double x) { return Sigmoid::of(x); }

template <typename V, typename F> void apply(F f, const float *in, float *out) {
  for (int i = 0; i < 16; i += kiln::lanes<V>)
    kiln::store<V>(out + i, f(kiln::load<V>(in + i)));
}

#define KILN_SWEEP_DOWN_TO(NAME, BOUND, REFERENCE, LEAST)                                                                        \
  Function {                                                                                                     \
    #NAME, BOUND, [](float x) { return kiln::NAME(x); },                                                            \
        [](const float *in, float *out4, float *out8, float *out16) {                                            \
          auto f = [](auto x) __attribute__((always_inline)) { return kiln::NAME(x); };                             \
          apply<kiln::f32x4>(f, in, out4);                                                                       \
          apply<kiln::f32x8>(f, in, out8);                                                                       \
          apply<kiln::f32x16>(f, in, out16);                                                                     \
        },                                                                                                       \
        [](double x) -> double { return REFERENCE(x); }, LEAST                                                          \
  }
#define KILN_SWEEP(NAME, BOUND, REFERENCE) KILN_SWEEP_DOWN_TO(NAME, BOUND, REFERENCE, 0)

} // namespace

const Function functions[] = {
    KILN_SWEEP_DOWN_TO(exp_ulp4, kiln::ulpBound("exp_ulp4"), std::exp, kiln::leastFastExp),
    KILN_SWEEP_DOWN_TO(exp_half, kiln::ulpBound("exp_half"), std::exp, kiln::leastFastExp),
    KILN_SWEEP(exp, kiln::ulpBound("exp"), std::exp), KILN_SWEEP(exp2, 1.2, std::exp2),
    KILN_SWEEP(expm1, 2, std::expm1),     KILN_SWEEP(sigmoid, kiln::ulpBound("sigmoid"), sigmoidOf),
    KILN_SWEEP(log, kiln::ulpBound("log"), std::log),       KILN_SWEEP(log2, 2.5, std::log2),
    KILN_SWEEP(log1p, 2, std::log1p),     KILN_SWEEP(tanh, kiln::ulpBound("tanh"), std::tanh),
    KILN_SWEEP(sinh, 4, std::sinh),       KILN_SWEEP(cosh, 3, std::cosh),
    KILN_SWEEP(asinh, 4, std::asinh),     KILN_SWEEP(acosh, 4, std::acosh),
    KILN_SWEEP(atanh, 4, std::atanh),     KILN_SWEEP(erf, kiln::ulpBound("erf"), std::erf),
    KILN_SWEEP(erfc, 220, std::erfc),
    KILN_SWEEP(sin, 0.6, std::sin),       KILN_SWEEP(cos, 0.6, std::cos),
    KILN_SWEEP(tan, 0.6, std::tan),       KILN_SWEEP(asin, 3, std::asin),
    KILN_SWEEP(acos, 3, std::acos),       KILN_SWEEP(atan, 3, std::atan),
    KILN_SWEEP(sqrt, 0.5, std::sqrt),     KILN_SWEEP(rsqrt, 1.5, rsqrtOf),
    KILN_SWEEP(floor, 0, std::floor),     KILN_SWEEP(ceil, 0, std::ceil),
    KILN_SWEEP(trunc, 0, std::trunc),     KILN_SWEEP(round, 0, std::round),
    KILN_SWEEP(roundeven, 0, std::nearbyint), KILN_SWEEP(abs, 0, std::fabs),
};
const int numFunctions = sizeof(functions) / sizeof(functions[0]);

const Function *find(const char *name) {
  for (const Function &function : functions)
    if (std::strcmp(function.name, name) == 0)
      return &function;
  return nullptr;
}

Worst run(const Function &function, uint32_t stride) {
  Worst worst;
  float in[16], out[3][16];
  uint64_t next = 0;
  while (next <= UINT32_MAX) {
    for (float &x : in) {
      x = floatOfBits(uint32_t(next));
      next = std::min<uint64_t>(next + stride, uint64_t(1) << 32);
    }
    function.vectors(in, out[0], out[1], out[2]);
    for (int i = 0; i < 16; ++i) {
      float got = function.scalar(in[i]);
      double want = function.reference(in[i]);
      double error = got == 0 && want < function.least ? 0 : ulpError(got, want);
      if (!(error <= worst.ulp)) {
        worst.ulp = error;
        worst.at = in[i];
      }
      for (const float *lanes : out) {
        if (std::memcmp(&got, &lanes[i], sizeof(got)) == 0 || (std::isnan(got) && std::isnan(lanes[i])))
          continue;
        ++worst.widthMismatches;
        worst.mismatchAt = in[i];
      }
    }
  }
  return worst;
}

} // namespace sweep
