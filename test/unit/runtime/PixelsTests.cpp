#include "kiln/convert.h"
#include "kiln/images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

// Built twice, as ImagesTests.cpp: with the library as it is, and its sources under sanitizers. Buffers have exactly the sizes that the functions ask for.

namespace {

using Bytes = std::vector<uint8_t>;

kiln_pixels pixelsOf(Bytes &bytes, int64_t height, int64_t width, int64_t channels) {
  return {bytes.data(), height, width, channels, width * channels};
}

Bytes drawPicture(int64_t height, int64_t width, int64_t channels) {
  Bytes bytes(size_t(height * width * channels));
  uint64_t state = 1;
  for (uint8_t &byte : bytes)
    byte = uint8_t((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
  return bytes;
}

uint64_t hash(const Bytes &bytes) {
  uint64_t value = 0xCBF29CE484222325;
  for (uint8_t byte : bytes)
    value = (value ^ byte) * 0x100000001B3;
  return value;
}

Bytes resized(kiln_pixels from, kiln_filter filter, int64_t height, int64_t width) {
  Bytes bytes(size_t(height * width * from.channels));
  const kiln_pixels to = pixelsOf(bytes, height, width, from.channels);
  std::vector<uint64_t> scratch((kiln_pixels_resize_scratch_size(&from, filter, &to) + 7) / 8);
  EXPECT_EQ(kiln_pixels_resize(&from, filter, &to, scratch.data(), scratch.size() * 8), KILN_STATUS_OK);
  return bytes;
}

TEST(Pixels, ResizingIsPillows) {
  const std::vector<std::string> names = {"NEAREST", "BILINEAR", "BICUBIC", "BOX", "HAMMING", "LANCZOS"};
  std::ifstream file(KILN_TEST_PIXELS "/resized.txt");
  int64_t height, width, channels, newHeight, newWidth, count = 0;
  std::string name;
  for (uint64_t expected; file >> std::dec >> height >> width >> channels >> newHeight >> newWidth >> name >> std::hex >> expected; ++count) {
    Bytes picture = drawPicture(height, width, channels);
    const auto filter = kiln_filter(std::find(names.begin(), names.end(), name) - names.begin());
    EXPECT_EQ(hash(resized(pixelsOf(picture, height, width, channels), filter, newHeight, newWidth)), expected)
        << height << "x" << width << " to " << newHeight << "x" << newWidth << " " << name;
  }
  EXPECT_EQ(count, 60);
}

// The formula of bilinear and bicubic interpolation, with the border repeated, along one axis of one row.
double interpolate(const Bytes &row, double center, bool isCubic) {
  const double start = std::floor(center), t = center - start, a = -0.75;
  const auto at = [&](int64_t i) { return double(row[size_t(std::clamp<int64_t>(int64_t(start) + i, 0, int64_t(row.size()) - 1))]); };
  if (!isCubic)
    return (1 - t) * at(0) + t * at(1);
  const auto far = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  return std::clamp(far(1 + t) * at(-1) + near(t) * at(0) + near(1 - t) * at(1) + far(2 - t) * at(2), 0.0, 255.0);
}

TEST(Pixels, TheFiltersThatDoNotSmoothInterpolate) {
  for (int64_t from : {1, 2, 3, 11, 40})
    for (int64_t to : {1, 2, 5, 17, 64})
      for (bool isCubic : {false, true}) {
        Bytes row = drawPicture(1, from, 1);
        const kiln_filter filter = isCubic ? KILN_FILTER_CUBIC : KILN_FILTER_LINEAR;
        const Bytes across = resized(pixelsOf(row, 1, from, 1), filter, 1, to), down = resized(pixelsOf(row, from, 1, 1), filter, to, 1);
        EXPECT_EQ(across, down);
        for (int64_t i = 0; i < to; ++i)
          EXPECT_NEAR(across[size_t(i)], interpolate(row, (double(i) + 0.5) * double(from) / double(to) - 0.5, isCubic), 0.51) << from << " to " << to;
      }
}

TEST(Pixels, APartSharesItsPixels) {
  Bytes bytes = drawPicture(6, 8, 3);
  const kiln_pixels picture = pixelsOf(bytes, 6, 8, 3);
  kiln_pixels part;
  ASSERT_EQ(kiln_pixels_crop(&picture, 2, 3, 4, 5, &part), KILN_STATUS_OK);
  EXPECT_EQ(part.data, bytes.data() + 2 * 24 + 9);
  EXPECT_TRUE(part.height == 4 && part.width == 5 && part.channels == 3 && part.stride == 24);
  Bytes copy(4 * 5 * 3), expected;
  for (int64_t y = 2; y < 6; ++y)
    expected.insert(expected.end(), bytes.begin() + y * 24 + 9, bytes.begin() + y * 24 + 24);
  EXPECT_EQ(resized(part, KILN_FILTER_BOX, 4, 5), expected);
  // A part of a part, and a resize of it, are those of the same pixels alone.
  const kiln_pixels alone = pixelsOf(expected, 4, 5, 3);
  EXPECT_EQ(resized(part, KILN_FILTER_LANCZOS, 9, 3), resized(alone, KILN_FILTER_LANCZOS, 9, 3));
  const int64_t wrong[][4] = {{-1, 0, 1, 1}, {0, -1, 1, 1}, {0, 0, 0, 1}, {0, 0, 1, 0}, {0, 0, 7, 1}, {0, 0, 1, 9}, {3, 0, 4, 1}, {0, 4, 1, 5}, {INT64_MAX, 0, INT64_MAX, 1}};
  for (auto &w : wrong)
    EXPECT_EQ(kiln_pixels_crop(&picture, w[0], w[1], w[2], w[3], &part), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_pixels_crop(nullptr, 0, 0, 1, 1, &part), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_pixels_crop(&picture, 0, 0, 1, 1, nullptr), KILN_STATUS_NULL_POINTER);
}

template <typename T> std::vector<T> tensorOf(const kiln_pixels &picture, const kiln_preprocess &how) {
  std::vector<T> tensor(kiln_preprocess_size(&picture, &how) / sizeof(T));
  std::vector<uint64_t> scratch((kiln_preprocess_scratch_size(&picture, &how) + 7) / 8);
  EXPECT_EQ(kiln_pixels_tensor(&picture, &how, tensor.data(), tensor.size() * sizeof(T), scratch.data(), scratch.size() * 8), KILN_STATUS_OK);
  return tensor;
}

TEST(Preprocess, LayoutsOrdersAndNumbers) {
  Bytes bytes = {0, 51, 102, 255, 153, 204};
  const kiln_pixels picture = pixelsOf(bytes, 1, 2, 3);
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  EXPECT_EQ(tensorOf<float>(picture, how), (std::vector<float>{0, 1, 0.2f, 0.6f, 0.4f, 0.8f}));
  how.bgr = 1;
  EXPECT_EQ(tensorOf<float>(picture, how), (std::vector<float>{0.4f, 0.8f, 0.2f, 0.6f, 0, 1}));
  how.channels_last = 1;
  EXPECT_EQ(tensorOf<float>(picture, how), (std::vector<float>{0.4f, 0.2f, 0, 0.8f, 0.6f, 1}));
  how.bgr = 0;
  how.mean[0] = how.mean[1] = how.mean[2] = 0.5;
  how.deviation[1] = 2;
  how.deviation[2] = 0.5;
  EXPECT_EQ(tensorOf<float>(picture, how), (std::vector<float>{-0.5f, -0.15f, -0.2f, 0.5f, 0.05f, 0.6f}));
  how.element_type = KILN_ELEMENT_F64;
  EXPECT_EQ(tensorOf<double>(picture, how)[0], -0.5);
  how.element_type = KILN_ELEMENT_F16;
  EXPECT_EQ(tensorOf<uint16_t>(picture, how)[5], kiln_f32_to_f16(0.6f));
  how.element_type = KILN_ELEMENT_BF16;
  EXPECT_EQ(tensorOf<uint16_t>(picture, how)[5], kiln_f32_to_bf16(0.6f));
}

TEST(Preprocess, IntegersAreRoundedAndSaturate) {
  Bytes bytes = {0, 51, 102, 255};
  const kiln_pixels picture = pixelsOf(bytes, 2, 2, 1);
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  how.scale = 1;
  how.element_type = KILN_ELEMENT_U8;
  EXPECT_EQ(tensorOf<uint8_t>(picture, how), bytes);
  how.mean[0] = 100.5;
  EXPECT_EQ(tensorOf<uint8_t>(picture, how), (Bytes{0, 0, 2, 155}));
  how.element_type = KILN_ELEMENT_I8;
  EXPECT_EQ(tensorOf<int8_t>(picture, how), (std::vector<int8_t>{-101, -50, 2, 127}));
  how.scale = 1e30;
  how.element_type = KILN_ELEMENT_U64;
  EXPECT_EQ(tensorOf<uint64_t>(picture, how), (std::vector<uint64_t>{0, UINT64_MAX, UINT64_MAX, UINT64_MAX}));
  how.element_type = KILN_ELEMENT_I32;
  EXPECT_EQ(tensorOf<int32_t>(picture, how)[3], INT32_MAX);
  how.scale = -1e30;
  EXPECT_EQ(tensorOf<int32_t>(picture, how)[3], INT32_MIN);
  how.element_type = KILN_ELEMENT_I64;
  EXPECT_EQ(tensorOf<int64_t>(picture, how)[3], INT64_MIN);
  how.element_type = KILN_ELEMENT_U16;
  how.scale = 300;
  EXPECT_EQ(tensorOf<uint16_t>(picture, how), (std::vector<uint16_t>{0, 15200, 30500, 65535}));
  how.element_type = KILN_ELEMENT_I16;
  EXPECT_EQ(tensorOf<int16_t>(picture, how)[3], 32767);
  how.element_type = KILN_ELEMENT_U32;
  EXPECT_EQ(tensorOf<uint32_t>(picture, how)[3], 76400u);
  how.scale = NAN;
  EXPECT_EQ(tensorOf<uint32_t>(picture, how)[3], 0u);
}

// A double between two f16 that is so close to their middle that f32 cannot tell.
TEST(Preprocess, HalvesAreRoundedOnce) {
  Bytes bytes = {1};
  const kiln_pixels picture = pixelsOf(bytes, 1, 1, 1);
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  how.element_type = KILN_ELEMENT_F16;
  how.scale = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(tensorOf<uint16_t>(picture, how)[0], 0x3C01);
  how.scale = 1 + 0x1p-11;
  EXPECT_EQ(tensorOf<uint16_t>(picture, how)[0], 0x3C00);
  how.scale = 1 + 0x3p-11 - 0x1p-40;
  EXPECT_EQ(tensorOf<uint16_t>(picture, how)[0], 0x3C01);
  how.scale = -1e9;
  EXPECT_EQ(tensorOf<uint16_t>(picture, how)[0], 0xFC00);
}

TEST(Preprocess, ChannelsAreConverted) {
  Bytes gray = {7}, grayAlpha = {7, 9}, rgb = {10, 20, 30}, rgba = {10, 20, 30, 40};
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  how.element_type = KILN_ELEMENT_U8;
  how.scale = 1;
  auto convert = [&](Bytes &bytes, int32_t channels) {
    how.channels = channels;
    return tensorOf<uint8_t>(pixelsOf(bytes, 1, 1, int64_t(bytes.size())), how);
  };
  EXPECT_EQ(convert(gray, 0), gray);
  EXPECT_EQ(convert(gray, 3), (Bytes{7, 7, 7}));
  EXPECT_EQ(convert(grayAlpha, 1), gray);
  EXPECT_EQ(convert(grayAlpha, 3), (Bytes{7, 7, 7}));
  EXPECT_EQ(convert(grayAlpha, 4), (Bytes{7, 7, 7, 9}));
  EXPECT_EQ(convert(rgb, 1), (Bytes{18}));
  EXPECT_EQ(convert(rgba, 1), (Bytes{18}));
  EXPECT_EQ(convert(rgba, 2), (Bytes{18, 40}));
  EXPECT_EQ(convert(rgba, 3), rgb);
  EXPECT_EQ(convert(rgba, 0), rgba);
  how.bgr = 1;
  EXPECT_EQ(convert(rgba, 4), (Bytes{30, 20, 10, 40}));
  // Alpha that is not there.
  const kiln_pixels picture = pixelsOf(rgb, 1, 1, 3);
  how.channels = 4;
  EXPECT_EQ(kiln_pixels_tensor(&picture, &how, rgba.data(), 4, nullptr, 0), KILN_STATUS_DIMENSION_MISMATCH);
}

TEST(Preprocess, StretchIsAResize) {
  Bytes bytes = drawPicture(20, 30, 3);
  const kiln_pixels picture = pixelsOf(bytes, 20, 30, 3);
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  how.element_type = KILN_ELEMENT_U8;
  how.scale = 1;
  how.channels_last = 1;
  how.fit = KILN_FIT_STRETCH;
  how.height = 7;
  how.width = 11;
  for (int filter = KILN_FILTER_NEAREST; filter <= KILN_FILTER_CUBIC; ++filter) {
    how.filter = filter;
    EXPECT_EQ(tensorOf<uint8_t>(picture, how), resized(picture, kiln_filter(filter), 7, 11));
  }
}

TEST(Preprocess, LetterboxKeepsProportions) {
  Bytes bytes(2 * 4, 200);
  const kiln_pixels picture = pixelsOf(bytes, 2, 4, 1);
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  how.element_type = KILN_ELEMENT_U8;
  how.scale = 1;
  how.fit = KILN_FIT_LETTERBOX;
  how.height = 4;
  how.width = 6;
  how.fill[0] = 9;
  kiln_placement place;
  ASSERT_EQ(kiln_preprocess_place(&picture, &how, &place), KILN_STATUS_OK);
  EXPECT_TRUE(place.height == 3 && place.width == 6 && place.top == 0 && place.left == 0);
  Bytes expected(24, 200);
  std::fill(expected.begin() + 18, expected.end(), uint8_t(9));
  EXPECT_EQ(tensorOf<uint8_t>(picture, how), expected);
  how.height = 6;
  how.width = 3;
  ASSERT_EQ(kiln_preprocess_place(&picture, &how, &place), KILN_STATUS_OK);
  EXPECT_TRUE(place.height == 2 && place.width == 3 && place.top == 2 && place.left == 0);
  const Bytes tall = tensorOf<uint8_t>(picture, how);
  EXPECT_EQ(std::count(tall.begin(), tall.begin() + 6, 9) + std::count(tall.begin() + 12, tall.end(), 9), 12);
  EXPECT_EQ(std::count(tall.begin() + 6, tall.begin() + 12, 200), 6);
  how.at_corner = 1;
  EXPECT_EQ(tensorOf<uint8_t>(picture, how)[0], 200);
  // Colours of the fill are in the order of pictures, whatever the tensor's.
  Bytes colour = {1, 2, 3};
  const kiln_pixels one = pixelsOf(colour, 1, 1, 3);
  how.height = 1;
  how.width = 2;
  how.bgr = how.channels_last = 1;
  how.fill[1] = 8;
  how.fill[2] = 7;
  EXPECT_EQ(tensorOf<uint8_t>(one, how), (Bytes{3, 2, 1, 7, 8, 9}));
}

// As torchvision's Resize(8) and CenterCrop((6, 7)).
TEST(Preprocess, CoverCutsOutTheMiddle) {
  Bytes bytes = drawPicture(16, 23, 3);
  const kiln_pixels picture = pixelsOf(bytes, 16, 23, 3);
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  how.element_type = KILN_ELEMENT_U8;
  how.scale = 1;
  how.channels_last = 1;
  how.fit = KILN_FIT_COVER;
  how.height = 6;
  how.width = 7;
  how.shorter = 8;
  kiln_placement place;
  ASSERT_EQ(kiln_preprocess_place(&picture, &how, &place), KILN_STATUS_OK);
  EXPECT_TRUE(place.height == 8 && place.width == 11 && place.top == -1 && place.left == -2);
  Bytes whole = resized(picture, KILN_FILTER_BILINEAR, 8, 11);
  const kiln_pixels small = pixelsOf(whole, 8, 11, 3);
  kiln_pixels middle;
  ASSERT_EQ(kiln_pixels_crop(&small, 1, 2, 6, 7, &middle), KILN_STATUS_OK);
  EXPECT_EQ(tensorOf<uint8_t>(picture, how), resized(middle, KILN_FILTER_NEAREST, 6, 7));
  how.shorter = 0;
  ASSERT_EQ(kiln_preprocess_place(&picture, &how, &place), KILN_STATUS_OK);
  EXPECT_TRUE(place.height == 6 && place.width == 9 && place.top == 0 && place.left == -1);
  how.shorter = 5;
  EXPECT_EQ(kiln_preprocess_place(&picture, &how, &place), KILN_STATUS_DIMENSION_MISMATCH);
}

TEST(Preprocess, ArgumentsAreChecked) {
  Bytes bytes(12);
  float tensor[12];
  uint64_t scratch[64];
  const kiln_pixels good = pixelsOf(bytes, 2, 2, 3);
  auto statusOf = [&](auto change) {
    kiln_pixels picture = good;
    kiln_preprocess how = KILN_PREPROCESS_INIT;
    change(picture, how);
    const kiln_status status = kiln_pixels_tensor(&picture, &how, tensor, sizeof(tensor), scratch, sizeof(scratch));
    EXPECT_EQ(kiln_preprocess_size(&picture, &how) == SIZE_MAX, status != KILN_STATUS_OK && status != KILN_STATUS_WORKSPACE_TOO_SMALL && picture.data);
    return status;
  };
  EXPECT_EQ(statusOf([](auto &, auto &) {}), KILN_STATUS_OK);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.abi_version = 0; }), KILN_STATUS_ABI_MISMATCH);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.struct_size = 8; }), KILN_STATUS_ABI_MISMATCH);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.element_type = KILN_ELEMENT_STRING; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.fit = 4; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.filter = 8; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.channels = 5; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.deviation[3] = 0; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.height = -1; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.width = int64_t(1) << 31; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.shorter = -1; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &picture, auto &) { picture.height = 0; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &picture, auto &) { picture.channels = 5; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &picture, auto &) { picture.stride = 5; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &picture, auto &) { picture.stride = INT64_MAX; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &, auto &how) { how.height = 3; }), KILN_STATUS_DIMENSION_MISMATCH);
  EXPECT_EQ(statusOf([](auto &picture, auto &) { picture.data = nullptr; }), KILN_STATUS_NULL_POINTER);
  auto huge = [](auto &, auto &how) {
    how.height = how.width = int64_t(1) << 30;
    how.fit = KILN_FIT_STRETCH;
  };
  EXPECT_EQ(statusOf(huge), KILN_STATUS_SIZE_OVERFLOW);
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  EXPECT_EQ(kiln_pixels_tensor(nullptr, &how, tensor, sizeof(tensor), nullptr, 0), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_pixels_tensor(&good, nullptr, tensor, sizeof(tensor), nullptr, 0), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_pixels_tensor(&good, &how, tensor, sizeof(tensor) - 4, nullptr, 0), KILN_STATUS_DIMENSION_MISMATCH);
  EXPECT_EQ(kiln_preprocess_place(&good, &how, nullptr), KILN_STATUS_NULL_POINTER);
  how.fit = KILN_FIT_STRETCH;
  how.height = how.width = 1;
  EXPECT_EQ(kiln_pixels_tensor(&good, &how, tensor, 12, nullptr, 1000), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_pixels_tensor(&good, &how, tensor, 12, scratch, kiln_preprocess_scratch_size(&good, &how) - 1), KILN_STATUS_WORKSPACE_TOO_SMALL);
}

