//===- EvaluateMovement.cpp - Data movement at compile time ----------------===//
#include "passes/graph/EvaluateMovement.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

void kiln::forEachOffset(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, function_ref<void(int64_t, int64_t)> visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t count = ShapedType::getNumElements(shape), offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, offset);
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
      offset += strides[d];
      if (++index[d] < shape[d])
        break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

/// The offset in an operand of this shape that a linear index map has at `index`.
static std::optional<int64_t> offsetAt(AffineMap map, ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t offset = 0;
  Builder builder(map.getContext());
  SmallVector<Attribute> at = llvm::map_to_vector(index, [&](int64_t i) -> Attribute { return builder.getIndexAttr(i); });
  SmallVector<Attribute> results;
  if (failed(map.constantFold(at, results)))
    return std::nullopt;
  for (auto [size, result] : llvm::zip(shape, results))
    offset = offset * size + cast<IntegerAttr>(result).getInt();
  return offset;
}

/// Index maps are linear, so their value at the origin and one step along each dimension say all.
static FailureOr<std::vector<char>> evaluateIndexMap(IndexMap op, const ConstantData &input) {
  AffineMap map = op.getIndexMap();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  ArrayRef<int64_t> from = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  if (!map || map.getNumSymbols() || !llvm::all_of(map.getResults(), [](AffineExpr e) { return e.isPureAffine(); }))
    return failure();
  SmallVector<int64_t> index(type.getRank(), 0), strides;
  std::optional<int64_t> base = offsetAt(map, index, from);
  for (size_t d = 0; d < index.size(); ++d) {
    index[d] = 1;
    std::optional<int64_t> next = offsetAt(map, index, from);
    index[d] = 0;
    if (!base || !next)
      return failure();
    strides.push_back(*next - *base);
  }
  int64_t bytes = elementBytes(type.getElementType());
  std::vector<char> out(type.getNumElements() * bytes);
  ArrayRef<char> source = input.bytes();
  forEachOffset(type.getShape(), strides, [&](int64_t i, int64_t offset) {
    std::memcpy(&out[i * bytes], &source[(*base + offset) * bytes], bytes);
  });
  return out;
}

/// Elements before and from an axis on.
static std::pair<int64_t, int64_t> splitAt(ArrayRef<int64_t> shape, int64_t axis) {
  return {ShapedType::getNumElements(shape.take_front(axis)), ShapedType::getNumElements(shape.drop_front(axis))};
}

static std::vector<char> evaluateConcat(ConcatOp op, ArrayRef<ConstantData> operands) {
  int64_t bytes = elementBytes(op.getType().getElementType());
  auto outer = splitAt(op.getType().getShape(), op.getAxis()).first;
  std::vector<char> out;
  for (int64_t i = 0; i < outer; ++i)
    for (auto [operand, data] : llvm::zip(op.getInputs(), operands)) {
      int64_t run = splitAt(cast<RankedTensorType>(operand.getType()).getShape(), op.getAxis()).second * bytes;
      llvm::append_range(out, data.bytes().slice(i * run, run));
    }
  return out;
}

static FailureOr<std::vector<char>> evaluateGather(GatherOp op, const ConstantData &input, const ConstantData &indices) {
  ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  int64_t size = shape[op.getAxis()];
  auto [outer, rest] = splitAt(shape, op.getAxis());
  int64_t run = size ? rest / size * elementBytes(op.getType().getElementType()) : 0;
  std::vector<char> out;
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = 0; j < indices.numElements(); ++j) {
      int64_t at = indices.asInt(j);
      at += at < 0 ? size : 0;
      if (at < 0 || at >= size)
        return failure();
      llvm::append_range(out, input.bytes().slice((i * size + at) * run, run));
    }
  return out;
}

FailureOr<std::vector<char>> kiln::evaluateMovement(Operation *op, ArrayRef<ConstantData> operands) {
  if (auto moved = dyn_cast<IndexMap>(op))
    return evaluateIndexMap(moved, operands[0]);
  if (isa<ReshapeOp>(op))
    return std::vector<char>(operands[0].bytes().begin(), operands[0].bytes().end());
  if (auto concat = dyn_cast<ConcatOp>(op))
    return evaluateConcat(concat, operands);
  if (auto gather = dyn_cast<GatherOp>(op))
    return evaluateGather(gather, operands[0], operands[1]);
  return failure();
}
