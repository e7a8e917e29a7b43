//===- MatmulTiled.cpp - Matrix products in register tiles -----------------===//
//
// The left side is read in place, through transposes and slices. A constant right side is stored in panels
//   [batch, column / NR, k, column % NR], NR = the tile's columns; the last panel has only the vectors that it needs
// so that the innermost loop reads it front to back, or, where sums are long and the target says so, a part at a time for all rows (gemm_packed). So does one
// that the caller has packed, whose last panel is whole. One that is computed is packed into such panels at run time (gemm_packed); where few rows would not
// pay for that it is read in place.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/MatmulTiled.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/QuantizedProducts.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/contraction/DotContraction.h"
#include "passes/lowering/contraction/PackedContraction.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/groups/PackedInputs.h"
#include "passes/target/groups/Places.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace kiln {

using namespace nn;
using kernel::Tuned;

static bool isReal(Value value) { return computesInF32(value.getType()); }

namespace {
/// The dimensions of a product: those that select a right side, those that do not, and the rest.
struct MatmulDims {
  unsigned rank;
  /// Result dims.
  SmallVector<unsigned> batch, rows;

  MatmulDims(MatmulOp op, const TracedView &rhs) : rank(cast<RankedTensorType>(op.getType()).getRank()) {
    bool shared = cast<RankedTensorType>(op.getRhs().getType()).getRank() == 2;
    AffineExpr zero = getAffineConstantExpr(0, op.getContext());
    for (unsigned i = 0; i + 1 < rank; ++i) {
      bool selects = i + 2 < rank && !shared && linearCoefficient(rhs.offset, i) != zero;
      (selects ? batch : rows).push_back(i);
    }
  }
  IndexExprs index(ArrayRef<AffineExpr> batchAt, ArrayRef<AffineExpr> rowsAt, AffineExpr last) const {
    IndexExprs at(rank);
    for (auto [dim, i] : llvm::zip_equal(batch, batchAt))
      at[dim] = i;
    for (auto [dim, i] : llvm::zip_equal(rows, rowsAt))
      at[dim] = i;
    at.back() = last;
    return at;
  }
};
} // namespace

/// Stores a constant right side in panels and describes how they lie. `dims` are the batch dims of the right side's tensor. With even panels, the last one is
/// as wide as the others.
static void packPanels(KernelBuilder &k, Contraction &c, Value rhs, const TracedView &view, ArrayRef<unsigned> dims, int64_t depth) {
  unsigned rank = cast<RankedTensorType>(rhs.getType()).getRank(), count = dims.size();
  PackedColumns packed(*getConstantDim(c.columns), c.tile);
  if (c.evenPanels)
    packed.tail = packed.width;
  IndexExprs at(rank, k.constant(0));
  SmallVector<int64_t> shape;
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  for (auto [i, position] : llvm::enumerate(dims)) {
    at[position] = dim(i);
    shape.push_back(*getConstantDim(c.batch[i]));
  }
  at[rank - 2] = dim(count + 1);
  at[rank - 1] = dim(count) * packed.width + dim(count + 2);
  shape.append({packed.panels, depth, packed.width});
  IndexExprs source;
  for (AffineExpr expr : view.at)
    source.push_back(simplifyDim(expr.replaceDims(at)));
  k.packConstant(view.argument, packed.pack(shape, AffineMap::get(count + 3, 0, source, k.context()), count));
  IndexExprs batch(c.batch);
  c.rhsAt = [&k, batch, size = packed.stored() * depth](ArrayRef<AffineExpr> at) { return k.linearize(batch, at) * size; };
  c.reduction.front().rhsStride = k.constant(packed.width);
  c.panelStride = k.constant(depth);
  c.laneStride = k.constant(1);
  c.padded = true;
}

/// Whether the view's index expressions are linear, as a packed order must be.
static bool isLinearIndex(const TracedView &view, unsigned rank) {
  return llvm::all_of(view.at, [&](AffineExpr expr) {
    return expr.isPureAffine() && llvm::all_of(llvm::seq(rank), [&](unsigned i) { return coefficientOf(expr, i).has_value(); });
  });
}

