//===- Dims.cpp - Symbolic dimensions of tensor types ----------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/ChosenDims.h"
#include "dialects/nn/NN.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <numeric>

using namespace mlir;

namespace kiln::nn {

unsigned countSymbols(ArrayRef<AffineExpr> exprs) {
  unsigned count = 0;
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        count = std::max(count, symbol.getPosition() + 1);
    });
  return count;
}

AffineMap makeSymbolMap(ArrayRef<AffineExpr> exprs, MLIRContext *context) { return AffineMap::get(0, countSymbols(exprs), exprs, context); }

namespace {
/// Puts a symbol in place of each part of an expression that is not affine. MLIR's simplifyAffineExpr gives wrong sums of such parts: it takes
/// two with the same operands, such as d0 floordiv s0 and d0 mod s0, for one.
struct AffineForm {
  unsigned dims, symbols;
  SmallVector<AffineExpr> parts;

  AffineExpr get(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || expr.isPureAffine())
      return expr;
    AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
    if (isSum(binary))
      return getAffineBinaryOpExpr(expr.getKind(), get(lhs), get(rhs));
    return replace(getAffineBinaryOpExpr(expr.getKind(), simplifyDim(lhs), simplifyDim(rhs)));
  }

private:
  static bool isSum(AffineBinaryOpExpr expr) { return expr.getKind() == AffineExprKind::Add || isa<AffineConstantExpr>(expr.getRHS()); }

  /// For an expression whose operands are simplified.
  AffineExpr replace(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || expr.isPureAffine())
      return expr;
    if (isSum(binary))
      return getAffineBinaryOpExpr(expr.getKind(), replace(binary.getLHS()), replace(binary.getRHS()));
    auto found = llvm::find(parts, expr);
    unsigned index = found - parts.begin();
    if (found == parts.end())
      parts.push_back(expr);
    return getAffineSymbolExpr(symbols + index, expr.getContext());
  }
};
} // namespace

AffineExpr simplifyDim(AffineExpr expr) {
  unsigned dims = 0;
  expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      dims = std::max(dims, dim.getPosition() + 1);
  });
  AffineForm form{dims, countSymbols(expr), {}};
  AffineExpr affine = form.get(expr);
  AffineExpr simple = simplifyAffineExpr(affine, dims, form.symbols + form.parts.size());
  if (form.parts.empty())
    return simple;
  SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < form.symbols; ++i)
    symbols.push_back(getAffineSymbolExpr(i, expr.getContext()));
  symbols.append(form.parts);
  return simple.replaceSymbols(symbols);
}

DimExprs getDims(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto encoding = dyn_cast_or_null<DimsAttr>(tensor.getEncoding());
  DimExprs dims;
  for (auto [i, size] : llvm::enumerate(tensor.getShape())) {
    if (ShapedType::isStatic(size)) {
      dims.push_back(getAffineConstantExpr(size, type.getContext()));
      continue;
    }
    assert(encoding && "a dynamic dimension needs an #nn.dims encoding");
    dims.push_back(encoding.getMap().getResult(i));
  }
  return dims;
}

bool hasDims(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && (tensor.hasStaticShape() || isa_and_nonnull<DimsAttr>(tensor.getEncoding()));
}

AffineExpr getDim(Type type, unsigned i) { return getDims(type)[i]; }

RankedTensorType makeTensorType(ArrayRef<AffineExpr> dims, Type elementType) {
  SmallVector<int64_t> shape;
  DimExprs simplified;
  bool isStatic = true;
  for (AffineExpr dim : dims) {
    simplified.push_back(simplifyDim(dim));
    auto constant = dyn_cast<AffineConstantExpr>(simplified.back());
    shape.push_back(constant ? constant.getValue() : ShapedType::kDynamic);
    isStatic &= static_cast<bool>(constant);
  }
  if (isStatic)
    return RankedTensorType::get(shape, elementType);
  MLIRContext *context = elementType.getContext();
  AffineMap map = AffineMap::get(0, countSymbols(simplified), simplified, context);
  return RankedTensorType::get(shape, elementType, DimsAttr::get(context, map));
}

RankedTensorType withElementType(Type type, Type elementType) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), elementType, tensor.getEncoding());
}

