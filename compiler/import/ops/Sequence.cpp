//===- Sequence.cpp - Lists of tensors, and values that may be absent ---------===//
//
// A list is a compile-time thing: a cast of its elements to a tuple, which the next list operator looks through and nothing else takes.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static Value makeSequence(Node &node, ArrayRef<Value> elements) {
  SmallVector<Type> types;
  for (Value element : elements)
    types.push_back(element.getType());
  return UnrealizedConversionCastOp::create(node.builder(), node.loc, TupleType::get(node.context(), types), elements).getResult(0);
}

/// The elements of input 0, or an error.
static std::optional<SmallVector<Value>> elements(Node &node) {
  auto list = node.input(0).getDefiningOp<UnrealizedConversionCastOp>();
  if (list)
    return SmallVector<Value>(list.getInputs());
  (void)node.error("expected a sequence, got a tensor");
  return std::nullopt;
}

/// A position in [-size, size], or below it when `isPast` is not allowed; `fallback` when the input is not there.
static std::optional<int64_t> position(Node &node, unsigned input, int64_t size, int64_t fallback, bool isPast) {
  if (!node.hasInput(input))
    return fallback;
  auto at = node.constantIntegers(input, "the position");
  if (!at)
    return std::nullopt;
  if (at->size() == 1 && at->front() >= -size && at->front() < size + (isPast ? 1 : 0))
    return at->front() < 0 ? at->front() + size : at->front();
  (void)node.error("the position is outside a sequence of " + Twine(size));
  return std::nullopt;
}

static LogicalResult sequenceConstruct(Node &node) {
  SmallVector<Value> values;
  for (unsigned i = 0; i < node.numInputs(); ++i)
    values.push_back(node.input(i));
  for (Value value : values)
    if (!node.failed() && (!isa<RankedTensorType>(value.getType()) || node.elementType(value) != node.elementType(values.front())))
      return node.error("elements have different types");
  return node.failed() ? failure() : node.result(makeSequence(node, values));
}

static LogicalResult sequenceEmpty(Node &node) {
  node.ignore("dtype");
  return node.result(makeSequence(node, {}));
}

static LogicalResult sequenceAt(Node &node) {
  auto list = elements(node);
  auto at = list ? position(node, 1, list->size(), 0, false) : std::nullopt;
  return at ? node.result((*list)[*at]) : failure();
}

static LogicalResult sequenceInsert(Node &node) {
  auto list = elements(node);
  Value value = node.input(1);
  auto at = list ? position(node, 2, list->size(), list->size(), true) : std::nullopt;
  if (!at || !isa<RankedTensorType>(value.getType()))
    return node.error("expected a tensor to insert");
  list->insert(list->begin() + *at, value);
  return node.result(makeSequence(node, *list));
}

static LogicalResult sequenceErase(Node &node) {
  auto list = elements(node);
  if (list && list->empty())
    return node.error("the sequence is empty");
  auto at = list ? position(node, 1, list->size(), list->size() - 1, false) : std::nullopt;
  if (!at)
    return failure();
  list->erase(list->begin() + *at);
  return node.result(makeSequence(node, *list));
}

static LogicalResult sequenceLength(Node &node) {
  auto list = elements(node);
  if (!list)
    return failure();
  Contents size = {{node.number(list->size())}};
  return node.result(materialize(node.builder(), node.loc, RankedTensorType::get({}, node.builder().getI64Type()), size));
}

/// Parts of one size (the last may be smaller), of given sizes, or single slices without their dimension.
static LogicalResult splitToSequence(Node &node) {
  Value x = node.input(0);
  if (!isa<RankedTensorType>(x.getType()))
    return node.error("expected a tensor, got a sequence");
  int64_t axis = node.axis(node.getInt("axis", 0), node.rank(x));
  bool keeps = node.getFlag("keepdims", true) || node.hasInput(1);
  auto size = node.failed() ? std::nullopt : nn::getConstantDim(node.dims(x)[axis]);
  auto split = node.hasInput(1) ? node.constantIntegers(1, "the split") : std::optional(SmallVector<int64_t>{1});
  if (!size || *size > 65536)
    return node.unsupported("the split dimension is symbolic or too large", "make it static with --dim");
  if (!split || llvm::any_of(*split, [](int64_t part) { return part < 1; }))
    return node.error("the parts must be positive");
  bool isList = node.hasInput(1) && node.rank(node.input(1)) == 1;
  SmallVector<Value> parts;
  for (int64_t start = 0; start < *size && (!isList || parts.size() < split->size());) {
    int64_t extent = std::min(isList ? (*split)[parts.size()] : split->front(), *size - start);
    Value part = node.slice(x, axis, node.number(start), node.number(extent));
    DimExprs dims = node.dims(part);
    dims.erase(dims.begin() + axis);
    parts.push_back(keeps ? part : node.reshape(part, dims));
    start += extent;
  }
  return node.failed() ? failure() : node.result(makeSequence(node, parts));
}

static LogicalResult concatFromSequence(Node &node) {
  auto list = elements(node);
  bool isNew = node.getFlag("new_axis");
  int64_t given = node.requireInt("axis");
  if (!list || list->empty())
    return node.error("the sequence is empty, or there is none");
  int64_t axis = node.axis(given, node.rank(list->front()) + (isNew ? 1 : 0));
  if (node.failed())
    return failure();
  for (Value &value : *list) {
    DimExprs dims = node.dims(value);
    if (node.rank(value) != node.rank(list->front()) && !isNew)
      return node.error("elements have different ranks");
    if (isNew)
      dims.insert(dims.begin() + std::min<int64_t>(axis, dims.size()), node.number(1));
    value = node.reshape(value, dims);
  }
  return node.result(node.concat(*list, axis));
}

/// Whether there is a value is known when the model is compiled: a tensor is one, a missing input is none.
static LogicalResult optionalHasElement(Node &node) {
  Contents has = {{node.number(node.hasInput(0))}};
  return node.result(materialize(node.builder(), node.loc, RankedTensorType::get({}, node.builder().getI1Type()), has));
}

static LogicalResult optionalGetElement(Node &node) { return node.result(node.input(0)); }

ArrayRef<Operator> getSequenceOperators() {
  static const Operator rows[] = {
      {"ConcatFromSequence", 11, Elements::Sequence, concatFromSequence},
      {"OptionalGetElement", 15, Elements::Sequence, optionalGetElement},
      {"OptionalHasElement", 15, Elements::Sequence, optionalHasElement},
      {"SequenceAt", 11, Elements::Sequence, sequenceAt},
      {"SequenceConstruct", 11, Elements::Sequence, sequenceConstruct},
      {"SequenceEmpty", 11, Elements::Sequence, sequenceEmpty},
      {"SequenceErase", 11, Elements::Sequence, sequenceErase},
      {"SequenceInsert", 11, Elements::Sequence, sequenceInsert},
      {"SequenceLength", 11, Elements::Sequence, sequenceLength},
      {"SplitToSequence", 11, Elements::Sequence, splitToSequence},
  };
  return rows;
}

} // namespace kiln::import