TileShape limitRows(TileShape tile) {
  constexpr unsigned mostRowsApart = 10;
  tile.rows = std::min(tile.rows, mostRowsApart);
  return tile;
}

namespace {
/// A product in f32 or f64, or by a step of several products, with operands that are linear views of buffers.
struct LinearMatmul {
  MatmulOp op;
  TracedView lhs, rhs;
  MatmulDims dims;
  unsigned rhsRank;
  bool constantRhs;
  /// The caller has packed the right side.
  bool packedRhs;

  /// Nullopt when the kernels for such products cannot have it; `why` says what is in the way.
  static std::optional<LinearMatmul> match(GroupOp group, Operation *anchor, std::string *why = nullptr, kernel::StepAttr step = {}) {
    auto op = cast<MatmulOp>(anchor);
    auto lhs = traceLinearView(op.getLhs()), rhs = traceLinearView(op.getRhs());
    bool packed = rhs && isPackedInput(group, rhs->argument);
    std::string fault = findFault(op, lhs.has_value(), rhs.has_value(), step);
    if (fault.empty() && packed && (!isa<BlockArgument>(op.getRhs()) || op.getRhs().getType().getRank() != 2))
      fault = "the packed right side is seen through a view";
    if (!fault.empty()) {
      if (why)
        *why = fault;
      return std::nullopt;
    }
    bool constant = group.isConstantInput(rhs->argument);
    return LinearMatmul{op, *lhs, *rhs, MatmulDims(op, *rhs), static_cast<unsigned>(cast<RankedTensorType>(op.getRhs().getType()).getRank()),
                        constant,
                        packed};
  }
  std::optional<int64_t> countRows() const {
    AffineExpr count = getAffineConstantExpr(1, lhs.offset.getContext());
    DimExprs extents = getDims(MatmulOp(op).getType());
    for (unsigned dim : dims.rows)
      count = count * extents[dim];
    return getConstantDim(simplifyDim(count));
  }
  /// Whether the right side can be stored in panels at compile time.
  bool isPackable() const {
    DimExprs extents = getDims(MatmulOp(op).getRhs().getType());
    auto isStatic = [&](unsigned dim) { return getConstantDim(extents[dim]).has_value(); };
    return constantRhs && llvm::all_of(dims.batch, isStatic) && isStatic(rhsRank - 1) && isStatic(rhsRank - 2) && isLinearIndex(rhs, rhsRank);
  }
  /// Whether each right side lies in rows that tiles take whole vectors of, and in the second-level cache while it is used: a copy in panels costs 4 to
  /// 35 % more than it gains.
  bool isReadInPlace(kernel::TargetAttr target) const {
    DimExprs extents = getDims(MatmulOp(op).getRhs().getType());
    auto depth = getConstantDim(extents[rhsRank - 2]), columns = getConstantDim(extents[rhsRank - 1]);
    bool areRows = linearCoefficient(rhs.offset, rhsRank - 1) == getAffineConstantExpr(1, rhs.offset.getContext());
    Type element = MatmulOp(op).getRhs().getType().getElementType();
    return areRows && depth && columns && *columns % lanesOf(target, element) == 0 && *depth * *columns * elementBytes(element) <= target.getL2() / 2;
  }
  TileShape chooseTile(kernel::TargetAttr target) const {
    RankedTensorType type = MatmulOp(op).getType();
    // The panels of a packed side depend on no size.
    if (packedRhs)
      return limitRows(kiln::chooseTile(target, type.getElementType(), std::nullopt, std::nullopt, std::nullopt));
    std::optional<int64_t> apart = coefficientOf(lhs.offset, dims.rows.back());
    TileShape tile = kiln::chooseTile(target, type.getElementType(), countRows(), getConstantDim(getDims(type).back()), apart);
    return apart ? tile : limitRows(tile);
  }
  Contraction contraction(KernelBuilder &k) const;

private:
  static std::string findFault(MatmulOp op, bool isLhsLinear, bool isRhsLinear, kernel::StepAttr step) {
    Type left = op.getLhs().getType().getElementType(), right = op.getRhs().getType().getElementType(), result = op.getType().getElementType();
    bool isAny = step || multipliesInF64(left, right, result);
    for (auto [side, type, fits] : {std::tuple("left side", left, computesInF32(left)), std::tuple("right side", right, isWeightElement(right)),
                                    std::tuple("result", result, computesInF32(result))})
      if (!isAny && !fits)
        return "it is for f32, f16 and bf16, or f64 alone, the " + std::string(side) + " is " + llvm::to_string(type);
    // Tiles of nothing have no size.
    if (llvm::is_contained(op.getType().getShape(), 0))
      return "the result has no elements";
    if (!isLhsLinear || !isRhsLinear)
      return std::string("the ") + (isLhsLinear ? "right" : "left") + " side is computed, or a view that is not linear";
    return "";
  }
};
} // namespace

