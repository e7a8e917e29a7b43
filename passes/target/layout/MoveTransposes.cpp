//===- MoveTransposes.cpp - Moving layout changes towards each other -------===//
//
//   %t = nn.transpose %x [0, 3, 1, 2]              %r' = nn.relu %x
//   %r = nn.relu %t                       ->       %r  = nn.transpose %r' [0, 3, 1, 2]
//
// Sinking brings the change back to channels_first of one convolution to the change to channels_last of the next one, where they cancel.
//
// Both directions end, whatever the graph: each is one walk over the operations that the block has at its start, along the data for sinking and
// against it for hoisting. A rewrite takes away the operation that is visited, and what it makes stands where the walk has been or is not
// visited; the measure is the number of operations still to come. Nothing is lost by one walk: a decision to sink reads only what defines the
// operands, a decision to hoist only the users, and both are final when their turn comes. A transpose that may not move stays where it is.
//
//===----------------------------------------------------------------------===//
#include "passes/target/layout/MoveTransposes.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Permute.h"
#include "dialects/nn/Ranks.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// A constant, or what is spread from a smaller value.
static bool isSmall(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<ConstantOp, SplatOp, IotaOp>(op))
    return true;
  if (auto broadcast = dyn_cast<BroadcastToOp>(op))
    return getDims(broadcast.getInput().getType()) != getDims(broadcast.getType());
  return isa<ReshapeOp, TransposeOp>(op) && isSmall(op->getOperand(0));
}

/// An element-wise operation of values that are cheap themselves: it is built in the wanted order. No more than one is, so that nothing is walked often.
static Permutable findCheapSource(Value value) {
  auto op = value.getDefiningOp<Permutable>();
  bool isElementwise = op && isa<ScalarBody>(*op) && op->getNumOperands() > 0 && op->getNumResults() == 1;
  return isElementwise && llvm::all_of(op->getOperands(), [](Value operand) { return isSmall(operand); }) ? op : Permutable();
}

/// Such a value, or what is computed from such values: its transpose costs nothing that counts.
static bool isCheap(Value value) { return isSmall(value) || findCheapSource(value); }

bool kiln::movesData(Value value, ArrayRef<int64_t> permutation) {
  if (auto inner = value.getDefiningOp<TransposeOp>(); inner && isIdentityPermutation(applyPermutation(inner.getPermutation(), permutation)))
    return false;
  return !isCheap(value) && !permutesOnlyUnits(value.getType(), permutation);
}

/// Whether an operation can be built on permuted operands: all that are not scalars have one rank.
static bool isPermutable(Permutable op, int64_t rank) {
  return llvm::all_of(op->getOperandTypes(), [&](Type type) {
    int64_t have = cast<RankedTensorType>(type).getRank();
    return have == rank || have == 0;
  });
}

static Value pushIntoSource(OpBuilder &builder, Value value);
static Operation *permute(OpBuilder &builder, Permutable op, ArrayRef<int64_t> permutation);

/// A transpose of the value, pushed into what it reads as far as that is free.
static Value transposeFreely(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> permutation) {
  return pushIntoSource(builder, makeTranspose(builder, loc, value, permutation));
}

/// What has the same number everywhere, or counts, is built in the wanted order; a transpose of a broadcast is a broadcast of the smaller
/// transpose, whatever the ranks are; transposes of transposes merge. Goes against the data only, so it ends.
static Value pushIntoSource(OpBuilder &builder, Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose)
    return value;
  Value input = transpose.getInput();
  if (input.getDefiningOp<TransposeOp>())
    return transposeFreely(builder, transpose.getLoc(), input, transpose.getPermutation());
  if (auto source = input.getDefiningOp<Permutable>(); source && source->getNumOperands() == 0)
    return buildPermuted(builder, source, transpose.getPermutation())->getResult(cast<OpResult>(input).getResultNumber());
  if (Permutable source = findCheapSource(input))
    return permute(builder, source, transpose.getPermutation())->getResult(0);
  auto broadcast = input.getDefiningOp<BroadcastToOp>();
  if (!broadcast)
    return value;
  DimExprs dims = getDims(broadcast.getInput().getType());
  Value small = broadcast.getInput();
  size_t added = transpose.getType().getRank() - dims.size();
  if (added > 0) {
    dims.insert(dims.begin(), added, builder.getAffineConstantExpr(1));
    small = ReshapeOp::create(builder, broadcast.getLoc(), makeTensorType(dims, transpose.getType().getElementType()), small);
  }
  small = transposeFreely(builder, transpose.getLoc(), small, transpose.getPermutation());
  return BroadcastToOp::create(builder, broadcast.getLoc(), transpose.getType(), small);
}

