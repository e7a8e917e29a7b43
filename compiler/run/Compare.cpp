//===- Compare.cpp - How far two tensors are apart -------------------------===//
#include "compiler/run/Compare.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace kiln {

namespace {

std::string formatNumber(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

std::string formatPlace(const Tensor &tensor, int64_t position) { return formatIndex(locateElement(tensor, position)); }

/// The distance from |value| to the next larger number of the type.
double unitInLastPlace(ElementType type, double value) {
  int digits = type == KILN_ELEMENT_F64 ? 53 : type == KILN_ELEMENT_F16 ? 11 : type == KILN_ELEMENT_BF16 ? 8 : 24;
  int lowest = type == KILN_ELEMENT_F64 ? -1074 : type == KILN_ELEMENT_F16 ? -24 : type == KILN_ELEMENT_BF16 ? -133 : -149;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, value == 0 ? lowest : std::max(exponent - digits, lowest));
}

void compareText(const Tensor &actual, const Tensor &expected, int64_t i, Comparison &result) {
  if (actual.getText(i) == expected.getText(i))
    return;
  if (result.wrong++ == 0)
    result.reason = "first at " + formatPlace(expected, i) + ": '" + actual.getText(i).str() + "', expected '" + expected.getText(i).str() + "'";
}

void compareElement(const Tensor &actual, const Tensor &expected, int64_t i, double rtol, double atol, Comparison &result) {
  double got = actual.getValue(i), want = expected.getValue(i);
  bool ok = got == want || (std::isnan(got) && std::isnan(want));
  if (!isFloat(expected.getType())) {
    size_t width = getByteSize(expected.getType());
    ok = std::memcmp(actual.getData() + i * width, expected.getData() + i * width, width) == 0;
  }
  if (ok)
    return;
  double off = std::fabs(got - want);
  bool finite = std::isfinite(got) && std::isfinite(want);
  if (finite) {
    if (off > result.maxAbsolute)
      result.worstAt = locateElement(expected, i);
    result.maxAbsolute = std::max(result.maxAbsolute, off);
    if (want != 0)
      result.maxRelative = std::max(result.maxRelative, off / std::fabs(want));
    if (isFloat(expected.getType()))
      result.maxUlp = std::max(result.maxUlp, off / unitInLastPlace(expected.getType(), want));
  }
  if (isFloat(expected.getType()) && finite && off <= atol + rtol * std::fabs(want))
    return;
  if (result.wrong++ == 0)
    result.reason = "first at " + formatPlace(expected, i) + ": " + formatNumber(got) + ", expected " + formatNumber(want);
}

} // namespace

std::vector<int64_t> locateElement(const Tensor &tensor, int64_t position) {
  std::vector<int64_t> index(tensor.getDims().size());
  for (size_t i = index.size(); i-- > 0;) {
    int64_t size = std::max<int64_t>(tensor.getDims()[i], 1);
    index[i] = position % size;
    position /= size;
  }
  return index;
}

std::string formatIndex(llvm::ArrayRef<int64_t> index) {
  std::string text;
  for (int64_t number : index)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

double getLargest(const Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; isFloat(tensor.getType()) && i < tensor.getNumElements(); ++i)
    if (double value = std::fabs(tensor.getValue(i)); std::isfinite(value))
      largest = std::max(largest, value);
  return largest;
}

Comparison compare(const Tensor &actual, const Tensor &expected, double rtol, double atol) {
  Comparison result;
  result.elements = expected.getNumElements();
  if (actual.getType() != expected.getType() || actual.getDims() != expected.getDims()) {
    result.reason = "it is " + actual.getSignature() + ", expected " + expected.getSignature();
    result.wrong = result.elements;
    return result;
  }
  for (int64_t i = 0; i < result.elements; ++i)
    if (expected.getType() == KILN_ELEMENT_STRING)
      compareText(actual, expected, i, result);
    else
      compareElement(actual, expected, i, rtol, atol, result);
  if (double largest = getLargest(expected))
    result.scaledError = result.maxAbsolute / largest;
  if (result.wrong)
    result.reason = std::to_string(result.wrong) + " of " + std::to_string(result.elements) + " values are off, " + result.reason;
  return result;
}

/// The elements behind the axis' index, and the size of the axis; 1 and 1 without an axis.
static std::pair<int64_t, int64_t> locateAxis(const Tensor &tensor, int64_t axis) {
  int64_t inner = 1, size = 1;
  if (axis < 0 || axis >= int64_t(tensor.getDims().size()))
    return {inner, size};
  for (size_t i = size_t(axis) + 1; i < tensor.getDims().size(); ++i)
    inner *= tensor.getDims()[i];
  return {inner, tensor.getDims()[size_t(axis)]};
}

Comparison compareInSteps(const Tensor &actual, const Tensor &expected, double rtol, double atol, const StepBounds &bounds) {
  Comparison result = compare(actual, expected, rtol, atol);
  bool isReal = isFloat(expected.getType());
  if (actual.getType() != expected.getType() || actual.getDims() != expected.getDims() || bounds.scales.empty())
    return result;
  auto [inner, size] = locateAxis(expected, bounds.axis);
  if (bounds.scales.size() != 1 && int64_t(bounds.scales.size()) != size)
    return result;
  double squares = 0;
  for (int64_t i = 0; i < result.elements; ++i) {
    double got = actual.getValue(i), want = expected.getValue(i), off = std::fabs(got - want);
    if (got == want || (std::isnan(got) && std::isnan(want)))
      continue;
    if (!std::isfinite(off))
      return result; // compare() has said what is to be said
    double scale = isReal ? std::fabs(double(bounds.scales[bounds.scales.size() == 1 ? 0 : size_t(i / inner % size)])) : 1, steps = off / scale;
    if (isReal && off <= atol + rtol * std::fabs(want))
      continue;
    // Dequantised numbers differ by whole steps; anything else is an error of another kind.
    if (std::fabs(steps - std::nearbyint(steps)) > 0.01 * steps)
      return result;
    result.maxSteps = std::max(result.maxSteps, steps);
    squares += steps * steps;
    ++result.stepped;
  }
  result.inSteps = true;
  result.rmsSteps = std::sqrt(squares / double(std::max<int64_t>(result.elements, 1)));
  int64_t allowed = std::max<int64_t>(1, int64_t(bounds.share * double(result.elements)));
  // A step of floats is one up to rounding.
  bool isClose = result.maxSteps <= bounds.most * (1 + 1e-3), areFew = result.stepped <= allowed, isQuiet = result.rmsSteps <= bounds.rms;
  result.reason.clear();
  result.wrong = 0;
  if (isClose && areFew && isQuiet)
    return result;
  result.wrong = result.stepped;
  result.reason = std::to_string(result.stepped) + " of " + std::to_string(result.elements) + " values differ by " + formatNumber(result.maxSteps) +
                  " steps or less, rms " + formatNumber(result.rmsSteps) + "; allowed are ";
  result.reason += std::isfinite(bounds.rms) ? "an rms of " + formatNumber(bounds.rms)
                                             : formatNumber(bounds.most) + " in " + std::to_string(allowed) + " values";
  return result;
}

} // namespace kiln
