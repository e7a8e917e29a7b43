/* libkiln_images.a: pictures in files, for programs, and a decode_image hook for models with ONNX ImageDecoder. It reads BMP, PNM (P1 to P6), and,
 * where Kiln was built with their libraries, JPEG, JPEG 2000, PNG, TIFF and WebP. Pixels are those of Pillow's Image.open(file).convert("RGB" or "L").
 * C ABI, C11 and C++17.
 *
 *     kiln_preprocess how = NET_X_PREPROCESS;                    (of the model's header, or KILN_PREPROCESS_INIT)
 *     kiln_images_tensor(NULL, file, bytes, &how, x, sizeof x);  from the file to the model's input
 *
 *     kiln_images images = KILN_IMAGES_INIT;
 *     context.decode_image = kiln_images_decode;                 for ImageDecoder
 *     context.decode_user = &images;                             (or NULL: the limits of KILN_IMAGES_INIT, and no message)
 *
 * No function prints, aborts or keeps memory. Files may be hostile: the cost of a picture is bounded by its pixels, which are checked before
 * memory is allocated. Decoding takes at most about 48 bytes per pixel plus 64 MiB. */
#ifndef KILN_IMAGES_H
#define KILN_IMAGES_H

#include "kiln/abi.h"
#include "kiln/pixels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { KILN_IMAGES_MAX_PIXELS = 1 << 26, KILN_IMAGES_MESSAGE_SIZE = 192 };

/* Limits, and the last error. The caller owns it. A call writes `message`, so each thread that reads it needs its own struct. */
typedef struct kiln_images {
  uint32_t abi_version;                   /* KILN_ABI_VERSION */
  uint32_t struct_size;                   /* sizeof(kiln_images) when it was filled in */
  int64_t max_pixels;                     /* a larger picture ends with KILN_STATUS_IMAGE_TOO_LARGE, whatever the model's limits */
  char message[KILN_IMAGES_MESSAGE_SIZE]; /* why the last call failed, such as "PNG: not enough data"; empty if it did not */
} kiln_images;

/* The limits to start from, without a message. */
#define KILN_IMAGES_INIT {KILN_ABI_VERSION, (uint32_t)sizeof(kiln_images), KILN_IMAGES_MAX_PIXELS, ""}

KILN_STATIC_ASSERT(sizeof(kiln_images) == 16 + KILN_IMAGES_MESSAGE_SIZE, "kiln_images changed");

/* The hook (kiln_decode_image). `images` is a kiln_images or NULL. Only the first picture of a file is read. Alpha is dropped, colours become gray as
 * (19595 R + 38470 G + 7471 B + 32768) >> 16, channels of 16 bits their upper 8 and gray of 16 bits at most 255, as in Pillow; a TIFF file's orientation
 * is followed. Fails with IMAGE_UNREADABLE (broken, cut off, or of an unknown format or one that was not built in), IMAGE_TOO_LARGE, OUT_OF_MEMORY,
 * NULL_POINTER or ABI_MISMATCH; pixels are then unspecified. Any number of threads. */
kiln_status kiln_images_decode(void *images, kiln_image *image);

/* Reads the size of the file's first picture, and no pixels: *channels is 1 for gray and 3 for colours, and alpha does not count. All of it that is read is
 * the header, so the file may be cut off later or broken. Set the buffer for kiln_images_read() by it: it has height * width * channels bytes, which
 * max_pixels limits. Fails like kiln_images_decode(), and the sizes are then 0. Any number of threads. */
kiln_status kiln_images_size(kiln_images *images, const uint8_t *file, int64_t bytes, int64_t *height, int64_t *width, int64_t *channels);

/* Decodes the file's first picture into memory of the caller's: `pixels` has its height and width, one channel (gray) or three (red, green, blue), and no
 * gaps between rows, which is INVALID_ARGUMENT otherwise. A picture of another size ends with DIMENSION_MISMATCH. Fails like kiln_images_decode(), and the
 * pixels are then unspecified. `images` may be NULL. */
kiln_status kiln_images_read(kiln_images *images, const uint8_t *file, int64_t bytes, const kiln_pixels *pixels);

/* From the file's bytes to the tensor, as `kiln run --image-...` does it: decodes the picture and calls kiln_pixels_tensor(). `tensor` has `size` bytes,
 * which must be those of the tensor (DIMENSION_MISMATCH otherwise); a program that does not know them asks kiln_images_size() and kiln_preprocess_size().
 * It allocates memory for the pixels and frees it before it returns. Fails like kiln_images_read() and kiln_pixels_tensor(). `images` may be NULL. */
kiln_status kiln_images_tensor(kiln_images *images, const uint8_t *file, int64_t bytes, const kiln_preprocess *how, void *tensor, size_t size);

/* The formats that this library was built with, as "BMP JPEG PNG PNM". Constant, any thread. */
const char *kiln_images_formats(void);

#ifdef __cplusplus
}
#endif

#endif /* KILN_IMAGES_H */
