//===- AttentionPlan.cpp - Blocks of rows and keys of attention ------------===//
#include "passes/target/choice/AttentionPlan.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/groups/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Keys of a block, and rows of a task: more rows share the packing of a panel, more keys rescale less often.
static constexpr int64_t fewKeys = 256, manyKeys = 512, manyRows = 128, fewRows = 64;
/// Longer rows of queries and values leave room for fewer of them.
static constexpr int64_t longRow = 192;
/// All arrays of a task together take no more elements than this.
static constexpr int64_t mostElements = 65536;

AttentionShape::AttentionShape(AttentionOp op, int64_t lanes)
    : depth(*getConstantDim(getDims(op.getQuery().getType()).back())), width(*getConstantDim(getDims(op.getType()).back())),
      lanes(lanes), panelWidth(RegisterBudget::vectorsOfMany * lanes) {
  DimExprs scores = op.getScoreDims();
  queries = getConstantDim(scores.rbegin()[1]);
  keys = getConstantDim(scores.back());
  unsigned rank = cast<RankedTensorType>(op.getValue().getType()).getRank();
  std::optional<TracedView> value = traceLinearView(op.getValue());
  bool isDense = value && linearCoefficient(value->offset, rank - 1) == getAffineConstantExpr(1, op.getContext());
  packsValues = lanes > 1 && (width % lanes != 0 || !isDense);
  sumStride = llvm::alignTo(width, lanes);
}

int64_t AttentionShape::rowCapacity(int64_t rows) const { return llvm::alignTo(rows + smallAttentionTile, std::max(lanes, smallAttentionTile)); }

int64_t AttentionShape::mostKeys(int64_t rows) const {
  int64_t capacity = rowCapacity(rows), perKey = capacity + (packsValues ? sumStride : 0), others = capacity * (depth + sumStride + 16) + depth * panelWidth;
  return std::max((mostElements - others) / perKey, panelWidth) / panelWidth * panelWidth;
}

/// Of a tile's heights, the one that computes the fewest rows of a task too many.
static int64_t chooseHeight(int64_t highest, int64_t rows) {
  int64_t best = 0, least = 0;
  for (int64_t height = highest; height >= highest * 3 / 4 && height > 0; --height) {
    int64_t whole = rows / height, last = llvm::divideCeil(rows - whole * height, smallAttentionTile);
    // A tile costs a row more than it has, for what it loads; a small one two.
    int64_t computed = whole * (height + 1) + last * (smallAttentionTile + 2);
    if (!best || computed < least) {
      least = computed;
      best = height;
    }
  }
  return best;
}

PlanNumbers planAttention(AttentionOp op, kernel::TargetAttr target) {
  kernel::StepAttr step = target.getPlainStep(computeType(op.getType().getElementType()));
  AttentionShape shape(op, step.getLanes());
  int64_t keys = fewKeys, rows = shape.depth + shape.width > longRow ? fewRows : manyRows;
  if (shape.keys && *shape.keys <= manyKeys) {
    keys = llvm::alignTo(std::max<int64_t>(*shape.keys, 1), shape.panelWidth);
    rows = keys > fewKeys ? fewRows : rows;
  }
  int64_t height = RegisterBudget(target, step).rowsOf(RegisterBudget::vectorsOfMany);
  if (shape.queries) {
    // Rows in equal tasks.
    int64_t tasks = std::max<int64_t>(1, llvm::divideCeil(*shape.queries, rows));
    rows = std::max<int64_t>(1, llvm::divideCeil(*shape.queries, tasks));
    height = chooseHeight(height, rows);
  }
  if (int64_t most = shape.mostKeys(rows); most < keys)
    keys = std::min(most, fewKeys);
  PlanNumbers numbers{{height, RegisterBudget::vectorsOfMany, shape.lanes}, {}};
  numbers.rows = rows;
  numbers.keys = keys;
  numbers.streams = chooseStreams(target);
  return numbers;
}

} // namespace kiln