TEST(Pixels, ArgumentsOfAResizeAreChecked) {
  Bytes bytes(12), other(3);
  uint64_t scratch[64];
  const kiln_pixels from = pixelsOf(bytes, 2, 2, 3), to = pixelsOf(other, 1, 1, 3), gray = pixelsOf(other, 1, 1, 1), none = pixelsOf(other, 0, 1, 3);
  const size_t needed = kiln_pixels_resize_scratch_size(&from, KILN_FILTER_BOX, &to);
  EXPECT_EQ(kiln_pixels_resize(&from, KILN_FILTER_BOX, &to, scratch, needed), KILN_STATUS_OK);
  EXPECT_EQ(kiln_pixels_resize(&from, KILN_FILTER_BOX, &to, scratch, needed - 1), KILN_STATUS_WORKSPACE_TOO_SMALL);
  EXPECT_EQ(kiln_pixels_resize(&from, KILN_FILTER_BOX, &to, nullptr, needed), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_pixels_resize(&from, KILN_FILTER_NEAREST, &to, nullptr, 0), KILN_STATUS_OK);
  EXPECT_EQ(kiln_pixels_resize(&from, 8, &to, scratch, needed), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_pixels_resize(&from, KILN_FILTER_BOX, &none, scratch, needed), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_pixels_resize(&from, KILN_FILTER_BOX, &gray, scratch, needed), KILN_STATUS_DIMENSION_MISMATCH);
  EXPECT_EQ(kiln_pixels_resize(nullptr, KILN_FILTER_BOX, &to, scratch, needed), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_pixels_resize_scratch_size(&from, KILN_FILTER_BOX, &gray), SIZE_MAX);
  EXPECT_EQ(kiln_pixels_resize_scratch_size(&from, -1, &to), SIZE_MAX);
  // The sizes alone say that it is too much.
  const kiln_pixels thin = {bytes.data(), 1 << 30, 2, 3, 6}, wide = {bytes.data(), 2, 1 << 30, 3, int64_t(3) << 30};
  EXPECT_EQ(kiln_pixels_resize_scratch_size(&thin, KILN_FILTER_LANCZOS, &wide), SIZE_MAX);
  EXPECT_EQ(kiln_pixels_resize(&thin, KILN_FILTER_LANCZOS, &wide, scratch, sizeof(scratch)), KILN_STATUS_SIZE_OVERFLOW);
}