Contraction LinearMatmul::contraction(KernelBuilder &k) const {
  MatmulOp matmul = op;
  DimExprs extents = getDims(matmul.getType());
  Contraction c;
  c.result = matmul.getResult();
  c.element = matmul.getType().getElementType();
  c.lhs = k.buffer(lhs.argument);
  c.rhs = k.buffer(rhs.argument);
  for (unsigned dim : dims.batch)
    c.batch.push_back(extents[dim]);
  for (unsigned dim : dims.rows)
    c.rows.push_back(extents[dim]);
  c.columns = extents.back();
  c.lhsAt = [&k, dims = dims, offset = lhs.offset](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows) {
    return offset.replaceDims(dims.index(batch, rows, k.constant(0)));
  };
  c.rhsAt = [&k, dims = dims, rhsRank = rhsRank, offset = rhs.offset](ArrayRef<AffineExpr> batch) {
    IndexExprs at(rhsRank, k.constant(0));
    for (auto [dim, i] : llvm::zip_equal(dims.batch, batch))
      at[dim] = i;
    return offset.replaceDims(at);
  };
  c.resultAt = [dims = dims](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, AffineExpr column) { return dims.index(batch, rows, column); };
  AffineExpr depth = getDims(matmul.getLhs().getType()).back();
  c.reduction = {{depth, linearCoefficient(lhs.offset, dims.rank - 1), linearCoefficient(rhs.offset, rhsRank - 2)}};
  c.panelStride = c.laneStride = linearCoefficient(rhs.offset, rhsRank - 1);
  return c;
}

/// "f32 product", or of f64.
static std::string nameProduct(MatmulOp op) { return llvm::to_string(computeType(op.getType().getElementType())) + " product "; }

KernelMatch matchGemmTiled(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  std::string why;
  auto matmul = LinearMatmul::match(group, anchor, &why);
  if (!matmul)
    return refuse(why);
  StringRef how = matmul->packedRhs      ? "whose right side the caller has packed, accumulators in registers"
                  : matmul->isPackable() ? "with constant weights: panels made at compile time, accumulators in registers"
                  : matmul->isReadInPlace(target)
                      ? "of computed operands, the right side read in place, accumulators in registers"
                      : "of few rows: both sides read in place, accumulators in registers";
  return accept(nameProduct(matmul->op) + how, planProduct(target, matmul->chooseTile(target)));
}

/// Columns of the right side in panels that the caller has made.
static void readPanels(KernelBuilder &k, Contraction &c) {
  c.reduction.front().rhsStride = k.constant(c.tile.columns());
  c.panelStride = c.reduction.front().extent;
  c.laneStride = k.constant(1);
  c.padded = c.evenPanels = c.allHeights = true;
}

Contraction makeTiledMatmul(KernelBuilder &k, MatmulOp op) {
  auto matmul = LinearMatmul::match(k.group(), op);
  Contraction c = matmul->contraction(k);
  c.tile = getTile(k.group());
  if (matmul->packedRhs)
    readPanels(k, c);
  if (matmul->isPackable())
    packPanels(k, c, matmul->op.getRhs(), matmul->rhs, matmul->dims.batch, *getConstantDim(c.reduction.front().extent));
  return c;
}

