//===- DataDims.cpp - Dimensions that the data of a run decide -------------===//
#include "compiler/import/DataDims.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/Choices.h"
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

namespace {
class UpperBounds {
public:
  explicit UpperBounds(Node &node) : node(node), facts(node.facts()) {}

  AffineExpr find(Value value, unsigned depth) const {
    if (auto known = getIntegerContents(value); known && !known->empty())
      return join(*known);
    Operation *op = value.getDefiningOp();
    AffineExpr ofType = findOfType(getElementTypeOrSelf(value.getType()));
    AffineExpr ofOperation = op && depth > 0 ? findOf(op, value, depth - 1) : AffineExpr();
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
        .Case([&](CastOp) { return of(0); })
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
        .Case([&](AddOp) { return both([](AffineExpr x, AffineExpr y) { return x + y; }); })
        .Case([&](ReluOp) { return of(0) ? facts.getLarger(of(0), number(0)) : AffineExpr(); })
        .Case([&](ReduceOp reduce) { return findOfReduction(reduce, of(0)); })
        .Case([&](DataSized counted) {
          return value == counted.getCountResult() ? getAffineSymbolExpr(counted.getCountedSymbol(), op->getContext()) : AffineExpr();
        })
        .Default([](Operation *) { return AffineExpr(); });
  }

  AffineExpr findOfReduction(ReduceOp reduce, AffineExpr of) const {
    if (!of || reduce.getKind() == ReduceKind::Prod)
      return {};
    if (reduce.getKind() != ReduceKind::Sum)
      return of;
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

DimExprs makeDataDims(Node &node, Value numbers, ArrayRef<AffineExpr> bounds, StringRef what) {
  Value all = node.cast(node.reshape(numbers, {node.number(static_cast<int64_t>(bounds.size()))}), node.builder().getI64Type());
  DimExprs dims;
  for (auto [i, bound] : llvm::enumerate(bounds)) {
    Value one = node.slice(all, 0, node.number(static_cast<int64_t>(i)), node.number(1));
    dims.push_back(makeDataDim(node, one, bound, node.outputName(0) + "_" + what + (bounds.size() > 1 ? Twine(i) : Twine())));
  }
  // The dimension stops at its bound, the number does not.
  expectInRun(node, numbers, dims);
  return dims;
}

/// An element of a vector of sizes: as an expression, or else its upper bound, if there is one.
struct SizeElement {
  AffineExpr known, bound;
};

/// The parts of a Concat have bounds of their own.
static void collectElements(Node &node, Value vector, SmallVectorImpl<SizeElement> &elements) {
  Operation *op = vector.getDefiningOp();
  if (auto known = getIntegerContents(vector)) {
    for (AffineExpr expr : *known)
      elements.push_back({expr, expr});
  } else if (auto concat = dyn_cast_or_null<ConcatOp>(op); concat && node.rank(vector) == 1) {
    for (Value part : concat.getInputs())
      collectElements(node, part, elements);
  } else if (auto cast = dyn_cast_or_null<CastOp>(op); cast && node.elementType(cast.getX()).isInteger()) {
    collectElements(node, cast.getX(), elements);
  } else {
    int64_t count = nn::getConstantDim(getNumElements(node.dims(vector), node.context())).value_or(0);
    elements.append(count, SizeElement{AffineExpr(), findUpperBound(node, vector)});
  }
}

std::optional<DimExprs> readSizes(Node &node, unsigned input, StringRef what) {
  if (node.failed() || node.isKnown(input) || !node.elementType(node.input(input)).isInteger())
    return node.knownIntegers(input, what);
  Value numbers = node.input(input);
  SmallVector<SizeElement> elements;
  collectElements(node, numbers, elements);
  bool isBounded = llvm::all_of(elements, [](const SizeElement &element) { return bool(element.bound); });
  if (elements.empty() || !isBounded)
    return node.knownIntegers(input, what);
  DimExprs dims;
  Value all = node.reshape(numbers, {node.number(static_cast<int64_t>(elements.size()))});
  for (auto [i, element] : llvm::enumerate(elements)) {
    auto at = static_cast<int64_t>(i);
    dims.push_back(element.known ? element.known
                                 : makeDataDim(node, node.slice(all, 0, node.number(at), node.number(1)), element.bound,
                                               node.outputName(0) + "_size" + Twine(at)));
  }
  expectInRun(node, numbers, dims);
  return dims;
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
