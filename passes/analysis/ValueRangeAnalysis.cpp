//===- ValueRangeAnalysis.cpp - Ranges of all values of a graph ------------===//
//
//   %t = nn.tanh %x            [-1.004, 1.004] or NaN
//   %m = nn.matmul %t, %w      the sums of |w| say
//   %s = nn.softmax %m axis 1  [0, 1] or NaN
//
//===----------------------------------------------------------------------===//
#include "passes/analysis/ValueRangeAnalysis.h"
#include "passes/analysis/ContractionRanges.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/ConstantPart.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "passes/analysis/ScalarRanges.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace kiln {

using namespace nn;

int64_t getLargestSize(Operation *op, Type type, ArrayRef<int64_t> axes) {
  auto bounds = op->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(symbolBoundsAttrName);
  SmallVector<std::optional<int64_t>> lowest, highest;
  for (Attribute bound : bounds ? bounds.getValue() : ArrayRef<Attribute>()) {
    auto pair = dyn_cast<DenseI64ArrayAttr>(bound);
    bool given = pair && pair.size() == 2;
    lowest.push_back(given ? std::optional(pair[0]) : std::nullopt);
    highest.push_back(given ? std::optional(pair[1]) : std::nullopt);
  }
  int64_t product = 1;
  for (int64_t axis : axes) {
    AffineExpr dim = getDim(type, axis);
    auto size = getConstantDim(dim);
    if (!size && countSymbols({dim}) <= lowest.size())
      size = getBoundForAffineExpr(dim, 0, lowest.size(), lowest, highest, /*isUpper=*/true);
    if (!size || *size < 0 || llvm::MulOverflow(product, *size, product))
      return std::numeric_limits<int64_t>::max();
  }
  return product;
}

static Interval rangeOfConstant(ElementsAttr constant) {
  ElementsAttr attr = getWhole(constant);
  ConstantData data(attr);
  Interval none;
  double low = none.low, high = none.high;
  bool isSplat = isa<DenseElementsAttr>(attr) && cast<DenseElementsAttr>(attr).isSplat(), nan = false;
  // Comparisons with a NaN are false.
  data.forEachDouble(0, isSplat ? std::min<int64_t>(1, data.numElements()) : data.numElements(), [&](double number) {
    low = number < low ? number : low;
    high = number > high ? number : high;
    nan |= std::isnan(number);
  });
  return {low, high, nan};
}

/// Sums of `count` terms: what rounding in the type of accumulation may add to them, and NaN once partial sums may overflow.
static Interval accumulate(Interval sum, double magnitude, double count, Type element) {
  bool isFloat = isa<FloatType>(element);
  if (!isFloat)
    return sum;
  double error = element.isF64() ? 0x1p-52 : 0x1p-23, limit = element.isF64() ? 0x1p1023 : 0x1p127;
  return magnitude < limit ? widen(sum, 0, magnitude * error * (count + 4)) : Interval(-infinity, infinity, true);
}

/// The mean of `count` numbers of a range.
static Interval inferMean(Interval x, double count, Type element) {
  Interval sum = accumulate(multiply(x, {count, count}), x.magnitude() * count, count, element);
  return sum.isBounded() ? widen(x, 0, x.magnitude() * (element.isF64() ? 0x1p-52 : 0x1p-23) * (count + 8)) : getFullRange(element);
}

static Interval inferReduce(ReduceOp op, Interval x) {
  Type type = op.getInput().getType(), element = getElementTypeOrSelf(type);
  int64_t count = getLargestSize(op, type, op.getAxes());
  bool mayBeEmpty = llvm::any_of(op.getAxes(), [&](int64_t axis) { return getConstantDim(getDim(type, axis)).value_or(0) == 0; });
  bool isKnown = count < (int64_t(1) << 40);
  switch (op.getKind()) {
  case ReduceKind::Max:
  case ReduceKind::Min:
    return mayBeEmpty ? getFullRange(element) : x;
  case ReduceKind::Mean:
    if (mayBeEmpty || !isKnown || !x.isBounded() || !isa<FloatType>(element))
      return getFullRange(element);
    return inferMean(x, count, element);
  case ReduceKind::Sum: {
    Interval times(mayBeEmpty ? 0 : count, isKnown ? count : infinity);
    Interval sum = multiply(x, times);
    if (!x.isBounded() || !isKnown)
      return x.low >= 0 && isa<FloatType>(element) ? Interval(0, infinity, x.nan) : getFullRange(element);
    Interval range = accumulate(sum, x.magnitude() * count, count, element);
    // Sums of what is not negative are not negative however they are rounded.
    return x.low >= 0 && range.isBounded() ? Interval(std::max(range.low, 0.0), range.high, range.nan || x.nan) : range;
  }
  case ReduceKind::Prod:
    return getFullRange(element);
  }
  llvm_unreachable("unknown kind");
}

