//===- ConvTiled.h - Convolutions in tiles ---------------------------------===//
#ifndef KILN_PASSES_LOWERING_CONVOLUTION_CONVTILED_H
#define KILN_PASSES_LOWERING_CONVOLUTION_CONVTILED_H

#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// What keeps a convolution with constant weights from being computed in tiles: layout, padding or types; empty when nothing does. `step`: that of the
/// target for these types, where it multiplies several elements for each sum.
std::string findTilingFault(nn::GroupOp group, nn::ConvOp conv, kernel::StepAttr step = {});

/// What keeps a convolution from reading filters in place that a run computes and areOrderedFilters accepts; empty when nothing does.
std::string findOrderedFault(nn::ConvOp conv);

/// The elements of the input from a place of the window to the next one, if a constant says so.
std::optional<int64_t> elementsPerTap(nn::ConvOp conv);

/// Whether the input's channels lie side by side.
bool hasDenseChannels(nn::ConvOp conv);

/// The product of a group that conv_tiled can compute.
Contraction makeTiledConv(KernelBuilder &k, nn::ConvOp conv, kernel::StepAttr step = {});

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONVOLUTION_CONVTILED_H
