//===- MatmulTiled.h - Matrix products in tiles ----------------------------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_MATMULTILED_H
#define KILN_PASSES_LOWERING_CONTRACTION_MATMULTILED_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// The product of a group that gemm_tiled can compute.
Contraction makeTiledMatmul(KernelBuilder &k, nn::MatmulOp matmul);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_MATMULTILED_H
