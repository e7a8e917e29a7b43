//===- Shortlist.cpp - Products with the columns that a gather picks --------===//
//
//   result[i, j] = dot(lhs[i, :], table[indices[j], :])
//
// Only the rows of the table that are picked are read, where they lie: the vectors run along the sum, several columns at a time. What lies between the
// gather and the product (a dequantisation, a transpose) is computed on the way. Weights in blocks are unpacked in registers:
//
//   result[i, j] = sum over b of scale[j, b] * dot(lhs[i, block b], numbers[indices[j], block b] - zero_point[j, b])
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/Shortlist.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/contraction/ContractionLoops.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/groups/RowFusion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;
using kernel::Tuned;

/// The axis of the table that the sum runs along.
static unsigned depthAxis(GatherOp gather) { return gather.getAxis() == 0 ? 1 : 0; }

static bool isConstantInput(GroupOp group, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && group.isConstantInput(argument.getArgNumber());
}

static PlanNumbers planDots(Operation *product, kernel::TargetAttr target) {
  unsigned lanes = lanesOf(target, computeType(getElementTypeOrSelf(product->getResult(0))));
  PlanNumbers numbers{{target.tuned(Tuned::Dots), 1, lanes}, {}};
  numbers.blocks = target.tuned(Tuned::DotBlocks);
  return numbers;
}

KernelMatch matchGemmShortlist(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto gather = cast<GatherOp>(anchor);
  Operation *product = findPickedProduct(gather);
  if (!product)
    return refuse("expected a product whose columns the gather picks");
  RankedTensorType table = gather.getInput().getType();
  auto blocks = dyn_cast<BlockQuantizedMatmulOp>(product);
  if (!isa<BlockArgument>(gather.getInput()) || !table.hasStaticShape() || gather.getIndices().getType().getRank() != 1)
    return refuse("expected a table of a known shape and one dimension of indices");
  if (blocks ? gather.getAxis() != 0 || blocks.getLhsScale() : table.getRank() != 2 || cast<RankedTensorType>(product->getOperand(1).getType()).getRank() != 2)
    return refuse("expected a matrix whose columns are picked");
  if (!isConstantInput(group, gather.getInput()))
    return refuse("the table is not constant");
  if (!computesInF32(product->getOperand(0).getType()) || !computesInF32(product->getResult(0).getType()))
    return refuse("it is for a left side and a result of f32, f16 and bf16");
  return accept("product with the columns that a gather picks: read where they lie, vectors along the sum", planDots(product, target));
}

KernelMatch matchBlockDots(GroupOp, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<BlockQuantizedMatmulOp>(anchor);
  if (op.getLhsScale())
    return refuse("it is for a left side of f32");
  if (!isa<BlockArgument>(op.getWeight()))
    return refuse("the weights are not in a buffer");
  return accept("product with computed weights in blocks: vectors along the sum", planDots(op, target));
}

namespace {
class ShortlistEmitter {
public:
  /// Without a gather, the right side of the product is the table, and all of its columns are wanted.
  ShortlistEmitter(KernelBuilder &k, GatherOp gather, Operation *product)
      : k(k), gather(gather), product(product), blocks(dyn_cast<BlockQuantizedMatmulOp>(product)), lhs(product->getOperand(0)),
        table(cast<BlockArgument>(gather ? gather.getInput() : product->getOperand(1))), type(cast<RankedTensorType>(table.getType())),
        shape(type.getShape()), tile(getTile(k.group())), real(computeType(getElementTypeOrSelf(product->getResult(0)))),
        rows(getDims(product->getResult(0).getType())) {
    columns = rows.pop_back_val();
  }
  LaunchInfo run();

private:
  using Values = SmallVector<Value>;
  int64_t depth() { return blocks ? blocks.countBlocks() * blocks.getBlock() : shape[depthAxis(gather)]; }
  /// Elements of the table from one row that may be picked to the next.
  int64_t stride() { return blocks ? shape[1] * shape[2] : depth(); }
  AffineExpr findRow(AffineExpr column);
  void emitColumns(AffineExpr first, int64_t count);
  void emitRow(ArrayRef<AffineExpr> row);
  Value loadLeft(ArrayRef<AffineExpr> row, AffineExpr at, Lanes along);
  Values dotReal(ArrayRef<AffineExpr> row);
  Values addProducts(ArrayRef<AffineExpr> row, AffineExpr i, Lanes along, ValueRange sums);
  Values dotBlocks(ArrayRef<AffineExpr> row);
  Value unpack(AffineExpr at, Lanes along, int64_t shift);
  Value multiplyAdd(Value a, Value b, Value sum);