FailureOr<LaunchInfo> lowerGemmTiled(KernelBuilder &k, Operation *anchor) {
  auto matmul = LinearMatmul::match(k.group(), anchor);
  if (matmul->packedRhs && failed(setPanels(k.group(), matmul->rhs.argument, getTile(k.group()).columns(), 1)))
    return failure();
  return lowerContraction(k, makeTiledMatmul(k, matmul->op));
}

//===- Rows that a gather picks --------------------------------------------===//

static TileShape chooseGatheredTile(GatherOp gather, MatmulOp product, kernel::TargetAttr target) {
  int64_t depth = gather.getInput().getType().getShape()[1];
  RankedTensorType type = product.getType();
  return chooseTile(target, type.getElementType(), gather.getType().getNumElements() / depth, type.getShape().back(), depth);
}

KernelMatch matchGemmGathered(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto gather = cast<GatherOp>(anchor);
  auto product = gather->hasOneUse() ? dyn_cast<MatmulOp>(*gather->user_begin()) : MatmulOp();
  if (!product || product.getLhs() != gather.getResult() || !isa<BlockArgument>(product.getRhs()))
    return refuse("expected a product of what the gather picks with a constant");
  bool isMatrix = gather.getAxis() == 0 && gather.getInput().getType().hasStaticShape() && gather.getInput().getType().getRank() == 2;
  auto weight = cast<BlockArgument>(product.getRhs());
  if (!isMatrix || !isa<BlockArgument>(gather.getInput()) || !gather.getType().hasStaticShape() || product.getRhs().getType().getRank() != 2)
    return refuse("expected rows of a matrix, and static shapes");
  if (!group.isConstantInput(weight.getArgNumber()) || !isReal(product.getRhs()) || !isReal(gather.getInput()) || !isReal(product.getResult()))
    return refuse("it is for f32, f16 and bf16 with a constant right side");
  return accept("f32 product of the rows that a gather picks: few, read where they lie", planProduct(target, chooseGatheredTile(gather, product, target)));
}

FailureOr<LaunchInfo> lowerGemmGathered(KernelBuilder &k, Operation *anchor) {
  auto gather = cast<GatherOp>(anchor);
  auto product = cast<MatmulOp>(*gather->user_begin());
  TracedView rhs = *traceLinearView(product.getRhs());
  DimExprs table = getDims(gather.getInput().getType());
  int64_t depth = *getConstantDim(table[1]);
  Contraction c;
  c.result = product.getResult();
  c.element = product.getType().getElementType();
  c.lhs = k.buffer(cast<BlockArgument>(gather.getInput()).getArgNumber());
  c.rhs = k.buffer(rhs.argument);
  c.rows = getDims(product.getType());
  c.columns = c.rows.pop_back_val();
  c.tile = getTile(k.group());
  c.reduction = {{table[1], k.constant(1), k.constant(1)}};
  packPanels(k, c, product.getRhs(), rhs, {}, depth);
  AffineMap count = getDenseMap(c.rows, k.context());
  c.lhsAt = [count](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows) { return count.getResult(0).replaceDims(rows); };
  c.gatheredRow = [&](ArrayRef<AffineExpr> rows) {
    CheckedIndices checked(k);
    AffineExpr row = checked.add(k.value(gather.getIndices(), rows), table[0]);
    return checked.orFirst(row) * depth;
  };
  c.resultAt = [](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows, AffineExpr column) {
    IndexExprs at(rows);
    at.push_back(column);
    return at;
  };
  return lowerContraction(k, c);
}

//===- Vectors along the sum -----------------------------------------------===//

static constexpr llvm::StringLiteral packedByCaller = "the caller has packed the right side";

