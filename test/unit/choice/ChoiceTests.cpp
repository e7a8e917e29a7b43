//===- ChoiceTests.cpp - What follows from a target's registers and numbers --===//
#include "dialects/kernel/Tuning.h"
#include "passes/target/choice/BoundedWeights.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/choice/StepTile.h"
#include "passes/target/choice/WinogradPlan.h"

#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

using Shape = std::pair<unsigned, unsigned>;
using Shapes = std::vector<std::pair<int64_t, int64_t>>;
constexpr std::nullopt_t open = std::nullopt;

class Choices : public testing::Test {
protected:
  Choices() : builder(&context) { context.loadDialect<kernel::KernelDialect>(); }

  kernel::TargetAttr target(unsigned registers, unsigned bits, kernel::TuningAttr tuning = {}) {
    return kernel::TargetAttr::get(&context, "t", "", "", bits, registers, 32 << 10, 1 << 20, 32 << 20, builder.getStrArrayAttr({}), tuning);
  }
  kernel::StepAttr step(mlir::Type lhs, mlir::Type rhs, mlir::Type sum, llvm::ArrayRef<int64_t> shape) {
    return kernel::StepAttr::get(&context, lhs, rhs, sum, shape, "step");
  }
  static Shape shape(TileShape tile) { return {tile.rows, tile.vectors}; }
  static Shapes list(const RegisterBudget &budget) {
    auto tiles = budget.listTiles();
    return {tiles.begin(), tiles.end()};
  }

  mlir::MLIRContext context;
  mlir::Builder builder;
  mlir::Type f32 = builder.getF32Type();
};

/// Rows and vectors for many rows, 8, 4 and 1, for rows that share a set of the cache, and for one vector of columns.
struct Tiles {
  Shape many, eight, four, one, inSet, narrow;
};

TEST_F(Choices, TilesFollowFromTheNumberOfRegisters) {
  // The lanes do not matter: each accumulator is a register, whatever its size.
  std::vector<std::tuple<unsigned, unsigned, Tiles>> known = {
      {16, 128, {{6, 2}, {6, 2}, {4, 3}, {1, 3}, {6, 2}, {12, 1}}},
      {16, 256, {{6, 2}, {6, 2}, {4, 3}, {1, 3}, {6, 2}, {12, 1}}},
      {32, 128, {{14, 2}, {8, 3}, {4, 6}, {1, 3}, {8, 3}, {28, 1}}},
      {32, 256, {{14, 2}, {8, 3}, {4, 6}, {1, 3}, {8, 3}, {28, 1}}},
      {32, 512, {{14, 2}, {8, 3}, {4, 6}, {1, 3}, {8, 3}, {28, 1}}},
      {32, 2048, {{14, 2}, {8, 3}, {4, 6}, {1, 3}, {8, 3}, {28, 1}}},
      // WebAssembly, whose engines keep few of 16 registers for sums: tiles of 8 sums are the fastest.
      {12, 128, {{4, 2}, {4, 2}, {4, 2}, {1, 3}, {4, 2}, {8, 1}}},
      {8, 128, {{2, 2}, {2, 2}, {4, 1}, {1, 3}, {2, 2}, {4, 1}}},
      {64, 128, {{30, 2}, {8, 7}, {4, 12}, {1, 3}, {8, 7}, {60, 1}}},
  };
  for (auto &[registers, bits, tiles] : known) {
    kernel::TargetAttr unit = target(registers, bits);
    SCOPED_TRACE(std::to_string(registers) + " registers of " + std::to_string(bits) + " bits");
    unsigned lanes = bits / 32;
    EXPECT_EQ(shape(chooseTile(unit, f32, 100, 16 * lanes, 100)), tiles.many);
    EXPECT_EQ(shape(chooseTile(unit, f32, open, open, open)), tiles.many);
    EXPECT_EQ(shape(chooseTile(unit, f32, 8, 16 * lanes, 100)), tiles.eight);
    EXPECT_EQ(shape(chooseTile(unit, f32, 3, 16 * lanes, 100)), tiles.four);
    EXPECT_EQ(shape(chooseTile(unit, f32, 1, 16 * lanes, 100)), tiles.one);
    EXPECT_EQ(shape(chooseTile(unit, f32, 100, 16 * lanes, 1024)), tiles.inSet);
    EXPECT_EQ(shape(chooseTile(unit, f32, 100, lanes, 100)), tiles.narrow);
    EXPECT_EQ(chooseTile(unit, f32, 100, 16 * lanes, 100).lanes, lanes);
  }
}

