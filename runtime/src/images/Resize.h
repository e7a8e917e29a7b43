// What resizing and the making of tensors share.
#ifndef KILN_IMAGES_RESIZE_H
#define KILN_IMAGES_RESIZE_H

#include "kiln/pixels.h"

namespace kiln_images_lib {

constexpr int64_t largestSide = int64_t(1) << 30;

// Whether the fields allow reading and writing of pixels: every byte's distance from the first is below 2^62.
bool isPicture(const kiln_pixels &picture);

// Red, green and blue to gray, as Pillow does.
inline uint8_t grayOf(uint32_t r, uint32_t g, uint32_t b) { return uint8_t((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16); }

// The bytes of scratch memory for a resize between these sizes; -1 if they are too large.
int64_t measureResize(const kiln_pixels &from, int filter, int64_t height, int64_t width);

// Writes the picture in the size of `to`. All has been checked.
void resize(const kiln_pixels &from, int filter, const kiln_pixels &to, void *scratch);

} // namespace kiln_images_lib

#endif // KILN_IMAGES_RESIZE_H
