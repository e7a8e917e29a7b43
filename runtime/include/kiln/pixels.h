/* Pictures in memory become the inputs of models: parts of a picture, other sizes by the filters that people know, letterboxes, and numbers in any
 * order and type. Part of libkiln_images.a, but it needs none of the decoders: pixels may come from a camera. C ABI, C11 and C++17.
 *
 *     kiln_pixels picture = {pixels, height, width, 3, width * 3};
 *     kiln_preprocess how = KILN_PREPROCESS_INIT;          (or NET_X_PREPROCESS of a model's header)
 *     how.height = how.width = 224;
 *     how.fit = KILN_FIT_STRETCH;
 *     kiln_pixels_tensor(&picture, &how, tensor, kiln_preprocess_size(&picture, &how), scratch, kiln_preprocess_scratch_size(&picture, &how));
 *
 * The caller owns all memory. No function allocates, locks, prints or keeps a pointer, and any number of threads may call them at once. Results are the
 * same on every CPU. A NULL argument gives NULL_POINTER, unless its comment allows it. */
#ifndef KILN_PIXELS_H
#define KILN_PIXELS_H

#include "kiln/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pixels of 8 bits per channel: a picture, or a part of one. Sizes are at most 2^30. */
typedef struct kiln_pixels {
  uint8_t *data;    /* the pixel at the top left; a function that takes a const kiln_pixels as its source only reads them */
  int64_t height;   /* at least 1 */
  int64_t width;    /* at least 1 */
  int64_t channels; /* 1: gray, 2: gray and alpha, 3: colours, 4: colours and alpha; adjacent in memory */
  int64_t stride;   /* bytes from one row to the next, at least width * channels */
} kiln_pixels;

/* How a picture gets another size. The first six are those of Pillow's Image.resize, to the bit (of pictures with alpha, every channel by itself): when
 * they shrink a picture, every pixel of it counts. The last two read the 2 x 2 or 4 x 4 nearest pixels at any size, as OpenCV's INTER_LINEAR and
 * INTER_CUBIC, but for rounding: rows are resized first, and rounded to 8 bits. */
typedef enum kiln_filter {
  KILN_FILTER_NEAREST = 0,
  KILN_FILTER_BILINEAR = 1,
  KILN_FILTER_BICUBIC = 2, /* a = -0.5 */
  KILN_FILTER_BOX = 3,     /* the mean of the area */
  KILN_FILTER_HAMMING = 4,
  KILN_FILTER_LANCZOS = 5,
  KILN_FILTER_LINEAR = 6,
  KILN_FILTER_CUBIC = 7 /* a = -0.75 */
  KILN_WIDEST(KILN_FILTER_WIDEST)
} kiln_filter;

/* How a picture fits into a tensor of another size. */
typedef enum kiln_fit {
  KILN_FIT_NONE = 0,      /* it must have the tensor's size */
  KILN_FIT_STRETCH = 1,   /* resized to it */
  KILN_FIT_LETTERBOX = 2, /* resized with its proportions kept until it just fits; the rest is `fill` */
  KILN_FIT_COVER = 3      /* resized with its proportions kept until it covers the tensor, or until its shorter side is `shorter`; the middle is cut out */
  KILN_WIDEST(KILN_FIT_WIDEST)
} kiln_fit;

/* What becomes of a picture: element = (pixel * scale - mean[c]) / deviation[c], where c counts the channels in the tensor's order. Integers are rounded
 * to the nearest and saturate. A gray picture fills all colours, colours become gray as in Pillow, and alpha is dropped unless the tensor has it. */
typedef struct kiln_preprocess {
  uint32_t abi_version; /* KILN_ABI_VERSION */
  uint32_t struct_size; /* sizeof(kiln_preprocess) when it was filled in */
  int64_t height;       /* of the tensor; 0: as the picture */
  int64_t width;
  int64_t shorter;       /* with KILN_FIT_COVER, the shorter side after resizing, before the middle is cut out; 0: just large enough */
  int32_t channels;      /* of the tensor: 1 to 4; 0: as the picture */
  int32_t element_type;  /* kiln_element_type: a float or an integer of a whole number of bytes */
  int32_t fit;           /* kiln_fit */
  int32_t filter;        /* kiln_filter */
  int32_t channels_last; /* 0: nchw, otherwise nhwc */
  int32_t bgr;           /* 0: red first, otherwise blue first */
  int32_t at_corner;     /* with KILN_FIT_LETTERBOX, 0: in the middle, otherwise at the top left */
  uint8_t fill[4];       /* with KILN_FIT_LETTERBOX, the pixels around the picture: red, green, blue, alpha, or gray */
  double scale;
  double mean[4];
  double deviation[4]; /* not 0 */
} kiln_preprocess;

