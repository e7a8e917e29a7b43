//===- NodeBuilding.cpp - How converters make operations ---------------------===//
#include "compiler/import/BodyImporter.h"
#include "compiler/import/Node.h"
#include "dialects/nn/ChosenDims.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNRuntimeOps.h"
#include "dialects/nn/NNStructureOps.h"

#include "mlir/IR/Verifier.h"
#include <algorithm>
#include <cmath>

using namespace mlir;

namespace kiln::import {

Value Node::finish(Operation *op) {
  Value value = op->getResult(0);
  graph.verifierMessage.clear();
  if (mlir::failed(verify(op, /*verifyRecursively=*/false))) {
    (void)error(graph.verifierMessage.empty() ? std::string("its result is not well formed") : graph.verifierMessage);
    return value;
  }
  if (Value folded = foldContents(builder(), op, graph.sizes.getFacts(), [&](Value value) { return graph.constants.compute(value); })) {
    op->erase();
    return folded;
  }
  return value;
}

Value Node::constant(ElementsAttr value) { return nn::ConstantOp::create(builder(), loc, value); }

Value Node::strings(ArrayRef<std::string> texts, AffineExpr count) {
  SmallVector<StringRef> list(texts.begin(), texts.end());
  return make<nn::StringsOp>(type({count}, builder().getIntegerType(128)), builder().getStrArrayAttr(list));
}

Value Node::constantInts(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, builder().getI64Type());
  return constant(nn::makeConstantOf<int64_t>(type, values));
}

Value Node::splat(ArrayRef<AffineExpr> dims, Type elementType, double value) {
  TypedAttr attr;
  if (auto real = dyn_cast<FloatType>(elementType)) {
    // Rounding, and overflow to infinity, are part of the conversion.
    APFloat number(value);
    bool inexact;
    number.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    attr = FloatAttr::get(elementType, number);
  } else {
    // A number that does not fit 64 bits becomes the nearest integer, and NaN becomes 0.
    value = std::isnan(value) ? 0 : std::clamp(value, -0x1p63, 0x1.fffffffffffffp63);
    unsigned width = elementType.getIntOrFloatBitWidth();
    uint64_t bits = value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
    attr = IntegerAttr::get(elementType, APInt(width, bits, false, /*implicitTrunc=*/true));
  }
  return make<nn::SplatOp>(type(dims, elementType), attr);
}

//===- Broadcasting --------------------------------------------------------===//

/// Whether the other dimension is more than the symbol, whatever positive numbers the symbols are.
static bool isBelow(AffineExpr symbol, AffineExpr other) {
  return isa<AffineSymbolExpr>(symbol) && provablyAtMost(getAffineConstantExpr(1, symbol.getContext()), (other - symbol).replace(symbol, symbol + 1));
}

/// Whether the size is the larger one of the part and another symbol, which has been found to broadcast with it.
static bool isBroadcastOf(AffineExpr size, AffineExpr part) {
  bool found = false;
  size.walk([&](AffineExpr other) {
    bool isOther = isa<AffineSymbolExpr>(other) && other != part;
    found |= isOther && (nn::provablyEqual(size, nn::getBroadcastSize(part, other)) || nn::provablyEqual(size, nn::getBroadcastSize(other, part)));
  });
  return found;
}

/// Whether two sizes that depend on one symbol differ for each of its values except 0 and 1. Such sizes are not meant to be equal.
static bool areNeverEqual(AffineExpr a, AffineExpr b) {
  static constexpr int64_t mostTried = 64;
  AffineExpr symbol, difference = nn::simplifyDim(a - b);
  bool isOne = true;
  difference.walk([&](AffineExpr part) {
    if (!isa<AffineSymbolExpr>(part))
      return;
    isOne &= !symbol || symbol == part;
    symbol = part;
  });
  auto at = [&](int64_t value) { return nn::getConstantDim(difference.replace(symbol, getAffineConstantExpr(value, a.getContext()))); };
  return symbol && isOne && llvm::none_of(llvm::seq<int64_t>(2, mostTried), [&](int64_t value) { return at(value) == 0; });
}

