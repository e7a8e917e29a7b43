//===- ConstantDataTest.cpp - The bytes of a constant ----------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace mlir;
using namespace kiln::nn;

namespace {

class ConstantBytes : public testing::Test {
protected:
  ConstantBytes() : builder(&context) { context.loadDialect<NNDialect>(); }

  MLIRContext context;
  OpBuilder builder;
};

TEST_F(ConstantBytes, SmallOnesAreDenseAndLargeOnesResources) {
  std::vector<float> few = {1, 2, 3}, many(1024, 0.5f);
  auto small = makeConstantOf<float>(RankedTensorType::get({3}, builder.getF32Type()), few);
  auto large = makeConstantOf<float>(RankedTensorType::get({1024}, builder.getF32Type()), many);
  EXPECT_TRUE(isa<DenseElementsAttr>(small));
  EXPECT_TRUE(isa<DenseResourceElementsAttr>(large));
  EXPECT_EQ(ConstantData(small).as<float>(), ArrayRef<float>(few));
  EXPECT_EQ(ConstantData(large).as<float>(), ArrayRef<float>(many));
}

TEST_F(ConstantBytes, SplatIsWrittenOut) {
  auto attr = DenseElementsAttr::get(RankedTensorType::get({2, 2}, builder.getF32Type()), 7.0f);
  ConstantData data(attr);
  EXPECT_EQ(data.numElements(), 4);
  EXPECT_EQ(data.as<float>(), (ArrayRef<float>{7, 7, 7, 7}));
}

TEST_F(ConstantBytes, BoolTakesOneByteAnElement) {
  auto attr = DenseElementsAttr::get(RankedTensorType::get({5}, builder.getI1Type()), ArrayRef<bool>{true, false, true, true, false});
  ConstantData data(attr);
  EXPECT_EQ(elementBytes(builder.getI1Type()), 1);
  ASSERT_EQ(data.bytes().size(), 5u);
  EXPECT_EQ(data.as<uint8_t>(), (ArrayRef<uint8_t>{1, 0, 1, 1, 0}));
  EXPECT_EQ(data.asInt(2), 1);
}

TEST_F(ConstantBytes, SmallBoolsComeBackFromBytes) {
  auto attr = makeConstant(RankedTensorType::get({3}, builder.getI1Type()), {1, 0, 1});
  EXPECT_EQ(ConstantData(attr).as<uint8_t>(), (ArrayRef<uint8_t>{1, 0, 1}));
}

TEST_F(ConstantBytes, ReadsEveryElementType) {
  auto halves = makeConstantOf<uint16_t>(RankedTensorType::get({2}, builder.getF16Type()), ArrayRef<uint16_t>{0x3c00, 0xc000});
  EXPECT_EQ(ConstantData(halves).asDouble(0), 1.0);
  EXPECT_EQ(ConstantData(halves).asDouble(1), -2.0);
  auto brains = makeConstantOf<uint16_t>(RankedTensorType::get({1}, builder.getBF16Type()), ArrayRef<uint16_t>{0x3f80});
  EXPECT_EQ(ConstantData(brains).asDouble(0), 1.0);
  auto bytes = makeConstantOf<int8_t>(RankedTensorType::get({1}, builder.getI8Type()), ArrayRef<int8_t>{-3});
  EXPECT_EQ(ConstantData(bytes).asInt(0), -3);
  auto unsignedBytes = makeConstantOf<uint8_t>(RankedTensorType::get({1}, builder.getIntegerType(8, false)), ArrayRef<uint8_t>{253});
  EXPECT_EQ(ConstantData(unsignedBytes).asInt(0), 253);
  EXPECT_EQ(ConstantData(unsignedBytes).asDouble(0), 253.0);
}

TEST_F(ConstantBytes, BorrowedBytesAreNotCopied) {
  alignas(64) static float values[2048];
  std::iota(std::begin(values), std::end(values), 0.0f);
  ArrayRef<char> bytes(reinterpret_cast<const char *>(values), sizeof(values));
  auto attr = makeBorrowedConstant(RankedTensorType::get({2048}, builder.getF32Type()), bytes, "w");
  ConstantData data(attr);
  EXPECT_EQ(data.bytes().data(), bytes.data());
  EXPECT_EQ(data.asDouble(2047), 2047.0);
}

} // namespace
