// .npy files, pictures and fills: what is written comes back, and malformed files are errors.
#include "compiler/run/Fill.h"
#include "compiler/run/Image.h"
#include "compiler/run/Npy.h"
#include "compiler/run/OnnxTensor.h"
#include "test/unit/run/Files.h"
#include <gtest/gtest.h>
#include <cmath>
#include <png.h>

using namespace kiln;

namespace {

Tensor make(ElementType type, std::vector<int64_t> dims) {
  Tensor tensor = llvm::cantFail(Tensor::create(type, dims));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setValue(i, double(i) * 0.5 + 1);
  return tensor;
}

std::string write(const Tensor &tensor) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  writeNpy(os, tensor);
  return bytes;
}

const std::string vectorHeader = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
const std::string eightBytes("\0\0\x80\x3f\0\0\0\x40", 8);

} // namespace

TEST(Npy, ComesBackAsWritten) {
  for (ElementType type : {KILN_ELEMENT_F32, KILN_ELEMENT_F64, KILN_ELEMENT_F16, KILN_ELEMENT_BF16, KILN_ELEMENT_I8, KILN_ELEMENT_I16, KILN_ELEMENT_I32,
                           KILN_ELEMENT_I64, KILN_ELEMENT_U8, KILN_ELEMENT_U16, KILN_ELEMENT_U32, KILN_ELEMENT_U64, KILN_ELEMENT_BOOL})
    for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {3}, {0}, {2, 3}, {1, 2, 0, 4}}) {
      Tensor tensor = make(type, dims);
      std::string bytes = write(tensor);
      EXPECT_EQ((bytes.size() - tensor.getByteSize()) % 64, 0u);
      Tensor again = llvm::cantFail(readNpy(bytes));
      EXPECT_EQ(again.getSignature(), tensor.getSignature());
      EXPECT_EQ(std::string(again.getData(), again.getByteSize()), std::string(tensor.getData(), tensor.getByteSize()));
    }
}

TEST(Npy, ReadsAllVersions) {
  for (char version : {1, 2, 3}) {
    Tensor tensor = llvm::cantFail(readNpy(npy(vectorHeader, eightBytes, version)));
    EXPECT_EQ(tensor.getValue(0), 1.0);
    EXPECT_EQ(tensor.getValue(1), 2.0);
  }
}