std::string ppm(int64_t width, int64_t height) {
  const Bytes pixels = drawPicture(height, width, 3);
  return "P6 " + std::to_string(width) + " " + std::to_string(height) + " 255\n" + std::string(pixels.begin(), pixels.end());
}

const uint8_t *bytesOf(const std::string &text) { return reinterpret_cast<const uint8_t *>(text.data()); }

TEST(ImageFiles, FromTheFileToTheTensor) {
  const std::string file = ppm(20, 10);
  kiln_preprocess how = KILN_PREPROCESS_INIT;
  how.height = how.width = 8;
  how.fit = KILN_FIT_LETTERBOX;
  Bytes pixels = drawPicture(10, 20, 3);
  const std::vector<float> expected = tensorOf<float>(pixelsOf(pixels, 10, 20, 3), how);
  std::vector<float> tensor(8 * 8 * 3);
  kiln_images images = KILN_IMAGES_INIT;
  EXPECT_EQ(kiln_images_tensor(&images, bytesOf(file), int64_t(file.size()), &how, tensor.data(), 768), KILN_STATUS_OK);
  EXPECT_EQ(tensor, expected);
  EXPECT_EQ(kiln_images_tensor(nullptr, bytesOf(file), int64_t(file.size()), &how, tensor.data(), 764), KILN_STATUS_DIMENSION_MISMATCH);
  EXPECT_EQ(kiln_images_tensor(nullptr, bytesOf(file), int64_t(file.size()), nullptr, tensor.data(), 768), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_images_tensor(nullptr, bytesOf(file), int64_t(file.size()), &how, nullptr, 768), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_images_tensor(&images, bytesOf(file), int64_t(file.size()) - 1, &how, tensor.data(), 768), KILN_STATUS_IMAGE_UNREADABLE);
  EXPECT_STREQ(images.message, "PNM: the file is cut off");
  how.fit = KILN_FIT_NONE;
  EXPECT_EQ(kiln_images_tensor(&images, bytesOf(file), int64_t(file.size()), &how, tensor.data(), 768), KILN_STATUS_DIMENSION_MISMATCH);
}

