// The hook: finds the format by the first bytes of the file.
#include "Picture.h"

using namespace kiln_images_lib;

namespace {

struct Row {
  const char *format;
  bool (*matches)(const uint8_t *bytes, size_t size);
  bool (*read)(Picture &picture); // null: not built in
  const char *library;
};

bool begins(const uint8_t *bytes, size_t size, const char *with, size_t length) { return size >= length && memcmp(bytes, with, length) == 0; }

bool isBmp(const uint8_t *bytes, size_t size) { return begins(bytes, size, "BM", 2); }
bool isJpeg(const uint8_t *bytes, size_t size) { return begins(bytes, size, "\xFF\xD8\xFF", 3); }
bool isJpeg2000(const uint8_t *bytes, size_t size) {
  return begins(bytes, size, "\xFF\x4F\xFF\x51", 4) || begins(bytes, size, "\0\0\0\x0CjP  \r\n\x87\n", 12);
}
bool isPng(const uint8_t *bytes, size_t size) { return begins(bytes, size, "\x89PNG\r\n\x1A\n", 8); }
bool isPnm(const uint8_t *bytes, size_t size) { return size >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6'; }
bool isTiff(const uint8_t *bytes, size_t size) {
  return begins(bytes, size, "II*\0", 4) || begins(bytes, size, "MM\0*", 4) || begins(bytes, size, "II+\0", 4) || begins(bytes, size, "MM\0+", 4);
}
bool isWebp(const uint8_t *bytes, size_t size) { return begins(bytes, size, "RIFF", 4) && size >= 12 && memcmp(bytes + 8, "WEBP", 4) == 0; }

#ifndef KILN_IMAGES_JPEG
constexpr auto readJpeg = nullptr;
#endif
#ifndef KILN_IMAGES_JPEG2000
constexpr auto readJpeg2000 = nullptr;
#endif
#ifndef KILN_IMAGES_PNG
constexpr auto readPng = nullptr;
#endif
#ifndef KILN_IMAGES_TIFF
constexpr auto readTiff = nullptr;
#endif
#ifndef KILN_IMAGES_WEBP
constexpr auto readWebp = nullptr;
#endif

const Row rows[] = {
    {"BMP", isBmp, kiln_images_lib::readBmp, ""},
    {"JPEG", isJpeg, readJpeg, "libjpeg"},
    {"JPEG 2000", isJpeg2000, readJpeg2000, "OpenJPEG"},
    {"PNG", isPng, readPng, "libpng"},
    {"PNM", isPnm, kiln_images_lib::readPnm, ""},
    {"TIFF", isTiff, readTiff, "libtiff"},
    {"WebP", isWebp, readWebp, "libwebp"},
};

const Row *findRow(const kiln_image &image) {
  for (const Row &row : rows)
    if (row.matches(image.bytes, size_t(image.size)))
      return &row;
  return nullptr;
}

kiln_status decode(kiln_images *options, kiln_image &image) {
  const Row *row = image.bytes && image.size > 0 ? findRow(image) : nullptr;
  Picture picture(image, options, row ? row->format : "picture");
  if (!row)
    picture.fail("in none of the known formats: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP");
  else if (!row->read)
    picture.fail("this libkiln_images was built without the format's library");
  else if (!row->read(picture))
    picture.fail("cannot be read");
  return picture.status();
}

} // namespace

kiln_status kiln_images_decode(void *user, kiln_image *image) {
  kiln_images *options = static_cast<kiln_images *>(user);
  if (options && (options->abi_version != KILN_ABI_VERSION || options->struct_size < sizeof(kiln_images)))
    return KILN_STATUS_ABI_MISMATCH;
  if (!image || !image->pixels)
    return KILN_STATUS_NULL_POINTER;
  if (options)
    options->message[0] = 0;
  return decode(options, *image);
}

const char *kiln_images_formats(void) {
  return "BMP"
#ifdef KILN_IMAGES_JPEG
         " JPEG"
#endif
#ifdef KILN_IMAGES_JPEG2000
         " JPEG2000"
#endif
#ifdef KILN_IMAGES_PNG
         " PNG"
#endif
         " PNM"
#ifdef KILN_IMAGES_TIFF
         " TIFF"
#endif
#ifdef KILN_IMAGES_WEBP
         " WebP"
#endif
      ;
}