TEST(Npy, RefusesMalformedFiles) {
  EXPECT_EQ(faultOf(readNpy("")), "not a .npy file");
  EXPECT_EQ(faultOf(readNpy("PK\3\4 a zip")), "not a .npy file");
  EXPECT_NE(faultOf(readNpy(npy(vectorHeader, eightBytes, 4))).find("version 4.0"), std::string::npos);
  std::string whole = npy(vectorHeader, eightBytes);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(faultOf(readNpy(whole.substr(0, size))), "") << size;
  EXPECT_NE(faultOf(readNpy(whole + "x")).find("has 9 bytes of data, but f32[2] needs 8"), std::string::npos);
  for (const char *header :
       {"", "{", "[]", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} trailing", "{'other': 1}"})
    EXPECT_NE(faultOf(readNpy(npy(header, eightBytes))), "") << header;
  for (const char *shape : {"(99999999999999999999,)", "(4611686018427387904, 4)", "(4611686018427387904,)", "(1099511627776, 1048576)"})
    EXPECT_NE(faultOf(readNpy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(shape) + "}", eightBytes))), "") << shape;
  EXPECT_NE(faultOf(readNpy(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", eightBytes))).find("'>f4' is not supported"), std::string::npos);
  EXPECT_NE(faultOf(readNpy(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}", eightBytes))).find("Fortran order"), std::string::npos);
}

TEST(Npy, StringsComeBackAsWritten) {
  Tensor tensor = llvm::cantFail(Tensor::create(KILN_ELEMENT_STRING, {2, 2}));
  const char *texts[] = {"cat", "", "\u00e4\u4e2d\U0001f600", "a longer one than fits into a small string"};
  for (int i = 0; i < 4; ++i)
    tensor.setText(i, texts[i]);
  Tensor copy = llvm::cantFail(tensor.copy()), again = llvm::cantFail(readNpy(write(tensor)));
  EXPECT_EQ(again.getSignature(), "string[2,2]");
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(again.getText(i), texts[i]);
    EXPECT_EQ(copy.getText(i), texts[i]);
    EXPECT_NE(texts[i][0] && copy.getText(i).data() == tensor.getText(i).data(), true);
  }
  Tensor none = llvm::cantFail(Tensor::create(KILN_ELEMENT_STRING, {0}));
  EXPECT_EQ(llvm::cantFail(readNpy(write(none))).getSignature(), "string[0]");
  tensor.setText(0, "\xff");
  EXPECT_EQ(llvm::cantFail(readNpy(write(tensor))).getText(0), "\ufffd");
}

TEST(Npy, StringsOfDifferentLengthsGoIntoTensorProtos) {
  Tensor tensor = llvm::cantFail(Tensor::create(KILN_ELEMENT_STRING, {50, 100}));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setText(i, "word");
  tensor.setText(7, std::string(3000, 'x'));
  EXPECT_TRUE(fitsNpy(tensor)); // 60 MB
  tensor.setText(8, std::string(4000, 'y'));
  EXPECT_FALSE(fitsNpy(tensor));
  Tensor again = llvm::cantFail(readOnnxTensor(writeOnnxStrings(tensor)));
  EXPECT_EQ(again.getSignature(), tensor.getSignature());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    EXPECT_EQ(again.getText(i), tensor.getText(i));
}

TEST(Npy, RefusesMalformedStrings) {
  const std::string header = "{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }";
  EXPECT_NE(faultOf(readNpy(npy(header, "abc"))).find("needs another number"), std::string::npos);
  EXPECT_NE(faultOf(readNpy(npy(header, std::string("\0\xd8\0\0\0\0\0\0", 8)))).find("not Unicode"), std::string::npos);
}

TEST(Halves, RoundToNearestEven) {
  Tensor tensor = llvm::cantFail(Tensor::create(KILN_ELEMENT_F16, {1}));
  auto bits = [&](double value) {
    tensor.setValue(0, value);
    return tensor.as<uint16_t>()[0];
  };
  EXPECT_EQ(bits(1.0), 0x3C00);
  EXPECT_EQ(bits(-2.5), 0xC100);
  EXPECT_EQ(bits(65504), 0x7BFF);
  EXPECT_EQ(bits(65519.9), 0x7BFF);
  EXPECT_EQ(bits(65520), 0x7C00);
  EXPECT_EQ(bits(0x1p-24), 1);
  EXPECT_EQ(bits(0x1p-25), 0);
  EXPECT_EQ(bits(0x1.8p-24), 2);
  EXPECT_EQ(bits(2049), 0x6800);
  EXPECT_EQ(bits(2051), 0x6802);
  EXPECT_EQ(bits(2047.9), 0x6800);
  for (unsigned pattern = 0; pattern < 0x10000; ++pattern) {
    tensor.as<uint16_t>()[0] = uint16_t(pattern);
    double value = tensor.getValue(0);
    if (!std::isnan(value))
      EXPECT_EQ(bits(value), pattern);
  }
}

TEST(Image, PpmInEveryLayout) {
  std::string ppm = std::string("P6 # comment\n2 1\n255\n") + std::string("\x00\x33\x66\xff\x99\xcc", 6);
  Image image = llvm::cantFail(readImage(ppm));
  ImageOptions options;
  auto values = [&](const char *layout, std::vector<int64_t> dims) {
    options.layout = layout;
    Tensor tensor = llvm::cantFail(makeTensor(image, KILN_ELEMENT_F32, dims, options));
    return std::vector<float>(tensor.as<float>(), tensor.as<float>() + tensor.getNumElements());
  };
  EXPECT_EQ(values("nchw", {1, 3, 1, 2}), (std::vector<float>{0, 1, 0.2f, 0.6f, 0.4f, 0.8f}));
  EXPECT_EQ(values("nhwc", {-1, -1, -1, -1}), (std::vector<float>{0, 0.2f, 0.4f, 1, 0.6f, 0.8f}));
  EXPECT_EQ(values("bgr-nchw", {3, 1, 2}), (std::vector<float>{0.4f, 0.8f, 0.2f, 0.6f, 0, 1}));
  options.mean = {0.5};
  options.std = {1, 2, 0.5};
  EXPECT_EQ(values("nhwc", {1, 2, 3}), (std::vector<float>{-0.5f, -0.15f, -0.2f, 0.5f, 0.05f, 0.6f}));
  options.mean = {1, 2};
  EXPECT_NE(faultOf(makeTensor(image, KILN_ELEMENT_F32, {1, 1, 2, 3}, options)).find("one value or one for each"), std::string::npos);
}

TEST(Image, SizesMustMatch) {
  Image image = llvm::cantFail(readImage(std::string("P5\n2 2\n255\nabcd")));
  ImageOptions options;
  EXPECT_EQ(llvm::cantFail(makeTensor(image, KILN_ELEMENT_U8, {1, 1, 2, 2}, options)).getSignature(), "u8[1,1,2,2]");
  EXPECT_EQ(llvm::cantFail(makeTensor(image, KILN_ELEMENT_F32, {-1, 3, -1, -1}, options)).getSignature(), "f32[1,3,2,2]");
  EXPECT_EQ(llvm::cantFail(makeTensor(image, KILN_ELEMENT_F32, {2, 2}, options)).getSignature(), "f32[2,2]");
  for (std::vector<int64_t> dims : {std::vector<int64_t>{1, 1, 2, 3}, {1, 4, 2, 2}, {2, 1, 2, 2}, {4}, {1, 1, 1, 2, 2}})
    EXPECT_NE(faultOf(makeTensor(image, KILN_ELEMENT_F32, dims, options)), "");
  options.layout = "chw";
  EXPECT_NE(faultOf(makeTensor(image, KILN_ELEMENT_F32, {1, 1, 2, 2}, options)).find("layout 'chw' is not known"), std::string::npos);
}

TEST(Image, RefusesMalformedPictures) {
  for (const char *text : {"", "P4\n1 1\n", "P6\n", "P6\n2 2\n255\n", "P6\n-1 2\n255\nxxxxxx", "P6\n2 1\n65535\nxxxxxxxxxxxx", "P5\n0 1\n255\nx",
                           "P5\n99999999 99999999\n255\nx", "\x89PNG\r\n\x1a\n"})
    EXPECT_NE(faultOf(readImage(text)), "") << text;
}

TEST(Image, Png) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = 2;
  png.height = 1;
  png.format = PNG_FORMAT_RGB;
  const uint8_t pixels[] = {0, 51, 102, 255, 153, 204};
  png_alloc_size_t size = 0;
  ASSERT_TRUE(png_image_write_to_memory(&png, nullptr, &size, 0, pixels, 0, nullptr));
  std::string bytes(size, 0);
  ASSERT_TRUE(png_image_write_to_memory(&png, bytes.data(), &size, 0, pixels, 0, nullptr));
  Image image = llvm::cantFail(readImage(bytes));
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.pixels, std::vector<uint8_t>(pixels, pixels + 6));
  for (size_t cut : {10ul, 30ul, bytes.size() - 20})
    EXPECT_NE(faultOf(readImage(bytes.substr(0, cut))), "");
}

TEST(Fill, SameNumbersEverywhere) {
  auto fill = [](const char *text, ElementType type, std::vector<int64_t> dims, uint64_t seed, const char *name) {
    Tensor tensor = llvm::cantFail(Tensor::create(type, dims));
    fillTensor(tensor, *llvm::cantFail(parseFill(text)), seed, name);
    std::vector<double> values;
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      values.push_back(tensor.getValue(i));
    return values;
  };
  EXPECT_EQ(fill("arange", KILN_ELEMENT_I64, {2, 3}, 0, "x"), (std::vector<double>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(fill("2.5", KILN_ELEMENT_F32, {2}, 0, "x"), (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(fill("ones", KILN_ELEMENT_BOOL, {1}, 0, "x"), (std::vector<double>{1}));
  // Computed apart from this code, by the documented formula in Python.
  EXPECT_EQ(fill("uniform:0:1", KILN_ELEMENT_F64, {2}, 1, ""), (std::vector<double>{0x1.5bab3d8f2b5afp-1, 0x1.9224fc49c72bdp-1}));
  EXPECT_NE(fill("random:1", KILN_ELEMENT_F32, {8}, 0, "x"), fill("random:2", KILN_ELEMENT_F32, {8}, 0, "x"));
  EXPECT_NE(fill("random", KILN_ELEMENT_F32, {8}, 0, "x"), fill("random", KILN_ELEMENT_F32, {8}, 0, "y"));
  EXPECT_EQ(fill("random:7", KILN_ELEMENT_F32, {8}, 1, "x"), fill("random:7", KILN_ELEMENT_F32, {8}, 2, "x"));
  double sum = 0, squares = 0;
  for (double value : fill("normal:2", KILN_ELEMENT_F64, {10000}, 3, "x"))
    sum += value, squares += value * value;
  EXPECT_NEAR(sum / 10000, 0, 0.06);
  EXPECT_NEAR(squares / 10000, 4, 0.15);
  for (double value : fill("randint:-2:3", KILN_ELEMENT_I32, {1000}, 3, "x"))
    EXPECT_TRUE(value >= -2 && value <= 2 && value == std::floor(value));
}

TEST(Fill, RefusesNumbersBeyondTheType) {
  auto fault = [](const char *text, ElementType type) {
    llvm::Error error = checkFill(*llvm::cantFail(parseFill(text)), type);
    return error ? llvm::toString(std::move(error)) : "";
  };
  EXPECT_EQ(fault("256", KILN_ELEMENT_U8), "256 is not a value of u8");
  EXPECT_EQ(fault("-129", KILN_ELEMENT_I8), "-129 is not a value of i8");
  EXPECT_NE(fault("0.5", KILN_ELEMENT_I32), "");
  EXPECT_NE(fault("nan", KILN_ELEMENT_I64), "");
  EXPECT_NE(fault("9223372036854775808", KILN_ELEMENT_I64), "");
  EXPECT_NE(fault("-1", KILN_ELEMENT_U64), "");
  EXPECT_NE(fault("18446744073709551616", KILN_ELEMENT_U64), "");
  EXPECT_NE(fault("1e39", KILN_ELEMENT_F32), "");
  EXPECT_NE(fault("65520", KILN_ELEMENT_F16), "");
  EXPECT_NE(fault("randint:0:257", KILN_ELEMENT_U8), "");
  EXPECT_NE(fault("uniform:0:1e300", KILN_ELEMENT_F32), "");
  for (auto [text, type] : {std::pair("255", KILN_ELEMENT_U8), {"randint:0:256", KILN_ELEMENT_U8}, {"-128", KILN_ELEMENT_I8}, {"2", KILN_ELEMENT_BOOL},
                            {"0.1", KILN_ELEMENT_F16}, {"inf", KILN_ELEMENT_F32}, {"nan", KILN_ELEMENT_BF16}, {"2.5", KILN_ELEMENT_STRING},
                            {"-9223372036854775808", KILN_ELEMENT_I64}, {"arange", KILN_ELEMENT_U8}, {"normal", KILN_ELEMENT_I32}})
    EXPECT_EQ(fault(text, type), "") << text;
}

TEST(Fill, RefusesWrongForms) {
  for (const char *text : {"random:x", "random:1:2", "normal:abc", "uniform:1", "uniform:2:1", "uniform:0:nan", "randint:0.5:2", "randint:1:1"})
    EXPECT_NE(faultOf(parseFill(text)).find("is malformed"), std::string::npos) << text;
  for (const char *text : {"x.npy", "randomly.npy", "dir/x.pb", "C:x.npy"})
    EXPECT_FALSE(llvm::cantFail(parseFill(text))) << text;
}
