//===- DataDims.cpp - Dimensions that the data of a run decide -------------===//
#include "compiler/import/DataDims.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/Choices.h"
#include "compiler/import/NumberArithmetic.h"
#include "compiler/import/SymbolicSizes.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNDataSizedOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"

#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

//===- Upper bounds --------------------------------------------------------===//

/// Whether a cast of integers has their values, whatever they are.
static bool keepsIntegers(CastOp cast) {
  Type from = getElementTypeOrSelf(cast.getX().getType()), to = cast.getType().getElementType();
  if (!from.isInteger() || !to.isInteger())
    return false;
  bool wasNatural = from.isUnsignedInteger() || from.isInteger(1), isNatural = to.isUnsignedInteger();
  unsigned before = from.getIntOrFloatBitWidth(), after = to.getIntOrFloatBitWidth();
  return wasNatural == isNatural ? after >= before : wasNatural && after > before;
}

/// Whether no element is negative. False: it is not known.
static bool isNotNegative(Node &node, Value value) {
  Operation *op = value.getDefiningOp();
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isUnsignedInteger() || element.isInteger(1))
    return true;
  if (auto known = getIntegerContents(value))
    return llvm::all_of(*known, [&](AffineExpr expr) { return node.facts().areOrdered(node.number(0), expr); });
  if (auto cast = dyn_cast_or_null<CastOp>(op); cast && keepsIntegers(cast))
    return isNotNegative(node, cast.getX());
  if (auto clamp = dyn_cast_or_null<ClampOp>(op))
    return clamp.getMin().convertToDouble() >= 0;
  return isa_and_nonnull<ReluOp, DataSized>(op);
}

namespace {
/// Numbers that wrap or are rounded upward could pass a bound of their operands, so operations that may do either have none.
class UpperBounds {
public:
  explicit UpperBounds(Node &node) : node(node), facts(node.facts()) {}

  AffineExpr find(Value value, unsigned depth) const {
    if (auto known = getIntegerContents(value); known && !known->empty())
      return join(*known);
    Operation *op = value.getDefiningOp();
    AffineExpr ofType = findOfType(getElementTypeOrSelf(value.getType()));
    AffineExpr ofOperation = op && depth > 0 ? findOf(op, value, depth - 1) : AffineExpr();
    if (isa<FloatType>(getElementTypeOrSelf(value.getType())) && ofOperation && !isExact(ofOperation, getElementTypeOrSelf(value.getType())))
      return {};
    return ofType && ofOperation ? facts.getSmaller(ofType, ofOperation) : ofType ? ofType : ofOperation;
  }

private:
  AffineExpr number(int64_t value) const { return node.number(value); }

  AffineExpr join(ArrayRef<AffineExpr> bounds) const {
    AffineExpr most = bounds.front();
    for (AffineExpr bound : bounds.drop_front())
      most = most && bound ? facts.getLarger(most, bound) : AffineExpr();
    return most;
  }

  AffineExpr findOfType(Type element) const {
    if (!element.isInteger() || element.getIntOrFloatBitWidth() > 8)
      return {};
    return number(element.isInteger(1) ? 1 : element.isUnsignedInteger(8) ? 255 : 127);
  }

  /// Whether a floating-point type has the number, so that no smaller one is rounded beyond it.
  bool isExact(AffineExpr bound, Type element) const { return (element.isF32() || element.isF64()) && isFaithful({bound}, element, facts); }

  AffineExpr findConstant(double most) const {
    constexpr double limit = 0x1p40;
    return most < limit ? number(static_cast<int64_t>(std::ceil(std::max(most, 0.0)))) : AffineExpr();
  }

