//===- NNOps.td - All operations of the nn dialect -------------------------===//
//
// The documentation, the attributes and the enums are generated from here. The classes of operations are generated family by family (CMakeLists.txt).
//
//===----------------------------------------------------------------------===//
#ifndef KILN_NN_OPS
#define KILN_NN_OPS

include "dialects/nn/NNArithmeticOps.td"
include "dialects/nn/NNAttentionOps.td"
include "dialects/nn/NNBlockOps.td"
include "dialects/nn/NNCallOps.td"
include "dialects/nn/NNContractionOps.td"
include "dialects/nn/NNDataMovementOps.td"
include "dialects/nn/NNDataSizedOps.td"
include "dialects/nn/NNElementwiseOps.td"
include "dialects/nn/NNLossOps.td"
include "dialects/nn/NNNormalizationOps.td"
include "dialects/nn/NNQuantizedOps.td"
include "dialects/nn/NNRankOps.td"
include "dialects/nn/NNRecurrentOps.td"
include "dialects/nn/NNReductionOps.td"
include "dialects/nn/NNRuntimeOps.td"
include "dialects/nn/NNStructureOps.td"

#endif // KILN_NN_OPS
