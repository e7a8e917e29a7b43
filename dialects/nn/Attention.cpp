//===- Attention.cpp - Attention: its verifier and what it is made of ------===//
//
//   %r = nn.attention query(%q) key(%k) value(%v) bias(%b) scale 0.125
//
// is (shortened)
//
//   %s = nn.matmul %q, (nn.transpose %k)
//   %p = nn.softmax (%s * 0.125 + %b) axis last
//   %r = nn.matmul %p, %v
//
// Factors may be bf16 or f16 where the result is f32: what multiplies the values is rounded like them then.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Permute.h"
#include "dialects/nn/Scalar.h"
#include "dialects/nn/Verify.h"

#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

DimExprs AttentionOp::getScoreDims() {
  DimExprs dims = getDims(getQuery().getType());
  dims.back() = getDims(getKey().getType()).rbegin()[1];
  return dims;
}

LogicalResult AttentionOp::verify() {
  DimExprs query = getDims(getQuery().getType()), key = getDims(getKey().getType()), value = getDims(getValue().getType());
  Type element = getElementTypeOrSelf(getType()), factors = getElementTypeOrSelf(getQuery());
  bool isRounded = element.isF32() && (factors.isBF16() || factors.isF16());
  if (getElementTypeOrSelf(getKey()) != factors || getElementTypeOrSelf(getValue()) != factors || (factors != element && !isRounded) ||
      (getBias() && getElementTypeOrSelf(getBias()) != element))
    return emitOpError("expected operands of the result's element type, or a query, a key and a value of bf16 or f16 and a result of f32");
  if (query.size() < 2 || key.size() != query.size() || value.size() != query.size())
    return emitOpError() << "expected query, key and value of one rank >= 2; got ranks " << query.size() << ", " << key.size() << " and "
                         << value.size();
  DimExprs expected = query;
  expected.rbegin()[1] = key.rbegin()[1];
  if (failed(verifyDims(*this, getKey().getType(), expected, "the key")))
    return failure();
  expected.back() = value.back();
  if (failed(verifyDims(*this, getValue().getType(), expected, "the value")))
    return failure();
  DimExprs scores = getScoreDims();
  if (getBias() && failed(verifyDims(*this, getBias().getType(), scores, "the bias")))
    return failure();
  if (getKeep() && failed(verifyDims(*this, getKeep().getType(), scores, "keep")))
    return failure();
  if (getWindow() && (!getCausal() || static_cast<int64_t>(*getWindow()) < 1))
    return emitOpError("expected a window of at least one key, behind `causal`");
  query.back() = value.back();
  return verifyDims(*this, getType(), query, "the result");
}

namespace {
/// Builds the steps between the two products.
struct ScoreBuilder {
  OpBuilder &builder;
  mutable AttentionOp op;
  RankedTensorType type;

  template <typename OpTy, typename... Args> Value make(Type result, Args... args) const {
    return OpTy::create(builder, op.getLoc(), result, args...);
  }
  Value number(RankedTensorType like, double value) const { return make<SplatOp>(like, FloatAttr::get(type.getElementType(), value)); }
  Value scaled(Value x, double factor) const {
    auto like = cast<RankedTensorType>(x.getType());
    return make<MulOp>(like, x, number(like, factor));
  }
  Value fillWhere(Value keep, Value scores) const { return make<SelectOp>(type, keep, scores, number(type, op.getFill().convertToDouble())); }

  /// Whether the key's place is not after the query's, nor before its window, for all pairs of them.
  Value causalKeep() const {
    DimExprs dims = op.getScoreDims();
    unsigned rank = dims.size();
    Type integer = builder.getI32Type();
    RankedTensorType square = makeTensorType({dims[rank - 2], dims[rank - 1]}, integer);
    Value row = make<IotaOp>(square, int64_t(0)), column = make<IotaOp>(square, int64_t(1));
    AffineExpr past = simplifyDim(dims[rank - 1] - dims[rank - 2]);
    if (past != builder.getAffineConstantExpr(0)) {
      auto map = AffineMap::get(0, getNumSymbols(past), past);
      Value offset = make<DimValuesOp>(RankedTensorType::get({}, integer), map);
      row = make<AddOp>(square, row, make<BroadcastToOp>(square, offset));
    }
    RankedTensorType truth = withElementType(square, builder.getI1Type());
    Value keep = make<LessEqualOp>(truth, column, row);
    if (auto window = op.getWindow()) {
      Value width = make<SplatOp>(square, builder.getI32IntegerAttr(*window));
      keep = make<AndOp>(truth, keep, make<LessOp>(truth, make<SubOp>(square, row, width), column));
    }
    return make<BroadcastToOp>(makeTensorType(dims, builder.getI1Type()), keep);
  }
  static unsigned getNumSymbols(AffineExpr expr) {
    unsigned count = 0;
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        count = std::max(count, symbol.getPosition() + 1);
    });
    return count;
  }
};
} // namespace

FailureOr<SmallVector<Value>> AttentionOp::decompose(OpBuilder &builder) {
  DimExprs dims = getScoreDims();
  int64_t rank = dims.size();
  ScoreBuilder b{builder, *this, makeTensorType(dims, getElementTypeOrSelf(getType()))};
  auto turned = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(turned[rank - 1], turned[rank - 2]);
  double scale = getScale().convertToDouble();
  Value query = getQuery(), key = getKey();
  if (getElementTypeOrSelf(getType()).getIntOrFloatBitWidth() < 32 && scale > 0) {
    // The root of the scale on both sides, so that the product of half floats does not overflow.
    query = b.scaled(query, std::sqrt(scale));
    key = b.scaled(key, std::sqrt(scale));
    scale = 1.0;
  }
  Value scores = b.make<MatmulOp>(b.type, query, makeTranspose(builder, getLoc(), key, turned));
  if (scale != 1.0)
    scores = b.scaled(scores, scale);
  if (getCausal())
    scores = b.fillWhere(b.causalKeep(), scores);
  if (getKeep())
    scores = b.fillWhere(getKeep(), scores);
  if (getBias())
    scores = b.make<AddOp>(b.type, scores, getBias());
  Value weights = SoftmaxOp::create(builder, getLoc(), b.type, scores, rank - 1, getAccuracy());
  if (Type factors = getElementTypeOrSelf(getValue()); factors != b.type.getElementType())
    weights = b.make<CastOp>(withElementType(b.type, factors), weights);
  return SmallVector<Value>{b.make<MatmulOp>(getType(), weights, getValue())};
}

/// The kernel holds a row of the result in registers and small arrays.
bool AttentionOp::hasFusedKernel(kernel::TargetAttr) {
  auto size = getConstantDim(getDims(getQuery().getType()).back()), width = getConstantDim(getDims(getType()).back());
  return computesInF32(getElementTypeOrSelf(getType())) && size && width && *size > 0 && *width > 0 && *size <= 256 && *width <= 256;
}
