#include "kiln/images.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// The sources of the library, with the functions that may refuse wrapped: each call of one fails in turn, and nothing may leak or be used.

namespace {

int untilFailure = -1;
bool refuse() { return untilFailure >= 0 && untilFailure-- == 0; }

std::vector<uint8_t> readFile(const std::string &name) {
  std::ifstream file(KILN_TEST_IMAGES "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

} // namespace

extern "C" {
#define KILN_REFUSABLE(type, name, parameters, arguments)                                                                                      \
  type __real_##name parameters;                                                                                                               \
  type __wrap_##name parameters { return refuse() ? nullptr : __real_##name arguments; }

// What the decoders ask for themselves; the libraries' own calls are not seen.
KILN_REFUSABLE(void *, malloc, (size_t size), (size))
KILN_REFUSABLE(void *, opj_stream_create, (size_t size, int input), (size, input))
KILN_REFUSABLE(void *, opj_create_decompress, (int format), (format))
KILN_REFUSABLE(void *, png_create_read_struct, (const char *version, void *user, void *error, void *warning), (version, user, error, warning))
KILN_REFUSABLE(void *, png_create_info_struct, (void *png), (png))
KILN_REFUSABLE(void *, TIFFOpenOptionsAlloc, (void), ())
KILN_REFUSABLE(void *, WebPAnimDecoderNewInternal, (const void *data, const void *options, int version), (data, options, version))
}

namespace {

/// How many calls may be refused until the file decodes.
int countRefusals(const std::string &name) {
  const std::vector<uint8_t> file = readFile(name);
  std::vector<uint8_t> pixels(3 * 40 * 40);
  for (int refusals = 0; refusals < 100; ++refusals) {
    kiln_images images = KILN_IMAGES_INIT;
    kiln_image image = {file.data(), pixels.data(), int64_t(file.size()), 40, 40, 0, 0, KILN_PIXELS_RGB, 3};
    untilFailure = refusals;
    const kiln_status status = kiln_images_decode(&images, &image);
    untilFailure = -1;
    if (status == KILN_STATUS_OK)
      return refusals;
    EXPECT_TRUE(status == KILN_STATUS_OUT_OF_MEMORY || std::string(images.message) == "WebP: malformed, or cut off") << name << ": " << images.message;
  }
  return -1;
}

// A header that promises more than the file can hold is no reason to ask for memory.
TEST(ImagesFailure, NoMemoryIsTakenForPixelsThatCannotBeThere) {
  if (std::string(kiln_images_formats()).find("PNG") == std::string::npos)
    return;
  // 4000 x 4000 pixels of 8 bits, gray, and an empty chunk of data.
  const unsigned char bytes[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 0x0F, 0xA0, 0, 0, 0x0F, 0xA0, 8, 0, 0, 0,
                                 0, 0xCB, 0x14, 0xBC, 0xDE, 0, 0, 0, 0, 'I', 'D', 'A', 'T', 0x35, 0xAF, 0x06, 0x1E};
  uint8_t pixel[1];
  kiln_images images = KILN_IMAGES_INIT;
  kiln_image image = {bytes, pixel, sizeof(bytes), 4096, 4096, 0, 0, KILN_PIXELS_GRAYSCALE, 1};
  untilFailure = 2; // libpng's own two structs are asked for first
  const kiln_status status = kiln_images_decode(&images, &image);
  untilFailure = -1;
  EXPECT_EQ(status, KILN_STATUS_IMAGE_UNREADABLE);
  EXPECT_STREQ(images.message, "PNG: the file is cut off");
}

TEST(ImagesFailure, MemoryThatIsRefusedIsAStatus) {
  const std::string known = kiln_images_formats();
  auto expect = [&](const char *format, const char *name, int refusals) {
    if (known.find(format) != std::string::npos)
      EXPECT_EQ(countRefusals(name), refusals) << name;
  };
  expect("JPEG", "420.jpg", 1);
  expect("JPEG2000", "colours.jp2", 2);
  expect("PNG", "colours.png", 4);
  expect("TIFF", "plain.tif", 2);
  expect("TIFF", "tile.tif", 3);
  expect("TIFF", "ycbcr.tif", 2);
  expect("WebP", "lossy.webp", 1);
}

} // namespace
