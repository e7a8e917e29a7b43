//===- Fourier.cpp - The stages of a Fourier transform --------------------===//
#include "dialects/nn/Fourier.h"

#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <complex>

using namespace mlir;
using namespace kiln::nn;

/// Radices with a function of their own are at most this.
static constexpr int64_t usualRadix = 5;

/// Fours, a two in front of them, then odd primes from small to large.
static SmallVector<int32_t> factorize(int64_t length) {
  SmallVector<int32_t> factors;
  for (; length % 4 == 0; length /= 4)
    factors.push_back(4);
  if (length % 2 == 0) {
    factors.insert(factors.begin(), 2);
    length /= 2;
  }
  for (int64_t prime = 3; prime * prime <= length; prime += 2)
    for (; length % prime == 0; length /= prime)
      factors.push_back(static_cast<int32_t>(prime));
  if (length > 1)
    factors.push_back(static_cast<int32_t>(length));
  return factors;
}

/// exp(-2 pi i power / length). Angles stay below an eighth of a turn, where they have all their digits.
static std::pair<double, double> rootOfUnity(int64_t power, int64_t length) {
  int64_t eighths = 8 * (power % length), octant = eighths / length, rest = eighths % length;
  // Even octants count on from a multiple of a quarter, odd ones back to the next.
  double angle = 2 * llvm::numbers::pi * static_cast<double>(octant % 2 ? length - rest : rest) / (8 * static_cast<double>(length));
  double c = std::cos(angle), s = octant % 2 ? -std::sin(angle) : std::sin(angle);
  switch ((octant + 1) / 2 % 4) {
  case 0:
    return {c, -s};
  case 1:
    return {-s, -c};
  case 2:
    return {-c, s};
  default:
    return {s, c};
  }
}

/// An estimate of the operations of stages for `points` points.
static int64_t countFlops(int64_t points, ArrayRef<int32_t> factors) {
  int64_t flops = 0;
  for (int64_t radix : factors)
    flops += points * (radix <= usualRadix ? 5 * static_cast<int64_t>(llvm::Log2_64_Ceil(radix)) : radix);
  return flops;
}

/// The operations of a convolution by two transforms: they multiply by the chirp's transform, and their ends by the chirp.
static int64_t countConvolutionFlops(int64_t points, int64_t padded) {
  return 2 * countFlops(padded, factorize(padded)) + 6 * (padded + 2 * points);
}

/// The number of points for which a convolution of `points` points takes least, among products of usual radices.
static int64_t findPadded(int64_t points) {
  int64_t least = 2 * points - 1, best = static_cast<int64_t>(llvm::PowerOf2Ceil(least));
  for (int64_t fives = 1; fives < 2 * least; fives *= 5)
    for (int64_t threes = fives; threes < 2 * least; threes *= 3) {
      int64_t size = threes * static_cast<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(least, threes)));
      if (countConvolutionFlops(points, size) < countConvolutionFlops(points, best))
        best = size;
    }
  return best;
}

FourierPlan::FourierPlan(int64_t length, bool packs) : length(length), packs(packs), padded(0), factors(factorize(points())) {
  if (largestUnusual() == 0)
    return;
  int64_t other = findPadded(points());
  if (countConvolutionFlops(points(), other) >= countFlops(points(), factors))
    return;
  padded = other;
  factors = factorize(padded);
}

int64_t FourierPlan::flops() const { return padded ? countConvolutionFlops(points(), padded) : countFlops(points(), factors); }

FourierPlan FourierPlan::of(int64_t length, bool isReal, bool isInverse, bool toReal) {
  return {length, length % 2 == 0 && (toReal || (isReal && !isInverse))};
}

FourierPlan FourierPlan::of(FourierOp op) {
  auto parts = [](RankedTensorType type) { return type.getShape().back(); };
  return of(op.getLength(), parts(op.getInput().getType()) == 1, op.getInverse(), parts(op.getType()) == 1);
}

int64_t FourierPlan::largestUnusual() const {
  int64_t largest = 0;
  for (int64_t radix : factors)
    if (radix > usualRadix)
      largest = std::max(largest, radix);
  return largest;
}

int64_t FourierPlan::tableSize() const {
  int64_t size = (packs ? length + 2 : 0) + (padded ? 2 * (points() + padded) : 0), after = staged();
  for (int64_t radix : factors) {
    after /= radix;
    size += 2 * (radix - 1) * after + (radix > usualRadix ? 2 * radix : 0);
  }
  return size;
}

/// The transform of complex numbers by stages of these radices.
static std::vector<std::complex<double>> transform(std::vector<std::complex<double>> from, ArrayRef<int32_t> factors) {
  int64_t size = static_cast<int64_t>(from.size()), before = 1, after = size;
  std::vector<std::complex<double>> to(from.size()), roots(from.size());
  for (int64_t power = 0; power < size; ++power) {
    auto [re, im] = rootOfUnity(power, size);
    roots[power] = {re, im};
  }
  for (int64_t radix : factors) {
    after /= radix;
    for (int64_t k = 0; k < before; ++k)
      for (int64_t j = 0; j < radix; ++j)
        for (int64_t i = 0; i < after; ++i) {
          std::complex<double> sum = 0;
          for (int64_t u = 0; u < radix; ++u)
            sum += from[i + after * (u + radix * k)] * roots[size / radix * (u * j % radix)];
          to[i + after * (k + before * j)] = sum * roots[j * before * i];
        }
    before *= radix;
    std::swap(from, to);
  }
  return from;
}

/// The chirp exp(-pi i k^2 / points), and the transform of its conjugate divided by `padded`.
static void appendChirp(int64_t points, int64_t padded, ArrayRef<int32_t> factors, SmallVectorImpl<double> &table) {
  std::vector<std::complex<double>> chirp(points), conjugate(padded);
  for (int64_t k = 0; k < points; ++k) {
    // The square fits: a transform has at most 2^24 points.
    auto [re, im] = rootOfUnity(k * k % (2 * points), 2 * points);
    chirp[k] = {re, im};
    conjugate[k] = conjugate[k ? padded - k : 0] = std::complex<double>(re, -im) / static_cast<double>(padded);
  }
  auto append = [&](ArrayRef<std::complex<double>> numbers) {
    for (std::complex<double> number : numbers)
      table.push_back(number.real());
    for (std::complex<double> number : numbers)
      table.push_back(number.imag());
  };
  append(chirp);
  append(transform(std::move(conjugate), factors));
}

SmallVector<double> FourierPlan::table() const {
  SmallVector<double> result;
  auto add = [&](std::pair<double, double> root) { result.append({root.first, root.second}); };
  for (int64_t power = 0; packs && power <= length / 2; ++power)
    add(rootOfUnity(power, length));
  if (padded)
    appendChirp(points(), padded, factors, result);
  int64_t before = 1, after = staged();
  for (int64_t radix : factors) {
    after /= radix;
    for (bool imaginary : {false, true})
      for (int64_t j = 1; j < radix; ++j)
        for (int64_t i = 0; i < after; ++i) {
          auto [re, im] = rootOfUnity(j * before * i, staged());
          result.push_back(imaginary ? im : re);
        }
    for (int64_t power = 0; radix > usualRadix && power < radix; ++power)
      add(rootOfUnity(power, radix));
    before *= radix;
  }
  return result;
}
