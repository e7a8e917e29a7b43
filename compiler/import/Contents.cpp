//===- Contents.cpp - Elements of small tensors known at compile time -------===//
#include "compiler/import/Contents.h"
#include "compiler/import/NumberArithmetic.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/graph/EvaluateScalar.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Larger tensors are taken to be data and not shapes.
static constexpr int64_t elementLimit = 1024;

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

/// Whether a cast of integers keeps what is known of them.
static bool isExactCast(const Contents &contents, Type element, const DimFacts *facts) {
  return llvm::all_of(contents, [&](const Number &number) {
    if (isa<FloatType>(element))
      return facts && number.expr && isFaithful(number, element, *facts);
    if (!element.isInteger(1))
      return true;
    DimRange range = number.expr ? DimFacts().getRange(number.expr) : DimRange();
    return range.least && range.most && *range.least >= 0 && *range.most <= 1;
  });
}

/// Whether materialize() has made the operation: of a cast of nn.dim_values and a constant.
static bool isQuotientOfSizes(DivOp op) {
  auto numerator = op.getX().getDefiningOp<CastOp>();
  return numerator && isa_and_nonnull<DimValuesOp, ReshapeOp>(numerator.getX().getDefiningOp()) && op.getY().getDefiningOp<ConstantOp>();
}

/// Real numbers, where an expression of a tensor of floating-point numbers is constant.
static Contents withReals(Contents contents) {
  for (Number &number : contents)
    if (auto constant = number.expr ? dyn_cast<AffineConstantExpr>(number.expr) : AffineConstantExpr())
      number = {{}, static_cast<double>(constant.getValue()) / static_cast<double>(number.divisor)};
  return contents;
}

/// Of x / y, which materialize() has made of expressions with divisors.
static std::optional<Contents> readQuotients(DivOp op, const DimFacts &facts) {
  auto numerators = getContents(op.getX().getDefiningOp<CastOp>().getX()), divisors = getContents(op.getY());
  if (!numerators || !divisors)
    return std::nullopt;
  for (auto [number, divisor] : llvm::zip_equal(*numerators, *divisors)) {
    if (!number.expr || number.divisor != 1 || divisor.expr || divisor.real < 1 || divisor.real != std::floor(divisor.real) || divisor.real > 0x1p62)
      return std::nullopt;
    number.divisor = static_cast<int64_t>(divisor.real);
    if (!isFaithful(number, op.getType().getElementType(), facts))
      return std::nullopt;
  }
  return withReals(*numerators);
}

