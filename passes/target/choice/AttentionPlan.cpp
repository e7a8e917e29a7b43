//===- AttentionPlan.cpp - Blocks of rows and keys of attention ------------===//
#include "passes/target/choice/AttentionPlan.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/groups/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

using namespace nn;

using kernel::Tuned;

/// All arrays of a task together take no more elements than this: they lie on the stack.
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
  hasWords = getElementTypeOrSelf(op.getQuery()) != getElementTypeOrSelf(op.getType());
  packsValues = hasWords || (lanes > 1 && (width % lanes != 0 || !isDense));
  sumStride = llvm::alignTo(width, lanes);
}

int64_t AttentionShape::rowCapacity(int64_t rows) const { return llvm::alignTo(rows + smallAttentionTile, std::max(lanes, smallAttentionTile)); }

int64_t AttentionShape::mostKeys(int64_t rows) const {
  // In halves of an element: words of scores lie beside them.
  int64_t capacity = rowCapacity(rows), perKey = (hasWords ? 3 : 2) * capacity + (hasWords ? 1 : packsValues ? 2 : 0) * sumStride;
  int64_t others = capacity * (depth + sumStride + 16) + depth * panelWidth;
  return std::max(2 * (mostElements - others) / perKey, panelWidth) / panelWidth * panelWidth;
}

kernel::StepAttr findAttentionStep(kernel::TargetAttr target, Type factors, Type result) {
  for (kernel::StepAttr step : target.getSteps())
    if (step.takes(factors, factors, computeType(result)) && step.getRows() == 1 && step.getLanes() > 1 && step.getDepth() == 2)
      return step;
  return {};
}

std::string describeMissingAttentionStep(Type factors, Type result) {
  std::string text;
  llvm::raw_string_ostream(text) << "the target has no step of one row for two products of " << factors << " whose sums are " << computeType(result);
  return text;
}

std::string findAttentionWordsFault(AttentionOp op, kernel::StepAttr step) {
  std::optional<int64_t> depth = getConstantDim(getDims(op.getQuery().getType()).back()), width = getConstantDim(getDims(op.getType()).back());
  if (!depth || !width)
    return "a key or a value has a size that only run time knows";
  int64_t turned = countTurnedWords(step.getLanes());
  if (*depth % turned == 0 && *width % step.getLanes() == 0)
    return "";
  return ("a key has " + Twine(*depth) + " numbers and a value " + Twine(*width) + ", expected multiples of " + Twine(turned) + " and " +
          Twine(step.getLanes()))
      .str();
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
  Type factors = getElementTypeOrSelf(op.getQuery()), result = getElementTypeOrSelf(op.getType());
  kernel::StepAttr words = factors == result ? kernel::StepAttr() : findAttentionStep(target, factors, result);
  kernel::StepAttr step = words ? words : target.getPlainStep(computeType(result));
  AttentionShape shape(op, step.getLanes());
  int64_t fewKeys = llvm::alignTo(target.tuned(Tuned::AttentionKeys), shape.panelWidth), fewRows = target.tuned(Tuned::AttentionFewRows);
  bool isLong = shape.depth + shape.width > target.tuned(Tuned::AttentionLongRow);
  int64_t keys = fewKeys, rows = isLong ? fewRows : target.tuned(Tuned::AttentionRows);
  if (shape.keys && *shape.keys <= target.tuned(Tuned::AttentionMostKeys)) {
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
  numbers.dots = target.tuned(Tuned::AttentionDots);
  numbers.streams = chooseStreams(target);
  if (words)
    numbers.step = words.getFunction().str();
  return numbers;
}

} // namespace kiln
