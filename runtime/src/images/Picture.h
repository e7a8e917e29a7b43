// What the decoders of all formats share: the bytes of a file, and the pixels that it becomes.
//
// Libraries leave their functions with longjmp, over frames of decoders: nothing here has a destructor, and decoders keep what is to be freed in a
// struct of the caller of setjmp.
#ifndef KILN_IMAGES_PICTURE_H
#define KILN_IMAGES_PICTURE_H

#include "kiln/images.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

namespace kiln_images_lib {

// The upper bound of memory that a decoder may ask for besides what it needs for each pixel.
constexpr size_t besidesPixels = size_t(64) << 20;

inline uint8_t clip(int value) { return uint8_t(value < 0 ? 0 : value > 255 ? 255 : value); }

// The file and the picture that it becomes. Rows are given in any order, from (0, 0) at the top left.
class Picture {
public:
  Picture(kiln_image &image, kiln_images *options, const char *format) : image(image), options(options), format(format) {}

  const uint8_t *bytes() const { return image.bytes; }
  size_t size() const { return size_t(image.size); }
  int64_t width() const { return image.width; }
  int64_t height() const { return image.height; }

  // Sets the size of a picture that is gray or not. False when the size is all that is wanted, and, with the status set, when it is nothing or beyond the
  // limits: the decoder must end then.
  bool begin(int64_t width, int64_t height, bool isGray = false);
  // `width` pixels of row y, `step` bytes apart.
  void rgb(int64_t y, const uint8_t *row, int step = 3) const;
  void gray(int64_t y, const uint8_t *row, int step = 1) const;
  void put(int64_t x, int64_t y, uint8_t r, uint8_t g, uint8_t b) const;

  // malloc, with the status set on failure; sizes that overflow fail, too.
  void *allocate(int64_t count, int64_t each);
  // Always false. The first message stays; texts of libraries may hold any bytes.
  bool fail(const char *text) { return fail(KILN_STATUS_IMAGE_UNREADABLE, text); }
  bool fail(kiln_status status, const char *text);
  kiln_status status() const { return result; }

  // Nothing but the size is read.
  void onlyMeasure() { measures = true; }
  bool isMeasured() const { return measured; }
  int64_t channels() const { return isGray ? 1 : 3; }

private:
  kiln_image &image;
  kiln_images *options;
  const char *format;
  kiln_status result = KILN_STATUS_OK;
  bool measures = false, measured = false, isGray = false;
};

// Ink (C, M, Y and K, 255: all of it) on white paper.
void inkToRgb(const uint8_t *cmyk, uint8_t *rgb);

// A place in the file; reading behind its end gives zeros and sets `ended`.
struct Cursor {
  const uint8_t *data;
  size_t size;
  size_t at = 0;
  bool ended = false;

  explicit Cursor(const Picture &picture) : data(picture.bytes()), size(picture.size()) {}
  int next() {
    if (at >= size) {
      ended = true;
      return 0;
    }
    return data[at++];
  }
  uint32_t le16() {
    uint32_t low = uint32_t(next());
    return low | uint32_t(next()) << 8;
  }
  uint32_t le32() {
    uint32_t low = le16();
    return low | le16() << 16;
  }
  size_t left() const { return at < size ? size - at : 0; }
};

// One function a format: reads the whole file into the picture, false after fail().
bool readBmp(Picture &picture);
bool readJpeg(Picture &picture);
bool readJpeg2000(Picture &picture);
bool readPng(Picture &picture);
bool readPnm(Picture &picture);
bool readTiff(Picture &picture);
bool readWebp(Picture &picture);

} // namespace kiln_images_lib

#endif // KILN_IMAGES_PICTURE_H
