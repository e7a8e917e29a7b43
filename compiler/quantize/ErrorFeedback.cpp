//===- ErrorFeedback.cpp - Weights rounded with regard to their inputs -----===//
//
// Let H be the sum of x^T x with a little added to its diagonal, and U the upper factor of its inverse, inverse(H) = U^T U. When column i of the weights is
// rounded with the error e, the weights of the columns j > i change by -e * U[i][j] / U[i][i], which minimises the error of the product.
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/ErrorFeedback.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace kiln::quantize {

void InputProducts::add(ArrayRef<float> values) {
  // A few rows at a time, so that the sums are read once for all of them.
  constexpr size_t together = 16;
  for (size_t begin = 0, rows = values.size() / columns; begin < rows; begin += together) {
    size_t end = std::min(rows, begin + together);
    for (size_t i = 0; i < columns; ++i) {
      double *out = sums.data() + i * columns;
      for (size_t r = begin; r < end; ++r) {
        const float *row = values.data() + r * columns;
        double factor = row[i];
        if (factor == 0)
          continue;
        for (size_t j = i; j < columns; ++j)
          out[j] += factor * row[j];
      }
    }
  }
}

namespace {

/// A square matrix in double.
struct Matrix {
  explicit Matrix(size_t size) : size(size), values(size * size) {}
  double *row(size_t i) { return values.data() + i * size; }
  const double *row(size_t i) const { return values.data() + i * size; }
  size_t size;
  std::vector<double> values;
};

} // namespace

/// Partial sums let the processor's vectors work although no addition may be reordered.
static double dot(const double *left, const double *right, size_t count) {
  constexpr size_t width = 8;
  double sums[width] = {}, total = 0;
  size_t i = 0;
  for (; i + width <= count; i += width)
    for (size_t lane = 0; lane < width; ++lane)
      sums[lane] += left[i + lane] * right[i + lane];
  for (; i < count; ++i)
    total += left[i] * right[i];
  for (double sum : sums)
    total += sum;
  return total;
}

/// Replaces a symmetric matrix, given by its lower triangle, by its lower factor L, with L L^T the matrix. False if it is not positive definite.
static bool factor(Matrix &matrix) {
  for (size_t i = 0; i < matrix.size; ++i) {
    double *own = matrix.row(i);
    for (size_t j = 0; j <= i; ++j) {
      const double *other = matrix.row(j);
      double sum = own[j] - dot(own, other, j);
      if (j < i)
        own[j] = sum / other[j];
      else if (!(sum > 0))
        return false;
      else
        own[i] = std::sqrt(sum);
    }
  }
  return true;
}

/// The upper factor U of the inverse of `products`, inverse = U^T U. With J the reversal of rows and columns and J H J = L L^T, U = J inverse(L) J.
static bool factorInverse(const InputProducts &products, double damping, Matrix &upper) {
  size_t size = upper.size;
  Matrix reversed(size);
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j <= i; ++j)
      reversed.row(i)[j] = products.get(size - 1 - i, size - 1 - j) + (i == j ? damping : 0);
  if (!factor(reversed))
    return false;
  // Rows of inverse(L), each from those above it.
  Matrix inverse(size);
  for (size_t i = 0; i < size; ++i) {
    double *out = inverse.row(i), scale = 1 / reversed.row(i)[i];
    for (size_t k = 0; k < i; ++k) {
      double weight = reversed.row(i)[k];
      for (size_t j = 0; j <= k; ++j)
        out[j] -= weight * inverse.row(k)[j];
    }
    for (size_t j = 0; j < i; ++j)
      out[j] *= scale;
    out[i] = scale;
  }
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j <= i; ++j)
      upper.row(size - 1 - i)[size - 1 - j] = inverse.row(i)[j];
  return true;
}

/// Rounds one row of weights, which it uses up.
static void roundRow(std::vector<double> &row, const WeightScheme &scheme, const Matrix &upper, size_t r, float least, QuantizedRows &result) {
  size_t columns = row.size(), size = scheme.block ? scheme.block : columns;
  for (size_t i = 0; i < columns; ++i) {
    if (!scheme.isPerTensor && i % size == 0) {
      // The scale of a block is chosen when its turn comes, for the weights as they are then.
      std::vector<float> block(row.begin() + i, row.begin() + std::min(columns, i + size));
      result.scales.push_back(chooseWeightScale(block, scheme, least));
    }
    float scale = result.getScale(scheme, r, i);
    int rounded = roundWeight(float(row[i]), scale, scheme);
    result.values[r * columns + i] = int8_t(rounded);
    const double *factors = upper.row(i);
    double error = (row[i] - double(rounded) * scale) / factors[i];
    for (size_t j = i + 1; j < columns; ++j)
      row[j] -= error * factors[j];
  }
}

QuantizedRows quantizeWithFeedback(const WeightRows &weights, const WeightScheme &scheme, const InputProducts &inputs, ArrayRef<float> least) {
  double trace = 0;
  for (size_t i = 0; i < weights.columns; ++i)
    trace += inputs.get(i, i);
  // An input that is always zero would leave its weights undetermined without the damping.
  constexpr double share = 0.01;
  Matrix upper(weights.columns);
  if (!(trace > 0) || !factorInverse(inputs, share * trace / double(weights.columns), upper))
    return quantizeRows(weights, scheme, least);
  QuantizedRows result{weights.rows, weights.columns, std::vector<int8_t>(weights.values.size()), {}};
  if (scheme.isPerTensor)
    result.scales.push_back(chooseWeightScale(weights.values, scheme, least.empty() ? 0 : *std::max_element(least.begin(), least.end())));
  for (size_t r = 0; r < weights.rows; ++r) {
    std::vector<double> row(weights.row(r), weights.row(r) + weights.columns);
    roundRow(row, scheme, upper, r, least.empty() ? 0 : least[r], result);
  }
  return result;
}

double getProductError(const WeightRows &weights, const WeightRows &rounded, const InputProducts &inputs) {
  double total = 0;
  std::vector<double> difference(weights.columns);
  for (size_t r = 0; r < weights.rows; ++r) {
    for (size_t c = 0; c < weights.columns; ++c)
      difference[c] = double(weights.row(r)[c]) - double(rounded.row(r)[c]);
    for (size_t i = 0; i < weights.columns; ++i) {
      double sum = 0;
      for (size_t j = 0; j < weights.columns; ++j)
        sum += inputs.get(i, j) * difference[j];
      total += sum * difference[i];
    }
  }
  return total;
}

} // namespace kiln::quantize
