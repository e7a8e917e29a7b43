// PNG, by libpng: all depths and colour types, interlaced or not.
#include "Picture.h"

#include <setjmp.h>

#include <png.h>

namespace kiln_images_lib {

namespace {

struct Decoder {
  png_structp library;
  png_infop info;
  Picture *picture;
  size_t at;
  uint8_t *pixels;
  png_bytep *rows;
  jmp_buf end;
};

Decoder &decoderOf(png_structp library) { return *static_cast<Decoder *>(png_get_error_ptr(library)); }

[[noreturn]] void onError(png_structp library, png_const_charp text) {
  Decoder &decoder = decoderOf(library);
  decoder.picture->fail(text);
  longjmp(decoder.end, 1);
}
void onWarning(png_structp, png_const_charp) {}

void onRead(png_structp library, png_bytep to, size_t count) {
  Decoder &decoder = *static_cast<Decoder *>(png_get_io_ptr(library));
  if (count > decoder.picture->size() - decoder.at)
    png_error(library, "the file is cut off");
  memcpy(to, decoder.picture->bytes() + decoder.at, count);
  decoder.at += count;
}

// 8 bits per channel; 16-bit gray is kept.
void setTransforms(const Decoder &decoder, int type, int depth) {
  if (type == PNG_COLOR_TYPE_PALETTE)
    png_set_palette_to_rgb(decoder.library);
  else if (type == PNG_COLOR_TYPE_GRAY && depth < 8)
    png_set_expand_gray_1_2_4_to_8(decoder.library);
  else if (type != PNG_COLOR_TYPE_GRAY && depth == 16)
    png_set_strip_16(decoder.library);
  png_set_strip_alpha(decoder.library);
  png_set_interlace_handling(decoder.library);
  png_read_update_info(decoder.library, decoder.info);
}

void putRow(const Decoder &decoder, int64_t y) {
  uint8_t *row = decoder.rows[y];
  if (png_get_channels(decoder.library, decoder.info) == 3)
    return decoder.picture->rgb(y, row);
  const bool isWide = png_get_bit_depth(decoder.library, decoder.info) == 16;
  for (int64_t x = 0; isWide && x < decoder.picture->width(); ++x)
    row[x] = row[2 * x] ? 255 : row[2 * x + 1];
  decoder.picture->gray(y, row);
}

bool readRows(Decoder &decoder) {
  const int64_t height = decoder.picture->height(), stride = int64_t(png_get_rowbytes(decoder.library, decoder.info));
  decoder.pixels = static_cast<uint8_t *>(decoder.picture->allocate(height, stride));
  decoder.rows = static_cast<png_bytep *>(decoder.picture->allocate(height, sizeof(png_bytep)));
  if (!decoder.pixels || !decoder.rows)
    return false;
  for (int64_t y = 0; y < height; ++y)
    decoder.rows[y] = decoder.pixels + y * stride;
  png_read_image(decoder.library, decoder.rows);
  for (int64_t y = 0; y < height; ++y)
    putRow(decoder, y);
  return true;
}

// Whether the file can contain the pixels: a deflated byte expands to at most 1032 bytes. Checked before memory is allocated.
bool canHoldPixels(const Decoder &decoder) {
  const int64_t bits = int64_t(png_get_channels(decoder.library, decoder.info)) * png_get_bit_depth(decoder.library, decoder.info);
  return decoder.picture->width() * decoder.picture->height() <= int64_t(decoder.picture->size()) * 1032 * 8 / bits;
}

// Everything that may jump; no variable of this function is used after a jump.
bool decode(Decoder &decoder) {
  if (setjmp(decoder.end))
    return false;
  png_set_read_fn(decoder.library, &decoder, onRead);
  png_set_chunk_malloc_max(decoder.library, png_alloc_size_t(8) << 20);
  png_set_chunk_cache_max(decoder.library, 16);
  // Nothing of the other chunks is used.
  png_set_keep_unknown_chunks(decoder.library, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
  png_read_info(decoder.library, decoder.info);
  const bool isGray = !(png_get_color_type(decoder.library, decoder.info) & PNG_COLOR_MASK_COLOR);
  if (!decoder.picture->begin(png_get_image_width(decoder.library, decoder.info), png_get_image_height(decoder.library, decoder.info), isGray))
    return false;
  if (!canHoldPixels(decoder))
    return decoder.picture->fail("the file is cut off");
  setTransforms(decoder, png_get_color_type(decoder.library, decoder.info), png_get_bit_depth(decoder.library, decoder.info));
  return readRows(decoder);
}

} // namespace

bool readPng(Picture &picture) {
  Decoder decoder = {};
  decoder.picture = &picture;
  decoder.library = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, onError, onWarning);
  decoder.info = decoder.library ? png_create_info_struct(decoder.library) : nullptr;
  const bool done = decoder.info ? decode(decoder) : picture.fail(KILN_STATUS_OUT_OF_MEMORY, "out of memory");
  png_destroy_read_struct(&decoder.library, &decoder.info, nullptr);
  free(decoder.rows);
  free(decoder.pixels);
  return done;
}

} // namespace kiln_images_lib
