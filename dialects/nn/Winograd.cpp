//===- Winograd.cpp - The matrices of Winograd's minimal filtering ---------===//
#include "dialects/nn/Winograd.h"

#include <cassert>
#include <cmath>

namespace kiln::nn {

/// The coefficients of the product of (x - root), lowest power first.
static std::vector<double> multiplyOut(const std::vector<double> &roots) {
  std::vector<double> product{1};
  for (double root : roots) {
    product.push_back(0);
    for (size_t i = product.size() - 1; i > 0; --i)
      product[i] = product[i - 1] - root * product[i];
    product[0] *= -root;
  }
  return product;
}

WinogradMatrices getWinogradMatrices(unsigned tile) {
  assert((tile == 2 || tile == 4) && "only these are used");
  std::vector<double> points{0, 1, -1};
  if (tile == 4)
    points = {0, std::sqrt(0.5), -std::sqrt(0.5), std::sqrt(2.0), -std::sqrt(2.0)};
  unsigned side = tile + 2, taps = 3;
  auto zeros = [](unsigned rows, unsigned columns) { return Matrix{rows, columns, std::vector<double>(rows * columns)}; };
  WinogradMatrices matrices{zeros(side, side), zeros(side, taps), zeros(tile, side)};
  // Kernels compute in f32; rounded to that, the rows of points p and -p differ in signs only.
  auto set = [](Matrix &matrix, unsigned row, unsigned column, double value) {
    matrix.values[row * matrix.columns + column] = std::abs(value) < 1e-12 ? 0 : static_cast<double>(static_cast<float>(value));
  };
  for (unsigned p = 0; p < points.size(); ++p) {
    std::vector<double> others;
    double scale = 1;
    for (unsigned q = 0; q < points.size(); ++q)
      if (q != p) {
        others.push_back(points[q]);
        scale *= points[p] - points[q];
      }
    std::vector<double> polynomial = multiplyOut(others);
    for (unsigned i = 0; i < polynomial.size(); ++i)
      set(matrices.input, p, i, polynomial[i]);
    for (unsigned i = 0; i < taps; ++i)
      set(matrices.filter, p, i, std::pow(points[p], i) / scale);
    for (unsigned i = 0; i < tile; ++i)
      set(matrices.inverse, i, p, std::pow(points[p], i));
  }
  std::vector<double> polynomial = multiplyOut(points);
  for (unsigned i = 0; i < polynomial.size(); ++i)
    set(matrices.input, side - 1, i, polynomial[i]);
  set(matrices.filter, side - 1, taps - 1, 1);
  set(matrices.inverse, tile - 1, side - 1, 1);
  return matrices;
}

} // namespace kiln::nn