  AffineExpr findOf(Operation *op, Value value, unsigned depth) const {
    auto of = [&](unsigned operand) { return find(op->getOperand(operand), depth); };
    auto both = [&](auto combine) {
      AffineExpr x = of(0), y = of(1);
      return x && y ? simplifyDim(combine(x, y)) : AffineExpr();
    };
    return TypeSwitch<Operation *, AffineExpr>(op)
        .Case<ReshapeOp, TransposeOp, BroadcastToOp, SliceOp, GatherOp, FloorOp, CeilOp>([&](Operation *) { return of(0); })
        .Case([&](ConcatOp) {
          return join(llvm::map_to_vector(llvm::seq<unsigned>(0, op->getNumOperands()), of));
        })
        .Case([&](CastOp cast) {
          bool isBetweenIntegers = getElementTypeOrSelf(cast.getX().getType()).isInteger() && cast.getType().getElementType().isInteger();
          return !isBetweenIntegers || keepsIntegers(cast) ? of(0) : AffineExpr();
        })
        .Case([&](ConstantOp constant) {
          double most = 0;
          ConstantData data(constant.getValue());
          for (int64_t i = 0; i < data.numElements(); ++i)
            most = std::max(most, data.asDouble(i));
          return findConstant(most);
        })
        .Case([&](SplatOp) {
          auto splat = getSplatNumber(value);
          return splat ? findConstant(*splat) : AffineExpr();
        })
        .Case([&](ClampOp clamp) { return findConstant(clamp.getMax().convertToDouble()); })
        .Case([&](MinimumOp) {
          AffineExpr x = of(0), y = of(1);
          return x && y ? facts.getSmaller(x, y) : x ? x : y;
        })
        .Case([&](MaximumOp) { return both([&](AffineExpr x, AffineExpr y) { return facts.getLarger(x, y); }); })
        .Case([&](SelectOp) { return join({of(1), of(2)}); })
        .Case([&](AddOp) {
          bool mayWrap = !isNotNegative(node, op->getOperand(0)) && !isNotNegative(node, op->getOperand(1));
          return mayWrap && getElementTypeOrSelf(value.getType()).isInteger() ? AffineExpr() : both([](AffineExpr x, AffineExpr y) { return x + y; });
        })
        .Case([&](ReluOp) { return of(0) ? facts.getLarger(of(0), number(0)) : AffineExpr(); })
        .Case([&](ReduceOp reduce) { return findOfReduction(reduce, of(0)); })
        .Case([&](DataSized counted) {
          return value == counted.getCountResult() ? getAffineSymbolExpr(counted.getCountedSymbol(), op->getContext()) : AffineExpr();
        })
        .Default([](Operation *) { return AffineExpr(); });
  }

  AffineExpr findOfReduction(ReduceOp reduce, AffineExpr of) const {
    // The sum of a mean is rounded before it is divided.
    if (!of || reduce.getKind() == ReduceKind::Prod || reduce.getKind() == ReduceKind::Mean)
      return {};
    if (reduce.getKind() != ReduceKind::Sum)
      return of;
    if (!isNotNegative(node, reduce.getInput()))
      return {};
    AffineExpr count = number(1);
    for (int64_t axis : reduce.getAxes())
      count = count * node.dims(reduce.getInput())[axis];
    return simplifyDim(of * count);
  }

  Node &node;
  const DimFacts &facts;
};
} // namespace

AffineExpr findUpperBound(Node &node, Value value) {
  constexpr unsigned mostSteps = 32;
  return value && isa<RankedTensorType>(value.getType()) ? UpperBounds(node).find(value, mostSteps) : AffineExpr();
}

//===- Dimensions ----------------------------------------------------------===//

AffineExpr makeDataDim(Node &node, Value number, AffineExpr bound, const Twine &name) {
  return node.choices().computeDim(node, node.reshape(node.cast(number, node.builder().getI64Type()), {}), bound, name);
}

/// An element of a vector of sizes: as an expression, or else its upper bound, if there is one.
struct SizeElement {
  AffineExpr known, bound;
};

/// The elements as dimensions. A dimension stops at its bound, and a number that does not ends the run. With `mostBelow`, elements may be negative.
static DimExprs makeDims(Node &node, Value numbers, ArrayRef<SizeElement> elements, StringRef what, ArrayRef<AffineExpr> mostBelow = {}) {
  auto at = [&](size_t place) { return node.number(static_cast<int64_t>(place)); };
  Value all = node.reshape(numbers, {at(elements.size())});
  DimExprs dims;
  for (auto [i, element] : llvm::enumerate(elements)) {
    std::string name = node.outputName(0) + "_" + what.str() + (elements.size() > 1 ? std::to_string(i) : "");
    Value number = element.known ? Value() : node.cast(node.slice(all, 0, at(i), at(1)), node.builder().getI64Type());
    dims.push_back(element.known ? element.known : makeDataDim(node, number, element.bound, name));
    if (!element.known && !mostBelow.empty() && !isNotNegative(node, numbers))
      dims.back() = dims.back() - makeDataDim(node, node.unary<NegOp>(number), mostBelow[i], name + "_below");
  }
  expectInRun(node, numbers, dims);
  return dims;
}

