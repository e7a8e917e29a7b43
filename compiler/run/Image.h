//===- Image.h - Pictures as input tensors ---------------------------------===//
#ifndef KILN_COMPILER_RUN_IMAGE_H
#define KILN_COMPILER_RUN_IMAGE_H

#include "compiler/ImageOptions.h"
#include "compiler/run/Tensor.h"
#include <string>
#include <vector>

namespace kiln {

/// 8-bit pixels, rows from top to bottom, channels interleaved: gray, gray+alpha, RGB or RGBA.
struct Image {
  int64_t width = 0, height = 0, channels = 0;
  std::vector<uint8_t> pixels;
};

/// The limit of pixels for an input whose height and width are not fixed. It is that of libkiln_images.
inline constexpr int64_t mostPixels = int64_t(1) << 26;

/// Reads the size of a PNG (8 bits per channel), PGM (P5) or PPM (P6) file, or of another that libkiln_images reads; no pixels.
llvm::Expected<Image> readImageSize(llvm::StringRef bytes);

/// Reads the whole file. A picture of more than `most` pixels, or of more than the file can hold, is refused before memory is allocated.
llvm::Expected<Image> readImage(llvm::StringRef bytes, int64_t most = mostPixels);

/// Whether the bytes begin like a PNG, PGM or PPM file.
bool isImage(llvm::StringRef bytes);

/// Whether the bytes begin like a picture of another format that libkiln_images may read.
bool isOtherImage(llvm::StringRef bytes);

/// Fails if makeTensor() would fail for a picture of this size.
llvm::Error checkImage(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options);

/// The tensor of `type` for an input with these dimensions; -1 stands for any size. It is made by kiln_pixels_tensor() of the runtime, as in programs.
llvm::Expected<Tensor> makeTensor(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options);

} // namespace kiln

#endif // KILN_COMPILER_RUN_IMAGE_H
