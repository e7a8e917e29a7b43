//===- MatmulTiled.h - Matrix products in tiles ----------------------------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_MATMULTILED_H
#define KILN_PASSES_LOWERING_CONTRACTION_MATMULTILED_H

#include "dialects/nn/NNContractionOps.h"
#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// The product of a group that gemm_tiled can compute.
Contraction makeTiledMatmul(KernelBuilder &k, nn::MatmulOp matmul);

/// The tile where only run time knows how far apart rows lie. Each address then follows from that of the row before it, and compilers load the left sides of a
/// step ahead of its products: with more rows these and the sums do not fit 32 registers, and the product takes 1.2 to 1.6 times as long
/// (test/benchmark/kernels --library "matmul 1 512 512 512"). Ten rows by two vectors keep the multipliers as busy as more of them.
TileShape limitRows(TileShape tile);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_MATMULTILED_H