TEST_F(Choices, NarrowResultsHaveNarrowVectors) {
  EXPECT_EQ(chooseTile(target(32, 512), f32, 100, 5, 100).lanes, 8u);
  EXPECT_EQ(chooseTile(target(32, 512), f32, 100, 5, 100).rows, 28u);
}

TEST_F(Choices, MeasuredNumbersDecideTheRest) {
  auto tuning = kernel::TuningAttr::get(&context, {{kernel::Tuned::TallRows, 28}, {kernel::Tuned::Streams, 4}});
  kernel::TargetAttr tall = target(32, 512, tuning), usual = target(32, 512);
  EXPECT_EQ(shape(chooseTile(tall, f32, 28, 256, 100)), Shape(28, 1));
  EXPECT_EQ(shape(chooseTile(usual, f32, 28, 256, 100)), Shape(14, 2));
  EXPECT_EQ(shape(chooseTile(tall, f32, 29, 256, 100)), Shape(14, 2));
  // A right side that exceeds the second-level cache.
  EXPECT_EQ(shape(chooseTile(tall, f32, 56, 1024, 1000)), Shape(28, 1));
  EXPECT_EQ(shape(chooseTile(tall, f32, 57, 1024, 1000)), Shape(14, 2));
  // Weights that come from memory in each run.
  EXPECT_EQ(shape(chooseTile(usual, f32, 1, 4096, 4096)), Shape(1, 6));
  EXPECT_EQ(chooseStreams(tall), 4);
  EXPECT_EQ(chooseStreams(usual), 8);
  EXPECT_EQ(chooseStreams(target(16, 256)), 4);
  EXPECT_EQ(chooseStreams(target(12, 128)), 2);
  auto sets = kernel::TuningAttr::get(&context, {{kernel::Tuned::SetBytes, 16384}, {kernel::Tuned::SetRows, 4}});
  EXPECT_EQ(shape(chooseTile(target(32, 128, sets), f32, 100, 64, 1024)), Shape(14, 2));
  EXPECT_EQ(shape(chooseTile(target(32, 128, sets), f32, 100, 64, 4096)), Shape(4, 6));
}

