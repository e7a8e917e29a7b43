//===- Contents.cpp - Elements of small tensors known at compile time -------===//
#include "compiler/import/Contents.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"

#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Larger tensors are taken to be data and not shapes.
static constexpr int64_t elementLimit = 1024;

/// Numbers whose expressions have more parts count as unknown: no real model has them, and comparing them would take long.
static constexpr unsigned mostParts = 100;

static bool isTooComplex(const Number &number) { return number.expr && hasMoreParts(number.expr, mostParts); }

static bool isTracked(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  bool isKnownType = element.isF32() || element.isF64() || element.isInteger(1) || element.isSignlessInteger(32) || element.isSignlessInteger(64);
  return isKnownType && tensor.hasStaticShape() && tensor.getRank() <= 8 && tensor.getNumElements() <= elementLimit;
}

static bool isHalf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return (tensor.getElementType().isF16() || tensor.getElementType().isBF16()) && tensor.getNumElements() <= elementLimit;
}

//===- Order and division --------------------------------------------------===//

bool provablyAtMost(AffineExpr a, AffineExpr b) { return DimFacts().areOrdered(a, b); }

static void collectFactors(AffineExpr expr, SmallVectorImpl<AffineExpr> &factors, int64_t &constant) {
  if (expr.getKind() == AffineExprKind::Mul) {
    auto product = cast<AffineBinaryOpExpr>(expr);
    collectFactors(product.getLHS(), factors, constant);
    collectFactors(product.getRHS(), factors, constant);
  } else if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    constant *= number.getValue();
  } else {
    factors.push_back(expr);
  }
}

AffineExpr divideExactly(ArrayRef<AffineExpr> numerators, ArrayRef<AffineExpr> denominators, MLIRContext *context) {
  SmallVector<AffineExpr> above, below;
  int64_t top = 1, bottom = 1;
  for (AffineExpr expr : numerators)
    collectFactors(simplifyDim(expr), above, top);
  for (AffineExpr expr : denominators)
    collectFactors(simplifyDim(expr), below, bottom);
  llvm::erase_if(below, [&](AffineExpr expr) {
    auto *match = llvm::find_if(above, [&](AffineExpr other) { return provablyEqual(expr, other); });
    if (match == above.end())
      return false;
    above.erase(match);
    return true;
  });
  int64_t divisor = std::gcd(top, bottom);
  if (divisor == 0)
    return getAffineConstantExpr(0, context);
  AffineExpr numerator = getAffineConstantExpr(top / divisor, context), denominator = getAffineConstantExpr(bottom / divisor, context);
  for (AffineExpr expr : above)
    numerator = numerator * expr;
  for (AffineExpr expr : below)
    denominator = denominator * expr;
  return simplifyDim(denominator == getAffineConstantExpr(1, context) ? numerator : simplifyDim(numerator).floorDiv(denominator));
}

//===- Reading -------------------------------------------------------------===//

static Contents readConstant(ElementsAttr attr) {
  ConstantData data(attr);
  Contents contents;
  bool isReal = isa<FloatType>(attr.getElementType());
  for (int64_t i = 0; i < data.numElements(); ++i)
    contents.push_back(isReal ? Number{{}, data.asDouble(i)} : Number{getAffineConstantExpr(data.asInt(i), attr.getContext())});
  return contents;
}

static bool areTruths(const Contents &contents) {
  return llvm::all_of(contents, [](const Number &number) {
    DimRange range = number.expr ? DimFacts().getRange(number.expr) : DimRange();
    return range.least && range.most && *range.least >= 0 && *range.most <= 1;
  });
}

std::optional<Contents> getContents(Value value) {
  if (!value || !isTracked(value.getType()))
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    return readConstant(constant.getValue());
  if (isa_and_nonnull<SplatOp>(op))
    return readConstant(getConstant(value));
  if (isa_and_nonnull<ReshapeOp>(op))
    return getContents(op->getOperand(0));
  if (auto dims = dyn_cast_or_null<DimValuesOp>(op)) {
    Contents contents;
    for (AffineExpr expr : dims.getMap().getResults())
      contents.push_back({expr});
    return contents;
  }
  // A cast that foldContents made of symbolic contents; those of booleans are 0 or 1.
  if (auto cast = dyn_cast_or_null<CastOp>(op); cast && isa<DimValuesOp, ReshapeOp>(cast.getX().getDefiningOp() ? cast.getX().getDefiningOp() : op))
    if (auto contents = getContents(cast.getX()); !cast.getType().getElementType().isInteger(1) || (contents && areTruths(*contents)))
      return contents;
  return std::nullopt;
}

