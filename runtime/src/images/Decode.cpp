// The hook and the functions on files: they find the format by the first bytes of the file.
#include "Picture.h"
#include "Resize.h"

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

// With `channels`, only the size is read.
kiln_status decode(kiln_images *options, kiln_image &image, int64_t *channels = nullptr) {
  const Row *row = image.bytes && image.size > 0 ? findRow(image) : nullptr;
  Picture picture(image, options, row ? row->format : "picture");
  if (channels)
    picture.onlyMeasure();
  if (!row)
    picture.fail("in none of the known formats: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP");
  else if (!row->read)
    picture.fail("this libkiln_images was built without the format's library");
  else if (!row->read(picture) && !picture.isMeasured())
    picture.fail("cannot be read");
  if (channels && picture.status() == KILN_STATUS_OK)
    *channels = picture.channels();
  return picture.status();
}

bool isKnown(const kiln_images *options) {
  return !options || (options->abi_version == KILN_ABI_VERSION && options->struct_size >= sizeof(kiln_images));
}

kiln_status readTensor(kiln_images *images, const uint8_t *file, int64_t bytes, const kiln_preprocess &how, const kiln_pixels &picture, void *tensor,
                       size_t size) {
  kiln_status status = kiln_images_read(images, file, bytes, &picture);
  const size_t scratchSize = kiln_preprocess_scratch_size(&picture, &how);
  void *scratch = status == KILN_STATUS_OK && scratchSize && scratchSize != SIZE_MAX ? malloc(scratchSize) : nullptr;
  if (status == KILN_STATUS_OK)
    status = kiln_pixels_tensor(&picture, &how, tensor, size, scratch, scratch ? scratchSize : 0);
  // All else has been checked: the pointer that is missing is that of the memory.
  if (status == KILN_STATUS_NULL_POINTER && tensor && scratchSize && !scratch)
    status = KILN_STATUS_OUT_OF_MEMORY;
  free(scratch);
  return status;
}

} // namespace

kiln_status kiln_images_decode(void *user, kiln_image *image) {
  kiln_images *options = static_cast<kiln_images *>(user);
  if (!isKnown(options))
    return KILN_STATUS_ABI_MISMATCH;
  if (!image || !image->pixels)
    return KILN_STATUS_NULL_POINTER;
  if (options)
    options->message[0] = 0;
  return decode(options, *image);
}

kiln_status kiln_images_size(kiln_images *images, const uint8_t *file, int64_t bytes, int64_t *height, int64_t *width, int64_t *channels) {
  if (!height || !width || !channels)
    return KILN_STATUS_NULL_POINTER;
  *height = *width = *channels = 0;
  if (!isKnown(images))
    return KILN_STATUS_ABI_MISMATCH;
  if (images)
    images->message[0] = 0;
  kiln_image image = {file, nullptr, bytes, INT64_MAX, INT64_MAX, 0, 0, KILN_PIXELS_RGB, 3};
  const kiln_status status = decode(images, image, channels);
  if (status != KILN_STATUS_OK)
    return status;
  *height = image.height;
  *width = image.width;
  return KILN_STATUS_OK;
}

kiln_status kiln_images_read(kiln_images *images, const uint8_t *file, int64_t bytes, const kiln_pixels *pixels) {
  if (!pixels || !pixels->data)
    return KILN_STATUS_NULL_POINTER;
  if (!isPicture(*pixels) || (pixels->channels != 1 && pixels->channels != 3) || pixels->stride != pixels->width * pixels->channels)
    return KILN_STATUS_INVALID_ARGUMENT;
  kiln_image image = {file, pixels->data, bytes, pixels->height, pixels->width, 0, 0, pixels->channels == 1 ? KILN_PIXELS_GRAYSCALE : KILN_PIXELS_RGB,
                      int32_t(pixels->channels)};
  const kiln_status status = kiln_images_decode(images, &image);
  if (status == KILN_STATUS_OK && (image.height != pixels->height || image.width != pixels->width))
    return KILN_STATUS_DIMENSION_MISMATCH;
  // There is room for exactly one size.
  int64_t height, width, channels;
  if (status == KILN_STATUS_IMAGE_TOO_LARGE && kiln_images_size(images, file, bytes, &height, &width, &channels) == KILN_STATUS_OK)
    return KILN_STATUS_DIMENSION_MISMATCH;
  return status;
}

kiln_status kiln_images_tensor(kiln_images *images, const uint8_t *file, int64_t bytes, const kiln_preprocess *how, void *tensor, size_t size) {
  if (!how || !tensor)
    return KILN_STATUS_NULL_POINTER;
  kiln_pixels picture = {};
  kiln_status status = kiln_images_size(images, file, bytes, &picture.height, &picture.width, &picture.channels);
  if (status != KILN_STATUS_OK)
    return status;
  picture.stride = picture.width * picture.channels;
  // Before the pixels, which take longer: whether the picture fits.
  kiln_placement placement;
  status = kiln_preprocess_place(&picture, how, &placement);
  if (status != KILN_STATUS_OK)
    return status;
  if (kiln_preprocess_size(&picture, how) != size)
    return KILN_STATUS_DIMENSION_MISMATCH;
  picture.data = static_cast<uint8_t *>(malloc(size_t(picture.height * picture.stride)));
  if (!picture.data)
    return KILN_STATUS_OUT_OF_MEMORY;
  status = readTensor(images, file, bytes, *how, picture, tensor, size);
  free(picture.data);
  return status;
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