TEST(ImageFiles, MemoryIsExactlyThatOfThePicture) {
  const std::string file = ppm(20, 10);
  int64_t height, width, channels;
  ASSERT_EQ(kiln_images_size(nullptr, bytesOf(file), int64_t(file.size()), &height, &width, &channels), KILN_STATUS_OK);
  EXPECT_TRUE(height == 10 && width == 20 && channels == 3);
  Bytes pixels(size_t(height * width * channels));
  kiln_pixels picture = pixelsOf(pixels, height, width, channels);
  ASSERT_EQ(kiln_images_read(nullptr, bytesOf(file), int64_t(file.size()), &picture), KILN_STATUS_OK);
  EXPECT_EQ(pixels, drawPicture(10, 20, 3));
  kiln_images images = KILN_IMAGES_INIT;
  auto statusOf = [&](auto change) {
    kiln_pixels other = picture;
    change(other);
    return kiln_images_read(&images, bytesOf(file), int64_t(file.size()), &other);
  };
  EXPECT_EQ(statusOf([](auto &p) { p.height = 9; }), KILN_STATUS_DIMENSION_MISMATCH);
  EXPECT_EQ(statusOf([](auto &p) { p.width = 19, p.stride = 57; }), KILN_STATUS_DIMENSION_MISMATCH);
  EXPECT_EQ(statusOf([](auto &p) { p.channels = 1, p.stride = 20; }), KILN_STATUS_OK);
  EXPECT_EQ(statusOf([](auto &p) { p.channels = 2, p.stride = 40; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &p) { p.stride = 61; }), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([](auto &p) { p.data = nullptr; }), KILN_STATUS_NULL_POINTER);
  Bytes large(21 * 10 * 3);
  picture = pixelsOf(large, 10, 21, 3);
  EXPECT_EQ(statusOf([](auto &) {}), KILN_STATUS_DIMENSION_MISMATCH);
}

