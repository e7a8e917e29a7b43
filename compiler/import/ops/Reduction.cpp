//===- Reduction.cpp - Reductions, scans, sorts ------------------------------===//
#include "compiler/import/DataDims.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNReductionOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// What a Reduce* operator reduces, and over which axes.
struct Reduction {
  Value x;
  SmallVector<int64_t> axes;
  bool keep = true;
  /// No axes were given and that means: do nothing.
  bool isNothing = false;
};
} // namespace

/// Axes that are data, as far as the declared result has only one explanation: with `keepdims` it always has, because reducing a dimension
/// of size one changes nothing.
static std::optional<SmallVector<int64_t>> declaredAxes(Node &node, const Reduction &r) {
  auto declared = node.declaredDims();
  DimExprs from = node.dims(r.x);
  SmallVector<int64_t> found;
  unsigned explanations = 0;
  for (unsigned subset = 0; declared && from.size() <= 8 && subset < (1u << from.size()); ++subset) {
    DimExprs to;
    SmallVector<int64_t> axes;
    bool isUseless = false;
    for (auto [i, dim] : llvm::enumerate(from)) {
      bool isReduced = subset & (1u << i);
      isUseless |= isReduced && r.keep && nn::getConstantDim(dim) == 1;
      if (isReduced)
        axes.push_back(i);
      if (!isReduced || r.keep)
        to.push_back(isReduced ? node.number(1) : dim);
    }
    if (isUseless || to != *declared)
      continue;
    found = axes;
    ++explanations;
  }
  // No axes at all would mean all of them, or none.
  if (explanations == 1 && !found.empty()) {
    DimExprs marks;
    for (int64_t i = 0, rank = static_cast<int64_t>(from.size()); i < rank; ++i)
      marks.push_back(node.number(llvm::is_contained(found, i)));
    expectInRun(node, markAxes(node, node.input(1), static_cast<int64_t>(from.size())), marks);
    return found;
  }
  return node.constantIntegers(1, "axes");
}

/// Axes are an attribute first, and an input from opset `inputSince` on.
static std::optional<Reduction> readReduction(Node &node, int64_t inputSince) {
  Reduction r;
  r.x = node.input(0);
  r.keep = node.getFlag("keepdims", true);
  int64_t rank = node.rank(r.x);
  std::optional<SmallVector<int64_t>> given;
  bool isNoop = false;
  if (node.opset < inputSince) {
    given = node.findInts("axes");
  } else {
    isNoop = node.getFlag("noop_with_empty_axes");
    bool hasAxes = node.hasInput(1) && nn::getConstantDim(nn::getNumElements(node.dims(node.input(1)), node.context())) != 0;
    if (hasAxes)
      given = node.isKnown(1) ? node.constantIntegers(1, "axes") : declaredAxes(node, r);
  }
  if (node.failed())
    return std::nullopt;
  bool isEmpty = !given || given->empty();
  r.isNothing = isEmpty && isNoop;
  r.axes = r.isNothing ? SmallVector<int64_t>() : isEmpty ? llvm::to_vector(llvm::seq<int64_t>(0, rank)) : node.axes(*given, rank);
  return node.failed() ? std::nullopt : std::optional(r);
}

template <ReduceKind kind, int64_t inputSince> static LogicalResult reduce(Node &node) {
  auto r = readReduction(node, inputSince);
  if (!r)
    return failure();
  Type element = node.elementType(r->x);
  // Of truth values the largest is "any" and the smallest "all"; an unsigned type has theirs for no elements.
  bool isBool = element.isInteger(1);
  Value x = isBool ? node.cast(r->x, node.builder().getIntegerType(8, /*isSigned=*/false)) : r->x;
  return node.result(node.cast(node.reduce(kind, x, r->axes, r->keep), element));
}

/// Squares, powers and sums of halves are rounded when all is computed: f16 holds none above 65504.
static Value widen(Node &node, Value x) {
  Type element = node.elementType(x);
  return !node.failed() && (element.isF16() || element.isBF16()) ? node.cast(x, node.builder().getF32Type()) : x;
}

static Value sumOf(Node &node, const Reduction &r, Value x) { return node.reduce(ReduceKind::Sum, x, r.axes, r.keep); }

static LogicalResult reduceL1(Node &node) {
  auto r = readReduction(node, 18);
  return r ? node.result(node.cast(sumOf(node, *r, node.unary<AbsOp>(widen(node, r->x))), node.elementType(r->x))) : failure();
}

static LogicalResult reduceL2(Node &node) {
  auto r = readReduction(node, 18);
  if (!r)
    return failure();
  Type element = node.elementType(r->x);
  Value x = isa<IntegerType>(element) ? node.cast(r->x, node.builder().getF64Type()) : widen(node, r->x);
  return node.result(node.cast(node.unary<SqrtOp>(sumOf(node, *r, node.binary<MulOp>(x, x))), element));
}

static LogicalResult reduceSumSquare(Node &node) {
  auto r = readReduction(node, 18);
  if (!r)
    return failure();
  Value x = widen(node, r->x);
  return node.result(node.cast(sumOf(node, *r, node.binary<MulOp>(x, x)), node.elementType(r->x)));
}

static LogicalResult reduceLogSum(Node &node) {
  auto r = readReduction(node, 18);
  return r ? node.result(node.cast(node.unary<LogOp>(sumOf(node, *r, widen(node, r->x))), node.elementType(r->x))) : failure();
}