  KernelBuilder &k;
  GatherOp gather;
  Operation *product;
  BlockQuantizedMatmulOp blocks;
  Value lhs;
  BlockArgument table;
  RankedTensorType type;
  ArrayRef<int64_t> shape;
  TileShape tile;
  Type real;
  DimExprs rows;
  AffineExpr columns;
  /// Of the columns that are computed together: their numbers, and where they begin in the table.
  SmallVector<AffineExpr> chosen, bases;
};
} // namespace

Value ShortlistEmitter::multiplyAdd(Value a, Value b, Value sum) {
  if (isa<VectorType>(sum.getType()))
    return vector::FMAOp::create(k.builder(), k.loc(), a, b, sum);
  return arith::AddFOp::create(k.builder(), k.loc(), arith::MulFOp::create(k.builder(), k.loc(), a, b), sum);
}

Value ShortlistEmitter::loadLeft(ArrayRef<AffineExpr> row, AffineExpr at, Lanes along) {
  // A left side of one dimension has no rows, nor has the result.
  IndexExprs place(row);
  place.push_back(at);
  return k.value(lhs, place, along);
}

/// sums + the products of some places of the sum.
SmallVector<Value> ShortlistEmitter::addProducts(ArrayRef<AffineExpr> row, AffineExpr i, Lanes along, ValueRange sums) {
  Value a = loadLeft(row, i, along);
  Values next;
  for (auto [column, base, sum] : llvm::zip_equal(chosen, bases, sums)) {
    k.setValue(gather.getResult(), k.loadBuffer(k.buffer(table.getArgNumber()), type.getElementType(), base + i, along));
    next.push_back(multiplyAdd(a, k.value(product->getOperand(1), {i, column}, along), sum));
  }
  return next;
}

SmallVector<Value> ShortlistEmitter::dotReal(ArrayRef<AffineExpr> row) {
  int64_t lanes = tile.lanes, whole = depth() / lanes * lanes;
  auto sum = [&](int64_t from, int64_t to, unsigned width, Values init) {
    return k.loop(k.constant(from), k.constant(to), width, "k", init, [&](AffineExpr i, ValueRange sums) {
      return addProducts(row, i, Lanes{cast<AffineDimExpr>(i).getPosition(), width}, sums);
    });
  };
  Values sums(chosen.size(), k.number(real, 0, tile.lanes));
  if (whole)
    sums = sum(0, whole, tile.lanes, sums);
  for (Value &value : sums)
    value = reduceLanes(k, ReduceKind::Sum, real, value);
  return whole == depth() ? sums : sum(whole, depth(), 1, sums);
}

/// The numbers of some neighbouring bytes, `shift` bits up in each.
Value ShortlistEmitter::unpack(AffineExpr at, Lanes along, int64_t shift) {
  OpBuilder &b = k.builder();
  auto spread = [&](int64_t number) {
    return k.broadcast(arith::ConstantOp::create(b, k.loc(), b.getI32IntegerAttr(static_cast<int32_t>(number))), along.count);
  };
  Value numbers = k.loadBuffer(k.buffer(table.getArgNumber()), type.getElementType(), at, along);
  auto like = [&](Type element) -> Type { return along.count > 1 ? Type(VectorType::get(along.count, element)) : element; };
  numbers = arith::ExtUIOp::create(b, k.loc(), like(b.getI32Type()), numbers);
  if (shift)
    numbers = arith::ShRUIOp::create(b, k.loc(), numbers, spread(shift));
  if (blocks.getBits() < 8)
    numbers = arith::AndIOp::create(b, k.loc(), numbers, spread((int64_t(1) << blocks.getBits()) - 1));
  return arith::SIToFPOp::create(b, k.loc(), like(real), numbers);
}