/// buildPermuted with operands that are transposed where it is cheapest.
static Operation *permute(OpBuilder &builder, Permutable op, ArrayRef<int64_t> permutation) {
  Operation *permuted = buildPermuted(builder, op, permutation);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(permuted);
  for (auto [operand, original] : llvm::zip_equal(permuted->getOpOperands(), op->getOperands()))
    if (operand.get() != original)
      operand.set(pushIntoSource(builder, operand.get()));
  return permuted;
}

/// op(transpose(x), ...) -> transpose(op(x, ...)), when it takes away more transposes than it adds.
static bool sinkThroughOp(OpBuilder &builder, Permutable op) {
  // A transpose is cheaper before a broadcast: pushIntoSource.
  if (op->getNumResults() == 0 || isa<BroadcastToOp>(op))
    return false;
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  if (rank < 3 || !isPermutable(op, rank))
    return false;
  SmallVector<int64_t> back = toChannelsFirst(rank), there = toChannelsLast(rank);
  SmallPtrSet<Value, 4> removed, added;
  for (Value operand : op->getOperands()) {
    auto transpose = operand.getDefiningOp<TransposeOp>();
    if (transpose && transpose.getPermutation() == ArrayRef(back))
      removed.insert(operand);
    else if (cast<RankedTensorType>(operand.getType()).getRank() == rank && movesData(operand, there))
      added.insert(operand);
  }
  if (removed.empty() || added.size() >= removed.size())
    return false;
  Operation *permuted = permute(builder, op, there);
  for (auto [old, result] : llvm::zip_equal(op->getResults(), permuted->getResults()))
    old.replaceAllUsesWith(makeTranspose(builder, op.getLoc(), result, back));
  return true;
}

static bool sinkThroughReshape(OpBuilder &builder, ReshapeOp reshape) {
  auto transpose = reshape.getInput().getDefiningOp<TransposeOp>();
  if (!transpose || isCheap(transpose.getInput()))
    return false;
  FailureOr<Value> sunk = sinkTransposeThroughReshape(builder, reshape, transpose);
  if (failed(sunk))
    return false;
  reshape.getResult().replaceAllUsesWith(*sunk);
  return true;
}

/// The places of a permutation's other dimensions among themselves.
static SmallVector<int64_t> dropFirst(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> rest(permutation.drop_front());
  for (int64_t &place : rest)
    place -= place > permutation.front();
  return rest;
}

/// A dimension for the ranks, which stays the first one.
static SmallVector<int64_t> behindRanks(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> all = {0};
  for (int64_t place : permutation)
    all.push_back(place + 1);
  return all;
}

