//===- SizeChecks.cpp - Sizes that do not fit into 64 bits -----------------===//
#include "passes/lowering/entry/SizeChecks.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "dialects/nn/SymbolBounds.h"
#include "passes/lowering/entry/EntryBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Divisors are computed in f64, where whole numbers up to this one are exact.
static constexpr int64_t mostExact = int64_t(1) << 53;

namespace {
/// The largest that an expression and each part of it can be, whatever the signs: every symbol counts as 1 at least, so that a part is never larger than
/// the whole, and a size of 0 hides nothing.
template <typename Number> class Magnitude {
public:
  explicit Magnitude(const ComputedDims &dims) : dims(dims) {}
  virtual ~Magnitude() = default;

  Number get(AffineExpr expr) {
    if (auto found = done.find(expr); found != done.end())
      return found->second;
    Number result = compute(expr);
    done[expr] = result;
    return result;
  }

  virtual Number number(double value) = 0;
  virtual Number multiply(Number a, Number b) = 0;

protected:
  /// A symbol that the caller gives, and at least 1.
  virtual Number symbol(unsigned position) = 0;
  virtual Number add(Number a, Number b) = 0;
  virtual Number divide(Number a, Number b) = 0;
  /// No more than a divisor is, but at least 1.
  virtual Number divisor(AffineExpr expr) = 0;

  const ComputedDims &dims;

private:
  Number compute(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return number(std::abs(static_cast<double>(constant.getValue())));
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return dims.isComputed(symbol.getPosition()) ? get(dims.getBound(symbol.getPosition())) : this->symbol(symbol.getPosition());
    if (AffineExpr part = matchPositivePart(expr))
      return get(part);
    if (matchSign(expr))
      return number(1);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return add(get(lhs), get(rhs));
    case AffineExprKind::Mul:
      return multiply(get(lhs), get(rhs));
    case AffineExprKind::Mod:
      return get(rhs);
    default:
      return add(divide(get(lhs), divisor(rhs)), number(1));
    }
  }

  llvm::DenseMap<AffineExpr, Number> done;
};

/// With all symbols at their bounds.
class LargestMagnitude : public Magnitude<double> {
public:
  LargestMagnitude(ModuleOp module, const ComputedDims &dims) : Magnitude(dims), module(module) {}
  double number(double value) override { return value; }
  double multiply(double a, double b) override { return a * b; }

protected:
  double symbol(unsigned position) override { return std::max<double>(1, getSymbolBounds(module, position).second); }
  double add(double a, double b) override { return a + b; }
  double divide(double a, double b) override { return a / b; }
  double divisor(AffineExpr expr) override {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return constant ? std::max<double>(constant.getValue(), 1) : 1;
  }

private:
  ModuleOp module;
};

/// As values of the entry.
class EmittedMagnitude : public Magnitude<Value> {
public:
  EmittedMagnitude(OpBuilder &b, Location loc, const ComputedDims &dims, ValueRange symbols) : Magnitude(dims), b(b), loc(loc), symbols(symbols) {}
  Value number(double value) override { return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value)); }
  Value multiply(Value x, Value y) override { return arith::MulFOp::create(b, loc, x, y); }

protected:
  Value symbol(unsigned position) override {
    return toDouble(b, loc, arith::MaxSIOp::create(b, loc, symbols[position], arith::ConstantIndexOp::create(b, loc, 1)));
  }
  Value add(Value x, Value y) override { return arith::AddFOp::create(b, loc, x, y); }
  Value divide(Value x, Value y) override { return arith::DivFOp::create(b, loc, x, y); }
  Value divisor(AffineExpr expr) override {
    Value exact = emitExact(expr);
    return exact ? arith::MaximumFOp::create(b, loc, exact, number(1)).getResult() : number(1);
  }

private:
  /// Sums and products of given symbols; null for all else.
  Value emitExact(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return number(constant.getValue());
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return dims.isComputed(symbol.getPosition()) ? Value() : toDouble(b, loc, symbols[symbol.getPosition()]);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    bool isSum = expr.getKind() == AffineExprKind::Add, isProduct = expr.getKind() == AffineExprKind::Mul;
    Value lhs = isSum || isProduct ? emitExact(binary.getLHS()) : Value(), rhs = lhs ? emitExact(binary.getRHS()) : Value();
    return !rhs ? Value() : isSum ? add(lhs, rhs) : multiply(lhs, rhs);
  }

  OpBuilder &b;
  Location loc;
  ValueRange symbols;
};
} // namespace

Value toDouble(OpBuilder &b, Location loc, Value index) {
  return arith::SIToFPOp::create(b, loc, b.getF64Type(), arith::IndexCastOp::create(b, loc, b.getI64Type(), index));
}

void createSizeCheck(OpBuilder &b, Location loc, Value size, int64_t limit, const Twine &text) {
  Value most = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(static_cast<double>(limit)));
  Value fits = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, size, most);
  kernel::CheckOp::create(b, loc, fits, sizeOverflowStatus, b.getStringAttr(text));
}

bool SizeChecks::isKnown(AffineExpr expr) const {
  bool known = true;
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    known &= !symbol || symbol.getPosition() < dims.total();
  });
  return known;
}

double SizeChecks::getMost(AffineExpr expr) const { return LargestMagnitude(module, dims).get(expr); }

bool SizeChecks::mayOverflow(AffineExpr expr) const { return getMost(simplifyDim(expr)) > static_cast<double>(limit); }

/// The factors of a product.
static void listFactors(AffineExpr expr, SmallVectorImpl<AffineExpr> &factors) {
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul || matchPositivePart(expr)) {
    factors.push_back(expr);
    return;
  }
  listFactors(product.getLHS(), factors);
  listFactors(product.getRHS(), factors);
}