/// A size that is a broadcast of a broadcast and so on has its parts again and again.
static constexpr unsigned mostParts = 1000;

bool Node::mayBeOne(AffineExpr dim, AffineExpr other) {
  AffineExpr difference = nn::simplifyDim(dim - other);
  // A model's other version is for what all runs assume.
  bool isSpread = !graph.sizes.areTakenAsEqual() || graph.sizes.isConditional() || areNeverEqual(dim, other) ||
                  (SymbolicSizes::hasSign(difference) && !graph.sizes.learn(difference, {dim, other}));
  if (isSpread)
    graph.sizes.noteSpread(dim, other);
  return isSpread;
}

std::optional<DimExprs> Node::broadcastDims(ArrayRef<AffineExpr> a, ArrayRef<AffineExpr> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  DimExprs result(a);
  for (size_t i = 0; i < b.size(); ++i) {
    AffineExpr &dim = result[a.size() - b.size() + i], other = b[i];
    bool known = graph.sizes.isConstraint(dim - other);
    if (known || nn::provablyEqual(dim, other))
      continue;
    dim = graph.sizes.usePinned(dim);
    other = graph.sizes.usePinned(other);
    if (nn::getConstantDim(other) == 1 || nn::getConstantDim(dim) == 0)
      continue;
    if (nn::getConstantDim(dim) == 1 || nn::getConstantDim(other) == 0) {
      dim = other;
      continue;
    }
    auto atMostOne = [&](AffineExpr size) { return graph.sizes.getFacts().areOrdered(size, number(1)); };
    if (atMostOne(other))
      continue;
    if (atMostOne(dim)) {
      dim = other;
      continue;
    }
    bool left = nn::mayBroadcast(dim, other), right = nn::mayBroadcast(other, dim);
    auto exceedsOne = [&](AffineExpr size) { return graph.sizes.getFacts().areOrdered(number(2), size); };
    if (left && right && exceedsOne(dim) && exceedsOne(other)) {
      if (!unify(dim, other, "shapes do not broadcast: dimensions"))
        return std::nullopt;
      continue;
    }
    // Of sizes that have an order or no zeros, the larger one. With an order, runs of 1 and 0 are refused: pyramids would pay for them with long sizes.
    auto getBroadcast = [&, &facts = graph.sizes.getFacts()] {
      auto isOrdered = [&](AffineExpr least, AffineExpr most) { return facts.areOrdered(least, most); };
      bool isLarger = isOrdered(dim, other) || isOrdered(other, dim) || (isOrdered(number(1), dim) && isOrdered(number(1), other));
      return isLarger ? facts.getLarger(dim, other) : facts.simplify(nn::getBroadcastSize(other, dim));
    };
    // Sizes that the model computes, as along the paths of a feature pyramid, are meant to be equal.
    if (left && right && isa<AffineSymbolExpr>(dim) && isa<AffineSymbolExpr>(other))
      dim = getBroadcast();
    else if (isBelow(other, dim) || (right && isBroadcastOf(dim, other)))
      continue;
    else if ((left && !right) || isBelow(dim, other) || (left && isBroadcastOf(other, dim)))
      dim = other;
    else if (left && right && mayBeOne(dim, other))
      dim = getBroadcast();
    else if (left == right && !unify(dim, other, "shapes do not broadcast: dimensions"))
      return std::nullopt;
    else if (left && right)
      graph.sizes.noteAssumedEqual(nn::simplifyDim(dim - other));
    if (nn::hasMoreParts(dim, mostParts)) {
      (void)unsupported("a dimension is a broadcast of too many sizes that only run time knows", "make some static with --dim");
      return std::nullopt;
    }
  }
  return result;
}

