//===- SimplifyQuantized.cpp - Divisions and integers that are not needed --===//
//
//   %y = arith.divf %x, 0.02                   %q = kernel.quantize %x by 0.02, %zero
//   %q = kernel.quantize %y, %zero       =>
//
//   %q = kernel.quantize %x, %zero             %s = kernel.quantized_steps %x, %zero as ui8
//   %w = arith.extui %q
//   %i = arith.subi %w, %zero            =>
//   %s = arith.sitofp %i
//
//   %v = vector.broadcast %scale
//   %y = arith.divf %x, %v                =>   %y = kernel.quotient %x by %scale
//   %q = kernel.quantize %y, %zero
//
// A division takes as long as ten products or more; where the CPU multiplies and adds at once, C++ divides by two of them (runtime/include/kiln/quantize.h).
// Tensors that QuantizeLinear and DequantizeLinear round within a kernel never become integers with a zero point.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Quotient.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_SIMPLIFYQUANTIZED
#include "passes/Passes.h.inc"
} // namespace kiln

using namespace kiln;

/// The number that all elements of a value of f32 are, if it is known.
static std::optional<float> getNumber(Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    constant = dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
  auto number = dyn_cast_or_null<FloatAttr>(constant);
  return number && number.getType().isF32() ? std::optional(number.getValue().convertToFloat()) : std::nullopt;
}

/// Whether two values are the same or the same constant.
static bool isSame(Value left, Value right) {
  Attribute one, other;
  return left == right || (matchPattern(left, m_Constant(&one)) && matchPattern(right, m_Constant(&other)) && one == other);
}

namespace {
struct SimplifyQuantized : kiln::impl::SimplifyQuantizedBase<SimplifyQuantized> {
  void runOnOperation() override {
    SmallVector<kernel::QuantizeOp> found;
    getOperation().walk([&](kernel::QuantizeOp op) { found.push_back(op); });
    for (kernel::QuantizeOp op : found) {
      takeDivision(op);
      dropInteger(op);
    }
  }

  void takeDivision(kernel::QuantizeOp op) {
    auto division = op.getX().getDefiningOp<arith::DivFOp>();
    if (!division || op.getDivisor())
      return;
    std::optional<float> divisor = getNumber(division.getRhs());
    auto computed = division.getRhs().getDefiningOp<vector::BroadcastOp>();
    if (!divisor && computed && division->hasOneUse() && isa<FloatType>(computed.getSource().getType())) {
      OpBuilder builder(division);
      auto quotient = kernel::QuotientOp::create(builder, division.getLoc(), division.getType(), division.getLhs(), computed.getSource());
      division.replaceAllUsesWith(quotient.getResult());
      division.erase();
      return;
    }
    if (!divisor || !isProduct(*divisor, getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth()))
      return;
    op.setDivisorAttr(Builder(op).getF32FloatAttr(*divisor));
    op.getXMutable().assign(division.getLhs());
    if (division.use_empty())
      division.erase();
  }

  /// The one user of the integers makes them real numbers less the zero point.
  void dropInteger(kernel::QuantizeOp op) {
    if (!op->hasOneUse() || !isa<arith::ExtUIOp, arith::ExtSIOp>(*op->user_begin()) || isa<arith::ExtUIOp>(*op->user_begin()) != op.getIsUnsigned())
      return;
    Operation *wide = *op->user_begin(), *steps = wide->hasOneUse() ? *wide->user_begin() : nullptr;
    if (auto less = dyn_cast_or_null<arith::SubIOp>(steps))
      steps = less.getLhs() == wide->getResult(0) && less->hasOneUse() && isSame(less.getRhs(), op.getZero()) ? *less->user_begin() : nullptr;
    else if (!matchPattern(op.getZero(), m_Zero()))
      return;
    auto real = dyn_cast_or_null<arith::SIToFPOp>(steps);
    if (!real || real.getType() != op.getX().getType())
      return;
    OpBuilder builder(real);
    auto signedness = op.getIsUnsigned() ? IntegerType::Unsigned : IntegerType::Signed;
    Type integer = IntegerType::get(op.getContext(), getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth(), signedness);
    Value sum = kernel::QuantizedStepsOp::create(builder, op.getLoc(), real.getType(), op.getX(), op.getDivisorAttr(), op.getZero(), integer);
    real.replaceAllUsesWith(sum);
    for (Operation *gone = real; gone;) {
      Operation *before = gone == op ? nullptr : gone->getOperand(0).getDefiningOp();
      gone->erase();
      gone = before;
    }
  }

  /// isDividedByProduct, once for each number.
  bool isProduct(float divisor, unsigned bits) {
    auto [known, isNew] = products.try_emplace({llvm::bit_cast<uint32_t>(divisor), bits});
    if (isNew)
      known->second = kernel::isDividedByProduct(divisor, bits);
    return known->second;
  }

  llvm::DenseMap<std::pair<uint32_t, unsigned>, bool> products;
};
} // namespace
