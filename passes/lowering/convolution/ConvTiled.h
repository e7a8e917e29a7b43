//===- ConvTiled.h - Convolutions in tiles ---------------------------------===//
#ifndef KILN_PASSES_LOWERING_CONVOLUTION_CONVTILED_H
#define KILN_PASSES_LOWERING_CONVOLUTION_CONVTILED_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// The product of a group that conv_tiled can compute.
Contraction makeTiledConv(KernelBuilder &k, nn::ConvOp conv, kernel::StepAttr step = {});

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONVOLUTION_CONVTILED_H