std::optional<DimExprs> getIntegerContents(Value value) {
  if (!value || !cast<RankedTensorType>(value.getType()).getElementType().isInteger())
    return std::nullopt;
  auto contents = getContents(value);
  if (!contents)
    return std::nullopt;
  DimExprs exprs;
  for (const Number &number : *contents)
    exprs.push_back(number.expr);
  return exprs;
}

//===- Writing -------------------------------------------------------------===//

template <typename T> static ElementsAttr makeElements(RankedTensorType type, ArrayRef<Number> contents) {
  SmallVector<T> values;
  for (const Number &number : contents)
    values.push_back(number.expr ? static_cast<T>(cast<AffineConstantExpr>(number.expr).getValue()) : static_cast<T>(number.real));
  return makeConstantOf<T>(type, values);
}

static bool isConstant(const Number &number) { return !number.expr || isa<AffineConstantExpr>(number.expr); }

Value materialize(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<Number> contents) {
  Type element = type.getElementType();
  if (llvm::all_of(contents, isConstant)) {
    ElementsAttr attr = element.isF32()         ? makeElements<float>(type, contents)
                        : element.isF64()       ? makeElements<double>(type, contents)
                        : element.isInteger(1)  ? makeElements<char>(type, contents)
                        : element.isInteger(32) ? makeElements<int32_t>(type, contents)
                                                : makeElements<int64_t>(type, contents);
    return ConstantOp::create(builder, loc, attr);
  }
  DimExprs exprs;
  for (const Number &number : contents)
    exprs.push_back(number.expr ? number.expr : getAffineConstantExpr(static_cast<int64_t>(number.real), builder.getContext()));
  bool isCast = isa<FloatType>(element) || element.isInteger(1);
  Type integer = isCast ? builder.getI64Type() : element;
  unsigned symbols = 0;
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        symbols = std::max(symbols, symbol.getPosition() + 1);
    });
  auto flat = type.getRank() == 0 ? RankedTensorType::get({}, integer) : RankedTensorType::get({static_cast<int64_t>(exprs.size())}, integer);
  Value value = DimValuesOp::create(builder, loc, flat, AffineMap::get(0, symbols, exprs, builder.getContext()));
  if (type.getRank() > 1)
    value = ReshapeOp::create(builder, loc, RankedTensorType::get(type.getShape(), integer), value);
  return isCast ? CastOp::create(builder, loc, type, value).getResult() : value;
}

//===- Arithmetic on numbers -----------------------------------------------===//

namespace {
/// The computation of one element; null contents mean that it is not known.
using Compute = llvm::function_ref<std::optional<Number>(ArrayRef<Number>)>;

/// Arithmetic in the element type of the operands.
class Arithmetic {
public:
  Arithmetic(Operation *op, const DimFacts &facts)
      : op(op), facts(facts), context(op->getContext()), result(cast<RankedTensorType>(op->getResult(0).getType()).getElementType()) {}

  std::optional<Number> compute(ArrayRef<Number> args) const {
    if (llvm::any_of(args, isTooComplex))
      return std::nullopt;
    if (isa<SelectOp>(op))
      return select(args);
    if (isa<CastOp>(op))
      return convert(args[0]);
    if (isa<EqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp>(op))
      return compare(args[0], args[1]);
    if (llvm::all_of(args, [](const Number &arg) { return arg.expr && isa<AffineConstantExpr>(arg.expr); }))
      return integers(args);
    if (llvm::all_of(args, [](const Number &arg) { return !arg.expr; }))
      return reals(args);
    return llvm::all_of(args, [](const Number &arg) { return static_cast<bool>(arg.expr); }) ? symbols(args) : mixed(args);
  }

private:
  Number number(int64_t value) const { return {getAffineConstantExpr(value, context)}; }
  static int64_t intOf(const Number &n) { return cast<AffineConstantExpr>(n.expr).getValue(); }