TEST(ImageFiles, ASizeHasLimitsAndMessages) {
  const std::string file = ppm(20, 10);
  kiln_images images = KILN_IMAGES_INIT;
  int64_t height = 1, width = 1, channels = 1;
  auto statusOf = [&](const std::string &text) { return kiln_images_size(&images, bytesOf(text), int64_t(text.size()), &height, &width, &channels); };
  images.max_pixels = 199;
  EXPECT_EQ(statusOf(file), KILN_STATUS_IMAGE_TOO_LARGE);
  EXPECT_STREQ(images.message, "PNM: the picture is 20 x 10, more than the limit of 199 pixels");
  EXPECT_TRUE(height == 0 && width == 0 && channels == 0);
  images.max_pixels = 200;
  EXPECT_EQ(statusOf(file.substr(0, 15)), KILN_STATUS_OK); // the header
  EXPECT_EQ(statusOf("P5 3 4 255\n"), KILN_STATUS_OK);
  EXPECT_TRUE(height == 4 && width == 3 && channels == 1);
  EXPECT_EQ(statusOf("P5 3"), KILN_STATUS_IMAGE_UNREADABLE);
  EXPECT_EQ(statusOf(""), KILN_STATUS_IMAGE_UNREADABLE);
  EXPECT_EQ(statusOf("P6 9999999999 9999999999 255\n"), KILN_STATUS_IMAGE_TOO_LARGE);
  EXPECT_EQ(kiln_images_size(&images, bytesOf(file), 0, &height, &width, &channels), KILN_STATUS_IMAGE_UNREADABLE);
  EXPECT_EQ(kiln_images_size(&images, nullptr, 9, &height, &width, &channels), KILN_STATUS_IMAGE_UNREADABLE);
  EXPECT_EQ(kiln_images_size(&images, bytesOf(file), 9, nullptr, &width, &channels), KILN_STATUS_NULL_POINTER);
  images.struct_size = 8;
  EXPECT_EQ(statusOf(file), KILN_STATUS_ABI_MISMATCH);
}

} // namespace