/// log(sum(exp(x - m))) + m with m = max(x), or 0 where that is infinite.
static LogicalResult reduceLogSumExp(Node &node) {
  auto r = readReduction(node, 18);
  if (!r || node.rank(r->x) == 0 || r->isNothing)
    return r ? node.result(r->x) : failure();
  Type element = node.elementType(r->x);
  r->x = widen(node, r->x);
  Value most = node.reduce(ReduceKind::Max, r->x, r->axes, /*keep=*/true);
  Value isInfinite = node.compare<EqualOp>(node.unary<AbsOp>(most), node.splatLike(most, HUGE_VAL));
  Value shift = node.make<SelectOp>(most.getType(), isInfinite, node.splatLike(most, 0), most);
  Value shifted = node.binary<SubOp>(r->x, node.broadcastTo(shift, node.dims(r->x)));
  Value sum = node.reduce(ReduceKind::Sum, node.unary<ExpOp>(shifted), r->axes, /*keep=*/true);
  Value result = node.cast(node.binary<AddOp>(node.unary<LogOp>(sum), shift), element);
  if (r->keep)
    return node.result(result);
  DimExprs dims;
  for (auto [i, dim] : llvm::enumerate(node.dims(r->x)))
    if (!llvm::is_contained(r->axes, static_cast<int64_t>(i)))
      dims.push_back(dim);
  return node.result(node.reshape(result, dims));
}

//===- Indices, scans, sorts -----------------------------------------------===//

template <ReduceKind kind> static LogicalResult argReduce(Node &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.getInt("axis", 0), node.rank(x));
  bool keep = node.getFlag("keepdims", true), last = node.getFlag("select_last_index");
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(x);
  if (nn::getConstantDim(dims[axis]) == 0)
    return node.error("an empty dimension has no largest or smallest element");
  dims[axis] = node.number(1);
  Value result = node.make<ArgReduceOp>(node.type(dims, node.builder().getI64Type()), kind, x, axis, last);
  if (!keep)
    dims.erase(dims.begin() + axis);
  return node.result(node.reshape(result, dims));
}

template <ReduceKind kind> static LogicalResult cumulative(Node &node) {
  Value x = node.input(0);
  auto given = node.constantIntegers(1, "axis");
  bool exclusive = node.getFlag("exclusive"), reverse = node.getFlag("reverse");
  if (!given)
    return failure();
  if (given->size() != 1)
    return node.error("axis has " + Twine(given->size()) + " elements, expected one");
  int64_t axis = node.axis(given->front(), node.rank(x));
  return node.failed() ? failure() : node.result(node.make<CumulativeOp>(x.getType(), kind, x, axis, exclusive, reverse));
}

static LogicalResult topK(Node &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.getInt("axis", -1), node.rank(x));
  bool largest = node.getFlag("largest", true);
  node.ignore("sorted");
  DimExprs dims = node.dims(x), k;
  if (node.failed())
    return failure();
  if (node.opset < 10)
    k.push_back(node.number(node.requireInt("k")));
  else if (auto declared = node.isKnown(1) ? std::nullopt : node.trustedDims(); declared && declared->size() == dims.size()) {
    k.push_back((*declared)[axis]);
    expectInRun(node, node.input(1), k);
  } else if (node.isKnown(1)) {
    k = node.knownIntegers(1, "k").value_or(DimExprs());
  } else {
    k = makeDataDims(node, node.input(1), {dims[axis]}, "k");
  }
  if (node.failed() || k.size() != 1)
    return node.error("k has " + Twine(k.size()) + " elements, expected one");
  node.requireNotNegative(dims[axis] - k[0], "k is larger than the dimension");
  dims[axis] = k[0];
  Type values = node.type(dims, node.elementType(x)), indices = node.type(dims, node.builder().getI64Type());
  if (node.failed())
    return failure();
  auto op = TopKOp::create(node.builder(), node.loc, values, indices, x, axis, largest);
  (void)node.result(1, op.getIndices());
  return node.result(op.getValues());
}

ArrayRef<Operator> getReductionOperators() {
  static const Operator rows[] = {
      {"ArgMax", 1, Elements::Number, argReduce<ReduceKind::Max>},
      {"ArgMin", 1, Elements::Number, argReduce<ReduceKind::Min>},
      {"CumProd", 26, Elements::Number, cumulative<ReduceKind::Prod>},
      {"CumSum", 11, Elements::Number, cumulative<ReduceKind::Sum>},
      asComposite({"ReduceL1", 1, Elements::Number, reduceL1}),
      asComposite({"ReduceL2", 1, Elements::Number, reduceL2}),
      asComposite({"ReduceLogSum", 1, Elements::Number, reduceLogSum}),
      asComposite({"ReduceLogSumExp", 1, Elements::Float, reduceLogSumExp}),
      {"ReduceMax", 1, Elements::Any, reduce<ReduceKind::Max, 18>},
      {"ReduceMean", 1, Elements::Number, reduce<ReduceKind::Mean, 18>},
      {"ReduceMin", 1, Elements::Any, reduce<ReduceKind::Min, 18>},
      {"ReduceProd", 1, Elements::Number, reduce<ReduceKind::Prod, 18>},
      {"ReduceSum", 1, Elements::Number, reduce<ReduceKind::Sum, 13>},
      asComposite({"ReduceSumSquare", 1, Elements::Number, reduceSumSquare}),
      {"TopK", 1, Elements::Number, topK},
  };
  return rows;
}

} // namespace kiln::import