TEST_F(Choices, TilesOfOtherSteps) {
  mlir::Type u8 = builder.getIntegerType(8, false), i8 = builder.getIntegerType(8), i32 = builder.getI32Type(), bf16 = builder.getBF16Type(),
             f64 = builder.getF64Type();
  // One register for the sums, the right side and the repeated elements of the left one, as for f32.
  TileShape dots = chooseTile(target(32, 512), step(u8, i8, i32, {1, 16, 4}), 100, 256, 100);
  EXPECT_EQ(shape(dots), Shape(14, 2));
  EXPECT_EQ(dots.lanes, 16u);
  EXPECT_EQ(shape(chooseTile(target(16, 256), step(u8, i8, i32, {1, 8, 4}), 100, 256, 100)), Shape(6, 2));
  EXPECT_EQ(shape(chooseTile(target(32, 512), step(bf16, bf16, f32, {1, 16, 2}), 100, 256, 100)), Shape(14, 2));
  EXPECT_EQ(chooseTile(target(32, 512), target(32, 512).getPlainStep(f64), 100, 256, 100).lanes, 8u);
  // Rows a multiple of 4 KiB apart share a set: the elements' size counts.
  EXPECT_EQ(shape(chooseTile(target(32, 512), step(u8, i8, i32, {1, 16, 4}), 100, 256, 1024)), Shape(14, 2));
  EXPECT_EQ(shape(chooseTile(target(32, 512), step(u8, i8, i32, {1, 16, 4}), 100, 256, 4096)), Shape(8, 3));
  // Sums wider than a register, where 128 bits of products become 256 bits of sums.
  EXPECT_EQ(RegisterBudget(target(32, 128), step(i8, i8, i32, {1, 8, 1})).rowsOf(2), 7);
  // Two rows at a time: 8 rows by 6 steps of 2 columns.
  RegisterBudget matrix(target(32, 128), step(i8, i8, i32, {2, 2, 8}));
  EXPECT_EQ(matrix.vectorsOf(8), 6);
  EXPECT_EQ(matrix.rowsOf(2), 28);
  // 6 rows by 7 steps, beside 3 pairs of the left side and the right side of all steps.
  EXPECT_EQ(matrix.vectorsBesideLeft(6), 7);
}

TEST_F(Choices, PairsOfRowsWhereTheirProductsFillSteps) {
  mlir::Type u8 = builder.getIntegerType(8, false), i8 = builder.getI8Type(), i32 = builder.getI32Type();
  auto pairs = kernel::StepAttr::get(&context, u8, i8, i32, {2, 2, 8}, "pair_u8s8"), dots = kernel::StepAttr::get(&context, u8, i8, i32, {1, 4, 4}, "dot_u8s8");
  auto arm = kernel::TargetAttr::get(&context, "t", "", "", 128, 32, 64 << 10, 1 << 20, 32 << 20, builder.getStrArrayAttr({}), {}, {pairs, dots});
  EXPECT_EQ(findStep(arm, u8, i8, i32, {100, 64, 64, 96}), pairs);
  EXPECT_EQ(findStep(arm, u8, i8, i32, {open, 8, 8, 96}), pairs);
  EXPECT_EQ(findStep(arm, u8, i8, i32, {1, 64, 64, 96}), dots);
  EXPECT_EQ(findStep(arm, u8, i8, i32, {100, 36, 36, 96}), dots);
  EXPECT_EQ(findStep(arm, u8, i8, i32, {100, 0, 0, 96}), dots);
  auto tile = [&](std::optional<int64_t> rows, int64_t columns) { return planStepProduct(arm, pairs, rows, columns, 64).tile; };
  // Left sides that several panels share are put together once; fewer panels, or rows, have a wide tile.
  EXPECT_EQ(tile(100, 96), (llvm::SmallVector<int64_t, 3>{12, 2, 4}));
  EXPECT_EQ(tile(open, 48), (llvm::SmallVector<int64_t, 3>{12, 2, 4}));
  EXPECT_EQ(tile(100, 40), (llvm::SmallVector<int64_t, 3>{6, 3, 4}));
  EXPECT_EQ(tile(11, 96), (llvm::SmallVector<int64_t, 3>{6, 3, 4}));
  EXPECT_EQ(tile(3, 96), (llvm::SmallVector<int64_t, 3>{4, 5, 4}));
  EXPECT_EQ(tile(open, 3), (llvm::SmallVector<int64_t, 3>{6, 1, 4}));
}