SmallVector<Value> ShortlistEmitter::dotBlocks(ArrayRef<AffineExpr> row) {
  int64_t bits = blocks.getBits(), block = blocks.getBlock(), bytes = shape[2];
  unsigned lanes = std::min<int64_t>(tile.lanes, llvm::bit_floor(static_cast<uint64_t>(bytes)));
  while (bytes % lanes != 0)
    lanes /= 2;
  Values sums(chosen.size(), k.number(real, 0, lanes));
  sums = k.loop(k.constant(0), k.constant(shape[1]), 1, "block", sums, [&](AffineExpr at, ValueRange carried) {
    Values zeros, parts(chosen.size(), k.number(real, 0, lanes)), next;
    for (AffineExpr column : chosen) {
      Value zero = k.number(real, static_cast<double>(int64_t(1) << (bits - 1)), 1);
      if (Value given = blocks.getZeroPoint())
        zero = castTo(Scalar(k.builder(), k.loc(), k.value(given, {column, at}), getElementTypeOrSelf(given.getType())), real).value();
      zeros.push_back(k.broadcast(zero, lanes));
    }
    for (int64_t from = 0; from < bytes; from += lanes)
      for (int64_t shift = 0; shift < 8; shift += bits) {
        AffineExpr lane = k.index(k.emitConstant(0));
        Lanes along{cast<AffineDimExpr>(lane).getPosition(), lanes};
        Value a = loadLeft(row, at * block + (from + shift / bits * bytes) + lane, along);
        for (size_t i = 0; i < chosen.size(); ++i) {
          Value number = unpack(bases[i] + at * bytes + from + lane, along, shift);
          parts[i] = multiplyAdd(a, arith::SubFOp::create(k.builder(), k.loc(), number, zeros[i]), parts[i]);
        }
      }
    for (auto [column, part, sum] : llvm::zip_equal(chosen, parts, carried)) {
      Type element = getElementTypeOrSelf(blocks.getScale().getType());
      Value scale = castTo(Scalar(k.builder(), k.loc(), k.value(blocks.getScale(), {column, at}), element), real).value();
      next.push_back(multiplyAdd(part, k.broadcast(scale, lanes), sum));
    }
    return next;
  });
  for (Value &value : sums)
    value = reduceLanes(k, ReduceKind::Sum, real, value);
  return sums;
}

void ShortlistEmitter::emitRow(ArrayRef<AffineExpr> row) {
  Values sums = blocks ? dotBlocks(row) : dotReal(row);
  for (auto [column, sum] : llvm::zip_equal(chosen, sums)) {
    IndexExprs at(row);
    at.push_back(column);
    k.storeResults(product->getResult(0), sum, at);
  }
}

/// The row of the table that has a column.
AffineExpr ShortlistEmitter::findRow(AffineExpr column) {
  if (!gather)
    return column;
  CheckedIndices checked(k);
  return checked.orFirst(checked.add(k.value(gather.getIndices(), {column}), k.constant(shape[gather.getAxis()])));
}

/// All rows of some columns, which stay in the first-level cache meanwhile.
void ShortlistEmitter::emitColumns(AffineExpr first, int64_t count) {
  chosen.clear();
  bases.clear();
  for (int64_t i = 0; i < count; ++i) {
    AffineExpr column = i ? k.index(k.emit(first + i)) : first;
    chosen.push_back(column);
    bases.push_back(k.index(k.emit(findRow(column) * stride())));
  }
  forEachElement(k, rows, [&](ArrayRef<AffineExpr> row, Lanes) { emitRow(row); });
}

LaunchInfo ShortlistEmitter::run() {
  if (!blocks && gather.getAxis() == 1) {
    // Columns that are picked from lie in rows.
    AffineMap transposed = AffineMap::get(2, 0, {getAffineDimExpr(1, k.context()), getAffineDimExpr(0, k.context())}, k.context());
    k.packConstant(table.getArgNumber(), kernel::PackAttr::get(k.context(), {shape[1], shape[0]}, transposed));
  }
  int64_t together = tile.rows, columnsPerTask = together * k.group().getPlan()->getBlocks();
  AffineExpr tasks = simplifyDim(columns.ceilDiv(columnsPerTask));
  k.taskLoop({tasks}, [&](ArrayRef<AffineExpr> task) {
    AffineExpr first = k.index(k.emit(task.front() * columnsPerTask));
    AffineExpr end = k.index(k.minimum(k.emit(first + columnsPerTask), k.emit(columns)));
    AffineExpr whole = k.index(k.emit(first + (end - first).floorDiv(together) * together));
    k.loop(first, whole, together, "column", [&](AffineExpr column) { emitColumns(column, together); });
    k.loop(whole, end, 1, "column", [&](AffineExpr column) { emitColumns(column, 1); });
  });
  AffineExpr rowCount = getNumElements(rows, k.context());
  int64_t bytesEach = stride() * elementBytes(type.getElementType());
  AffineExpr bytes = columns * bytesEach + rowCount * (depth() * elementBytes(getElementTypeOrSelf(lhs))) +
                     rowCount * columns * elementBytes(getElementTypeOrSelf(product->getResult(0)));
  return LaunchInfo{tasks, simplifyDim(rowCount * columns * (2 * depth())), simplifyDim(bytes)};
}

FailureOr<LaunchInfo> lowerGemmShortlist(KernelBuilder &k, Operation *anchor) {
  auto gather = cast<GatherOp>(anchor);
  return ShortlistEmitter(k, gather, findPickedProduct(gather)).run();
}

FailureOr<LaunchInfo> lowerBlockDots(KernelBuilder &k, Operation *anchor) { return ShortlistEmitter(k, {}, anchor).run(); }

} // namespace kiln