DimExprs makeDataDims(Node &node, Value numbers, ArrayRef<AffineExpr> bounds, StringRef what) {
  return makeDims(node, numbers, llvm::map_to_vector(bounds, [](AffineExpr bound) { return SizeElement{AffineExpr(), bound}; }), what);
}

/// The parts of a Concat have bounds of their own.
static void collectElements(Node &node, Value vector, SmallVectorImpl<SizeElement> &elements) {
  Operation *op = vector.getDefiningOp();
  if (auto known = getIntegerContents(vector)) {
    for (AffineExpr expr : *known)
      elements.push_back({expr, expr});
  } else if (auto concat = dyn_cast_or_null<ConcatOp>(op); concat && node.rank(vector) == 1) {
    for (Value part : concat.getInputs())
      collectElements(node, part, elements);
  } else if (auto cast = dyn_cast_or_null<CastOp>(op); cast && keepsIntegers(cast)) {
    collectElements(node, cast.getX(), elements);
  } else {
    int64_t count = nn::getConstantDim(getNumElements(node.dims(vector), node.context())).value_or(0);
    elements.append(count, SizeElement{AffineExpr(), findUpperBound(node, vector)});
  }
}

static std::optional<DimExprs> readElements(Node &node, unsigned input, StringRef what, ArrayRef<AffineExpr> mostBelow) {
  if (node.failed() || node.isKnown(input) || !node.elementType(node.input(input)).isInteger())
    return node.knownIntegers(input, what);
  Value numbers = node.input(input);
  SmallVector<SizeElement> elements;
  collectElements(node, numbers, elements);
  if (elements.empty())
    return node.knownIntegers(input, what);
  if (int64_t rank = elements.size(); rank > node.limits().rank) {
    (void)node.beyondLimit(what + Twine(" has ") + Twine(rank) + " elements, which is over the limit of " + Twine(node.limits().rank) + " dimensions");
    return std::nullopt;
  }
  if (!mostBelow.empty() && mostBelow.size() != elements.size()) {
    (void)node.error(what + Twine(" has ") + Twine(elements.size()) + " entries, expected " + Twine(mostBelow.size()));
    return std::nullopt;
  }
  return makeDims(node, numbers, elements, mostBelow.empty() ? "size" : "amount", mostBelow);
}

std::optional<DimExprs> readSizes(Node &node, unsigned input, StringRef what) { return readElements(node, input, what, {}); }

std::optional<DimExprs> readAmounts(Node &node, unsigned input, ArrayRef<AffineExpr> mostBelow, StringRef what) {
  return readElements(node, input, what, mostBelow);
}

Value sliceByData(Node &node, Value x, int64_t axis, Value start, Value end, int64_t step) {
  AffineExpr size = node.dims(x)[axis];
  Type i64 = node.builder().getI64Type();
  auto scalar = [&](Value value) { return node.cast(node.reshape(value, {}), i64); };
  Value length = node.reshape(makeDimVector(node, size), {}), zero = node.splat({}, i64, 0);
  auto place = [&](Value bound) {
    bound = scalar(bound);
    if (node.failed())
      return bound;
    Value fromFront = node.make<SelectOp>(bound.getType(), node.compare<LessOp>(bound, zero), node.binary<AddOp>(bound, length), bound);
    return node.binary<MinimumOp>(node.binary<MaximumOp>(fromFront, zero), length);
  };
  Value first = place(start), last = place(end);
  Value distance = node.binary<MaximumOp>(node.binary<SubOp>(last, first), zero);
  Value stride = node.splat({}, i64, static_cast<double>(step));
  // Neither number is negative.
  Value count = step == 1 ? distance : node.binary<DivOp>(node.binary<AddOp>(distance, node.splat({}, i64, static_cast<double>(step - 1))), stride);
  if (node.failed())
    return x;
  auto known = node.findIntegers(first);
  AffineExpr from = known ? known->front() : makeDataDim(node, first, size, node.outputName(0) + "_start");
  AffineExpr extent = makeDataDim(node, count, simplifyDim(size.ceilDiv(step)), node.outputName(0) + "_count");
  return node.failed() ? x : node.slice(x, axis, from, extent, step);
}

} // namespace kiln::import
