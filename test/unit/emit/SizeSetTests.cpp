// Sets of sizes that equations allow, beside what their expressions are for each size.
#include "compiler/emit/SizeSet.h"
#include "dialects/nn/Dims.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <random>

using namespace kiln;
using namespace mlir;

namespace {

class SizeSets : public ::testing::Test {
protected:
  AffineExpr make(unsigned depth) {
    AffineExpr size = getAffineSymbolExpr(0, &context);
    if (depth == 0)
      return draw(4) ? size : getAffineConstantExpr(int64_t(draw(9)) - 4, &context);
    AffineExpr a = make(depth - 1);
    switch (draw(7)) {
    case 0:
      return a + make(depth - 1);
    case 1:
      return a * (int64_t(draw(7)) - 3);
    case 2:
      return a.floorDiv(1 + draw(6));
    case 3:
      return a.ceilDiv(1 + draw(6));
    case 4:
      return a % (1 + draw(6));
    case 5:
      return nn::getPositivePart(a);
    default:
      return a - make(depth - 1);
    }
  }
  int64_t at(AffineExpr expr, int64_t size) {
    std::optional<int64_t> value = nn::getConstantDim(expr.replace(getAffineSymbolExpr(0, &context), getAffineConstantExpr(size, &context)));
    EXPECT_TRUE(value);
    return value.value_or(0);
  }
  uint64_t draw(uint64_t count) { return random() % count; }

  MLIRContext context;
  std::mt19937_64 random{7};
};

} // namespace

TEST_F(SizeSets, HoldExactlyTheSizesThatSolveAnEquation) {
  unsigned solved = 0;
  for (unsigned n = 0; n < 400; ++n) {
    AffineExpr expr = make(1 + draw(4));
    std::optional<SizeSet> zero = solveZero(expr), notNegative = solveNotNegative(expr);
    if (!zero || !notNegative)
      continue;
    ++solved;
    for (int64_t size : {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 31, 32, 33, 60, 61, 119, 120, 1000, 4095, 99991, 1048575, 1048576}) {
      int64_t value = at(expr, size);
      ASSERT_EQ(zero->contains(size), value == 0) << "expression " << n << " at " << size;
      ASSERT_EQ(notNegative->contains(size), value >= 0) << "expression " << n << " at " << size;
    }
  }
  EXPECT_GT(solved, 300u);
}

TEST_F(SizeSets, AreDescribed) {
  AffineExpr size = getAffineSymbolExpr(0, &context);
  EXPECT_EQ(solveZero(size % 32)->describe("h", 0, 1 << 20).text, "h % 32 == 0");
  EXPECT_EQ(solveNotNegative(size % 4 * -1)->describe("h", 0, 1 << 20).text, "h % 4 == 0");
  EXPECT_EQ(solveNotNegative(size * -1 + 512)->getLargest(), 512);
  EXPECT_EQ(solveNotNegative(size % 4 * -1)->getLargest(), std::nullopt);
  EXPECT_EQ(solveZero(size % 32)->getMultiple(0, 1 << 20), 32);
}