KILN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(kiln_pixels) == 40, "kiln_pixels changed");
KILN_STATIC_ASSERT(sizeof(kiln_preprocess) == 136, "kiln_preprocess changed");

/* Elements from 0 to 1 in the order nchw, of the picture's size, as `kiln run` makes them without options. */
#define KILN_PREPROCESS_INIT \
  {KILN_ABI_VERSION, (uint32_t)sizeof(kiln_preprocess), 0, 0, 0, 0, KILN_ELEMENT_F32, KILN_FIT_NONE, KILN_FILTER_BILINEAR, 0, 0, 0, {0, 0, 0, 0}, \
   1.0 / 255, {0, 0, 0, 0}, {1, 1, 1, 1}}

/* Where the picture is in the tensor, in pixels of the tensor. The place (y, x) in the tensor is at ((y - top) * picture height / height,
 * (x - left) * picture width / width) in the picture. */
typedef struct kiln_placement {
  int64_t height; /* of the whole picture after resizing */
  int64_t width;
  int64_t top; /* of the picture's first row; negative where the tensor has only its middle */
  int64_t left;
} kiln_placement;

/* Sets *part to a rectangle of the picture, whose pixels they share; nothing is copied. Fails with INVALID_ARGUMENT if the rectangle is empty or not all
 * within the picture. `part` may be `picture`. */
kiln_status kiln_pixels_crop(const kiln_pixels *picture, int64_t top, int64_t left, int64_t height, int64_t width, kiln_pixels *part);

/* Bytes of scratch memory for kiln_pixels_resize() by a filter (kiln_filter); 0 where it needs none. SIZE_MAX for arguments that it refuses. */
size_t kiln_pixels_resize_scratch_size(const kiln_pixels *from, int32_t filter, const kiln_pixels *to);

/* Writes the picture in the size of `to`, which has as many channels and does not overlap. `scratch` is aligned to 8 bytes and may be NULL where none is
 * needed. Fails with INVALID_ARGUMENT, DIMENSION_MISMATCH (of channels), SIZE_OVERFLOW or WORKSPACE_TOO_SMALL. */
kiln_status kiln_pixels_resize(const kiln_pixels *from, int32_t filter, const kiln_pixels *to, void *scratch, size_t scratch_size);

/* Where the picture comes to lie. Only the picture's sizes are read. Fails like kiln_pixels_tensor(). */
kiln_status kiln_preprocess_place(const kiln_pixels *picture, const kiln_preprocess *how, kiln_placement *placement);

/* Bytes of the tensor, which has the shape [1, channels, height, width] or [1, height, width, channels], and of scratch memory. Only the picture's sizes are
 * read. SIZE_MAX for arguments that kiln_pixels_tensor() refuses. */
size_t kiln_preprocess_size(const kiln_pixels *picture, const kiln_preprocess *how);
size_t kiln_preprocess_scratch_size(const kiln_pixels *picture, const kiln_preprocess *how);

/* Makes the tensor of a picture. `tensor` has `size` bytes, which must be kiln_preprocess_size(), is aligned for its elements, and overlaps nothing.
 * `scratch` is aligned to 8 bytes; NULL is allowed where none is needed, which is so whenever the size stays as it is. Fails with ABI_MISMATCH,
 * INVALID_ARGUMENT (a value that no field allows, sizes below 1), DIMENSION_MISMATCH (another size of the picture with KILN_FIT_NONE, or of the tensor),
 * SIZE_OVERFLOW or WORKSPACE_TOO_SMALL. */
kiln_status kiln_pixels_tensor(const kiln_pixels *picture, const kiln_preprocess *how, void *tensor, size_t size, void *scratch, size_t scratch_size);

#ifdef __cplusplus
}
#endif

#endif /* KILN_PIXELS_H */