/// all_gather(transpose(x)) -> transpose(all_gather(x)), and likewise for what else ranks exchange: a slice is sent in whatever order its elements are.
static void sinkThroughCollective(OpBuilder &builder, Operation *op, unsigned number) {
  auto transpose = op->getOperand(number).getDefiningOp<TransposeOp>();
  if (!transpose)
    return;
  bool hasSlices = getCollectiveKind(op) == "reduce_scatter" || getCollectiveKind(op) == "all_to_all";
  SmallVector<int64_t> moved(transpose.getPermutation()), first = llvm::to_vector(llvm::seq<int64_t>(0, moved.size()));
  if (hasSlices) {
    std::rotate(first.begin(), first.begin() + moved.front(), first.begin() + moved.front() + 1);
    moved = dropFirst(moved);
  }
  if (moved.size() < 3 || moved != toChannelsFirst(moved.size()))
    return;
  Value result = op->getResult(number);
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> after = static_cast<size_t>(type.getRank()) > moved.size() ? behindRanks(moved) : moved;
  builder.setInsertionPoint(op);
  op->setOperand(number, makeTranspose(builder, transpose.getLoc(), transpose.getInput(), first));
  result.setType(permuteType(type, invertPermutationVector(after)));
  builder.setInsertionPointAfter(op);
  Value sunk = makeTranspose(builder, transpose.getLoc(), result, after);
  result.replaceAllUsesExcept(sunk, sunk.getDefiningOp());
}

/// The only user of a result, if it is a transpose.
static TransposeOp onlyTransposed(Operation *op) {
  return op->getNumResults() == 1 && op->hasOneUse() ? dyn_cast<TransposeOp>(*op->user_begin()) : TransposeOp();
}

/// transpose(op(x, ...)) -> op(transpose(x), ...), likewise.
static bool hoistThroughOp(OpBuilder &builder, Permutable op, TransposeOp transpose) {
  int64_t rank = transpose.getType().getRank();
  if (transpose.getPermutation() != ArrayRef(toChannelsLast(rank)) || isCheap(transpose.getInput()) || !isPermutable(op, rank))
    return false;
  SmallPtrSet<Value, 4> added;
  for (Value operand : op->getOperands())
    if (cast<RankedTensorType>(operand.getType()).getRank() == rank && movesData(operand, transpose.getPermutation()))
      added.insert(operand);
  if (added.size() > 1)
    return false;
  builder.setInsertionPoint(transpose);
  transpose.getResult().replaceAllUsesWith(permute(builder, op, transpose.getPermutation())->getResult(0));
  return true;
}

static bool hoistThroughReshape(OpBuilder &builder, ReshapeOp reshape, TransposeOp transpose) {
  if (!reshape.getInput().getDefiningOp<TransposeOp>())
    return false;
  builder.setInsertionPoint(transpose);
  FailureOr<Value> hoisted = hoistTransposeThroughReshape(builder, transpose, reshape);
  if (failed(hoisted))
    return false;
  transpose.getResult().replaceAllUsesWith(*hoisted);
  return true;
}

static void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void kiln::sinkTransposes(Block &block) {
  OpBuilder builder(block.getParent()->getContext());
  for (Operation &op : llvm::make_early_inc_range(block)) {
    builder.setInsertionPoint(&op);
    if (isCollective(&op)) {
      for (unsigned i = 0; i < op.getNumOperands(); ++i)
        sinkThroughCollective(builder, &op, i);
      continue;
    }
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      Value pushed = pushIntoSource(builder, transpose);
      if (pushed != transpose.getResult())
        transpose.getResult().replaceAllUsesWith(pushed);
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      sinkThroughReshape(builder, reshape);
    } else if (auto permutable = dyn_cast<Permutable>(op)) {
      sinkThroughOp(builder, permutable);
    }
    if (isOpTriviallyDead(&op))
      op.erase();
  }
  eraseUnused(block);
}

void kiln::hoistTransposes(Block &block) {
  OpBuilder builder(block.getParent()->getContext());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    TransposeOp transpose = onlyTransposed(&op);
    bool hoisted = false;
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      hoisted = transpose && hoistThroughReshape(builder, reshape, transpose);
    else if (auto permutable = dyn_cast<Permutable>(op))
      hoisted = transpose && hoistThroughOp(builder, permutable, transpose);
    if (hoisted)
      transpose.erase();
    if (isOpTriviallyDead(&op))
      op.erase();
  }
  eraseUnused(block);
}