KernelMatch matchGemmDots(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  std::string why;
  auto matmul = LinearMatmul::match(group, anchor, &why);
  if (!matmul)
    return refuse(why);
  unsigned lanes = lanesOf(target, matmul->op.getType().getElementType());
  if (matmul->packedRhs)
    return refuse(packedByCaller);
  if (lanes < 4)
    return refuse("a vector has " + Twine(lanes) + " elements, expected at least 4");
  DimExprs rhs = getDims(matmul->op.getRhs().getType());
  int64_t fewRows = target.tuned(Tuned::PackedRows);
  bool oneColumn = getConstantDim(rhs.back()) == 1, fewComputed = !matmul->isPackable() && matmul->countRows().value_or(fewRows) < fewRows;
  if (!oneColumn && !fewComputed)
    return refuse("there are " + formatDim(rhs.back()) + " columns, expected one, or fewer than " + Twine(fewRows) + " rows and a computed right side");
  AffineExpr one = getAffineConstantExpr(1, group.getContext());
  bool isLhsDense = linearCoefficient(matmul->lhs.offset, matmul->dims.rank - 1) == one;
  if (!isLhsDense || linearCoefficient(matmul->rhs.offset, matmul->rhsRank - 2) != one)
    return refuse(Twine("the ") + (isLhsDense ? "right" : "left") + " side is not contiguous along the sum");
  PlanNumbers numbers{{target.tuned(Tuned::Dots), 1, lanes}, {}};
  numbers.blocks = target.tuned(Tuned::DotBlocks);
  StringRef how = oneColumn ? "with one column: vectors along the sum" : "of few rows, both sides contiguous along the sum";
  return accept(nameProduct(matmul->op) + how, std::move(numbers));
}

FailureOr<LaunchInfo> lowerGemmDots(KernelBuilder &k, Operation *anchor) {
  Contraction c = LinearMatmul::match(k.group(), anchor)->contraction(k);
  c.tile = getTile(k.group());
  return lowerDotContraction(k, c);
}

/// A constant right side of f32 or f64 with long sums: a part of a panel at a time stays in the first-level cache while all rows are multiplied by it.
static KernelMatch matchParts(const LinearMatmul &matmul, kernel::TargetAttr target) {
  int64_t from = target.tuned(Tuned::PartsFrom), depth = *getConstantDim(getDims(MatmulOp(matmul.op).getLhs().getType()).back());
  std::optional<int64_t> rows = matmul.countRows();
  TileShape tile = matmul.chooseTile(target);
  if (!from || depth < from || !rows || *rows < target.tuned(Tuned::PartsRows) * tile.rows)
    return refuse("the right side is constant, so its panels are made at compile time");
  PlanNumbers numbers{toNumbers(tile), {}};
  numbers.streams = chooseStreams(target);
  numbers.depth = target.tuned(Tuned::PackedDepth);
  numbers.blocks = target.tuned(Tuned::PartsBlocks);
  return accept(nameProduct(matmul.op) + "with constant weights: panels made at compile time, " + Twine(numbers.depth) + " of a sum at a time for all rows",
                std::move(numbers));
}

/// A constant right side of fewer bits than f32: many rows share what is widened.
static KernelMatch matchWidened(const LinearMatmul &matmul, kernel::TargetAttr target) {
  Type element = MatmulOp(matmul.op).getRhs().getType().getElementType();
  if (element.isF32() || element.isF64())
    return matchParts(matmul, target);
  std::optional<int64_t> rows = matmul.countRows();
  TileShape tile = matmul.chooseTile(target);
  if (rows && (*rows < target.tuned(Tuned::PackedRows) || *rows <= tile.rows))
    return refuse("the right side is constant " + llvm::to_string(element) + ", and a tile has all " + Twine(*rows) +
                  " rows, so it is widened once as it is loaded");
  PlanNumbers numbers = planUnpackedProduct(target, *getConstantDim(getDims(MatmulOp(matmul.op).getType()).back()), 1,
                                            *getConstantDim(getDims(MatmulOp(matmul.op).getLhs().getType()).back()), 1);
  numbers.streams = chooseStreams(target);
  return accept("f32 product with constant weights of " + llvm::to_string(element) + ": widened once for " +
                    (rows ? "all rows" : "more rows than a tile has") + ", " + Twine(numbers.depth) + " of a sum at a time",
                std::move(numbers));
}

