//===- EvaluateOperation.cpp - Operations on constants at compile time -----===//
#include "passes/graph/EvaluateOperation.h"
#include "dialects/nn/NNReductionOps.h"
#include "passes/graph/EvaluateMovement.h"
#include "passes/graph/EvaluateScalar.h"
#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

static double combine(ReduceKind kind, double x, double y) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return x + y;
  case ReduceKind::Prod:
    return x * y;
  case ReduceKind::Max:
    return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y);
  case ReduceKind::Min:
    return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y);
  }
  llvm_unreachable("unknown kind");
}

/// Sums and products wrap when they are stored; they are the same modulo 2^64.
static int64_t combine(ReduceKind kind, int64_t x, int64_t y, bool isUnsigned) {
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  bool isLess = isUnsigned ? ux < uy : x < y;
  switch (kind) {
  case ReduceKind::Sum:
    return static_cast<int64_t>(ux + uy);
  case ReduceKind::Prod:
    return static_cast<int64_t>(ux * uy);
  case ReduceKind::Max:
    return isLess ? y : x;
  case ReduceKind::Min:
    return isLess ? x : y;
  case ReduceKind::Mean:
    break;
  }
  llvm_unreachable("means of integers are not evaluated");
}

namespace {
/// Visits the elements of a reduction's operand with the place in the result that each belongs to.
class ReducedPlaces {
public:
  explicit ReducedPlaces(ReduceOp op) : shape(op.getInput().getType().getShape()), strides(shape.size(), 0) {
    int64_t stride = 1;
    for (int64_t i = static_cast<int64_t>(shape.size()) - 1; i >= 0; --i) {
      strides[i] = llvm::is_contained(op.getAxes(), i) ? 0 : stride;
      stride *= op.getType().getDimSize(i);
    }
  }
  void forEach(llvm::function_ref<void(int64_t element, int64_t place)> visit) const { forEachOffset(shape, strides, visit); }

private:
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> strides;
};
} // namespace

template <typename Number, typename Read, typename Combine>
static std::vector<Number> reduceAll(ReduceOp op, Read read, Combine combineTwo) {
  std::vector<Number> totals(op.getType().getNumElements());
  std::vector<bool> seen(totals.size(), false);
  ReducedPlaces(op).forEach([&](int64_t element, int64_t place) {
    totals[place] = seen[place] ? combineTwo(totals[place], read(element)) : read(element);
    seen[place] = true;
  });
  return totals;
}

static FailureOr<std::vector<char>> evaluateReduce(ReduceOp op, const ConstantData &input) {
  Type element = op.getType().getElementType();
  int64_t bytes = elementBytes(element), count = op.getType().getNumElements();
  ReduceKind kind = op.getKind();
  if (input.numElements() == 0 || (!isa<FloatType>(element) && kind == ReduceKind::Mean))
    return failure();
  std::vector<char> out(count * bytes);
  if (!isa<FloatType>(element)) {
    auto join = [&](int64_t x, int64_t y) { return combine(kind, x, y, element.isUnsignedInteger()); };
    for (auto [i, total] : llvm::enumerate(reduceAll<int64_t>(op, [&](int64_t i) { return input.asInt(i); }, join)))
      storeNumber(&out[i * bytes], element, total);
    return out;
  }
  double divisor = kind == ReduceKind::Mean ? static_cast<double>(input.numElements()) / static_cast<double>(count) : 1.0;
  auto join = [&](double x, double y) { return combine(kind, x, y); };
  for (auto [i, total] : llvm::enumerate(reduceAll<double>(op, [&](int64_t i) { return input.asDouble(i); }, join)))
    storeNumber(&out[i * bytes], element, total / divisor);
  return out;
}

FailureOr<std::vector<char>> kiln::evaluateOperation(Operation *op, ArrayRef<ConstantData> operands) {
  if (auto scalar = dyn_cast<ScalarBody>(op))
    return evaluateScalarBody(scalar, operands);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return evaluateReduce(reduce, operands[0]);
  return evaluateMovement(op, operands);
}
