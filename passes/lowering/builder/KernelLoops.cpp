//===- KernelLoops.cpp - Loops and index arithmetic of one kernel ----------===//
#include "passes/lowering/builder/KernelLoops.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/IndexArithmetic.h"
#include "passes/lowering/builder/IndexBounds.h"
#include "passes/target/groups/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelLoops::KernelLoops(OpBuilder builder, Location location, ArrayRef<Value> symbols, Value begin, Value end)
    : b(builder), location(location), symbols(symbols), begin(begin), end(end) {}

//===- Index expressions ---------------------------------------------------===//

AffineExpr KernelLoops::index(Value value) {
  loopValues.push_back(value);
  return getAffineDimExpr(loopValues.size() - 1, context());
}

AffineExpr KernelLoops::placeholder() { return index(Value()); }

Value KernelLoops::emitConstant(int64_t value) { return arith::ConstantIndexOp::create(b, location, value); }

Value KernelLoops::minimum(Value x, Value y) { return arith::MinSIOp::create(b, location, x, y); }

Value KernelLoops::maximum(Value x, Value y) { return arith::MaxSIOp::create(b, location, x, y); }

/// An operation that truncates is faster than one that rounds down.
static Value emitFloorDiv(OpBuilder &b, Location loc, AffineBinaryOpExpr expr, Value lhs, Value rhs) {
  if (isNeverNegative(expr.getLHS()))
    return arith::DivSIOp::create(b, loc, lhs, rhs);
  return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
}

static Value emitQuotient(OpBuilder &b, Location loc, AffineBinaryOpExpr expr, Value lhs, Value rhs) {
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return emitFloorDiv(b, loc, expr, lhs, rhs);
  if (expr.getKind() == AffineExprKind::Mod) {
    if (isNeverNegative(expr.getLHS()))
      return arith::RemSIOp::create(b, loc, lhs, rhs);
    return arith::SubIOp::create(b, loc, lhs, arith::MulIOp::create(b, loc, emitFloorDiv(b, loc, expr, lhs, rhs), rhs));
  }
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value sum = arith::SubIOp::create(b, loc, arith::AddIOp::create(b, loc, lhs, rhs), one);
  return arith::DivSIOp::create(b, loc, sum, rhs);
}

Value KernelLoops::emit(AffineExpr expr) {
  auto variable = [&](AffineExpr part) {
    auto dim = dyn_cast<AffineDimExpr>(part);
    return dim ? loopValues[dim.getPosition()] : symbols[cast<AffineSymbolExpr>(part).getPosition()];
  };
  auto quotient = [&](AffineBinaryOpExpr part, Value lhs, Value rhs) { return emitQuotient(b, location, part, lhs, rhs); };
  return emitIndex(b, location, expr, {variable, quotient, {}, /*subtracts=*/true});
}

//===- Loops ---------------------------------------------------------------===//

SmallVector<Value> KernelLoops::loop(AffineExpr lower, AffineExpr upper, int64_t step, StringRef name, ValueRange init,
                                       function_ref<SmallVector<Value>(AffineExpr, ValueRange)> body) {
  ++block;
  Value from = emit(lower), to = emit(upper), by = emitConstant(step);
  auto loop = scf::ForOp::create(b, NameLoc::get(b.getStringAttr(name), location), from, to, by, init);
  // The builder makes a terminator of its own only when nothing is carried.
  if (init.empty())
    loop.getBody()->getTerminator()->erase();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> next = body(index(loop.getInductionVar()), loop.getRegionIterArgs());
  scf::YieldOp::create(b, location, next);
  ++block;
  return llvm::to_vector_of<Value>(loop.getResults());
}

void KernelLoops::loop(AffineExpr lower, AffineExpr upper, int64_t step, StringRef name, function_ref<void(AffineExpr)> body) {
  loop(lower, upper, step, name, ValueRange(), [&](AffineExpr i, ValueRange) -> SmallVector<Value> {
    body(i);
    return {};
  });
}