std::optional<Contents> getContents(Value value, const DimFacts *facts) {
  if (!value || !isTracked(value.getType()))
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    return readConstant(constant.getValue());
  if (isa_and_nonnull<SplatOp>(op))
    return readConstant(getConstant(value));
  if (isa_and_nonnull<ReshapeOp>(op))
    return getContents(op->getOperand(0), facts);
  if (auto dims = dyn_cast_or_null<DimValuesOp>(op)) {
    Contents contents;
    for (AffineExpr expr : dims.getMap().getResults())
      contents.push_back({expr});
    return contents;
  }
  if (auto quotient = dyn_cast_or_null<DivOp>(op); quotient && facts && isQuotientOfSizes(quotient))
    return readQuotients(quotient, *facts);
  // A cast that foldContents made of symbolic contents; those of booleans are 0 or 1.
  if (auto cast = dyn_cast_or_null<CastOp>(op); cast && isa<DimValuesOp, ReshapeOp>(cast.getX().getDefiningOp() ? cast.getX().getDefiningOp() : op))
    if (auto contents = getContents(cast.getX()); contents && isExactCast(*contents, cast.getType().getElementType(), facts))
      return isa<FloatType>(cast.getType().getElementType()) ? withReals(*contents) : contents;
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

static ElementsAttr makeElements(RankedTensorType type, ArrayRef<Number> contents) {
  Type element = type.getElementType();
  int64_t bytes = elementBytes(element);
  std::vector<char> values(contents.size() * bytes);
  for (auto [i, number] : llvm::enumerate(contents))
    if (number.expr)
      storeNumber(&values[i * bytes], element, cast<AffineConstantExpr>(number.expr).getValue());
    else if (isa<FloatType>(element))
      storeNumber(&values[i * bytes], element, number.real);
    else
      storeNumber(&values[i * bytes], element, static_cast<int64_t>(number.real));
  return makeConstant(type, std::move(values));
}

static bool isConstant(const Number &number) { return !number.expr || isa<AffineConstantExpr>(number.expr); }

Value materialize(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<Number> contents) {
  Type element = type.getElementType();
  if (llvm::all_of(contents, isConstant))
    return ConstantOp::create(builder, loc, makeElements(type, contents));
  DimExprs exprs;
  SmallVector<Number> divisors;
  for (const Number &given : contents) {
    Number number = *toRational(given, builder.getContext());
    exprs.push_back(number.expr);
    divisors.push_back({{}, static_cast<double>(number.divisor)});
  }
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
  if (isCast)
    value = CastOp::create(builder, loc, type, value);
  if (llvm::all_of(divisors, [](const Number &divisor) { return divisor.real == 1; }))
    return value;
  return DivOp::create(builder, loc, value, materialize(builder, loc, type, divisors));
}

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

/// Reductions of the whole tensor. Sums of real numbers are rounded after each step, and what may wrap in 32 bits stays unknown.
static std::optional<Contents> reduceElements(ReduceOp op, const Contents &in, const DimFacts &facts) {
  ReduceKind kind = op.getKind();
  if (op.getType().getNumElements() != 1 || !op.getType().getElementType().isInteger() || in.empty() || kind == ReduceKind::Mean)
    return std::nullopt;
  AffineExpr total = in.front().expr;
  for (const Number &number : ArrayRef(in).drop_front()) {
    if (isTooComplex(number) || isTooComplex({total}))
      return std::nullopt;
    total = kind == ReduceKind::Sum    ? simplifyDim(total + number.expr)
            : kind == ReduceKind::Prod ? simplifyDim(total * number.expr)
            : kind == ReduceKind::Max  ? facts.getLarger(total, number.expr)
                                       : facts.getSmaller(total, number.expr);
  }
  auto most = op.getType().getElementType().isInteger(32) ? getMagnitude(total, facts) : 0;
  return most && *most <= INT32_MAX ? std::optional(Contents{{total}}) : std::nullopt;
}

static std::optional<Contents> computeElements(Operation *op, ArrayRef<Contents> ins, const DimFacts &facts) {
  Contents out;
  for (size_t i = 0; i < ins[0].size(); ++i) {
    SmallVector<Number> args;
    for (const Contents &in : ins)
      args.push_back(in[i]);
    auto number = computeNumber(op, args, facts);
    if (!number)
      return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

/// The elements of all operands, if they are known. Those that constants decide are computed only beside expressions: a tensor of nothing but constants stays
/// operations until somebody asks for its elements.
static std::optional<SmallVector<Contents>> readOperands(Operation *op, const DimFacts &facts, llvm::function_ref<ElementsAttr(Value)> compute) {
  SmallVector<Contents> all;
  auto isSymbolic = [](const Contents &contents) { return !llvm::all_of(contents, isConstant); };
  SmallVector<unsigned> unknown;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto contents = getContents(operand, &facts);
    // There is no arithmetic on half types here, but their numbers are known.
    if (auto half = dyn_cast_or_null<ConstantOp>(operand.getDefiningOp()); !contents && half && isa<CastOp>(op) && isHalf(half.getType()))
      contents = readConstant(half.getValue());
    if (!contents)
      unknown.push_back(i);
    all.push_back(contents.value_or(Contents()));
  }
  if (!unknown.empty() && llvm::none_of(all, isSymbolic))
    return std::nullopt;
  for (unsigned i : unknown) {
    ElementsAttr constant = isTracked(op->getOperand(i).getType()) ? compute(op->getOperand(i)) : ElementsAttr();
    if (!constant)
      return std::nullopt;
    all[i] = readConstant(constant);
  }
  return all;
}

Value foldContents(OpBuilder &builder, Operation *op, const DimFacts &facts, llvm::function_ref<ElementsAttr(Value)> compute) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || !isTracked(op->getResult(0).getType()) || isa<ReshapeOp>(op))
    return {};
  std::optional<SmallVector<Contents>> known = readOperands(op, facts, compute);
  if (!known)
    return {};
  ArrayRef<Contents> ins = *known;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<Contents> out;
  if (auto move = dyn_cast<IndexMap>(op))
    out = moveElements(move, cast<RankedTensorType>(op->getOperand(0).getType()), type, ins[0]);
  else if (auto concat = dyn_cast<ConcatOp>(op))
    out = concatElements(concat, ins);
  else if (auto gather = dyn_cast<GatherOp>(op))
    out = gatherElements(gather, ins[0], ins[1]);
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    out = reduceElements(reduce, ins[0], facts);
  else if (isa<ScalarBody>(op))
    out = computeElements(op, ins, facts);
  auto isFraction = [&](const Number &number) { return toRational(number, builder.getContext()).has_value(); };
  bool isRational = out && (llvm::all_of(*out, isConstant) || llvm::all_of(*out, isFraction));
  return isRational ? materialize(builder, op->getLoc(), type, *out) : Value();
}

} // namespace kiln::import