  std::optional<Number> select(ArrayRef<Number> args) const {
    if (isa<AffineConstantExpr>(args[0].expr))
      return intOf(args[0]) ? args[1] : args[2];
    if (!args[1].expr || !args[2].expr)
      return std::nullopt;
    return Number{simplifyDim(args[2].expr + args[0].expr * (args[1].expr - args[2].expr))};
  }

  std::optional<Number> convert(const Number &x) const {
    bool toReal = isa<FloatType>(result);
    if (result.isInteger(1)) {
      if (!x.expr)
        return number(x.real != 0);
      return isa<AffineConstantExpr>(x.expr) ? std::optional(number(intOf(x) != 0)) : std::nullopt;
    }
    if (x.expr && !isa<AffineConstantExpr>(x.expr))
      return x;
    if (toReal)
      return rounded(x.expr ? static_cast<double>(intOf(x)) : x.real);
    if (x.expr)
      return number(result.isInteger(32) ? static_cast<int32_t>(intOf(x)) : intOf(x));
    double limit = result.isInteger(32) ? 2147483647.0 : 9.2e18;
    return std::fabs(x.real) <= limit ? std::optional(number(static_cast<int64_t>(x.real))) : std::nullopt;
  }

  std::optional<Number> compare(const Number &x, const Number &y) const {
    if (!x.expr != !y.expr)
      return std::nullopt;
    bool equal, less, greater;
    if (!x.expr) {
      equal = x.real == y.real, less = x.real < y.real, greater = x.real > y.real;
    } else {
      equal = provablyEqual(x.expr, y.expr);
      less = facts.isBelow(x.expr, y.expr);
      greater = facts.isBelow(y.expr, x.expr);
      if (!equal && !less && !greater)
        return compareSymbols(x.expr, y.expr);
    }
    return number(isa<EqualOp>(op)       ? equal
                  : isa<LessOp>(op)      ? less
                  : isa<LessEqualOp>(op) ? less || equal
                  : isa<GreaterOp>(op)   ? greater
                                         : greater || equal);
  }

  /// 1 if the condition holds, otherwise 0.
  std::optional<Number> compareSymbols(AffineExpr x, AffineExpr y) const {
    AffineExpr greater = getSign(x - y), less = getSign(y - x);
    return Number{simplifyDim(isa<EqualOp>(op)       ? (-greater + 1) * (-less + 1)
                              : isa<LessOp>(op)      ? less
                              : isa<LessEqualOp>(op) ? -greater + 1
                              : isa<GreaterOp>(op)   ? greater
                                                     : -less + 1)};
  }

  Number rounded(double value) const { return {{}, result.isF32() ? static_cast<double>(static_cast<float>(value)) : value}; }

  std::optional<Number> reals(ArrayRef<Number> args) const {
    double x = args[0].real, y = args.size() > 1 ? args[1].real : 0;
    return TypeSwitch<Operation *, std::optional<Number>>(op)
        .Case([&](AddOp) { return rounded(x + y); })
        .Case([&](SubOp) { return rounded(x - y); })
        .Case([&](MulOp) { return rounded(x * y); })
        .Case([&](DivOp) { return rounded(x / y); })
        .Case([&](NegOp) { return rounded(-x); })
        .Case([&](FloorOp) { return rounded(std::floor(x)); })
        .Case([&](CeilOp) { return rounded(std::ceil(x)); })
        .Case([&](SqrtOp) { return rounded(std::sqrt(x)); })
        .Case([&](ReluOp) { return rounded(x < 0 ? 0 : x); })
        .Default([](Operation *) { return std::nullopt; });
  }