void KernelLoops::taskLoop(ArrayRef<AffineExpr> extents, function_ref<void(ArrayRef<AffineExpr>)> body) {
  AffineExpr begin = index(this->begin), end = index(this->end);
  loop(begin, end, 1, "task", [&](AffineExpr task) {
    IndexExprs coordinates(extents.size());
    AffineExpr rest = task;
    for (size_t i = extents.size(); i-- > 0;) {
      // Of an empty dimension there are no tasks, but their code must not divide by zero.
      bool isSmall = getConstantDim(extents[i]).value_or(2) <= 1;
      coordinates[i] = isSmall ? constant(0) : i == 0 ? rest : rest % extents[i];
      rest = isSmall ? rest : rest.floorDiv(extents[i]);
    }
    // Coordinates become values of their own so that index expressions stay linear in them.
    for (AffineExpr &coordinate : coordinates)
      if (!isa<AffineConstantExpr>(coordinate) && !isa<AffineDimExpr>(coordinate))
        coordinate = index(emit(coordinate));
    body(coordinates);
  });
}

void KernelLoops::vectorLoop(AffineExpr extent, unsigned lanes, StringRef name, function_ref<void(AffineExpr, Lanes)> body) {
  auto at = [&](AffineExpr i, unsigned count) { body(i, Lanes{cast<AffineDimExpr>(i).getPosition(), count}); };
  AffineExpr covered = constant(0);
  if (lanes > 1) {
    covered = simplifyDim(extent.floorDiv(lanes) * lanes);
    if (covered != constant(0))
      loop(constant(0), covered, lanes, name, [&](AffineExpr i) { at(i, lanes); });
  }
  auto size = getConstantDim(extent);
  int64_t done = lanes > 1 && size ? *size / lanes * lanes : 0;
  for (unsigned piece = lanes / 2; size && piece >= 4; piece /= 2)
    if (*size - done >= piece) {
      ++block;
      at(index(emitConstant(done)), piece);
      done += piece;
    }
  if (size)
    covered = constant(done);
  if (!size || done < *size)
    loop(covered, extent, 1, name, [&](AffineExpr i) { at(i, 1); });
}

SmallVector<Value> KernelLoops::whileLoop(ValueRange init, function_ref<Value(ValueRange)> condition,
                                            function_ref<SmallVector<Value>(ValueRange)> body) {
  ++block;
  auto loop = scf::WhileOp::create(b, location, init.getTypes(), init);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locations(init.size(), location);
  Block *before = b.createBlock(&loop.getBefore(), {}, init.getTypes(), locations);
  Value goesOn = condition(before->getArguments());
  scf::ConditionOp::create(b, location, goesOn, before->getArguments());
  ++block;
  Block *after = b.createBlock(&loop.getAfter(), {}, init.getTypes(), locations);
  SmallVector<Value> next = body(after->getArguments());
  scf::YieldOp::create(b, location, next);
  ++block;
  return llvm::to_vector_of<Value>(loop.getResults());
}

void KernelLoops::branch(Value condition, function_ref<void()> body) {
  auto op = scf::IfOp::create(b, location, condition, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  ++block;
  body();
  ++block;
}

//===- Numbers -------------------------------------------------------------===//

Value KernelLoops::number(Type elementType, double value, unsigned lanes) {
  Type type = computeType(elementType);
  TypedAttr attr = isa<FloatType>(type) ? TypedAttr(FloatAttr::get(type, value))
                                        : IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), static_cast<int64_t>(value), true, true));
  if (lanes > 1)
    attr = DenseElementsAttr::get(VectorType::get(lanes, type), Attribute(attr));
  return arith::ConstantOp::create(b, location, attr);
}

Value KernelLoops::named(Value value, StringRef name) {
  Location loc = NameLoc::get(b.getStringAttr(name));
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    loop.getRegionIterArg(cast<OpResult>(value).getResultNumber()).setLoc(loc);
  else if (Operation *op = value.getDefiningOp())
    op->setLoc(loc);
  return value;
}

Value KernelLoops::broadcast(Value scalar, unsigned lanes) {
  if (lanes == 1 || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, location, VectorType::get(lanes, scalar.getType()), scalar);
}

} // namespace kiln