Value Node::broadcastTo(Value value, ArrayRef<AffineExpr> to) {
  DimExprs own = dims(value), aligned = own;
  RankedTensorType target = type(to, elementType(value));
  if (failed() || value.getType() == target)
    return value;
  if (own.size() > to.size()) {
    (void)error("a shape of rank " + Twine(own.size()) + " does not broadcast to rank " + Twine(to.size()));
    return value;
  }
  for (size_t i = 0; i < own.size(); ++i) {
    AffineExpr want = to[to.size() - own.size() + i];
    if (nn::getConstantDim(own[i]) == 1)
      continue;
    AffineExpr pinned = graph.sizes.usePinned(own[i]);
    if (pinned != own[i] && (nn::getConstantDim(pinned) == 1 || nn::provablyEqual(pinned, graph.sizes.usePinned(want)))) {
      aligned[i] = nn::getConstantDim(pinned) == 1 ? pinned : want;
      continue;
    }
    bool isOpen = !graph.sizes.areTakenAsEqual() && !graph.sizes.getFacts().areOrdered(number(2), own[i]);
    bool isEither = isOpen || nn::getConstantDim(want) || isa<AffineSymbolExpr>(own[i]) ||
                    graph.sizes.isSpread(own[i]) || graph.sizes.getFacts().areOrdered(own[i], number(1));
    if (isEither && nn::mayBroadcast(own[i], want) && !graph.sizes.isConstraint(own[i] - want)) {
      // A size that the choice is made of always fits.
      if (!nn::matchBroadcastOf(want, own[i]))
        graph.sizes.addConstraint(nn::getBroadcastConstraint(own[i], want), describe());
      continue;
    }
    if (!unify(own[i], want, "shapes do not broadcast: dimensions"))
      return value;
    aligned[i] = want;
  }
  // Where equality is only checked at run time, a reshape gives the operand the common dimension.
  value = reshape(value, aligned);
  if (auto attr = nn::getConstant(value); attr && attr.getNumElements() == 1 && !attr.getElementType().isInteger())
    return splat(to, elementType(value), nn::ConstantData(attr).asDouble(0));
  if (value.getType() == target)
    return value;
  return make<nn::BroadcastToOp>(target, value);
}

void Node::broadcast(ArrayRef<Value *> values, bool mixed) {
  std::optional<DimExprs> common = dims(*values.front());
  for (Value *value : values) {
    if (!mixed && elementType(*value) != elementType(*values.front())) {
      std::string types;
      llvm::raw_string_ostream(types) << elementType(*values.front()) << " and " << elementType(*value);
      (void)error("operands have different element types: " + types);
      common = std::nullopt;
    } else if (common) {
      common = broadcastDims(*common, dims(*value));
    }
  }
  for (Value *value : values) {
    if (common)
      *value = broadcastTo(*value, *common);
    else
      // Valid stand-ins, so that the converter can continue to its end.
      *value = *values.front();
  }
}

// After an error, these return their argument, because the shapes that they rely on may be wrong.

//===- Data movement -------------------------------------------------------===//

Value Node::reshape(Value value, ArrayRef<AffineExpr> to) {
  RankedTensorType target = type(to, elementType(value));
  return failed() || target == value.getType() ? value : make<nn::ReshapeOp>(target, value);
}

Value Node::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (failed())
    return value;
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  DimExprs from = dims(value), to;
  for (int64_t dim : permutation)
    to.push_back(from[dim]);
  return make<nn::TransposeOp>(type(to, elementType(value)), value, permutation);
}

Value Node::cast(Value value, Type element) {
  return elementType(value) == element ? value : make<nn::CastOp>(type(dims(value), element), value);
}

Value Node::slice(Value value, int64_t axis, AffineExpr start, AffineExpr extent, int64_t step) {
  if (failed())
    return value;
  DimExprs to = dims(value);
  if (step == 1 && nn::getConstantDim(start) == 0 && nn::provablyEqual(to[axis], extent))
    return value;
  SmallVector<AffineExpr> starts(to.size(), number(0));
  SmallVector<int64_t> steps(to.size(), 1);
  to[axis] = extent;
  starts[axis] = nn::simplifyDim(start);
  steps[axis] = step;
  RankedTensorType target = type(to, elementType(value));
  return failed() ? value : make<nn::SliceOp>(target, value, nn::makeSymbolMap(starts, context()), steps);
}

