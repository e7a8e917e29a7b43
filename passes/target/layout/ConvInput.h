//===- ConvInput.h - The input of a convolution, as its kernel reads it ----===//
#ifndef KILN_PASSES_TARGET_LAYOUT_CONVINPUT_H
#define KILN_PASSES_TARGET_LAYOUT_CONVINPUT_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNContractionOps.h"

namespace kiln {

/// Gives a convolution this input behind the border of zeros that its pads say, and with so many channels of zeros behind the others, which channels_last
/// allows. It has no pads then.
void padInput(nn::ConvOp conv, mlir::Value input, int64_t channels);

/// How many elements of a padded channels_last input lie side by side for a line of the window, of which each place has `unit`.
int64_t countSideBySide(nn::ConvOp conv, int64_t unit);

} // namespace kiln

#endif // KILN_PASSES_TARGET_LAYOUT_CONVINPUT_H
