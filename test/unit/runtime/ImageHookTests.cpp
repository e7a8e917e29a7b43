#include "kiln/image.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

using namespace kiln;

namespace {

// The hook of these tests: what it does, and what it was given.
struct Hook {
  std::function<kiln_status(kiln_image &)> decode;
  int calls = 0;
};

kiln_status callHook(void *user, kiln_image *image) {
  Hook &hook = *static_cast<Hook *>(user);
  ++hook.calls;
  return hook.decode(*image);
}

class ImageHook : public testing::Test {
protected:
  void run(const kiln_context *with) {
    status = KILN_STATUS_OK;
    image_decode(file.data(), pixels.data(), size, &count, &status, reinterpret_cast<const int8_t *>(with), int64_t(file.size()), format, 4, 5, exact);
  }
  kiln_context context = KILN_CONTEXT_INIT;
  std::vector<int8_t> file = {1, 2, 3}, pixels = std::vector<int8_t>(60);
  int64_t size[2] = {-1, -1}, count = -1, format = KILN_PIXELS_BGR, exact = 0;
  int32_t status = 0;
  Hook hook;
};

TEST_F(ImageHook, AContextWithoutItIsAStatus) {
  run(nullptr);
  EXPECT_EQ(status, KILN_STATUS_MISSING_IMAGE_DECODER);
  run(&context);
  EXPECT_EQ(status, KILN_STATUS_MISSING_IMAGE_DECODER);
  context.decode_image = callHook;
  context.decode_user = &hook;
  context.struct_size = uint32_t(offsetof(kiln_context, decode_image));
  run(&context);
  EXPECT_EQ(status, KILN_STATUS_MISSING_IMAGE_DECODER);
  EXPECT_EQ(hook.calls, 0);
  EXPECT_TRUE(size[0] == 0 && size[1] == 0 && count == 0);
}

TEST_F(ImageHook, GetsTheFileAndTheRoom) {
  context.decode_image = callHook;
  context.decode_user = &hook;
  hook.decode = [&](kiln_image &image) {
    EXPECT_EQ(static_cast<const void *>(image.bytes), file.data());
    EXPECT_EQ(static_cast<void *>(image.pixels), pixels.data());
    EXPECT_EQ(image.size, 3);
    EXPECT_EQ(image.max_height, 4);
    EXPECT_EQ(image.max_width, 5);
    EXPECT_EQ(image.format, format);
    EXPECT_EQ(image.channels, format == KILN_PIXELS_GRAYSCALE ? 1 : 3);
    image.height = 2;
    image.width = 5;
    return KILN_STATUS_OK;
  };
  for (format = KILN_PIXELS_RGB; format <= KILN_PIXELS_GRAYSCALE; ++format) {
    run(&context);
    EXPECT_EQ(status, KILN_STATUS_OK);
    EXPECT_TRUE(size[0] == 2 && size[1] == 5);
    EXPECT_EQ(count, format == KILN_PIXELS_GRAYSCALE ? 10 : 30);
  }
  EXPECT_EQ(hook.calls, 3);
}

TEST_F(ImageHook, WhatItSaysIsChecked) {
  context.decode_image = callHook;
  context.decode_user = &hook;
  struct {
    int64_t height, width;
    kiln_status answer, status;
  } cases[] = {{5, 5, KILN_STATUS_OK, KILN_STATUS_IMAGE_TOO_LARGE},      {4, 6, KILN_STATUS_OK, KILN_STATUS_IMAGE_TOO_LARGE},
               {0, 5, KILN_STATUS_OK, KILN_STATUS_IMAGE_UNREADABLE},     {4, 0, KILN_STATUS_OK, KILN_STATUS_IMAGE_UNREADABLE},
               {-1, 5, KILN_STATUS_OK, KILN_STATUS_IMAGE_UNREADABLE},    {4, INT64_MAX, KILN_STATUS_OK, KILN_STATUS_IMAGE_TOO_LARGE},
               {4, 5, KILN_STATUS_OUT_OF_MEMORY, KILN_STATUS_OUT_OF_MEMORY}, {4, 5, KILN_STATUS_OK, KILN_STATUS_OK}};
  for (const auto &c : cases) {
    hook.decode = [&](kiln_image &image) {
      image.height = c.height;
      image.width = c.width;
      return c.answer;
    };
    run(&context);
    EXPECT_EQ(status, c.status) << c.height << " x " << c.width;
    EXPECT_EQ(count, c.status == KILN_STATUS_OK ? 60 : 0);
  }
}

TEST_F(ImageHook, APictureMayHaveToFillTheRoom) {
  context.decode_image = callHook;
  context.decode_user = &hook;
  for (exact = 0; exact < 2; ++exact)
    for (int64_t height : {3, 4})
      for (int64_t width : {4, 5}) {
        hook.decode = [&](kiln_image &image) {
          image.height = height;
          image.width = width;
          return KILN_STATUS_OK;
        };
        run(&context);
        EXPECT_EQ(status, exact && height * width < 20 ? KILN_STATUS_DIMENSION_MISMATCH : KILN_STATUS_OK) << height << " x " << width;
      }
}

} // namespace
