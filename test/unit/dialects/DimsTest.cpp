//===- DimsTest.cpp - Symbolic dimensions of tensor types ------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

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

TEST_F(Dims, ProvesOnlyWhatHoldsForAllValues) {
  EXPECT_TRUE(provablyEqual((batch() + 1) * 2, batch() * 2 + 2));
  EXPECT_TRUE(provablyEqual((batch() * 4).floorDiv(4), batch()));
  EXPECT_FALSE(provablyEqual(batch(), sequence()));
  EXPECT_FALSE(provablyEqual(batch().floorDiv(4) * 4, batch()));
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
