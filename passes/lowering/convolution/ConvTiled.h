//===- ConvTiled.h - Convolutions in tiles ---------------------------------===//
#ifndef KILN_PASSES_LOWERING_CONVOLUTION_CONVTILED_H
#define KILN_PASSES_LOWERING_CONVOLUTION_CONVTILED_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// What keeps a convolution from being computed in tiles: layout, padding, types or computed weights; empty when nothing does. `areBytes`: a product of
/// unsigned by signed bytes, with sums of i32.
std::string findTilingFault(nn::GroupOp group, nn::ConvOp conv, bool areBytes = false);

/// The product of a group that conv_tiled can compute.
Contraction makeTiledConv(KernelBuilder &k, nn::ConvOp conv);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONVOLUTION_CONVTILED_H