  std::optional<Number> integers(ArrayRef<Number> args) const {
    int64_t x = intOf(args[0]), y = args.size() > 1 ? intOf(args[1]) : 0;
    auto wrap = [&](uint64_t value) -> std::optional<Number> {
      if (isa<FloatType>(result))
        return rounded(static_cast<double>(static_cast<int64_t>(value)));
      return number(result.isInteger(32) ? static_cast<int32_t>(value) : static_cast<int64_t>(value));
    };
    auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
    bool divides = y != 0 && !(x == INT64_MIN && y == -1);
    return TypeSwitch<Operation *, std::optional<Number>>(op)
        .Case([&](AddOp) { return wrap(ux + uy); })
        .Case([&](SubOp) { return wrap(ux - uy); })
        .Case([&](MulOp) { return wrap(ux * uy); })
        .Case([&](DivOp) { return divides ? wrap(x / y) : std::nullopt; })
        .Case([&](ModOp) { return divides ? wrap(x - y * llvm::divideFloorSigned(x, y)) : std::nullopt; })
        .Case([&](MinimumOp) { return wrap(std::min(x, y)); })
        .Case([&](MaximumOp) { return wrap(std::max(x, y)); })
        .Case([&](NegOp) { return wrap(0 - ux); })
        .Case([&](AbsOp) { return wrap(x < 0 ? 0 - ux : ux); })
        .Case([&](ReluOp) { return wrap(std::max<int64_t>(x, 0)); })
        .Case([&](AndOp) { return wrap(ux & uy); })
        .Case([&](OrOp) { return wrap(ux | uy); })
        .Case([&](NotOp) { return result.isInteger(1) ? wrap(!ux) : wrap(~ux); })
        .Default([](Operation *) { return std::nullopt; });
  }

  std::optional<Number> symbols(ArrayRef<Number> args) const {
    AffineExpr x = args[0].expr, y = args.size() > 1 ? args[1].expr : AffineExpr();
    auto made = [](AffineExpr expr) -> std::optional<Number> { return Number{simplifyDim(expr)}; };
    bool isReal = isa<FloatType>(result);
    return TypeSwitch<Operation *, std::optional<Number>>(op)
        .Case([&](AddOp) { return made(x + y); })
        .Case([&](SubOp) { return made(x - y); })
        .Case([&](MulOp) { return made(x * y); })
        .Case([&](NegOp) { return made(x * -1); })
        .Case<FloorOp, CeilOp>([&](Operation *) { return made(x); })
        .Case([&](DivOp) -> std::optional<Number> {
          auto low = facts.getRange(x).least, divisor = facts.getRange(y).least;
          if (isReal || !low || *low < 0 || !divisor || *divisor < (isa<AffineConstantExpr>(y) ? 1 : 0))
            return std::nullopt;
          return made(divideExactly({x}, {y}, context));
        })
        .Case([&](ModOp) -> std::optional<Number> {
          auto divisor = dyn_cast<AffineConstantExpr>(y);
          return !isReal && divisor && divisor.getValue() > 0 ? made(x % y) : std::nullopt;
        })
        .Case([&](MinimumOp) { return made(facts.getSmaller(x, y)); })
        .Case([&](MaximumOp) { return made(facts.getLarger(x, y)); })
        .Case([&](ReluOp) { return made(facts.getLarger(x, getAffineConstantExpr(0, context))); })
        .Default([](Operation *) { return std::nullopt; });
  }

  /// Floats that are exactly a dimension, times whole numbers: the scale arithmetic around Resize.
  std::optional<Number> mixed(ArrayRef<Number> args) const {
    bool firstIsDim = static_cast<bool>(args[0].expr);
    const Number &dim = firstIsDim ? args[0] : args[1];
    double factor = firstIsDim ? args[1].real : args[0].real;
    if (std::fabs(factor) > 1 << 24 || factor != std::floor(factor))
      return std::nullopt;
    auto whole = static_cast<int64_t>(factor);
    if (isa<MulOp>(op))
      return Number{simplifyDim(dim.expr * whole)};
    if (isa<AddOp>(op))
      return Number{simplifyDim(dim.expr + whole)};
    if (isa<DivOp>(op) && firstIsDim && whole > 0 && simplifyDim(dim.expr % whole) == getAffineConstantExpr(0, context))
      return Number{simplifyDim(dim.expr.floorDiv(whole))};
    return std::nullopt;
  }

  Operation *op;
  const DimFacts &facts;
  MLIRContext *context;
  Type result;
};
} // namespace

//===- Folding operations --------------------------------------------------===//

/// Row-major coordinates of flat index `i`.
static SmallVector<int64_t> coordinates(int64_t i, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape.size());
  for (int64_t d = shape.size() - 1; d >= 0; --d) {
    result[d] = i % shape[d];
    i /= shape[d];
  }
  return result;
}

static int64_t flatIndex(ArrayRef<int64_t> place, ArrayRef<int64_t> shape) {
  int64_t result = 0;
  for (auto [at, size] : llvm::zip_equal(place, shape))
    result = result * size + at;
  return result;
}