bool provablyEqual(AffineExpr a, AffineExpr b) {
  if (a == b)
    return true;
  AffineExpr difference = simplifyDim(a - b);
  return difference == getAffineConstantExpr(0, a.getContext());
}

std::optional<int64_t> getConstantDim(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(simplifyDim(expr)))
    return constant.getValue();
  return std::nullopt;
}

/// Beyond every size: (x + huge - 1) floordiv huge is 1 for x > 0, else 0, and divides no negative number.
static constexpr int64_t huge = int64_t(1) << 40;

bool mayBroadcast(AffineExpr from, AffineExpr to) {
  auto size = getConstantDim(to);
  return !getConstantDim(from) && size != 1 && !provablyEqual(from, to);
}

AffineExpr getBroadcastSize(AffineExpr a, AffineExpr b) { return choose(simplifyDim(getSign(a) - getSign(a - 1)), b, a); }

AffineExpr choose(AffineExpr condition, AffineExpr then, AffineExpr otherwise) { return simplifyDim(otherwise + simplifyDim(then - otherwise) * condition); }

/// Whether an expression is 0 or 1: 1 where another one is not positive, or where it is 1.
static bool isCondition(AffineExpr expr) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || expr.getKind() != AffineExprKind::Add)
    return false;
  for (auto [part, rest] : {std::pair(sum.getLHS(), sum.getRHS()), std::pair(sum.getRHS(), sum.getLHS())}) {
    auto product = dyn_cast<AffineBinaryOpExpr>(part);
    AffineExpr number = product && part.getKind() == AffineExprKind::Mul && getConstantDim(product.getRHS()) == -1 ? matchSign(product.getLHS()) : AffineExpr();
    if (number && (getConstantDim(rest) == 1 || rest == getSign(number + 1)))
      return true;
  }
  return false;
}

AffineExpr matchChosen(AffineExpr expr) {
  auto product = dyn_cast_or_null<AffineBinaryOpExpr>(expr);
  if (!product || expr.getKind() != AffineExprKind::Mul)
    return {};
  return isCondition(product.getRHS()) ? product.getLHS() : isCondition(product.getLHS()) ? product.getRHS() : AffineExpr();
}

AffineExpr matchBroadcastOf(AffineExpr to, AffineExpr from) {
  AffineExpr more = matchChosen(simplifyDim(to - from)), other = more ? simplifyDim(from + more) : AffineExpr();
  return other && provablyEqual(to, getBroadcastSize(from, other)) ? other : AffineExpr();
}

AffineExpr getBroadcastConstraint(AffineExpr from, AffineExpr to) { return (from - 1) * (from - to); }

AffineExpr getBroadcastFactor(AffineExpr size) { return (size + (huge - 2)).floorDiv(huge); }

bool isBroadcastFactor(AffineExpr expr) {
  auto division = dyn_cast_or_null<AffineBinaryOpExpr>(expr);
  return division && division.getKind() == AffineExprKind::FloorDiv && getConstantDim(division.getRHS()) == huge;
}

AffineExpr getSign(AffineExpr expr) {
  if (auto known = getConstantDim(expr))
    return getAffineConstantExpr(*known > 0, expr.getContext());
  return simplifyDim((expr + (huge - 1)).floorDiv(huge));
}

/// The factor that all terms of a sum have, and of the first one that is no constant with its sign.
static int64_t getCommonFactor(AffineExpr sum) {
  int64_t common = 0, sign = 0;
  std::function<void(AffineExpr)> visit = [&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (binary && expr.getKind() == AffineExprKind::Add) {
      visit(binary.getLHS());
      visit(binary.getRHS());
      return;
    }
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    auto factor = binary && expr.getKind() == AffineExprKind::Mul ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
    int64_t value = constant ? constant.getValue() : factor ? factor.getValue() : 1;
    common = std::gcd(common, value);
    sign = sign || constant ? sign : value;
  };
  visit(sum);
  return sign < 0 ? -common : common;
}

