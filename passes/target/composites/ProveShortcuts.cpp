//===- ProveShortcuts.cpp - What ranges prove to be needless ---------------===//
//
//   %c = nn.clamp %x {max = 8.0, min = -8.0}
//   %d = nn.relu (nn.sigmoid %c)
//   %r = nn.softmax %d axis 1 : tensor<2x1000xf32>
// becomes
//   %c = nn.clamp %x {max = 8.0, min = -8.0}
//   %r = nn.softmax (nn.sigmoid %c) axis 1 {shift = 0.0, proof = "..."}
//
// docs/ValueRanges.md derives the bound. NaN needs no bound: it goes through clamps and makes its whole row NaN with and without the maximum.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/Shortcuts.h"
#include "passes/Passes.h"
#include "passes/analysis/ValueRangeAnalysis.h"

#include "runtime/include/kiln/math/bounds.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PROVESHORTCUTS
#include "passes/Passes.h.inc"

using namespace nn;

/// What the relative errors of exp, of storing it and of the bound itself may add to a logarithm: more than any variant of exp needs.
static constexpr double slack = 0x1p-6;

/// Longer rows keep the maximum: with it, sums of equal elements are sums of ones, which do not round.
static constexpr int64_t longestRow = 1 << 16;

namespace {
/// Every exponential and the sum of a row lie in [e^-limit, e^limit], whose ends and their reciprocals are normal numbers of the type.
struct SoftmaxBound {
  FloatType type;
  kernel::Accuracy accuracy;
  int64_t count;
  Interval input;

  double limit() const;
  /// ln of what summing multiplies the largest term with, roundings included; f16 and bf16 are summed in f32.
  double growth() const { return std::log(static_cast<double>(std::max<int64_t>(count, 1))) + count * (type.isF64() ? 0x1p-53 : 0x1p-24); }
  bool holds(double shift) const { return input.low - shift >= -limit() && input.high - shift + growth() <= limit(); }
  std::optional<double> findShift() const;
  std::string prove(double shift) const;
};
} // namespace

double SoftmaxBound::limit() const {
  double least = std::ldexp(1.0, getMinExponent(type));
  return -std::log(accuracy == kernel::Accuracy::Exact ? least : std::max(least, leastFastExp)) - slack;
}

/// Zero, or a number whose difference from every input is exact (within a factor of two of it): the exponent must not lose digits that
/// subtracting the maximum would keep.
std::optional<double> SoftmaxBound::findShift() const {
  if (!input.isBounded() || count > longestRow)
    return std::nullopt;
  if (holds(0))
    return 0.0;
  double shift = roundOutward(Interval((input.low + input.high) / 2, (input.low + input.high) / 2), type).low;
  double nearest = std::min(std::fabs(input.low), std::fabs(input.high)), farthest = input.magnitude();
  bool exact = !input.contains(0) && std::isfinite(shift) && std::fabs(shift) <= 2 * nearest && farthest <= 2 * std::fabs(shift);
  return exact && holds(shift) ? std::optional(shift) : std::nullopt;
}

std::string SoftmaxBound::prove(double shift) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string difference = "x";
  if (shift != 0)
    llvm::raw_string_ostream(difference) << (shift < 0 ? " + " : " - ") << llvm::format("%.9g", std::fabs(shift));
  os << "no maximum: x in [" << llvm::format("%.6g, %.6g", input.low, input.high) << "] and N " << (count == 1 ? "= " : "<= ") << count << " give "
     << difference << " >= " << llvm::format("%.4g", input.low - shift) << " and " << difference << " + ln N <= "
     << llvm::format("%.4g", input.high - shift + growth()) << ", within -+" << llvm::format("%.4g", limit()) << ": exp, sum and 1 / sum are normal " << type;
  return text;
}

static void proveSoftmax(SoftmaxOp op, const ValueRanges &ranges) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(op.getType()));
  SoftmaxBound bound{type, op.getAccuracy(), getLargestSize(op, op.getType(), {static_cast<int64_t>(op.getAxis())}), ranges.get(op.getInput())};
  std::optional<double> shift = bound.findShift();
  if (!shift)
    return;
  OpBuilder builder(op);
  op.setShiftAttr(builder.getF64FloatAttr(*shift));
  op.setProofAttr(builder.getStringAttr(bound.prove(*shift)));
}

/// Whether all numbers of the range lie within the limits as they are after rounding to the type.
static bool liesWithin(Interval range, double lowest, double highest, Type element) {
  return range.low >= roundOutward({lowest, lowest}, element).high && range.high <= roundOutward({highest, highest}, element).low;
}

/// The operand that the operation gives back unchanged, NaN included; null when the ranges do not prove that there is one.
static Value findIdentity(Operation *op, const ValueRanges &ranges) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!isa<ReluOp, ClampOp, MaximumOp, MinimumOp>(op) || !isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
    return {};
  Type element = getElementTypeOrSelf(op->getResult(0));
  Interval x = ranges.get(op->getOperand(0));
  if (isa<ReluOp>(op))
    return liesWithin(x, 0, infinity, element) ? op->getOperand(0) : Value();
  if (auto clamp = dyn_cast<ClampOp>(op))
    return liesWithin(x, clamp.getMin().convertToDouble(), clamp.getMax().convertToDouble(), element) ? op->getOperand(0) : Value();
  Interval y = ranges.get(op->getOperand(1));
  if (isa<MinimumOp>(op)) {
    x = negate(x);
    y = negate(y);
  }
  // The other operand must not bring a NaN of its own.
  if (!y.nan && x.low >= y.high)
    return op->getOperand(0);
  return !x.nan && y.low >= x.high ? op->getOperand(1) : Value();
}

namespace {
struct ProveShortcuts : impl::ProveShortcutsBase<ProveShortcuts> {
  void runOnOperation() override {
    ValueRanges ranges(getOperation());
    SmallVector<std::pair<Operation *, unsigned>> identities;
    getOperation().walk([&](Operation *op) {
      if (auto softmax = dyn_cast<SoftmaxOp>(op))
        proveSoftmax(softmax, ranges);
      if (Value same = findIdentity(op, ranges))
        identities.push_back({op, same == op->getOperand(0) ? 0 : 1});
    });
    // An operand that went before has been replaced in those that follow.
    for (auto [op, operand] : identities) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(operand));
      op->erase();
    }
  }
};
} // namespace

} // namespace kiln