/// (x - mean) / sqrt(variance + epsilon): no element of n is farther from the mean than sqrt(n) deviations. Half as much again is left for the
/// rounding of the variance in one pass.
static Interval inferNormalized(Operation *op, int64_t axis, Interval scale, Interval bias) {
  Type type = op->getResult(0).getType();
  int64_t count = getLargestSize(op, type, llvm::to_vector(llvm::seq<int64_t>(axis, cast<RankedTensorType>(type).getRank())));
  if (count > (int64_t(1) << 32) || getElementTypeOrSelf(type).isF64())
    return getFullRange(getElementTypeOrSelf(type));
  double most = 1.5 * std::sqrt(static_cast<double>(count));
  Interval range = widen(add(multiply({-most, most, true}, scale), bias), 0x1p-20, 0x1p-20 * bias.magnitude());
  range.nan = true;
  return range;
}

static Interval inferLogSoftmax(LogSoftmaxOp op, Interval x) {
  int64_t count = getLargestSize(op, op.getType(), {static_cast<int64_t>(op.getAxis())});
  if (!x.isBounded() || count > (int64_t(1) << 32))
    return {-infinity, 0x1p-8, true};
  double least = -(x.high - x.low) - std::log(static_cast<double>(count));
  return widen({least, 0, true}, 0x1p-8, 0x1p-8);
}

/// The element-wise hull of all that moved data can be: operands `inputs` of the operation.
static Interval joinAll(ArrayRef<Interval> ranges) {
  Interval all;
  for (const Interval &range : ranges)
    all = Interval::join(all, range);
  return all;
}

static Interval inferResize(ResizeOp op, Interval x) {
  if (op.getMode() == ResizeMode::Cubic || !isa<FloatType>(getElementTypeOrSelf(op.getType())))
    return getFullRange(getElementTypeOrSelf(op.getType()));
  double outside = op.getExtrapolationValue().convertToDouble();
  Interval all = Interval::join(x, {outside, outside});
  return op.getMode() == ResizeMode::Nearest ? all : x.isBounded() ? widen(all, 0x1p-8, all.magnitude() * 0x1p-8) : getFullRange(op.getType().getElementType());
}

/// What only moves elements: the result holds nothing that the operands do not hold.
static std::optional<Interval> inferMovement(Operation *op, ArrayRef<Interval> x) {
  return TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case<ReshapeOp, GatherOp, GatherElementsOp, GatherNdOp>([&](auto) { return x.front(); })
      .Case<PadOp>([&](PadOp pad) { return pad.getMode() == PadMode::Constant ? joinAll(x) : x.front(); })
      .Case<ConcatOp>([&](auto) { return joinAll(x); })
      .Case<ScatterElementsOp, ScatterNdOp>([&](auto scatter) -> std::optional<Interval> {
        if (scatter.getReduction() != ScatterReduction::None)
          return std::nullopt;
        return Interval::join(x[0], x[2]);
      })
      .Case<ResizeOp>([&](ResizeOp resize) { return inferResize(resize, x.front()); })
      .Case<IndexMap>([&](auto) { return x.front(); })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<Interval> inferSource(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    ElementsAttr value = getConstant(constant.getResult());
    return value ? std::optional(rangeOfConstant(value)) : std::nullopt;
  }
  if (auto splat = dyn_cast<SplatOp>(op)) {
    auto number = getSplatNumber(splat.getResult());
    if (number && std::isnan(*number))
      return Interval(infinity, -infinity, true);
    return number ? std::optional(Interval(*number, *number)) : std::nullopt;
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    int64_t size = getLargestSize(op, iota.getType(), {static_cast<int64_t>(iota.getAxis())});
    if (size < 2)
      return Interval(0, 0);
    return size < (int64_t(1) << 40) ? std::optional(Interval(0, static_cast<double>(size - 1))) : std::nullopt;
  }
  return std::nullopt;
}

/// Windows: pads of a maximum are never chosen over an element, but a window that holds nothing else gives -inf.
static std::optional<Interval> inferPool(Operation *op, Interval x) {
  if (auto pool = dyn_cast<MaxPoolOp>(op))
    return llvm::all_of(pool.getPads(), [](int64_t pad) { return pad == 0; }) ? x : Interval(-infinity, x.high, x.nan);
  auto pool = cast<AvgPoolOp>(op);
  bool hasPads = llvm::any_of(pool.getPads(), [](int64_t pad) { return pad != 0; });
  if (!x.isBounded() || (hasPads && !pool.getCountIncludePad()))
    return std::nullopt;
  double count = 1;
  for (int64_t size : pool.getKernel())
    count *= size;
  Interval all = hasPads ? Interval::join(x, {0, 0}) : x;
  return inferMean(all, count, pool.getType().getElementType());
}

