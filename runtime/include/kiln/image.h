// Pictures (ONNX ImageDecoder): the caller's hook decodes, the kernel checks what it says.
#ifndef KILN_IMAGE_H
#define KILN_IMAGE_H

#include "kiln/entry.h"

namespace kiln {

// The status of a hook's answer: it must have kept to the room for the pixels, and fill it when the size is exact.
static inline kiln_status image_check(kiln_status status, const kiln_image &image, bool exact) {
  if (status != KILN_STATUS_OK)
    return status;
  if (image.height > image.max_height || image.width > image.max_width)
    return KILN_STATUS_IMAGE_TOO_LARGE;
  if (image.height < 1 || image.width < 1)
    return KILN_STATUS_IMAGE_UNREADABLE;
  const bool fills = image.height == image.max_height && image.width == image.max_width;
  return exact && !fills ? KILN_STATUS_DIMENSION_MISMATCH : KILN_STATUS_OK;
}

// size: height and width; count: bytes of all pixels. A fault leaves a picture without pixels, and the caller ends the run.
template <typename Byte>
static inline void image_decode(const Byte *file, Byte *pixels, int64_t *size, int64_t *count, int32_t *status, const int8_t *caller,
                                int64_t bytes, int64_t format, int64_t max_height, int64_t max_width, int64_t exact) {
  const kiln_context *const context = reinterpret_cast<const kiln_context *>(caller);
  kiln_image image = {};
  image.bytes = reinterpret_cast<const uint8_t *>(file);
  image.pixels = reinterpret_cast<uint8_t *>(pixels);
  image.size = bytes;
  image.max_height = max_height;
  image.max_width = max_width;
  image.format = int32_t(format);
  image.channels = format == KILN_PIXELS_GRAYSCALE ? 1 : 3;
  kiln_status result = KILN_STATUS_MISSING_IMAGE_DECODER;
  if (context && KILN_HAS_FIELD(kiln_context, context, decode_user) && context->decode_image)
    result = image_check(context->decode_image(context->decode_user, &image), image, exact != 0);
  report(status, result);
  size[0] = result == KILN_STATUS_OK ? image.height : 0;
  size[1] = result == KILN_STATUS_OK ? image.width : 0;
  count[0] = size[0] * size[1] * image.channels;
}

} // namespace kiln

#endif // KILN_IMAGE_H
