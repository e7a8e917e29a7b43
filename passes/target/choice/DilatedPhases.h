//===- DilatedPhases.h - Dilated convolutions without their dilation -------===//
//
// A window with dilations [d, e] sees every d-th line and every e-th pixel only. So the phases of the picture, each of the d * e sets of such pixels, are
// images of their own with a convolution that has no dilation.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_DILATEDPHASES_H
#define KILN_PASSES_TARGET_CHOICE_DILATEDPHASES_H

#include "dialects/nn/NNContractionOps.h"

namespace kiln {

/// The convolution of the phases of a channels_last convolution with two spatial dimensions, strides of 1, no pads and dilations.
struct DilatedPhases {
  explicit DilatedPhases(nn::ConvOp conv);

  mlir::RankedTensorType input, result;

  /// Replaces the convolution, and returns that of the phases.
  nn::ConvOp split(nn::ConvOp conv) const;
};

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_DILATEDPHASES_H