void SizeChecks::addProduct(ArrayRef<AffineExpr> sizes, double scale, int64_t limit) {
  double most = scale;
  SmallVector<AffineExpr> factors, variable;
  for (AffineExpr size : sizes)
    listFactors(size, factors);
  for (AffineExpr factor : factors) {
    most *= std::max<double>(1, getMost(factor));
    if (auto constant = dyn_cast<AffineConstantExpr>(factor)) {
      scale *= std::max<double>(1, std::abs(static_cast<double>(constant.getValue())));
      continue;
    }
    order.try_emplace(factor, order.size());
    variable.push_back(factor);
  }
  if (most <= static_cast<double>(limit))
    return;
  // The same whatever the order of the dimensions.
  llvm::sort(variable, [&](AffineExpr a, AffineExpr b) { return order[a] < order[b]; });
  double &largest = products[{AffineMap::get(0, dims.total(), variable, module.getContext()), limit}];
  largest = std::max(largest, scale);
}

/// What lies below quotients and signs, of which the result says nothing.
void SizeChecks::addParts(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !seen.insert(expr).second)
    return;
  if (AffineExpr number = matchSign(expr)) {
    // The quotient tells signs of numbers below its divisor only.
    addProduct(number, 1, cast<AffineConstantExpr>(binary.getRHS()).getValue() - 1);
    addParts(number);
    return;
  }
  bool divides = expr.getKind() != AffineExprKind::Add && expr.getKind() != AffineExprKind::Mul;
  if (divides) {
    addProduct(binary.getLHS(), 1, limit);
    if (!isa<AffineConstantExpr>(binary.getRHS()))
      addProduct(binary.getRHS(), 1, mostExact);
  }
  addParts(binary.getLHS());
  addParts(binary.getRHS());
}

void SizeChecks::addIndex(AffineExpr expr) {
  expr = simplifyDim(expr);
  if (!isKnown(expr))
    return;
  addParts(expr);
  addProduct(expr, 1, limit);
}

double SizeChecks::addBuffer(AffineExpr count, int64_t elementBytes) {
  count = simplifyDim(count);
  addParts(count);
  addProduct(count, static_cast<double>(elementBytes), limit);
  return getMost(count) * static_cast<double>(elementBytes);
}

void SizeChecks::addTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape() || !types.insert(type).second)
    return;
  DimExprs extents = getDims(type);
  if (!llvm::all_of(extents, [&](AffineExpr extent) { return isKnown(extent); }))
    return;
  for (AffineExpr &extent : extents)
    addParts(extent = simplifyDim(extent));
  addProduct(extents, static_cast<double>(elementBytes(tensor.getElementType())), limit);
}

/// The parts of an expression of an index that are the same for each index.
void SizeChecks::addStrides(AffineExpr expr) {
  if (expr.isSymbolicOrConstant())
    return addIndex(expr);
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    addStrides(binary.getLHS());
    addStrides(binary.getRHS());
  }
}

void SizeChecks::addFunction(func::FuncOp function) {
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      addTensor(type);
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        addTensor(type);
    for (NamedAttribute attr : op->getAttrs())
      attr.getValue().walk([&](AffineMapAttr map) {
        for (AffineExpr expr : map.getValue().getResults())
          addStrides(expr);
      });
  });
}

/// Whether one check holds whenever the other does, because its factors are among the other's.
static bool follows(const std::pair<std::pair<AffineMap, int64_t>, double> &check, const std::pair<std::pair<AffineMap, int64_t>, double> &from) {
  auto &[key, scale] = check;
  auto &[other, otherScale] = from;
  SmallVector<AffineExpr> rest(other.first.getResults());
  for (AffineExpr factor : key.first.getResults()) {
    auto found = llvm::find(rest, factor);
    if (found == rest.end())
      return false;
    rest.erase(found);
  }
  return scale / static_cast<double>(key.second) <= otherScale / static_cast<double>(other.second);
}

std::string SizeChecks::describe(AffineMap factors, double scale) const {
  auto names = module->getAttrOfType<ArrayAttr>(symbolsAttrName);
  std::string text;
  for (AffineExpr factor : factors.getResults()) {
    std::string part = formatDim(factor, names);
    bool nests = StringRef(part).contains(' ') && (factors.getNumResults() > 1 || scale != 1);
    text += (text.empty() ? "" : " * ") + (nests ? "(" + part + ")" : part);
  }
  return scale == 1 ? text : text + (text.empty() ? "" : " * ") + std::to_string(static_cast<uint64_t>(std::min(scale, static_cast<double>(mostBytes))));
}

void SizeChecks::emit(OpBuilder &b, Location loc, ValueRange symbols) {
  EmittedMagnitude magnitude(b, loc, dims, symbols);
  auto checks = products.takeVector();
  for (size_t i = 0; i < checks.size(); ++i) {
    bool isCovered = false;
    for (size_t other = 0; other < checks.size() && !isCovered; ++other)
      isCovered = other != i && follows(checks[i], checks[other]) && (other < i || !follows(checks[other], checks[i]));
    if (isCovered)
      continue;
    auto &[key, scale] = checks[i];
    Value size = scale == 1 && key.first.getNumResults() ? Value() : magnitude.number(scale);
    for (AffineExpr factor : key.first.getResults()) {
      Value value = magnitude.get(factor);
      size = size ? magnitude.multiply(value, size) : value;
    }
    createSizeCheck(b, loc, size, key.second, describe(key.first, scale));
  }
}

} // namespace kiln
