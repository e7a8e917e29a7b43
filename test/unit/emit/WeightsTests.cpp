//===- WeightsTests.cpp - The order and the places of weights --------------===//
#include "compiler/emit/Weights.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/ConstantData.h"

#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace kiln;

namespace {

class Weights : public testing::Test {
protected:
  Weights() : builder(&context) {
    context.loadDialect<kernel::KernelDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
  }

  /// A weight with the numbers 1, 2, 3...
  kernel::WeightOp add(ArrayRef<int64_t> shape, ArrayRef<int64_t> stored = {}, AffineMap map = {}, int32_t first = 1, ArrayRef<int64_t> tail = {}) {
    auto type = RankedTensorType::get(shape, builder.getI32Type());
    std::vector<int32_t> values(type.getNumElements());
    for (auto &value : values)
      value = first++;
    auto pack = map ? kernel::PackAttr::get(&context, stored, map, tail) : kernel::PackAttr();
    std::string name = "w" + std::to_string(count++);
    return kernel::WeightOp::create(builder, builder.getUnknownLoc(), name, MemRefType::get({ShapedType::kDynamic}, builder.getI32Type()),
                                    nn::makeConstantOf<int32_t>(type, values), pack, IntegerAttr());
  }

  std::vector<int32_t> write() {
    auto bytes = placeWeights(*module);
    EXPECT_TRUE(succeeded(bytes));
    std::string text;
    llvm::raw_string_ostream out(text);
    writeWeights(*module, out);
    EXPECT_EQ(int64_t(text.size()), *bytes);
    std::vector<int32_t> values(text.size() / 4);
    std::memcpy(values.data(), text.data(), text.size());
    return values;
  }

  /// Every stored element by the definition of the pack.
  static std::vector<int32_t> expected(ArrayRef<int64_t> shape, ArrayRef<int64_t> stored, AffineMap map, ArrayRef<int64_t> tail) {
    int64_t total = 1;
    for (int64_t extent : stored)
      total *= extent;
    std::vector<int32_t> values;
    for (int64_t n = 0; n < total; ++n) {
      SmallVector<int64_t> index(stored.size());
      int64_t rest = n, offset = 0;
      for (size_t k = stored.size(); k-- > 0; rest /= stored[k])
        index[k] = rest % stored[k];
      if (!tail.empty() && index[tail[0]] == stored[tail[0]] - 1 && index.back() >= tail[1])
        continue;
      bool inside = true;
      for (auto [place, extent] : llvm::zip(map.compose(index), shape)) {
        inside &= place >= 0 && place < extent;
        offset = offset * extent + place;
      }
      values.push_back(inside ? int32_t(offset + 1) : 0);
    }
    return values;
  }

  void checkPack(ArrayRef<int64_t> shape, ArrayRef<int64_t> stored, AffineMap map, ArrayRef<int64_t> tail = {}) {
    add(shape, stored, map, 1, tail);
    std::vector<int32_t> have = write(), want = expected(shape, stored, map, tail);
    ASSERT_EQ(have.size(), llvm::alignTo(want.size(), weightAlignment / 4));
    have.resize(want.size());
    EXPECT_EQ(have, want);
  }

  AffineExpr d(unsigned i) { return builder.getAffineDimExpr(i); }
  AffineExpr c(int64_t value) { return builder.getAffineConstantExpr(value); }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  int count = 0;
};

TEST_F(Weights, PlainOnesAreAlignedAndPadded) {
  auto a = add({3}), b = add({20}, {}, {}, 100);
  std::vector<int32_t> values = write();
  EXPECT_EQ(*a.getOffset(), 0u);
  EXPECT_EQ(*b.getOffset(), 64u);
  EXPECT_EQ(values[2], 3);
  EXPECT_EQ(values[3], 0);
  EXPECT_EQ(values[16], 100);
  EXPECT_EQ(values.size(), 48u);
}

TEST_F(Weights, EqualOnesShareAPlace) {
  auto a = add({4}), b = add({8}, {}, {}, 9), same = add({4}), other = add({2, 2}, {2, 2}, AffineMap::get(2, 0, {d(1), d(0)}, &context));
  EXPECT_EQ(write().size(), 48u);
  EXPECT_EQ(*a.getOffset(), *same.getOffset());
  EXPECT_NE(*a.getOffset(), *b.getOffset());
  EXPECT_NE(*a.getOffset(), *other.getOffset());
}

TEST_F(Weights, ModulesShareWhatIsEqual) {
  auto shared = add({4}), own = add({8}, {}, {}, 9);
  OwningOpRef<ModuleOp> other = module->clone();
  builder.setInsertionPointToEnd(other->getBody());
  auto packed = add({4}, {4}, AffineMap::get(1, 0, {c(3) - d(0)}, &context));
  ModuleOp modules[] = {*module, *other};
  auto bytes = placeWeights(modules);
  ASSERT_TRUE(succeeded(bytes));
  EXPECT_EQ(*bytes, 192);
  auto first = *other->getOps<kernel::WeightOp>().begin();
  EXPECT_EQ(*first.getOffset(), *shared.getOffset());
  EXPECT_EQ(*own.getOffset(), 64u);
  EXPECT_EQ(*packed.getOffset(), 128u);
  std::string text;
  llvm::raw_string_ostream out(text);
  writeWeights(modules, out);
  ASSERT_EQ(text.size(), 192u);
  EXPECT_EQ(text[128], 4);
}

TEST_F(Weights, PanelsOfColumns) { checkPack({5, 10}, {3, 5, 4}, AffineMap::get(3, 0, {d(1), d(0) * 4 + d(2)}, &context)); }
TEST_F(Weights, PanelsOfATransposedMatrix) { checkPack({10, 5}, {3, 5, 4}, AffineMap::get(3, 0, {d(0) * 4 + d(2), d(1)}, &context)); }
TEST_F(Weights, ReversedWithAMargin) { checkPack({7}, {12}, AffineMap::get(1, 0, {c(8) - d(0)}, &context)); }
TEST_F(Weights, StepsBeyondBothEnds) { checkPack({4, 9}, {3, 8}, AffineMap::get(2, 0, {d(0) * 2 - 1, d(1) * 3 - 4}, &context)); }
TEST_F(Weights, ConvolutionKernel) {
  checkPack({6, 3, 2, 2}, {2, 2, 2, 3, 4}, AffineMap::get(5, 0, {d(0) * 4 + d(4), d(3), d(1), d(2)}, &context));
}
TEST_F(Weights, ALastPanelOfFewerColumns) { checkPack({5, 10}, {3, 5, 4}, AffineMap::get(3, 0, {d(1), d(0) * 4 + d(2)}, &context), {0, 3}); }
TEST_F(Weights, ALastPanelInEachBatch) {
  checkPack({2, 5, 10}, {2, 3, 5, 4}, AffineMap::get(4, 0, {d(0), d(2), d(1) * 4 + d(3)}, &context), {1, 2});
}
TEST_F(Weights, RowsLongerThanTheBuffer) { checkPack({2, 300000}, {300000, 2}, AffineMap::get(2, 0, {d(1), d(0)}, &context)); }
TEST_F(Weights, OneLongRow) { checkPack({400000}, {400010}, AffineMap::get(1, 0, {d(0) - 3}, &context)); }

TEST_F(Weights, AMapThatIsNotLinearIsRefused) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  add({4}, {4}, AffineMap::get(1, 0, {d(0).floorDiv(2)}, &context));
  EXPECT_TRUE(failed(placeWeights(*module)));
}

} // namespace
