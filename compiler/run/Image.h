//===- Image.h - Pictures as input tensors ---------------------------------===//
#ifndef KILN_COMPILER_RUN_IMAGE_H
#define KILN_COMPILER_RUN_IMAGE_H

#include "compiler/run/Tensor.h"
#include <string>
#include <vector>

namespace kiln {

/// 8-bit pixels, rows from top to bottom, channels interleaved: gray, gray+alpha, RGB or RGBA.
struct Image {
  int64_t width = 0, height = 0, channels = 0;
  std::vector<uint8_t> pixels;
};

/// The conversion of pixels to numbers: value = (pixel * scale - mean[channel]) / std[channel].
struct ImageOptions {
  /// nchw, nhwc, or with `bgr-` in front for the other order of colours.
  std::string layout = "nchw";
  double scale = 1.0 / 255;
  std::vector<double> mean, std; // one value for all channels, or one per channel; empty: 0 and 1
};

/// The limit of pixels for an input whose height and width are not fixed. It is that of libkiln_images.
inline constexpr int64_t mostPixels = int64_t(1) << 26;

/// Reads the size of a PNG (8 bits per channel), PGM (P5) or PPM (P6) file; no pixels.
llvm::Expected<Image> readImageSize(llvm::StringRef bytes);

/// Reads the whole file. A picture of more than `most` pixels, or of more than the file can hold, is refused before memory is allocated.
llvm::Expected<Image> readImage(llvm::StringRef bytes, int64_t most = mostPixels);

/// Whether the bytes begin like a file that readImage() reads.
bool isImage(llvm::StringRef bytes);

/// Fails if makeTensor() would fail for a picture of this size.
llvm::Error checkImage(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options);

/// The tensor of `type` for an input with these dimensions; -1 stands for any size. Nothing is resized or cropped: sizes must match.
/// A gray picture fills all three colours of an RGB input; otherwise channels must match, too.
llvm::Expected<Tensor> makeTensor(const Image &image, ElementType type, llvm::ArrayRef<int64_t> dims, const ImageOptions &options);

} // namespace kiln

#endif // KILN_COMPILER_RUN_IMAGE_H