TEST_F(Choices, RowsWhoseLanesMultiplyHaveRegisters) {
  auto tuning = kernel::TuningAttr::get(&context, {{kernel::Tuned::LeftLanes, 1}});
  auto arm = kernel::TargetAttr::get(&context, "t", "", "", 128, 32, 64 << 10, 1 << 20, 32 << 20, builder.getStrArrayAttr({}), tuning);
  RegisterBudget budget(arm, arm.getPlainStep(f32));
  // 18 sums, 9 vectors of the left side and 2 of the right one, or 21, 7 and 3; both leave a register.
  EXPECT_EQ(budget.rowsOf(2), 9);
  EXPECT_EQ(budget.rowsOf(3), 7);
  EXPECT_EQ(budget.vectorsOf(4), 5);
  EXPECT_EQ(budget.narrowRows(), 15);
  // Three vectors load least, but for columns that would fill few of the last three.
  EXPECT_EQ(shape(chooseTile(arm, arm.getPlainStep(f32), 100, 256, 1000)), Shape(7, 3));
  EXPECT_EQ(shape(chooseTile(arm, arm.getPlainStep(f32), open, open, open)), Shape(7, 3));
  EXPECT_EQ(shape(chooseTile(arm, arm.getPlainStep(f32), 100, 16, 1000)), Shape(9, 2));
  EXPECT_EQ(shape(chooseTile(arm, arm.getPlainStep(f32), 100, 24, 1000)), Shape(7, 3));
  // So do steps that are one instruction; pairs take their left side apart.
  mlir::Type u8 = builder.getIntegerType(8, false), i8 = builder.getI8Type(), i32 = builder.getI32Type();
  auto dots = kernel::StepAttr::get(&context, i8, i8, i32, {1, 4, 4}, "dot_s8s8");
  EXPECT_EQ(RegisterBudget(arm, dots).rowsOf(2), 9);
  auto pairs = kernel::StepAttr::get(&context, u8, i8, i32, {1, 4, 4}, "dot_u8s8_pairs");
  EXPECT_TRUE(multipliesByLanes(arm, dots));
  EXPECT_FALSE(multipliesByLanes(arm, pairs));
}

TEST_F(Choices, ShortSumsOfConvolutionsLeaveRegistersToWhatFollows) {
  mlir::Type i8 = builder.getI8Type(), i32 = builder.getI32Type();
  auto dots = kernel::StepAttr::get(&context, i8, i8, i32, {1, 4, 4}, "dot_s8s8");
  auto rows = [&](kernel::TargetAttr target, int64_t length) { return planStepConvolution(target, dots, 100, 64, length).tile[0]; };
  EXPECT_EQ(rows(target(32, 128), 20), planStepProduct(target(32, 128), dots, 100, 64, std::nullopt).tile[0]);
  EXPECT_EQ(rows(target(32, 128), 20) - rows(target(32, 128), 16), 3);
  EXPECT_EQ(rows(target(16, 256), 16), rows(target(16, 256), 20));
}

TEST_F(Choices, RowsOfATransformThatStayInRegisters) {
  // Winograd's F(4x4): 6 x 6 for the input, 4 x 6 for the result.
  EXPECT_EQ(chooseRowsAtOnce(target(32, 128), 6, 6), 2);
  EXPECT_EQ(chooseRowsAtOnce(target(32, 128), 4, 6), 2);
  EXPECT_EQ(chooseRowsAtOnce(target(32, 128), 4, 4), 4);
  EXPECT_EQ(chooseRowsAtOnce(target(16, 256), 6, 6), 2);
  EXPECT_EQ(chooseRowsAtOnce(target(16, 256), 4, 4), 2);
  EXPECT_EQ(chooseRowsAtOnce(target(32, 512), 6, 6), 6);
  EXPECT_EQ(chooseRowsAtOnce(target(8, 128), 6, 6), 2);
}

