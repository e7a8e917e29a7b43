#include "Level.h"

#include "kiln/decimal.h"

#include <charconv>
#include <cmath>
#include <string>

using namespace kiln;

namespace {

class Decimals : public LevelTest {};

template <typename T> int32_t parse(const std::string &text, T &number) {
  const kiln_string view = {text.data(), int64_t(text.size())};
  int32_t status = KILN_STATUS_OK;
  decimal_parse(&view, &number, &status, 0, 1);
  return status;
}
template <typename T> int32_t statusOf(const std::string &text) {
  T number;
  return parse(text, number);
}
template <typename T> T parsed(const std::string &text) {
  T number;
  EXPECT_EQ(parse(text, number), KILN_STATUS_OK) << text;
  return number;
}

template <typename T> std::string printed(T number) {
  kiln_string text;
  uint8_t bytes[32];
  int64_t size;
  int32_t status = KILN_STATUS_OK;
  decimal_print(&number, &text, bytes, &size, &status, 1, 0, 24);
  EXPECT_EQ(status, KILN_STATUS_OK);
  return std::string(text.data, size_t(text.size));
}

TEST_F(Decimals, WhatIsNoNumberIsAFault) {
  for (const char *text : {"", "abc", "1x", "e5", "1e", "1e+", "--1", ".", "+", " 1", "0x10", "in", "nano"}) {
    EXPECT_EQ(statusOf<double>(text), KILN_STATUS_STRING_IS_NO_NUMBER) << text;
    EXPECT_EQ(statusOf<int64_t>(text), KILN_STATUS_STRING_IS_NO_NUMBER) << text;
  }
  EXPECT_EQ(statusOf<int64_t>("inf"), KILN_STATUS_STRING_IS_NO_NUMBER);
  EXPECT_EQ(statusOf<uint64_t>("nan"), KILN_STATUS_STRING_IS_NO_NUMBER);
}

TEST_F(Decimals, NumbersThatAreNotFinite) {
  for (const char *text : {"inf", "+Inf", "INFINITY", "infinity"})
    EXPECT_EQ(parsed<double>(text), __builtin_inf()) << text;
  EXPECT_EQ(parsed<double>("-iNf"), -__builtin_inf());
  for (const char *text : {"nan", "NaN", "-NAN", "+nan"})
    EXPECT_NE(parsed<double>(text), parsed<double>(text)) << text;
  EXPECT_EQ(printed(-__builtin_inf()), "-inf");
  EXPECT_EQ(printed(__builtin_inff()), "inf");
  EXPECT_EQ(printed(__builtin_nan("")), "nan");
  EXPECT_EQ(printed(-__builtin_nanf("")), "nan");
}

// Half the smallest number is a tie with zero, half a unit above the largest one with what would be a power of two.
TEST_F(Decimals, NumbersAtTheEndsOfTheirRange) {
  const char *zeros[] = {"0", "-0", "0.000", "0e9999999999999999999", "1e-324", "1e-400", "-7e-999999999999", "2.4703282292062327208e-324"};
  for (const char *text : zeros) {
    EXPECT_EQ(parsed<double>(text), 0) << text;
    EXPECT_EQ(std::signbit(parsed<double>(text)), text[0] == '-') << text;
  }
  EXPECT_EQ(parsed<double>("2.4703282292062328e-324"), 0x1p-1074);
  EXPECT_EQ(parsed<double>("5e-324"), 0x1p-1074);
  EXPECT_EQ(parsed<double>("2.2250738585072011e-308"), 0x0.fffffffffffffp-1022);
  EXPECT_EQ(parsed<double>("2.2250738585072014e-308"), 0x1p-1022);
  EXPECT_EQ(parsed<double>("1.7976931348623157e308"), 0x1.fffffffffffffp1023);
  EXPECT_EQ(parsed<double>("179769313486231580793e288"), 0x1.fffffffffffffp1023);
  for (const char *text : {"1.797693134862315808e308", "1e309", "1e310", "1e311", "9e99999999999999999999"})
    EXPECT_EQ(parsed<double>(text), __builtin_inf()) << text;
  EXPECT_EQ(parsed<double>("-2e308"), -__builtin_inf());
}

// A digit behind all those that are kept still tells on which side of a middle a number is.
TEST_F(Decimals, TiesGoToTheEvenNumberUnlessADigitFollows) {
  const std::string zeros(900, '0');
  EXPECT_EQ(parsed<double>("9007199254740993"), 9007199254740992.0);
  EXPECT_EQ(parsed<double>("9007199254740995"), 9007199254740996.0);
  EXPECT_EQ(parsed<double>("9007199254740993." + zeros), 9007199254740992.0);
  EXPECT_EQ(parsed<double>("9007199254740993." + zeros + "1"), 9007199254740994.0);
  EXPECT_EQ(parsed<double>("-9007199254740993." + zeros + "1"), -9007199254740994.0);
  EXPECT_EQ(parsed<double>("9007199254740993" + zeros + "1e-901"), 9007199254740994.0);
  EXPECT_EQ(parsed<double>("0." + zeros + "1e901"), 1.0);
}

TEST_F(Decimals, IntegersAreCutOffAndEndAtTheirLimits) {
  EXPECT_EQ(parsed<int64_t>("12.9"), 12);
  EXPECT_EQ(parsed<int64_t>("-12.9"), -12);
  EXPECT_EQ(parsed<int64_t>("0.99e1"), 9);
  EXPECT_EQ(parsed<int64_t>("120e-1"), 12);
  EXPECT_EQ(parsed<int64_t>("7e3"), 7000);
  for (const char *text : {"0", "-0.99", "9e-1", "1e-99999999999", "0e99999999999"})
    EXPECT_EQ(parsed<int64_t>(text), 0) << text;
  EXPECT_EQ(parsed<int64_t>("9223372036854775806"), INT64_MAX - 1);
  for (const char *text : {"9223372036854775807", "9223372036854775808", "18446744073709551616", "1e19", "1e99999999999"})
    EXPECT_EQ(parsed<int64_t>(text), INT64_MAX) << text;
  EXPECT_EQ(parsed<int64_t>("-9223372036854775807"), -INT64_MAX);
  for (const char *text : {"-9223372036854775808", "-9223372036854775809", "-1e30"})
    EXPECT_EQ(parsed<int64_t>(text), INT64_MIN) << text;
  EXPECT_EQ(parsed<uint64_t>("9223372036854775808"), uint64_t(1) << 63);
  EXPECT_EQ(parsed<uint64_t>("18446744073709551614.9"), UINT64_MAX - 1);
  for (const char *text : {"18446744073709551615", "18446744073709551616", "1e20"})
    EXPECT_EQ(parsed<uint64_t>(text), UINT64_MAX) << text;
}

TEST_F(Decimals, IntegersPrintAllTheirDigits) {
  EXPECT_EQ(printed(int64_t(0)), "0");
  EXPECT_EQ(printed(int64_t(-10)), "-10");
  EXPECT_EQ(printed(INT64_MAX), "9223372036854775807");
  EXPECT_EQ(printed(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(printed(UINT64_MAX), "18446744073709551615");
}

// As Python's str does.
TEST_F(Decimals, NumbersPrintAsPythonWritesThem) {
  EXPECT_EQ(printed(0.0), "0.0");
  EXPECT_EQ(printed(-0.0f), "-0.0");
  EXPECT_EQ(printed(0.0001), "0.0001");
  EXPECT_EQ(printed(0.00001), "1e-05");
  EXPECT_EQ(printed(-1.5e-7), "-1.5e-07");
  EXPECT_EQ(printed(12.0), "12.0");
  EXPECT_EQ(printed(1234.5f), "1234.5");
  EXPECT_EQ(printed(1e15), "1000000000000000.0");
  EXPECT_EQ(printed(1e16), "1e+16");
  EXPECT_EQ(printed(1.25e100), "1.25e+100");
  EXPECT_EQ(printed(0x1.fffffffffffffp1023), "1.7976931348623157e+308");
  EXPECT_EQ(printed(0x1p-1074), "5e-324");
  EXPECT_EQ(printed(0x1p-149f), "1e-45");
  EXPECT_EQ(printed(16777216.0f), "16777216.0");
}

// Digits and exponent as the C++ library's shortest form has them, for numbers that either writes with an exponent.
template <typename T> void expectShortest(T number) {
  char text[64];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific);
  ASSERT_EQ(printed(number), std::string(text, end.ptr));
}

// Powers of two: the next smaller number is nearer than the next larger one, but not for the smallest.
TEST_F(Decimals, PowersOfTwoPrintTheFewestDigits) {
  for (int power = -1074; power < 1024; ++power)
    if (power < -14 || power > 53) {
      expectShortest(std::ldexp(1.0, power));
      expectShortest(std::ldexp(-0x1.0000000000001p0, power));
      expectShortest(std::ldexp(0x1.fffffffffffffp-1, power));
    }
  for (int power = -149; power < 128; ++power)
    if (power < -14 || power > 54)
      expectShortest(std::ldexp(1.0f, power));
}

// No sum of the digits' numbers needs all the room; what would need more keeps to it.
// Random bits, and what lies just beside the middle of two numbers, with as many digits as it has.
TEST_F(Decimals, NumbersComeBackFromTheirDigits) {
  uint64_t bits = 1;
  for (int i = 0; i < 3000; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    double number = bitcast<double>(bits);
    if (number != number)
      continue;
    const std::string text = printed(number);
    EXPECT_EQ(strtod(text.c_str(), nullptr), number);
    EXPECT_EQ(parsed<double>(text), number);
    if (i >= 100)
      continue;
    char middle[1300];
    snprintf(middle, sizeof middle, "%.1100Le", static_cast<long double>(number) * (1 + 0x1p-53L));
    EXPECT_EQ(parsed<double>(middle), strtod(middle, nullptr)) << middle;
  }
}

// No number of digits needs all the room; what would need more keeps to it.
TEST_F(Decimals, NaturalNumbersKeepToTheirRoom) {
  Natural half(1), whole(1), more(1);
  half.shift(5118), whole.shift(5119), more.shift(5119);
  EXPECT_EQ(half.compare(whole), -1);
  half.add(half);
  EXPECT_EQ(half.compare(whole), 0);
  more.add(Natural(1));
  EXPECT_EQ(more.compare(whole), 1);
  more.subtract(Natural(1));
  EXPECT_EQ(more.compare(whole), 0);
  more.add(whole);
  EXPECT_EQ(more.compare(whole), -1);
  whole.multiply(2);
  EXPECT_EQ(whole.compare(more), 0);
}

} // namespace