Value Node::concat(ArrayRef<Value> values, int64_t axis) {
  if (failed() || values.size() == 1)
    return values.front();
  DimExprs to = dims(values.front());
  AffineExpr sum = number(0);
  SmallVector<Value> aligned;
  for (Value value : values) {
    DimExprs own = dims(value);
    if (own.size() != to.size()) {
      (void)error("inputs have different ranks: " + Twine(to.size()) + " and " + Twine(own.size()));
      return values.front();
    }
    if (elementType(value) != elementType(values.front())) {
      (void)error("inputs have different element types");
      return values.front();
    }
    for (size_t d = 0; d < own.size(); ++d)
      if (static_cast<int64_t>(d) != axis && !unify(to[d], own[d], "inputs differ outside the axis: dimensions"))
        return values.front();
    sum = sum + own[axis];
    DimExprs want = to;
    want[axis] = own[axis];
    aligned.push_back(reshape(value, want));
  }
  to[axis] = sum;
  return make<nn::ConcatOp>(type(to, elementType(values.front())), aligned, axis);
}

Value Node::pad(Value value, ArrayRef<AffineExpr> low, ArrayRef<AffineExpr> high, nn::PadMode mode, Value fill) {
  if (failed())
    return value;
  DimExprs to = dims(value);
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = to[i] + low[i] + high[i];
  SmallVector<int64_t> interior(to.size(), 0);
  // Amounts beyond any tensor would overflow the sums of the result's shape.
  for (AffineExpr amount : llvm::concat<const AffineExpr>(low, high))
    if (auto number = dyn_cast<AffineConstantExpr>(amount); number && std::abs(number.getValue() / 2) > (int64_t(1) << 40))
      (void)error("pads: " + Twine(number.getValue()) + " is too large");
  return make<nn::PadOp>(type(to, elementType(value)), value, fill, nn::makeSymbolMap(low, context()), nn::makeSymbolMap(high, context()), interior, mode);
}

//===- Computation ---------------------------------------------------------===//

std::optional<std::pair<DimExprs, DimExprs>> Node::alignProduct(Value lhs, Value rhs) {
  if (failed())
    return std::nullopt;
  DimExprs to = dims(lhs), right = dims(rhs);
  if (to.size() < 2 || right.size() < 2) {
    (void)error("expected matrices, got ranks " + Twine(to.size()) + " and " + Twine(right.size()));
    return std::nullopt;
  }
  if (!unify(to.back(), right[right.size() - 2], "inner dimensions differ"))
    return std::nullopt;
  right[right.size() - 2] = to.back();
  for (size_t i = 0; right.size() == to.size() && i + 2 < to.size(); ++i) {
    if (nn::getConstantDim(to[i]) && nn::getConstantDim(right[i]))
      continue;
    if (!unify(to[i], right[i], "batch dimensions differ"))
      return std::nullopt;
    right[i] = to[i];
  }
  to.back() = right.back();
  return std::pair(to, right);
}

Value Node::matmul(Value lhs, Value rhs) {
  auto aligned = alignProduct(lhs, rhs);
  if (!aligned)
    return lhs;
  rhs = reshape(rhs, aligned->second);
  return make<nn::MatmulOp>(type(aligned->first, elementType(lhs)), lhs, rhs);
}

Value Node::quantizedMatmul(Value lhs, Value rhs, Value lhsZero, Value rhsZero) {
  auto aligned = alignProduct(lhs, rhs);
  if (!aligned)
    return lhs;
  rhs = reshape(rhs, aligned->second);
  rhsZero = reshape(rhsZero, aligned->second);
  return make<nn::QuantizedMatmulOp>(type(aligned->first, builder().getI32Type()), lhs, rhs, lhsZero, rhsZero);
}

Value Node::reduce(nn::ReduceKind kind, Value value, ArrayRef<int64_t> axes, bool keep) {
  if (failed())
    return value;
  DimExprs kept = dims(value), squeezed;
  for (auto [i, dim] : llvm::enumerate(dims(value))) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      squeezed.push_back(dim);
    else
      kept[i] = number(1);
  }
  Value result = axes.empty() ? value : make<nn::ReduceOp>(type(kept, elementType(value)), kind, value, axes);
  return keep ? result : reshape(result, squeezed);
}

Value Node::iota(ArrayRef<AffineExpr> dims, int64_t axis, Type element) { return make<nn::IotaOp>(type(dims, element), axis); }

} // namespace kiln::import
