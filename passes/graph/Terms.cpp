//===- Terms.cpp - Sums and products as lists ------------------------------===//
#include "passes/graph/Terms.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

bool kiln::isClose(std::optional<double> have, double want) {
  return have && (*have == want || (std::isfinite(want) && std::fabs(*have - want) <= 1e-6 * std::fabs(want)));
}

Value kiln::skipBroadcast(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastToOp>();
  return broadcast ? broadcast.getInput() : value;
}

std::optional<double> kiln::getUniformNumber(Value value) {
  if (std::optional<double> number = getSplatNumber(value))
    return number;
  ElementsAttr constant = getConstant(skipBroadcast(value));
  if (!constant || constant.getNumElements() == 0)
    return std::nullopt;
  ConstantData data(constant);
  ArrayRef<char> bytes = data.bytes(), first = bytes.take_front(elementBytes(data.elementType()));
  // All elements have the bytes of the first when each has those of its neighbour.
  return bytes.drop_front(first.size()) == bytes.drop_back(first.size()) ? std::optional(data.asDouble(0)) : std::nullopt;
}

static std::optional<double> numberOperand(Operation *op, unsigned i) {
  return op->getNumOperands() > i ? getSplatNumber(op->getOperand(i)) : std::nullopt;
}

bool kiln::isProduct(Operation *op) {
  return op && (isa<MulOp, DivOp, NegOp, ReciprocalOp, SqrtOp>(op) || (isa<PowOp>(op) && numberOperand(op, 1)));
}

bool kiln::isSum(Operation *op) { return op && isa<AddOp, SubOp>(op); }

bool kiln::isBounded(Operation *op) {
  return op && (isa<ClampOp, ReluOp>(op) || (isa<MinimumOp, MaximumOp>(op) && (numberOperand(op, 0) || numberOperand(op, 1))));
}

/// No body has longer lists, but a model may have a chain of 50,000 sums.
static constexpr size_t longestList = 8;

/// Whether the operation that defines a value may be taken apart.
static bool mayOpen(Value value, Operation *op, Depth depth, bool isRoot) {
  if (depth == Depth::Closed)
    return false;
  if (depth == Depth::Multiple)
    return isa<NegOp>(op) || (isa<MulOp, DivOp>(op) && (numberOperand(op, 1) || (isa<MulOp>(op) && numberOperand(op, 0))));
  if (isRoot || depth == Depth::Root)
    return isRoot;
  // The power of a row's statistic may have any users: it is cheap, and the list is the same.
  return isa<SqrtOp, ReciprocalOp, NegOp, PowOp>(op) || (value.hasOneUse() && op->hasOneUse());
}

static void addFactor(Product &product, Value value, double exponent) {
  for (Factor &factor : product.factors)
    if (factor.value == value && (factor.exponent > 0) == (exponent > 0)) {
      factor.exponent += exponent;
      return;
    }
  product.factors.push_back({value, exponent});
}

static void multiply(Product &product, Value value, double exponent, Depth depth, bool isRoot) {
  if (std::optional<double> number = getSplatNumber(value)) {
    product.number *= std::pow(*number, exponent);
    return;
  }
  Operation *op = skipBroadcast(value).getDefiningOp();
  // A root of a product is not the product of the roots when factors are negative.
  bool isWhole = exponent == 1.0 || exponent == -1.0;
  if (!isProduct(op) || !isWhole || ++product.opened > longestList || !mayOpen(value, op, depth, isRoot))
    return addFactor(product, value, exponent);
  auto further = [&](unsigned i, double power) { multiply(product, op->getOperand(i), exponent * power, depth, false); };
  if (isa<NegOp>(op))
    product.number = -product.number;
  further(0, isa<ReciprocalOp>(op) ? -1.0 : isa<SqrtOp>(op) ? 0.5 : isa<PowOp>(op) ? *numberOperand(op, 1) : 1.0);
  if (isa<MulOp, DivOp>(op))
    further(1, isa<MulOp>(op) ? 1.0 : -1.0);
}

Product kiln::viewProduct(Value root, Depth depth) {
  Product product;
  multiply(product, root, 1.0, depth, true);
  return product;
}

static void addTo(Sum &sum, Value value, double sign, Depth depth, bool isRoot) {
  if (std::optional<double> number = getSplatNumber(value)) {
    sum.number += sign * *number;
    return;
  }
  Operation *op = skipBroadcast(value).getDefiningOp();
  if (isSum(op) && ++sum.opened <= longestList && mayOpen(value, op, depth, isRoot)) {
    addTo(sum, op->getOperand(0), sign, depth, false);
    addTo(sum, op->getOperand(1), isa<SubOp>(op) ? -sign : sign, depth, false);
    return;
  }
  sum.terms.push_back({value, sign});
}

Sum kiln::viewSum(Value root, Depth depth) {
  Sum sum;
  addTo(sum, root, 1.0, depth, true);
  return sum;
}

Bounded kiln::viewBounded(Value root) {
  Bounded bounded{root, -HUGE_VAL, HUGE_VAL};
  auto hold = [&](double low, double high) {
    // What the inner bounds are when the outer ones have held them.
    double innerLow = std::min(std::max(low, bounded.low), bounded.high);
    bounded.high = std::min(std::max(high, bounded.low), bounded.high);
    bounded.low = innerLow;
  };
  for (size_t steps = 0; steps < longestList; ++steps) {
    Operation *op = skipBroadcast(bounded.value).getDefiningOp();
    if (!isBounded(op))
      break;
    unsigned side = 0;
    if (auto clamp = dyn_cast<ClampOp>(op)) {
      hold(clamp.getMin().convertToDouble(), clamp.getMax().convertToDouble());
    } else if (isa<ReluOp>(op)) {
      hold(0.0, HUGE_VAL);
    } else {
      side = numberOperand(op, 1) ? 0 : 1;
      double number = *numberOperand(op, 1 - side);
      isa<MaximumOp>(op) ? hold(number, HUGE_VAL) : hold(-HUGE_VAL, number);
    }
    bounded.value = op->getOperand(side);
  }
  return bounded;
}
