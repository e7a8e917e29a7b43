#include "Picture.h"
#include "Resize.h"

#include <stdio.h>

namespace kiln_images_lib {

bool Picture::fail(kiln_status status, const char *text) {
  if (result == KILN_STATUS_OK && options) {
    snprintf(options->message, sizeof(options->message), "%s: %s", format, text);
    for (char *c = options->message; *c; ++c)
      if (*c < ' ' || *c > '~')
        *c = '?';
  }
  if (result == KILN_STATUS_OK)
    result = status;
  return false;
}

bool Picture::begin(int64_t width, int64_t height, bool gray) {
  const int64_t most = options ? options->max_pixels : int64_t(KILN_IMAGES_MAX_PIXELS);
  if (width < 1 || height < 1)
    return fail("a picture without pixels");
  char text[128];
  if (width > image.max_width || height > image.max_height) {
    snprintf(text, sizeof(text), "the picture is %lld x %lld, but there is room for %lld x %lld", (long long)width, (long long)height,
             (long long)image.max_width, (long long)image.max_height);
    return fail(KILN_STATUS_IMAGE_TOO_LARGE, text);
  }
  if (width > most / height) {
    snprintf(text, sizeof(text), "the picture is %lld x %lld, more than the limit of %lld pixels", (long long)width, (long long)height, (long long)most);
    return fail(KILN_STATUS_IMAGE_TOO_LARGE, text);
  }
  image.width = width;
  image.height = height;
  isGray = gray;
  measured = measures;
  return !measures;
}

void Picture::put(int64_t x, int64_t y, uint8_t r, uint8_t g, uint8_t b) const {
  if (image.format == KILN_PIXELS_GRAYSCALE) {
    image.pixels[y * image.width + x] = grayOf(r, g, b);
    return;
  }
  uint8_t *pixel = image.pixels + (y * image.width + x) * 3;
  const bool reversed = image.format == KILN_PIXELS_BGR;
  pixel[0] = reversed ? b : r;
  pixel[1] = g;
  pixel[2] = reversed ? r : b;
}

void Picture::rgb(int64_t y, const uint8_t *row, int step) const {
  for (int64_t x = 0; x < image.width; ++x, row += step)
    put(x, y, row[0], row[1], row[2]);
}

// The weights of grayOf() add up to 1, so gray stays as it is.
void Picture::gray(int64_t y, const uint8_t *row, int step) const {
  for (int64_t x = 0; x < image.width; ++x, row += step)
    put(x, y, *row, *row, *row);
}

void *Picture::allocate(int64_t count, int64_t each) {
  int64_t total;
  void *memory = count < 0 || __builtin_mul_overflow(count, each, &total) ? nullptr : malloc(total > 0 ? size_t(total) : 1);
  if (!memory)
    fail(KILN_STATUS_OUT_OF_MEMORY, "out of memory");
  return memory;
}

void inkToRgb(const uint8_t *cmyk, uint8_t *rgb) {
  const int paper = 255 - cmyk[3];
  for (int i = 0; i < 3; ++i) {
    const int product = cmyk[i] * paper + 128; // the quotient by 255, rounded
    rgb[i] = clip(paper - ((product + (product >> 8)) >> 8));
  }
}

} // namespace kiln_images_lib