AffineExpr getPositivePart(AffineExpr expr) {
  expr = simplifyDim(expr);
  if (auto known = getConstantDim(expr))
    return getAffineConstantExpr(std::max<int64_t>(*known, 0), expr.getContext());
  int64_t factor = getCommonFactor(expr);
  AffineExpr part = simplifyDim(expr.floorDiv(std::abs(factor)) * (factor < 0 ? -1 : 1));
  AffineExpr positive = part * getSign(part);
  // max(-x, 0) = max(x, 0) - x
  return simplifyDim(factor < 0 ? (positive - part) * -factor : positive * factor);
}

AffineExpr matchSign(AffineExpr expr) {
  auto division = dyn_cast_or_null<AffineBinaryOpExpr>(expr);
  auto divisor = division && expr.getKind() == AffineExprKind::FloorDiv ? dyn_cast<AffineConstantExpr>(division.getRHS()) : AffineConstantExpr();
  // Upstream divides what is below and above by what both have in common.
  if (!divisor || divisor.getValue() < (int64_t(1) << 33) || !llvm::isPowerOf2_64(divisor.getValue()))
    return {};
  AffineExpr number = simplifyDim(division.getLHS() - (divisor.getValue() - 1));
  auto sum = dyn_cast<AffineBinaryOpExpr>(number);
  auto offset = sum && number.getKind() == AffineExprKind::Add ? dyn_cast<AffineConstantExpr>(sum.getRHS()) : AffineConstantExpr();
  return offset && std::abs(offset.getValue()) > (int64_t(1) << 32) ? AffineExpr() : number;
}

AffineExpr matchPositivePart(AffineExpr expr) {
  auto product = dyn_cast_or_null<AffineBinaryOpExpr>(expr);
  if (!product || expr.getKind() != AffineExprKind::Mul)
    return {};
  AffineExpr lhs = product.getLHS(), rhs = product.getRHS();
  if (AffineExpr sign = matchSign(rhs); sign && getSign(lhs) == rhs)
    return lhs;
  return matchSign(lhs) && getSign(rhs) == lhs ? rhs : AffineExpr();
}

using NameOf = function_ref<std::string(AffineSymbolExpr)>;

/// Like upstream's printer, except for positive parts and the names of symbols. With `isNested`, sums are put in parentheses.
static void printDim(AffineExpr expr, llvm::raw_ostream &out, NameOf nameOf, bool isNested) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (AffineExpr part = matchPositivePart(expr)) {
    printDim(part, out << "max(", nameOf, false);
    out << ", 0)";
    return;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    out << nameOf(symbol);
    return;
  }
  if (!binary) {
    expr.print(out);
    return;
  }
  auto last = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul && last && last.getValue() == -1) {
    printDim(binary.getLHS(), out << "-", nameOf, true);
    return;
  }
  out << (isNested ? "(" : "");
  bool isSum = expr.getKind() == AffineExprKind::Add;
  auto factor = isSum ? dyn_cast<AffineBinaryOpExpr>(binary.getRHS()) : AffineBinaryOpExpr(nullptr);
  auto constant = dyn_cast<AffineConstantExpr>(factor && factor.getKind() == AffineExprKind::Mul ? factor.getRHS() : binary.getRHS());
  bool isMinus = isSum && constant && constant.getValue() < 0;
  AffineExpr right = !isMinus ? binary.getRHS() : factor ? factor.getLHS() * -constant.getValue() : -constant;
  printDim(binary.getLHS(), out, nameOf, !isSum);
  static const StringLiteral names[] = {" + ", " * ", " mod ", " floordiv ", " ceildiv "};
  StringRef name = isMinus ? StringRef(" - ") : StringRef(names[static_cast<unsigned>(expr.getKind())]);
  printDim(right, out << name, nameOf, isMinus || !isSum);
  out << (isNested ? ")" : "");
}

std::string formatDim(AffineExpr expr, ArrayAttr symbols) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printDim(simplifyDim(expr), stream, [&](AffineSymbolExpr symbol) {
    unsigned position = symbol.getPosition();
    return symbols && position < symbols.size() ? cast<StringAttr>(symbols[position]).str() : "s" + std::to_string(position);
  }, false);
  return text;
}

AffineExpr getNumElements(ArrayRef<AffineExpr> dims, MLIRContext *context) {
  AffineExpr product = getAffineConstantExpr(1, context);
  for (AffineExpr dim : dims)
    product = product * dim;
  return simplifyDim(product);
}

} // namespace kiln::nn