KernelMatch matchGemmPacked(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  std::string why;
  auto matmul = LinearMatmul::match(group, anchor, &why);
  if (!matmul)
    return refuse(why);
  if (matmul->packedRhs)
    return refuse(packedByCaller);
  if (matmul->isPackable())
    return matchWidened(*matmul, target);
  if (matmul->isReadInPlace(target))
    return refuse("the right side has rows of whole vectors and fits half of the second-level cache of " + Twine(target.getL2()) +
                  " bytes, so it is read in place");
  int64_t fewRows = target.tuned(Tuned::PackedRows);
  if (int64_t rows = matmul->countRows().value_or(fewRows); rows < fewRows)
    return refuse("there are " + Twine(rows) + " rows, packing pays from " + Twine(fewRows) + " on");
  PlanNumbers numbers{toNumbers(matmul->chooseTile(target)), {}};
  numbers.streams = chooseStreams(target);
  numbers.depth = target.tuned(Tuned::PackedDepth);
  numbers.blocks = target.tuned(Tuned::PackedBlocks);
  return accept(nameProduct(matmul->op) + "of computed operands: the right side is packed at run time, accumulators in registers", std::move(numbers));
}

FailureOr<LaunchInfo> lowerGemmPacked(KernelBuilder &k, Operation *anchor) {
  auto matmul = LinearMatmul::match(k.group(), anchor);
  Contraction c = matmul->contraction(k);
  c.tile = getTile(k.group());
  c.evenPanels = matmul->isPackable();
  if (c.evenPanels)
    packPanels(k, c, matmul->op.getRhs(), matmul->rhs, matmul->dims.batch, *getConstantDim(c.reduction.front().extent));
  return lowerPackedContraction(k, c);
}

//===- Bytes on both sides -------------------------------------------------===//

static kernel::StepAttr findByteStep(MatmulOp op, kernel::TargetAttr target) {
  return findStep(target, op.getLhs().getType().getElementType(), op.getRhs().getType().getElementType(), op.getType().getElementType());
}

KernelMatch matchGemmPackedBytes(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<MatmulOp>(anchor);
  kernel::StepAttr step = findByteStep(op, target);
  if (!step || step.getDepth() != bytesPerSum)
    return refuse(describeMissingStep(op.getLhs().getType(), op.getRhs().getType(), op.getType()));
  std::string why;
  auto matmul = LinearMatmul::match(group, anchor, &why, step);
  if (!matmul)
    return refuse(why);
  if (matmul->packedRhs)
    return refuse(packedByCaller);
  if (linearCoefficient(matmul->lhs.offset, matmul->dims.rank - 1) != getAffineConstantExpr(1, group.getContext()))
    return refuse("the left side's rows do not lie side by side");
  auto rowStride = coefficientOf(matmul->lhs.offset, matmul->dims.rows.back());
  PlanNumbers numbers{planStepProduct(target, step, matmul->countRows(), getConstantDim(getDims(op.getType()).back()), rowStride).tile, {}};
  numbers.streams = chooseStreams(target);
  numbers.depth = target.tuned(Tuned::PackedDepth);
  numbers.blocks = target.tuned(Tuned::PackedBlocks);
  numbers.step = step.getFunction().str();
  return accept("product of computed bytes, the right side packed at run time: " + describeStep(step), std::move(numbers));
}

std::string findPackedBytesFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  auto op = cast<MatmulOp>(anchor);
  return findStepFaultOf(kernel::getTarget(group), plan, op.getLhs().getType().getElementType(), op.getRhs().getType().getElementType(),
                         op.getType().getElementType(), bytesPerSum);
}

FailureOr<LaunchInfo> lowerGemmPackedBytes(KernelBuilder &k, Operation *anchor) {
  kernel::StepAttr step = getStep(k.group());
  Contraction c = LinearMatmul::match(k.group(), anchor, nullptr, step)->contraction(k);
  c.tile = getTile(k.group());
  c.instruction = step;
  return lowerPackedContraction(k, c);
}

} // namespace kiln
