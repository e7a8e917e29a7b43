// Expressions of dimensions, and the comparison of tensors.
#include "compiler/run/Compare.h"
#include "compiler/run/DimText.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kiln;

static std::string evaluate(const char *text) {
  auto value = evaluateDim(text, [](llvm::StringRef name) -> std::optional<int64_t> {
    return name == "batch" ? std::optional<int64_t>(3) : name == "modulus" ? std::optional<int64_t>(7) : std::nullopt;
  });
  return value ? std::to_string(*value) : llvm::toString(value.takeError());
}

TEST(DimText, Evaluates) {
  EXPECT_EQ(evaluate("12"), "12");
  EXPECT_EQ(evaluate("2*batch + 1"), "7");
  EXPECT_EQ(evaluate("batch - 1 - 1"), "1");
  EXPECT_EQ(evaluate("(batch + 4) floordiv 2 * 2"), "6");
  EXPECT_EQ(evaluate("(batch + 4) ceildiv 2"), "4");
  EXPECT_EQ(evaluate("modulus mod batch"), "1");
  EXPECT_EQ(evaluate("modulus / 2 + modulus % 2"), "4");
  EXPECT_EQ(evaluate("-batch floordiv 2 + 10"), "8");
}

TEST(DimText, RefusesTheRest) {
  for (const char *text : {"", "batch batch", "1 +", "(1", "1 / 0", "1 mod -2", "9223372036854775807 + 1", "9223372036854775807 * 2", "99999999999999999999"})
    EXPECT_NE(evaluate(text).find("dimension '"), std::string::npos) << text;
  EXPECT_EQ(evaluate("other"), "dimension 'other': dimension 'other' is not known");
  EXPECT_NE(evaluate(std::string(100000, '(').c_str()).find("too deeply nested"), std::string::npos);
}

static Tensor vector(std::vector<double> values, ElementType type = KILN_ELEMENT_F32) {
  Tensor tensor = llvm::cantFail(Tensor::create(type, {int64_t(values.size())}));
  for (size_t i = 0; i < values.size(); ++i)
    tensor.setValue(int64_t(i), values[i]);
  return tensor;
}

TEST(Compare, BoundsAndSpecialValues) {
  double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_TRUE(compare(vector({1, nan, inf, -inf}), vector({1, nan, inf, -inf}), 0, 0).agrees());
  EXPECT_TRUE(compare(vector({1.001}), vector({1}), 2e-3, 0).agrees());
  EXPECT_TRUE(compare(vector({1.001}), vector({1}), 0, 2e-3).agrees());
  EXPECT_FALSE(compare(vector({1.001}), vector({1}), 1e-4, 1e-4).agrees());
  EXPECT_FALSE(compare(vector({nan}), vector({1}), 1, 1).agrees());
  EXPECT_FALSE(compare(vector({1}), vector({nan}), 1, 1).agrees());
  EXPECT_FALSE(compare(vector({1e38}), vector({inf}), 1, 1).agrees());
  EXPECT_FALSE(compare(vector({inf}), vector({-inf}), 1, 1).agrees());
  EXPECT_FALSE(compare(vector({1}, KILN_ELEMENT_I64), vector({2}, KILN_ELEMENT_I64), 1, 1).agrees());
  Comparison shape = compare(vector({1}), vector({1, 2}), 1, 1);
  EXPECT_EQ(shape.reason, "it is f32[1], expected f32[2]");
  EXPECT_FALSE(compare(vector({1}, KILN_ELEMENT_F64), vector({1}), 1, 1).agrees());
}

TEST(Compare, CountsUnitsInTheLastPlace) {
  EXPECT_EQ(compare(vector({1 + 0x1p-23}), vector({1}), 1, 0).maxUlp, 1);
  EXPECT_EQ(compare(vector({2 + 0x1p-21}), vector({2}), 1, 0).maxUlp, 2);
  EXPECT_EQ(compare(vector({1 + 0x1p-10}, KILN_ELEMENT_F16), vector({1}, KILN_ELEMENT_F16), 1, 0).maxUlp, 1);
  EXPECT_EQ(compare(vector({0x1p-149}), vector({0}), 1, 1).maxUlp, 1);
}

TEST(Tensor, GuardIsWatched) {
  Tensor tensor = vector({1, 2, 3});
  EXPECT_TRUE(tensor.isGuardIntact());
  tensor.as<float>()[3] = 0;
  EXPECT_FALSE(tensor.isGuardIntact());
}

TEST(Tensor, RefusesImpossibleSizes) {
  EXPECT_TRUE(bool(Tensor::create(KILN_ELEMENT_F32, {-1}).takeError()));
  EXPECT_TRUE(bool(Tensor::create(KILN_ELEMENT_COMPLEX64, {1}).takeError()));
}