static std::optional<Interval> inferComposite(Operation *op, unsigned index, ArrayRef<Interval> x) {
  return TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case<SoftmaxOp>([](auto) { return Interval(0, 1, true); })
      .Case<LogSoftmaxOp>([&](LogSoftmaxOp softmax) { return inferLogSoftmax(softmax, x.front()); })
      .Case<HardmaxOp>([](auto) { return Interval(0, 1); })
      .Case<LayerNormOp>([&](LayerNormOp norm) {
        return inferNormalized(op, norm.getAxis(), x[1], norm.getBias() ? x[2] : Interval(0, 0));
      })
      .Case<RmsNormOp>([&](RmsNormOp norm) -> std::optional<Interval> {
        // A square that underflows must not meet a divisor of zero.
        if (norm.getEpsilon().convertToDouble() < 1e-30)
          return std::nullopt;
        return inferNormalized(op, norm.getAxis(), x[1], {0, 0});
      })
      .Case<AttentionOp>([&](auto) -> std::optional<Interval> {
        Interval value = x[2];
        if (!value.isBounded())
          return std::nullopt;
        value = widen(value, 0x1p-7, value.magnitude() * 0x1p-7);
        return Interval(value.low, value.high, true);
      })
      .Case<ReduceOp>([&](ReduceOp reduce) { return inferReduce(reduce, x.front()); })
      .Case<MaxPoolOp, AvgPoolOp>([&](auto) { return inferPool(op, x.front()); })
      .Case<MatmulOp, ConvOp>([&](auto) { return inferContractionRange(op, x[0], x[1]); })
      .Case<TopKOp>([&](auto) -> std::optional<Interval> { return index == 0 ? std::optional(x.front()) : std::nullopt; })
      .Default([](Operation *) { return std::nullopt; });
}

Interval inferRange(Operation *op, unsigned index, ArrayRef<Interval> operands) {
  Type element = getElementTypeOrSelf(op->getResult(index));
  std::optional<Interval> range = inferSource(op);
  if (auto scalar = dyn_cast<ScalarBody>(op))
    range = inferScalarRange(scalar, operands);
  if (!range && !operands.empty())
    range = inferMovement(op, operands);
  if (!range && !operands.empty())
    range = inferComposite(op, index, operands);
  return range ? roundOutward(*range, element) : getFullRange(element);
}

void ValueRangeAnalysis::setToEntryState(ValueRangeLattice *lattice) {
  Value value = lattice->getAnchor();
  Interval range = getFullRange(getElementTypeOrSelf(value));
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  // A promise speaks of numbers; NaN is not excluded by it.
  if (function && argument.getOwner()->isEntryBlock())
    if (auto promised = function.getArgAttrOfType<DenseF64ArrayAttr>(argument.getArgNumber(), rangeAttrName); promised && promised.size() == 2)
      range = roundOutward({promised[0], promised[1], range.nan}, getElementTypeOrSelf(value));
  propagateIfChanged(lattice, lattice->join(range));
}

/// Into and out of a composite's body.
void ValueRangeAnalysis::visitRegionSuccessors(ProgramPoint *point, RegionBranchOpInterface branch, RegionSuccessor successor,
                                               ArrayRef<dataflow::AbstractSparseLattice *> lattices) {
  auto composite = dyn_cast<CompositeOp>(*branch);
  kernel::TargetAttr target = composite ? kernel::getTarget(composite) : kernel::TargetAttr();
  // The result of a user's function approximates that of the body, with an unknown error.
  bool isKnown = composite && !(successor.isParent() && target && target.findComposite(composite.getName()));
  for (auto [i, lattice] : llvm::enumerate(lattices)) {
    auto *range = static_cast<ValueRangeLattice *>(lattice);
    if (!isKnown) {
      setToEntryState(range);
      continue;
    }
    Value source = successor.isParent() ? composite.getTerminator()->getOperand(i) : composite.getInputs()[i];
    join(range, *getLatticeElementFor(point, source));
  }
}

LogicalResult ValueRangeAnalysis::visitOperation(Operation *op, ArrayRef<const ValueRangeLattice *> operands, ArrayRef<ValueRangeLattice *> results) {
  SmallVector<Interval> ranges = llvm::map_to_vector(operands, [](const ValueRangeLattice *lattice) { return lattice->getValue(); });
  for (auto [i, result] : llvm::enumerate(results))
    if (op->getNumRegions() != 0 || !isa<RankedTensorType>(op->getResult(i).getType()))
      setToEntryState(result);
    else
      propagateIfChanged(result, result->join(inferRange(op, i, ranges)));
  return success();
}

ValueRanges::ValueRanges(Operation *root) {
  solver.load<dataflow::DeadCodeAnalysis>();
  // Asks it which regions of an operation run.
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<ValueRangeAnalysis>();
  // It fails when an analysis does; ranges that are not there are not known.
  (void)solver.initializeAndRun(root);
}

Interval ValueRanges::get(Value value) const {
  auto *lattice = solver.lookupState<ValueRangeLattice>(value);
  return lattice && !lattice->getValue().isEmpty() ? lattice->getValue() : getFullRange(getElementTypeOrSelf(value));
}

} // namespace kiln
