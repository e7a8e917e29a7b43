//===- RowLoops.cpp - Reductions along one loop ----------------------------===//
#include "passes/lowering/builder/RowLoops.h"
#include "dialects/nn/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// A row gets this many accumulators once it is this many vectors long: enough to hide the latency of addition.
static constexpr unsigned accumulators = 4;

Value reductionIdentity(KernelBuilder &k, ReduceKind kind, Type elementType, unsigned lanes) {
  if (kind == ReduceKind::Sum || kind == ReduceKind::Mean)
    return k.number(elementType, 0, lanes);
  if (kind == ReduceKind::Prod)
    return k.number(elementType, 1, lanes);
  bool isMax = kind == ReduceKind::Max;
  if (isa<FloatType>(elementType))
    return k.number(elementType, isMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity(), lanes);
  Type type = computeType(elementType);
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  APInt extreme = isMax ? (isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width))
                        : (isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
  Value scalar = arith::ConstantOp::create(k.builder(), k.loc(), IntegerAttr::get(type, extreme));
  return k.broadcast(scalar, lanes);
}

Type getSumType(Type elementType) {
  Builder b(elementType.getContext());
  if (elementType.isF32())
    return b.getF64Type();
  return elementType.isF16() || elementType.isBF16() ? Type(b.getF32Type()) : elementType;
}

Value combine(KernelBuilder &k, ReduceKind kind, Type elementType, Value x, Value y) {
  Scalar a(k.builder(), k.loc(), x, elementType), b(k.builder(), k.loc(), y, elementType);
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return (a + b).value();
  case ReduceKind::Prod:
    return (a * b).value();
  case ReduceKind::Max:
    return max(a, b).value();
  case ReduceKind::Min:
    return min(a, b).value();
  }
  llvm_unreachable("all kinds handled");
}

Value larger(KernelBuilder &k, Value x, Value y) {
  Value isLarger = arith::CmpFOp::create(k.builder(), k.loc(), arith::CmpFPredicate::OGT, x, y);
  return arith::SelectOp::create(k.builder(), k.loc(), isLarger, x, y);
}

Value reduceLanes(KernelBuilder &k, ReduceKind kind, Type elementType, Value vector) {
  if (!isa<VectorType>(vector.getType()))
    return vector;
  using Kind = vector::CombiningKind;
  // The vector's own integers are signless.
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(vector.getType())), isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  Kind combining = Kind::ADD;
  if (kind == ReduceKind::Prod)
    combining = Kind::MUL;
  if (kind == ReduceKind::Max)
    combining = isFloat ? Kind::MAXIMUMF : isUnsigned ? Kind::MAXUI : Kind::MAXSI;
  if (kind == ReduceKind::Min)
    combining = isFloat ? Kind::MINIMUMF : isUnsigned ? Kind::MINUI : Kind::MINSI;
  return vector::ReductionOp::create(k.builder(), k.loc(), combining, vector);
}

/// One loop of a row's reduction: `width` accumulators for each value, combined at its end into scalars that are added to `totals`.
static void reducePart(KernelBuilder &k, ReduceKind kind, Type elementType, AffineExpr from, AffineExpr to, unsigned lanes, unsigned width,
                       SmallVectorImpl<Value> &totals, function_ref<SmallVector<Value>(AffineExpr, Lanes)> body) {
  unsigned count = totals.size();
  SmallVector<Value> sums(width * count, reductionIdentity(k, kind, elementType, lanes));
  sums = k.loop(from, to, width * lanes, "i", sums, [&](AffineExpr i, ValueRange carried) {
    SmallVector<Value> next;
    for (unsigned part = 0; part < width; ++part) {
      AffineExpr at = part == 0 ? i : k.index(k.emit(i + part * lanes));
      for (auto [value, sum] : llvm::zip_equal(body(at, Lanes{cast<AffineDimExpr>(at).getPosition(), lanes}), carried.slice(part * count, count)))
        next.push_back(combine(k, kind, elementType, sum, value));
    }
    return next;
  });
  for (; sums.size() > count; sums.resize(sums.size() / 2))
    for (size_t i = 0; i < sums.size() / 2; ++i)
      sums[i] = combine(k, kind, elementType, sums[i], sums[i + sums.size() / 2]);
  for (auto [total, sum] : llvm::zip_equal(totals, sums)) {
    Value reduced = reduceLanes(k, kind, elementType, sum);
    total = total ? combine(k, kind, elementType, total, reduced) : reduced;
  }
}

