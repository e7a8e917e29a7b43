//===- DimsTest.cpp - Symbolic dimensions of tensor types ------------------===//
#include "dialects/nn/DimFacts.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace kiln::nn;

namespace {

class Dims : public testing::Test {
protected:
  Dims() : builder(&context) { context.loadDialect<NNDialect>(); }

  AffineExpr batch() { return builder.getAffineSymbolExpr(0); }
  AffineExpr sequence() { return builder.getAffineSymbolExpr(1); }
  AffineExpr number(int64_t value) { return builder.getAffineConstantExpr(value); }

  MLIRContext context;
  OpBuilder builder;
};

std::string print(AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return text;
}

TEST_F(Dims, StaticTypeHasNoEncoding) {
  RankedTensorType type = makeTensorType({number(2), number(3)}, builder.getF32Type());
  EXPECT_EQ(type, RankedTensorType::get({2, 3}, builder.getF32Type()));
}

TEST_F(Dims, SymbolsSurviveTheType) {
  RankedTensorType type = makeTensorType({batch(), sequence() + 1, number(768)}, builder.getF32Type());
  EXPECT_EQ(type.getShape(), (ArrayRef<int64_t>{ShapedType::kDynamic, ShapedType::kDynamic, 768}));
  EXPECT_EQ(getDim(type, 0), batch());
  EXPECT_EQ(getDim(type, 1), sequence() + 1);
  EXPECT_EQ(getConstantDim(getDim(type, 2)), 768);
}

TEST_F(Dims, EqualDimensionsMakeEqualTypes) {
  AffineExpr sum = batch() + sequence() + batch(), other = sequence() + batch() * 2;
  EXPECT_EQ(makeTensorType({sum}, builder.getF32Type()), makeTensorType({other}, builder.getF32Type()));
}

TEST_F(Dims, TypeKeepsItsDimensionsUnderAnotherElementType) {
  RankedTensorType type = makeTensorType({batch(), number(4)}, builder.getF32Type());
  RankedTensorType wide = withElementType(type, builder.getF64Type());
  EXPECT_EQ(wide.getElementType(), builder.getF64Type());
  EXPECT_EQ(getDims(wide), getDims(type));
}

TEST_F(Dims, OrdersNumbersWhoseDifferenceWrapsAround) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  DimFacts facts;
  facts.bound(0, {0, 1 << 20});
  EXPECT_TRUE(facts.areOrdered(number(least), number(most)));
  EXPECT_FALSE(facts.areOrdered(number(most), number(least)));
  EXPECT_FALSE(facts.areOrdered(number(0), number(least)));
  EXPECT_TRUE(facts.isBelow(number(least), number(0)));
  EXPECT_FALSE(facts.isBelow(number(least), number(least)));
  EXPECT_TRUE(facts.areOrdered(number(least), number(least)));
  for (AffineExpr size : {batch(), batch() * 3 + 1, batch() * -1}) {
    EXPECT_TRUE(facts.isBelow(number(least), size));
    EXPECT_TRUE(facts.isBelow(size, number(most)));
    EXPECT_FALSE(facts.areOrdered(size, number(least)));
    EXPECT_FALSE(facts.areOrdered(number(most), size));
    EXPECT_EQ(facts.getLarger(size, number(least)), size);
    EXPECT_EQ(facts.getSmaller(number(most), size), size);
  }
  EXPECT_TRUE(facts.areOrdered(batch(), batch()));
  EXPECT_FALSE(facts.isBelow(batch(), batch()));
  EXPECT_TRUE(facts.isBelow(batch(), batch() + 1));
}

TEST_F(Dims, ProvesOnlyWhatHoldsForAllValues) {
  EXPECT_TRUE(provablyEqual((batch() + 1) * 2, batch() * 2 + 2));
  EXPECT_TRUE(provablyEqual((batch() * 4).floorDiv(4), batch()));
  EXPECT_FALSE(provablyEqual(batch(), sequence()));
  EXPECT_FALSE(provablyEqual(batch().floorDiv(4) * 4, batch()));
}

/// The value of an expression for these indices and symbols.
int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t x = evaluate(binary.getLHS(), dims, symbols), y = evaluate(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return x + y;
  case AffineExprKind::Mul:
    return x * y;
  case AffineExprKind::Mod:
    return llvm::mod(x, y);
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(x, y);
  default:
    return llvm::divideCeilSigned(x, y);
  }
}

/// A sum of random terms, with divisors that are positive wherever indices are not negative and symbols are positive.
AffineExpr makeRandomSum(OpBuilder &b, std::mt19937 &random, int depth) {
  auto choose = [&](int count) { return static_cast<int>(random() % count); };
  AffineExpr sum = b.getAffineConstantExpr(choose(7) - 3);
  for (int term = 0, terms = 1 + choose(4); term < terms; ++term) {
    AffineExpr x = choose(2) ? b.getAffineDimExpr(choose(2)) : b.getAffineSymbolExpr(choose(3));
    if (depth > 0 && choose(3) == 0)
      x = makeRandomSum(b, random, depth - 1);
    AffineExpr y = choose(3) ? b.getAffineSymbolExpr(choose(3)) : b.getAffineConstantExpr(1 + choose(5));
    AffineExpr product = x * y;
    AffineExpr forms[] = {x, product, x.floorDiv(y), x % y, x.ceilDiv(y)};
    sum = sum + forms[choose(5)] * (choose(9) - 4);
  }
  return sum;
}

TEST_F(Dims, SimplifiedExpressionsHaveTheSameValue) {
  std::mt19937 random(7);
  auto draw = [&](int count) { return static_cast<int64_t>(random() % count); };
  AffineExpr index = builder.getAffineDimExpr(0);
  SmallVector<AffineExpr> exprs = {index.floorDiv(batch()) + (index % batch()) * 16, index * sequence() + batch() * sequence(),
                                   index + index.floorDiv(5) + index * batch(), batch() + batch().ceilDiv(sequence()) + batch() * sequence()};
  for (int i = 0; i < 4000; ++i)
    exprs.push_back(makeRandomSum(builder, random, 3));
  for (AffineExpr expr : exprs) {
    AffineExpr simple = simplifyDim(expr);
    for (int i = 0; i < 8; ++i) {
      int64_t dims[] = {draw(40), draw(40)}, symbols[] = {1 + draw(20), 1 + draw(20), 1 + draw(20)};
      ASSERT_EQ(evaluate(expr, dims, symbols), evaluate(simple, dims, symbols)) << print(expr) << " became " << print(simple);
    }
  }
}

TEST_F(Dims, CountsElements) {
  EXPECT_EQ(getConstantDim(getNumElements({number(3), number(5)}, &context)), 15);
  EXPECT_EQ(getConstantDim(getNumElements({}, &context)), 1);
  EXPECT_EQ(getConstantDim(getNumElements({batch(), number(0)}, &context)), 0);
  EXPECT_TRUE(provablyEqual(getNumElements({batch(), number(5)}, &context), batch() * 5));
  EXPECT_FALSE(getConstantDim(getNumElements({batch(), number(5)}, &context)));
}

TEST_F(Dims, MessagesShowTheExpression) { EXPECT_EQ(formatDim(batch() + 1), "s0 + 1"); }

} // namespace
