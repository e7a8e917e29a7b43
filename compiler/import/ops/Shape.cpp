//===- Shape.cpp - Operators that ask for or change the shape ----------------===//
#include "compiler/import/DataDims.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/SymbolicSizes.h"
#include "dialects/nn/ChosenDims.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"

using namespace mlir;

namespace kiln::import {

/// An i64 tensor of expressions, one-dimensional or (from one expression) a scalar.
static Value integers(Node &node, ArrayRef<AffineExpr> exprs, bool isScalar = false) {
  Contents contents;
  for (AffineExpr expr : exprs)
    contents.push_back({expr});
  SmallVector<int64_t, 1> shape;
  if (!isScalar)
    shape.push_back(exprs.size());
  return materialize(node.builder(), node.loc, RankedTensorType::get(shape, node.builder().getI64Type()), contents);
}

static LogicalResult shape(Node &node) {
  DimExprs dims = node.dims(node.input(0));
  int64_t rank = dims.size();
  auto clamp = [&](int64_t at) { return std::clamp(at < 0 ? at + rank : at, int64_t(0), rank); };
  int64_t start = clamp(node.getInt("start", 0)), end = clamp(node.getInt("end", rank));
  return node.result(integers(node, ArrayRef(dims).slice(start, std::max(end - start, int64_t(0)))));
}

static LogicalResult size(Node &node) { return node.result(integers(node, {nn::getNumElements(node.dims(node.input(0)), node.context())}, true)); }

/// Requires equally many elements before and after, and reshapes.
static LogicalResult reshapeChecked(Node &node, Value x, ArrayRef<AffineExpr> to) {
  DimExprs from = node.dims(x);
  AffineExpr before = nn::getNumElements(from, node.context());
  (void)node.type(to, node.elementType(x));
  if (node.failed())
    return failure();
  AffineExpr after = nn::getNumElements(to, node.context());
  auto have = nn::getConstantDim(before), want = nn::getConstantDim(after);
  if (have && want && *have != *want)
    return node.error("cannot reshape " + Twine(*have) + " elements to a shape of " + Twine(*want));
  // Products cancel factor by factor before they are compared as expressions.
  AffineExpr ratio = have && want ? node.number(1) : divideExactly(from, to, node.context());
  if (nn::getConstantDim(ratio) != 1 && !node.unify(before, after, "numbers of elements before and after differ"))
    return failure();
  return node.result(node.reshape(x, to));
}

/// Before opset 5 the shape is an attribute.
static std::optional<DimExprs> shapeAttribute(Node &node) {
  auto sizes = node.findInts("shape");
  if (!sizes) {
    (void)node.error("attribute 'shape' is missing");
    return std::nullopt;
  }
  return llvm::map_to_vector<6>(*sizes, [&](int64_t size) { return node.number(size); });
}

/// Ends a run whose shape is not the declared one, where 0 copies a dimension. What -1 stands for follows from the number of elements.
static void expectShape(Node &node, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> declared, bool allowZero) {
  Value shape = node.cast(node.input(1), node.builder().getI64Type());
  AffineExpr rank = node.number(static_cast<int64_t>(declared.size()));
  if (node.failed() || !node.expectRank(shape, 1, "the shape") || !node.unify(node.dims(shape)[0], rank, "the model declares another rank: numbers of sizes"))
    return;
  DimExprs copied(declared.size(), node.number(-1));
  if (!allowZero)
    std::copy_n(from.begin(), std::min(from.size(), declared.size()), copied.begin());
  shape = node.reshape(shape, {rank});
  Value isCopy = node.binary<nn::AndOp>(node.compare<nn::EqualOp>(shape, node.splatLike(shape, 0)),
                                    node.compare<nn::EqualOp>(makeDimVector(node, copied), makeDimVector(node, declared)));
  Value isOpen = node.compare<nn::EqualOp>(shape, node.splatLike(shape, -1));
  expectInRun(node, node.binary<nn::OrOp>(node.binary<nn::OrOp>(isCopy, isOpen), node.compare<nn::EqualOp>(shape, makeDimVector(node, declared))));
}

/// A reshape to a shape that data decide: 0 copies a dimension, and -1 stands for what the others leave. A dimension has no other bound than the caller's, as
/// the operand has the memory.
static LogicalResult reshapeByData(Node &node, Value x, int64_t rank, bool allowZero) {
  Type i64 = node.builder().getI64Type();
  DimExprs from = node.dims(x), copied = from;
  copied.resize(rank, node.number(-1));
  Value shape = node.cast(node.reshape(node.input(1), {node.number(rank)}), i64);
  Value all = makeDimVector(node, {nn::getNumElements(from, node.context())});
  if (node.failed())
    return failure();
  auto equals = [&](double number) { return node.compare<nn::EqualOp>(shape, node.splatLike(shape, number)); };
  auto choose = [&](Value condition, Value then) { shape = node.make<nn::SelectOp>(shape.getType(), condition, then, shape); };
  if (!allowZero)
    choose(equals(0), makeDimVector(node, copied));
  Value isOpen = equals(-1), ones = node.splatLike(shape, 1);
  Value others = node.reduce(nn::ReduceKind::Prod, node.make<nn::SelectOp>(shape.getType(), isOpen, ones, shape), {0}, /*keep=*/true);
  Value rest = node.binary<nn::DivOp>(all, node.binary<nn::MaximumOp>(others, 1.0));
  choose(isOpen, node.broadcastTo(rest, {node.number(rank)}));
  if (node.failed())
    return failure();
  DimExprs to = makeDataDims(node, shape, SmallVector<AffineExpr>(rank, rank == 1 ? nn::getNumElements(from, node.context()) : AffineExpr()), "size");
  (void)node.type(to, node.elementType(x));
  AffineExpr before = nn::getNumElements(from, node.context()), after = nn::getNumElements(to, node.context());
  if (node.failed() || !node.unify(before, after, "numbers of elements before and after differ"))
    return failure();
  return node.result(node.reshape(x, to));
}

/// Whether an entry of a shape may be 0 in runs whose input has elements, and then copies another dimension.
static bool mayCopy(Node &node, AffineExpr entry, size_t place, ArrayRef<AffineExpr> from) {
  if (place >= from.size() || nn::provablyEqual(entry, from[place]) || !node.facts().areOrdered(node.number(0), entry) ||
      node.facts().areOrdered(node.number(1), entry))
    return false;
  // The elements without the factor; a quotient has it.
  AffineExpr all = nn::getNumElements(from, node.context()), rest = divideExactly(from, {entry}, node.context());
  return !nn::provablyEqual(rest * entry, all);
}

static LogicalResult reshape(Node &node) {
  Value x = node.input(0);
  DimExprs from = node.dims(x), to;
  bool isAttribute = node.opset < 5;
  bool allowZero = node.getFlag("allowzero"), isData = !isAttribute && !node.failed() && !node.isKnown(1);
  auto length = isData ? nn::getConstantDim(nn::getNumElements(node.dims(node.input(1)), node.context())) : std::nullopt;
  auto declared = !isData ? std::nullopt : length ? node.trustedDims() : node.declaredDims();
  if (isData && !declared && length && *length > 0 && *length <= node.limits().rank)
    return reshapeByData(node, x, *length, allowZero);
  auto target = isAttribute ? shapeAttribute(node) : declared ? declared : node.knownIntegers(1, "the shape");
  if (!target)
    return failure();
  if (declared) {
    expectShape(node, from, *declared, allowZero);
    return node.failed() ? failure() : reshapeChecked(node, x, *declared);
  }
  int64_t inferred = -1;
  bool hasZero = false;
  for (auto [i, dim] : llvm::enumerate(*target)) {
    auto known = nn::getConstantDim(dim);
    if (known == -1 && inferred >= 0)
      return node.error("the shape has more than one -1");
    if (known && *known < -1)
      return node.error("the shape has the negative entry " + Twine(*known));
    if (known == 0 && !allowZero && i >= from.size())
      return node.error("the shape has 0 at " + Twine(i) + ", which copies a dimension, but the input has rank " + Twine(from.size()));
    hasZero |= known == 0 && allowZero;
    if (known == -1)
      inferred = i;
    to.push_back(known == -1 ? node.number(1) : known == 0 && !allowZero ? from[i] : dim);
  }
  if (inferred < 0)
    return reshapeChecked(node, x, to);
  if (hasZero)
    return node.error("the shape has both 0 and -1, so -1 cannot be inferred");
  (void)node.type(to, node.elementType(x));
  if (node.failed())
    return failure();
  auto rest = nn::getConstantDim(nn::getNumElements(to, node.context())), all = nn::getConstantDim(nn::getNumElements(from, node.context()));
  if (rest == 0)
    return node.error("-1 in the shape cannot be inferred, because the other dimensions have 0 elements");
  if (rest && all && *all % *rest)
    return node.error("cannot reshape " + Twine(*all) + " elements: the given dimensions have " + Twine(*rest));
  for (auto [i, dim] : llvm::enumerate(to))
    if (!allowZero && mayCopy(node, dim, i, from))
      dim = nn::choose(nn::simplifyDim(node.number(1) - nn::getSign(dim)), from[i], dim);
  to[inferred] = divideExactly(from, to, node.context());
  return reshapeChecked(node, x, to);
}

static LogicalResult flatten(Node &node) {
  Value x = node.input(0);
  int64_t rank = node.rank(x), axis = node.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return node.error("axis " + Twine(axis) + " is out of range for rank " + Twine(rank));
  axis = axis < 0 ? axis + rank : axis;
  DimExprs dims = node.dims(x);
  AffineExpr rows = nn::getNumElements(ArrayRef(dims).take_front(axis), node.context());
  AffineExpr columns = nn::getNumElements(ArrayRef(dims).drop_front(axis), node.context());
  return node.result(node.reshape(x, {rows, columns}));
}

/// Axes from the attribute, or since opset 13 from input 1; nullopt when absent.
static std::optional<SmallVector<int64_t>> squeezeAxes(Node &node) {
  if (node.opset < 13)
    return node.findInts("axes");
  return node.hasInput(1) ? node.constantIntegers(1, "axes") : std::nullopt;
}

/// Without axes all dimensions of size 1 go. Whether a symbolic one is 1 only run time knows, but the rank may be declared: then all of them are or
/// none is. Else SqueezedDims tells. Both are checked at run time.
static LogicalResult squeezeOnes(Node &node, Value x) {
  DimExprs dims = node.dims(x), kept, symbolic, ones;
  for (AffineExpr dim : dims) {
    nn::DimRange range = node.facts().getRange(dim);
    bool isStatic(nn::getConstantDim(dim)), mayBeOne = range.least.value_or(1) <= 1 && range.most.value_or(1) >= 1;
    // Without elements the run would have another rank: a dimension that is at most 1 is 1.
    if (mayBeOne && !isStatic && range.most == 1) {
      if (!node.unify(dim, node.number(1), "sizes"))
        return failure();
      continue;
    }
    if (!isStatic || !mayBeOne)
      kept.push_back(dim);
    if (!isStatic && mayBeOne)
      symbolic.push_back(dim);
  }
  SqueezedDims &squeezed = node.squeezed();
  int64_t most = kept.size(), least = most - static_cast<int64_t>(symbolic.size());
  auto rank = node.declaredRank();
  if (rank == least) {
    ones = symbolic;
  } else if (rank != most) {
    squeezed.asked.insert(symbolic.begin(), symbolic.end());
    llvm::copy_if(symbolic, std::back_inserter(ones), [&](AffineExpr dim) { return llvm::is_contained(squeezed.ones, dim); });
    squeezed.isContradicted |= rank && *rank != most - static_cast<int64_t>(ones.size());
    if (squeezed.isRefused || squeezed.isContradicted)
      return node.unsupported("without axes, which dimensions of size 1 to squeeze is known only at run time",
                              "make them static with --dim, or give bounds that leave out 1");
  }
  for (AffineExpr dim : symbolic) {
    AffineExpr size = llvm::is_contained(ones, dim) ? dim : nn::getBroadcastFactor(dim);
    if (!node.unify(size, node.number(1), "the declared rank differs: sizes"))
      return failure();
  }
  llvm::erase_if(kept, [&](AffineExpr dim) { return llvm::is_contained(ones, dim); });
  return node.result(node.reshape(x, kept));
}

static LogicalResult squeeze(Node &node) {
  Value x = node.input(0);
  DimExprs dims = node.dims(x), kept;
  if (auto declared = node.declaredDims(); declared && node.opset >= 13 && !node.isKnown(1)) {
    expectAxesInRun(node, node.input(1), *declared, dims);
    return node.failed() ? failure() : reshapeChecked(node, x, *declared);
  }
  auto given = squeezeAxes(node);
  if (!given)
    return node.failed() ? failure() : squeezeOnes(node, x);
  SmallVector<int64_t> axes = node.axes(*given, dims.size());
  if (node.failed())
    return failure();
  for (auto [i, dim] : llvm::enumerate(dims)) {
    bool isNamed = llvm::is_contained(axes, static_cast<int64_t>(i));
    if (isNamed && !node.unify(dim, node.number(1), "dimension " + Twine(i) + " cannot be squeezed"))
      return failure();
    if (!isNamed)
      kept.push_back(dim);
  }
  return node.result(node.reshape(x, kept));
}

static LogicalResult unsqueeze(Node &node) {
  Value x = node.input(0);
  DimExprs dims = node.dims(x);
  if (auto declared = node.declaredDims(); declared && node.opset >= 13 && !node.isKnown(1)) {
    expectAxesInRun(node, node.input(1), dims, *declared);
    return node.failed() ? failure() : reshapeChecked(node, x, *declared);
  }
  auto given = squeezeAxes(node);
  if (!given)
    return node.error("axes are missing");
  SmallVector<int64_t> axes = node.axes(*given, dims.size() + given->size());
  if (node.failed())
    return failure();
  for (int64_t axis : axes)
    dims.insert(dims.begin() + axis, node.number(1));
  return node.result(node.reshape(x, dims));
}

/// Ends a run whose shape, broadcast with the input's, is not the declared one.
static void expectExpanded(Node &node, DimExprs from, ArrayRef<AffineExpr> declared) {
  Value shape = node.input(1);
  auto length = node.failed() ? std::nullopt : nn::getConstantDim(nn::getNumElements(node.dims(shape), node.context()));
  int64_t rank = static_cast<int64_t>(declared.size());
  if (!length || *length > rank || std::max<int64_t>(*length, static_cast<int64_t>(from.size())) != rank) {
    (void)node.unsupported("the rank of the shape is not what the model declares", "make it a constant");
    return;
  }
  from.insert(from.begin(), rank - from.size(), node.number(1));
  // Dimensions in front that the shape does not have are the input's.
  for (auto [dim, want] : llvm::zip(ArrayRef(from).drop_back(*length), declared))
    if (!node.unify(dim, want, "the model declares another size: dimensions"))
      return;
  declared = declared.take_back(*length);
  shape = node.cast(node.reshape(shape, {node.number(*length)}), node.builder().getI64Type());
  if (node.failed() || *length == 0)
    return;
  Value want = makeDimVector(node, declared), have = makeDimVector(node, ArrayRef(from).take_back(*length));
  Value keeps = node.binary<nn::AndOp>(node.compare<nn::EqualOp>(shape, node.splatLike(shape, 1)), node.compare<nn::EqualOp>(have, want));
  expectInRun(node, node.binary<nn::OrOp>(keeps, node.compare<nn::EqualOp>(shape, want)));
}

/// The size of the shape, or that of the input where the shape has 1. A run checks that a size of the shape is the result's or 1.
static void chooseExpanded(Node &node, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> target, MutableArrayRef<AffineExpr> dims) {
  for (size_t i = 0; i < std::min(dims.size(), target.size()); ++i) {
    AffineExpr &dim = dims[dims.size() - 1 - i], want = target[target.size() - 1 - i], own = i < from.size() ? from[from.size() - 1 - i] : node.number(1);
    if (nn::provablyEqual(dim, want) || nn::getConstantDim(want) == 1)
      continue;
    if (!nn::provablyEqual(dim, own))
      dim = node.facts().simplify(nn::getBroadcastSize(want, own));
    if (!node.sizes().isConstraint(want - dim))
      node.sizes().addConstraint(nn::getBroadcastConstraint(want, dim), node.describe());
  }
}

static LogicalResult expand(Node &node) {
  Value x = node.input(0);
  auto declared = node.isKnown(1) ? std::nullopt : node.trustedDims();
  auto target = declared ? declared : readSizes(node, 1, "the shape");
  if (declared)
    expectExpanded(node, node.dims(x), *declared);
  if (!target || node.failed())
    return failure();
  for (AffineExpr dim : *target)
    if (auto known = nn::getConstantDim(dim); known && *known < 0)
      return node.error("the shape has the negative entry " + Twine(*known));
  auto dims = node.broadcastDims(node.dims(x), *target);
  if (!dims)
    return failure();
  chooseExpanded(node, node.dims(x), *target, *dims);
  return node.failed() ? failure() : node.result(node.broadcastTo(x, *dims));
}

static LogicalResult identity(Node &node) { return node.narrowResult(node.input(0), node.narrowType(0)); }

ArrayRef<Operator> getShapeOperators() {
  static const Operator rows[] = {
      {"Expand", 8, Elements::Data, expand},
      {"Flatten", 1, Elements::Data, flatten},
      {"Identity", 1, Elements::Everything, identity},
      {"Reshape", 1, Elements::Data, reshape},
      {"Shape", 1, Elements::Data, shape},
      {"Size", 1, Elements::Data, size},
      {"Squeeze", 1, Elements::Data, squeeze},
      {"Unsqueeze", 1, Elements::Data, unsqueeze},
  };
  return rows;
}

} // namespace kiln::import