SmallVector<Value> reduceRow(KernelBuilder &k, ReduceKind kind, Type elementType, AffineExpr extent, unsigned lanes, unsigned count,
                             function_ref<SmallVector<Value>(AffineExpr, Lanes)> body) {
  SmallVector<Value> totals(count);
  AffineExpr done = k.constant(0);
  auto size = getConstantDim(extent);
  unsigned most = !size || *size >= 2 * accumulators * lanes ? accumulators : 1;
  for (unsigned width = lanes > 1 ? most : 0; width > 0; width = width == most && most > 1 ? 1 : 0) {
    AffineExpr covered = simplifyDim(extent.floorDiv(width * lanes) * (width * lanes));
    if (covered != done || width == most)
      reducePart(k, kind, elementType, done, covered, lanes, width, totals, body);
    done = covered;
  }
  // A static remainder is taken in smaller vectors.
  for (int64_t piece = lanes / 2; size && piece >= 4; piece /= 2)
    if (AffineExpr next = done + piece; *getConstantDim(next) <= *size) {
      reducePart(k, kind, elementType, done, next, piece, 1, totals, body);
      done = next;
    }
  if (done == extent && lanes > 1)
    return totals;
  for (Value &total : totals)
    total = total ? total : reductionIdentity(k, kind, elementType, 1);
  return k.loop(done, extent, 1, "i", totals, [&](AffineExpr i, ValueRange carried) {
    SmallVector<Value> next;
    for (auto [value, sum] : llvm::zip_equal(body(i, Lanes{cast<AffineDimExpr>(i).getPosition(), 1}), carried))
      next.push_back(combine(k, kind, elementType, sum, value));
    return next;
  });
}

Value reduceRow(KernelBuilder &k, ReduceKind kind, Type elementType, AffineExpr extent, unsigned lanes,
                function_ref<Value(AffineExpr, Lanes)> body) {
  auto one = [&](AffineExpr i, Lanes across) { return SmallVector<Value>{body(i, across)}; };
  return reduceRow(k, kind, elementType, extent, lanes, 1, one).front();
}

bool storesElements(KernelBuilder &k, Type element) { return getElementTypeOrSelf(k.group().getResult(0).getType()) == element; }

AffineExpr countTasks(KernelBuilder &k, ArrayRef<AffineExpr> extents) { return getNumElements(extents, k.context()); }

RowShape makeRowShape(KernelBuilder &k, ArrayRef<AffineExpr> dims, unsigned first, unsigned last) {
  RowShape shape;
  AffineExpr one = k.constant(1);
  AffineExpr outer = getNumElements(dims.take_front(first), k.context()), inner = getNumElements(dims.drop_front(last + 1), k.context());
  shape.length = getNumElements(dims.slice(first, last + 1 - first), k.context());
  shape.alongRow = inner == one;
  shape.across = inner;
  shape.tasks = {outer};
  DimExprs all(dims);
  KernelBuilder *builder = &k;
  // Coordinates of a linear place in a run of dimensions; a run of one (besides ones) stays linear in it.
  auto spread = [builder, all](AffineExpr place, unsigned from, unsigned to, IndexExprs &at) {
    unsigned wide = 0, only = to;
    for (unsigned i = from; i < to; ++i)
      if (getConstantDim(all[i]) != 1) {
        ++wide;
        only = i;
      }
    for (unsigned i = from; i < to; ++i)
      at[i] = builder->constant(0);
    if (wide == 1)
      at[only] = place;
    for (unsigned i = to; wide > 1 && i-- > from;) {
      at[i] = i == from ? place : place % all[i];
      place = place.floorDiv(all[i]);
    }
  };
  shape.at = [spread, first, last, all, builder](ArrayRef<AffineExpr> task, AffineExpr row, AffineExpr across) {
    IndexExprs at(all.size(), builder->constant(0));
    spread(task.front(), 0, first, at);
    spread(row, first, last + 1, at);
    spread(across, last + 1, all.size(), at);
    return at;
  };
  return shape;
}

void forEachRow(KernelBuilder &k, const RowShape &shape, function_ref<void(function_ref<IndexExprs(AffineExpr)>, Lanes)> body) {
  k.taskLoop(shape.tasks, [&](ArrayRef<AffineExpr> task) {
    if (shape.alongRow) {
      auto at = [&](AffineExpr row) { return shape.at(task, row, k.constant(0)); };
      body(at, Lanes{});
      return;
    }
    k.vectorLoop(shape.across, k.vectorLanes(), "column", [&](AffineExpr column, Lanes lanes) {
      auto at = [&](AffineExpr row) { return shape.at(task, row, column); };
      body(at, lanes);
    });
  });
}

} // namespace kiln
