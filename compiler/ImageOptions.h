//===- ImageOptions.h - What becomes of a picture -----------------===//
#ifndef KILN_COMPILER_IMAGEOPTIONS_H
#define KILN_COMPILER_IMAGEOPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

/// How a picture becomes an input: value = (pixel * scale - mean[channel]) / std[channel].
struct ImageOptions {
  /// nchw, nhwc, or with `bgr-` in front for the other order of colours.
  std::string layout = "nchw";
  double scale = 1.0 / 255;
  std::vector<double> mean, std; // one value for all channels, or one per channel; empty: 0 and 1
  /// none, stretch, letterbox, corner, cover or cover:SHORTER.
  std::string fit = "none";
  /// nearest, bilinear, bicubic, box, hamming, lanczos, linear or cubic.
  std::string filter = "bilinear";
  /// The pixels around a letterbox: one value, or one per channel; empty: 0.
  std::vector<double> fill;
};

} // namespace kiln

#endif // KILN_COMPILER_IMAGEOPTIONS_H