TEST_F(Choices, StepsOfSeveralRows) {
  mlir::Type u8 = builder.getIntegerType(8, false), i8 = builder.getI8Type(), i32 = builder.getI32Type(), bf16 = builder.getBF16Type();
  auto make = [&](mlir::Type lhs, mlir::Type rhs, mlir::Type sum, llvm::ArrayRef<int64_t> shape, llvm::StringRef function) {
    return kernel::StepAttr::get(&context, lhs, rhs, sum, shape, function);
  };
  kernel::StepAttr bytes = make(u8, i8, i32, {16, 16, 64}, "tile_u8s8"), halves = make(bf16, bf16, f32, {16, 16, 32}, "tile_bf16");
  kernel::StepAttr dots = make(u8, i8, i32, {1, 16, 4}, "dot_u8s8"), other = make(i8, i8, i32, {2, 2, 8}, "step");
  auto unit = kernel::TargetAttr::get(&context, "t", "", "", 512, 32, 48 << 10, 2 << 20, 64 << 20, builder.getStrArrayAttr({}), {}, {bytes, halves, dots, other});
  EXPECT_EQ(findTileStep(unit, u8, i8, i32), bytes);
  EXPECT_EQ(findTileStep(unit, bf16, bf16, bf16), halves);
  EXPECT_FALSE(findTileStep(unit, f32, f32, f32));
  // The headers have no function for other shapes.
  EXPECT_FALSE(findTileStep(unit, i8, i8, i32));
  EXPECT_FALSE(findTileStep(target(32, 512), u8, i8, i32));
  auto depth = [&](int64_t length, int64_t unit) { return chooseTileDepth(bytes, length, unit); };
  EXPECT_EQ(depth(256, 256), 64);
  EXPECT_EQ(depth(96, 96), 48);
  EXPECT_EQ(depth(268, 268), 4);
  EXPECT_EQ(depth(66, 66), 0);
  EXPECT_EQ(depth(0, 0), 0);
  EXPECT_EQ(depth(7 * 4, 4), 28);
  EXPECT_EQ(depth(5 * 20, 20), 20);
  EXPECT_EQ(depth(3 * 96, 96), 48);
  EXPECT_EQ(chooseTileDepth(halves, 96, 96), 32);
  EXPECT_EQ(findTileFault(bytes, 16, 64), "");
  EXPECT_EQ(findTileFault(bytes, open, 16), "");
  EXPECT_EQ(findTileFault(bytes, 4, 64), "");
  EXPECT_NE(findTileFault(bytes, 3, 64), "");
  EXPECT_NE(findTileFault(bytes, 100, 12), "");
  EXPECT_EQ(planTileProduct(unit, bytes, 100, 40, 64).tile, (llvm::SmallVector<int64_t, 3>{32, 2, 16}));
  EXPECT_EQ(planTileProduct(unit, bytes, 20, 16, 64).tile, (llvm::SmallVector<int64_t, 3>{20, 1, 16}));
}

TEST_F(Choices, DirectConvolutionsCountTheStepForStoredElements) {
  mlir::Type bf16 = builder.getBF16Type();
  auto halves = kernel::StepAttr::get(&context, bf16, bf16, f32, {1, 16, 2}, "dot_bf16");
  auto tiles = kernel::StepAttr::get(&context, bf16, bf16, f32, {16, 16, 32}, "tile_bf16");
  auto with = [&](llvm::ArrayRef<kernel::StepAttr> steps) {
    return kernel::TargetAttr::get(&context, "t", "", "", 512, 32, 48 << 10, 2 << 20, 64 << 20, builder.getStrArrayAttr({}), {}, steps);
  };
  ConvExtents wide{1, 56, 56, 64, 64, f32, f32}, narrow{1, 56, 56, 64, 64, f32, bf16};
  double plain = estimateDirect(with({}), narrow);
  EXPECT_EQ(estimateDirect(with(halves), wide), plain);
  EXPECT_LT(estimateDirect(with(halves), narrow), 0.6 * plain);
  EXPECT_LT(estimateDirect(with(tiles), narrow), 0.2 * plain);
}

