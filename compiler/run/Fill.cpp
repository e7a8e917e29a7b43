//===- Fill.cpp - Input tensors made from a short description --------------===//
#include "compiler/run/Fill.h"
#include "dialects/nn/RealNumber.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"
#include <cmath>

using llvm::StringRef;

namespace kiln {

namespace {

/// SplitMix64: a counter in steps of the golden ratio, scrambled. Documented in docs, so that other programs can make the same inputs.
class Generator {
public:
  explicit Generator(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  double uniform() { return double(next() >> 11) * 0x1p-53; }

  // Twelve uniform values have the variance 1. Additions only: libraries disagree about the last bit of a logarithm.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
      sum += uniform();
    return sum;
  }

private:
  uint64_t state;
};

// FNV-1a.
uint64_t hashName(StringRef name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (unsigned char byte : name.bytes())
    hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

bool parseNumber(StringRef text, double &number) { return parseReal(text, number) && std::isfinite(number); }

llvm::Error wrong(StringRef text, StringRef expected) { return makeError("'" + text + "' is malformed: expected " + expected); }

} // namespace

llvm::Expected<std::optional<Fill>> parseFill(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ':');
  StringRef kind = parts[0];
  Fill fill;
  if (kind == "random") {
    uint64_t seed;
    if (parts.size() > 2 || (parts.size() == 2 && parts[1].getAsInteger(10, seed)))
      return wrong(text, "random or random:SEED");
    if (parts.size() == 2)
      fill.seed = seed;
    return fill;
  }
  if (kind == "normal") {
    fill.kind = Fill::Normal;
    if (parts.size() > 2 || (parts.size() == 2 && !parseNumber(parts[1], fill.second)))
      return wrong(text, "normal or normal:SD");
    return fill;
  }
  if (kind == "uniform" || kind == "randint") {
    fill.kind = kind == "uniform" ? Fill::Uniform : Fill::Integers;
    if (parts.size() != 3 || !parseNumber(parts[1], fill.first) || !parseNumber(parts[2], fill.second) || !(fill.first < fill.second))
      return wrong(text, (kind + ":LO:HI with LO < HI").str());
    if (fill.kind == Fill::Integers && (fill.first != std::floor(fill.first) || fill.second != std::floor(fill.second)))
      return wrong(text, "two integers");
    return fill;
  }
  if (parts.size() > 1)
    return std::nullopt;
  if (kind == "arange") {
    fill.kind = Fill::Range;
    return fill;
  }
  fill.kind = Fill::Constant;
  if (kind == "zeros" || kind == "ones")
    fill.first = kind == "ones";
  else if (!parseReal(kind, fill.first))
    return std::nullopt;
  return fill;
}

/// Whether the type holds the number, rounded to its precision.
static bool holds(ElementType type, double value) {
  switch (type) {
  case KILN_ELEMENT_BOOL:
  case KILN_ELEMENT_STRING:
    return true;
  case KILN_ELEMENT_I64:
    return value == std::floor(value) && value >= -0x1p63 && value < 0x1p63;
  case KILN_ELEMENT_U64:
    return value == std::floor(value) && value >= 0 && value < 0x1p64;
  default:
    break;
  }
  llvm::Expected<Tensor> tensor = Tensor::create(type, {1});
  if (!tensor) {
    llvm::consumeError(tensor.takeError());
    return true;
  }
  tensor->setValue(0, value);
  return isFloat(type) ? !std::isfinite(value) || std::isfinite(tensor->getValue(0)) : tensor->getValue(0) == value;
}

llvm::Error checkFill(const Fill &fill, ElementType type) {
  llvm::SmallVector<double> numbers;
  if (fill.kind == Fill::Constant)
    numbers = {fill.first};
  else if (fill.kind == Fill::Integers)
    numbers = {fill.first, fill.second - 1};
  else if (fill.kind == Fill::Uniform && isFloat(type))
    numbers = {fill.first, fill.second};
  for (double number : numbers)
    if (!holds(type, number))
      return makeError(llvm::to_string(llvm::format("%g", number)) + " is not a value of " + getTypeName(type));
  return llvm::Error::success();
}

void fillTensor(Tensor &tensor, const Fill &fill, uint64_t seed, StringRef name) {
  Generator generator(fill.seed.value_or(seed) ^ hashName(name));
  bool floating = isFloat(tensor.getType());
  int64_t row = tensor.getDims().empty() ? 1 : std::max<int64_t>(tensor.getDims().back(), 1);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    double value = fill.first;
    switch (fill.kind) {
    case Fill::Random:
      value = floating ? generator.normal() : double(generator.next() & 1);
      break;
    case Fill::Normal:
      value = generator.normal() * fill.second;
      break;
    case Fill::Uniform:
      value = fill.first + generator.uniform() * (fill.second - fill.first);
      break;
    case Fill::Integers:
      value = fill.first + std::floor(generator.uniform() * (fill.second - fill.first));
      break;
    case Fill::Range:
      value = double(i % row);
      break;
    case Fill::Constant:
      break;
    }
    tensor.setValue(i, value);
  }
}

} // namespace kiln