static std::optional<Contents> moveElements(IndexMap op, RankedTensorType from, RankedTensorType to, const Contents &in) {
  AffineMap map = op.getIndexMap();
  if (!map || llvm::any_of(map.getResults(), [](AffineExpr e) { return e.isFunctionOfSymbol(0); }))
    return std::nullopt;
  Contents out;
  for (int64_t i = 0; i < to.getNumElements(); ++i) {
    SmallVector<int64_t> place = coordinates(i, to.getShape());
    SmallVector<int64_t> operands(place);
    operands.append(map.getNumSymbols(), 0);
    int64_t source = flatIndex(map.compose(operands), from.getShape());
    if (source < 0 || source >= static_cast<int64_t>(in.size()))
      return std::nullopt;
    out.push_back(in[source]);
  }
  return out;
}

static std::optional<Contents> concatElements(ConcatOp op, ArrayRef<Contents> ins) {
  Contents out;
  if (op.getType().getRank() != 1)
    return std::nullopt;
  for (const Contents &in : ins)
    out.append(in.begin(), in.end());
  return out;
}

static std::optional<Contents> gatherElements(GatherOp op, const Contents &in, const Contents &indices) {
  if (op.getInput().getType().getRank() != 1)
    return std::nullopt;
  Contents out;
  auto size = static_cast<int64_t>(in.size());
  for (const Number &index : indices) {
    auto constant = dyn_cast<AffineConstantExpr>(index.expr);
    int64_t at = !constant ? -1 : constant.getValue() < 0 ? constant.getValue() + size : constant.getValue();
    if (at < 0 || at >= size)
      return std::nullopt;
    out.push_back(in[at]);
  }
  return out;
}

/// Sums and products over the whole tensor.
static std::optional<Contents> reduceElements(ReduceOp op, const Contents &in) {
  if (op.getType().getNumElements() != 1 || (op.getKind() != ReduceKind::Sum && op.getKind() != ReduceKind::Prod))
    return std::nullopt;
  bool isSum = op.getKind() == ReduceKind::Sum;
  AffineExpr total = getAffineConstantExpr(isSum ? 0 : 1, op.getContext());
  for (const Number &number : in) {
    if (!number.expr || isTooComplex(number) || isTooComplex({total}))
      return std::nullopt;
    total = simplifyDim(isSum ? total + number.expr : total * number.expr);
  }
  return Contents{{total}};
}

static std::optional<Contents> computeElements(Operation *op, ArrayRef<Contents> ins, const DimFacts &facts) {
  if (isa<ClampOp, PowOp>(op))
    return std::nullopt;
  Arithmetic arithmetic(op, facts);
  Contents out;
  for (size_t i = 0; i < ins[0].size(); ++i) {
    SmallVector<Number> args;
    for (const Contents &in : ins)
      args.push_back(in[i]);
    auto number = arithmetic.compute(args);
    if (!number)
      return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

Value foldContents(OpBuilder &builder, Operation *op, const DimFacts &facts) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || !isTracked(op->getResult(0).getType()) || isa<ReshapeOp>(op))
    return {};
  SmallVector<Contents> ins;
  for (Value operand : op->getOperands()) {
    auto contents = getContents(operand);
    // There is no arithmetic on half types here, but their numbers are known.
    if (auto half = dyn_cast_or_null<ConstantOp>(operand.getDefiningOp()); !contents && half && isa<CastOp>(op) && isHalf(half.getType()))
      contents = readConstant(half.getValue());
    if (!contents)
      return {};
    ins.push_back(std::move(*contents));
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<Contents> out;
  if (auto move = dyn_cast<IndexMap>(op))
    out = moveElements(move, cast<RankedTensorType>(op->getOperand(0).getType()), type, ins[0]);
  else if (auto concat = dyn_cast<ConcatOp>(op))
    out = concatElements(concat, ins);
  else if (auto gather = dyn_cast<GatherOp>(op))
    out = gatherElements(gather, ins[0], ins[1]);
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    out = reduceElements(reduce, ins[0]);
  else if (isa<ScalarBody>(op))
    out = computeElements(op, ins, facts);
  return out ? materialize(builder, op->getLoc(), type, *out) : Value();
}

} // namespace kiln::import