TEST_F(Choices, PairsOfWeightsAreSafeUpTo16Bits) {
  auto count = [&](llvm::ArrayRef<int8_t> values, llvm::ArrayRef<int64_t> shape, unsigned dimension) {
    PairCount pairs = countSafePairs(mlir::DenseIntElementsAttr::get(mlir::RankedTensorType::get(shape, builder.getI8Type()), values), dimension);
    return std::make_pair(pairs.safe, pairs.all);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(count({127, 1, -128, 0, 64, 64, 127, -128}, {4, 2}, 1), Pair(4, 4));
  EXPECT_EQ(count({127, 2, -128, -1, 65, 64, -64, -65}, {4, 2}, 1), Pair(0, 4));
  // Pairs along another dimension: (127, -1), (2, -128).
  EXPECT_EQ(count({127, 2, -1, -128}, {2, 2}, 0), Pair(2, 2));
  EXPECT_EQ(count({127, 2, -1, -128}, {2, 2}, 1), Pair(0, 2));
  EXPECT_EQ(count({100, 3, 100, 3, 5, 5, 5, 5}, {1, 4, 2}, 1), Pair(3, 4));
}

TEST_F(Choices, TilesWorthMeasuringFillTheRegisters) {
  auto budget = [&](unsigned registers) { return RegisterBudget(target(registers, 128), target(registers, 128).getPlainStep(builder.getF32Type())); };
  EXPECT_EQ(list(budget(32)), (Shapes{{14, 2}, {8, 3}, {6, 4}, {4, 6}, {12, 2}, {28, 1}, {14, 1}, {1, 4}}));
  EXPECT_EQ(list(budget(16)), (Shapes{{6, 2}, {4, 3}, {4, 2}, {12, 1}, {8, 1}, {1, 4}}));
  EXPECT_EQ(list(budget(12)), (Shapes{{4, 2}, {8, 1}, {1, 4}}));
  for (unsigned registers : {8, 12, 16, 24, 32, 64})
    for (auto [rows, vectors] : budget(registers).listTiles())
      EXPECT_TRUE(rows == 1 || rows * vectors + vectors + 1 <= registers) << rows << " x " << vectors;
}

TEST_F(Choices, WinogradSharesItsBlocksAmongTheThreadsOfTheTarget) {
  auto withThreads = [&](int64_t threads) { return target(32, 512, kernel::TuningAttr::get(&context, {{kernel::Tuned::Threads, threads}})); };
  ConvExtents extents{1, 56, 56, 64, 64, f32};
  auto countBlocks = [&](int64_t threads) { return llvm::divideCeil(14 * 14, planWinograd(withThreads(threads), extents, 4, false).blockTiles); };
  EXPECT_LT(countBlocks(1), countBlocks(16));
  EXPECT_EQ(planWinograd(withThreads(2), extents, 4, false).cost, planWinograd(target(32, 512), extents, 4, false).cost);
  // One thread waits for nobody.
  EXPECT_LE(planWinograd(withThreads(1), extents, 4, false).cost, planWinograd(withThreads(16), extents, 4, false).cost);
}

TEST_F(Choices, WinogradAsksForTheCostsOfTheTarget) {
  ConvExtents extents{1, 28, 28, 128, 128, f32};
  auto cost = [&](kernel::Tuned number, int64_t value) {
    return planWinograd(target(32, 512, kernel::TuningAttr::get(&context, {{number, value}})), extents, 4, false).cost;
  };
  EXPECT_LT(cost(kernel::Tuned::Filter4, 100), cost(kernel::Tuned::Filter4, 1000));
  EXPECT_LT(cost(kernel::Tuned::L3Rate, 64), cost(kernel::Tuned::L3Rate, 1));
  EXPECT_EQ(cost(kernel::Tuned::Filter2, 100), cost(kernel::Tuned::Filter2, 1000));
  auto direct = [&](int64_t percent) {
    return estimateDirect(target(32, 512, kernel::TuningAttr::get(&context, {{kernel::Tuned::DirectProducts, percent}})), extents);
  };
  EXPECT_LT(direct(107), direct(200));
}

} // namespace
