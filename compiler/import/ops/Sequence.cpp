//===- Sequence.cpp - Lists of tensors, and values that may be absent ---------===//
#include "compiler/import/SequenceValues.h"
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static Value makeSequence(Node &node, ArrayRef<Value> elements) { return makeSequence(node.builder(), node.loc, elements); }

/// The elements of input 0, or an error.
static std::optional<SmallVector<Value>> elements(Node &node) {
  Value list = node.input(0);
  auto found = node.failed() ? std::nullopt : getElements(list);
  if (!found)
    (void)node.error(isAbsent(list) ? "expected a sequence, got an optional without a value" : "expected a sequence, got a tensor");
  return found;
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
  if (!list->empty() && node.elementType(value) != node.elementType(list->front()))
    return node.error("the tensor to insert has another element type than those of the sequence");
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

/// The parts that a split makes of a dimension: of one size (the last may be smaller) or, with a list, of given sizes that make up the whole.
static std::optional<DimExprs> readParts(Node &node, AffineExpr dim) {
  auto split = node.hasInput(1) ? node.knownIntegers(1, "the split") : std::optional(DimExprs{node.number(1)});
  if (!split)
    return std::nullopt;
  if (node.hasInput(1) && node.rank(node.input(1)) == 1) {
    AffineExpr total = node.number(0);
    for (AffineExpr part : *split) {
      node.requireNotNegative(part, "the parts must not be negative, but one is short");
      total = nn::simplifyDim(total + part);
    }
    return node.unify(dim, total, "the parts do not make up the dimension") ? split : std::nullopt;
  }
  auto size = nn::getConstantDim(dim), each = split->size() == 1 ? nn::getConstantDim(split->front()) : std::nullopt;
  if (!size || *size > 65536 || (split->size() == 1 && !each)) {
    (void)node.unsupported("the split dimension is symbolic or too large, so the length of the sequence is not known", "make it static with --dim");
    return std::nullopt;
  }
  if (!each || *each < 1) {
    (void)node.error("the parts must be positive");
    return std::nullopt;
  }
  DimExprs parts;
  for (int64_t rest = *size; rest > 0; rest -= *each)
    parts.push_back(node.number(std::min(*each, rest)));
  return parts;
}

static LogicalResult splitToSequence(Node &node) {
  Value x = node.input(0);
  if (!isa<RankedTensorType>(x.getType()))
    return node.error("expected a tensor, got a sequence");
  int64_t axis = node.axis(node.getInt("axis", 0), node.rank(x));
  bool keeps = node.getFlag("keepdims", true) || node.hasInput(1);
  auto sizes = node.failed() ? std::nullopt : readParts(node, node.dims(x)[axis]);
  SmallVector<Value> parts;
  AffineExpr start = node.number(0);
  for (AffineExpr size : sizes.value_or(DimExprs())) {
    Value part = node.slice(x, axis, start, size);
    DimExprs dims = node.dims(part);
    dims.erase(dims.begin() + axis);
    parts.push_back(keeps ? part : node.reshape(part, dims));
    start = nn::simplifyDim(start + size);
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

/// A value that is there, or with no input one that is not, of the type that an attribute says.
static LogicalResult optional(Node &node) {
  node.ignore("type");
  return node.result(node.hasInput(0) ? node.input(0) : makeAbsent(node.builder(), node.loc));
}

/// Whether there is a value is known when the model is compiled: a tensor is one, a missing input is none.
static LogicalResult optionalHasElement(Node &node) {
  Contents has = {{node.number(node.hasInput(0) && !isAbsent(node.input(0)))}};
  return node.result(materialize(node.builder(), node.loc, RankedTensorType::get({}, node.builder().getI1Type()), has));
}

static LogicalResult optionalGetElement(Node &node) {
  Value value = node.input(0);
  return isAbsent(value) ? node.error("the optional has no value") : node.result(value);
}

ArrayRef<Operator> getSequenceOperators() {
  static const Operator rows[] = {
      {"ConcatFromSequence", 11, Elements::Sequence, concatFromSequence},
      {"Optional", 15, Elements::Sequence, optional},
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
