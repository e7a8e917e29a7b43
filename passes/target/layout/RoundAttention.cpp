//===- RoundAttention.cpp - Attention's products of fewer bits, on request --===//
//
//   %q = nn.transpose (nn.reshape %x),  %k = ...,  %v = ...
//   %r = nn.attention query(%q) key(%k) value(%v) : tensor<1x12x197x64xf32>, ...
//
// becomes, where a step of the target multiplies bf16,
//
//   %q = nn.transpose (nn.reshape (nn.cast %x))                                              (the cast is part of %x's producer)
//   %r = nn.attention query(%q) key(%k) value(%v) : (tensor<1x12x197x64xbf16>, ...) -> tensor<1x12x197x64xf32>
//
//===----------------------------------------------------------------------===//
#include "passes/target/layout/RoundAttention.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/target/choice/AttentionPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static bool isView(Operation *op) {
  auto map = dyn_cast<IndexMap>(op);
  return isa<ReshapeOp>(op) || (map && map.getIndexMap() && op->getNumOperands() == 1);
}

/// The value behind views that nothing else reads: what is rounded there is part of the producer's kernel.
static Value skipViews(Value value) {
  for (Operation *view = value.getDefiningOp(); view && isView(view) && view->hasOneUse(); view = value.getDefiningOp())
    value = view->getOperand(0);
  return value;
}

std::string AttentionRounding::findFault(AttentionOp attention, Type element) const {
  Type f32 = Float32Type::get(attention.getContext());
  kernel::StepAttr step = findAttentionStep(target, element, f32);
  if (!step)
    return describeMissingAttentionStep(element, f32);
  std::optional<int64_t> queries = getConstantDim(attention.getScoreDims().rbegin()[1]);
  if (int64_t few = target.tuned(kernel::Tuned::AttentionDots); queries && *queries < few)
    return ("there are " + Twine(*queries) + " queries, fewer than the " + Twine(few) + " from which on keys are packed").str();
  if (std::string fault = findAttentionWordsFault(attention, step); !fault.empty())
    return fault;
  for (Value operand : {attention.getQuery(), attention.getKey(), attention.getValue()}) {
    Value from = skipViews(operand);
    if (!from.getDefiningOp() || llvm::any_of(from.getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); }))
      return "its query, key or value is an input or an output of the model";
  }
  return "";
}

/// The same views of another element type.
static Value repeatViews(OpBuilder &builder, Value given, Value from, Value rounded) {
  if (given == from)
    return rounded;
  Operation *view = given.getDefiningOp();
  Value inner = repeatViews(builder, view->getOperand(0), from, rounded);
  Operation *copy = builder.clone(*view);
  copy->setOperand(0, inner);
  copy->getResult(0).setType(withElementType(cast<RankedTensorType>(given.getType()), getElementTypeOrSelf(inner.getType())));
  return copy->getResult(0);
}

Value AttentionRounding::roundOperand(Value operand, Type element) {
  Value from = skipViews(operand);
  Value &rounded = casts[{from, element}];
  if (!rounded) {
    OpBuilder builder(from.getContext());
    builder.setInsertionPointAfterValue(from);
    rounded = CastOp::create(builder, from.getLoc(), withElementType(cast<RankedTensorType>(from.getType()), element), from);
  }
  if (operand == from)
    return rounded;
  OpBuilder builder(from.getContext());
  builder.setInsertionPointAfterValue(operand);
  return repeatViews(builder, operand, from, rounded);
}

void AttentionRounding::round(AttentionOp attention, Type element) {
  attention.getQueryMutable().assign(roundOperand(attention.getQuery(), element));
  attention.getKeyMutable().assign(roundOperand(attention.getKey(), element));
  attention.getValueMutable().assign(roundOperand(attention.getValue(), element));
}

} // namespace kiln
