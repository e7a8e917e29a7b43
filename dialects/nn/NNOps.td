//===- NNOps.td - All operations of the nn dialect -------------------------===//
#ifndef KILN_NN_OPS
#define KILN_NN_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"
include "dialects/nn/NNStructureOps.td"
include "dialects/nn/NNElementwiseOps.td"
include "dialects/nn/NNDataMovementOps.td"
include "dialects/nn/NNDataSizedOps.td"
include "dialects/nn/NNReductionOps.td"
include "dialects/nn/NNContractionOps.td"
include "dialects/nn/NNQuantizedOps.td"
include "dialects/nn/NNAttentionOps.td"
include "dialects/nn/NNNormalizationOps.td"
include "dialects/nn/NNLossOps.td"
include "dialects/nn/NNRecurrentOps.td"
include "dialects/nn/NNRuntimeOps.td"

#endif // KILN_NN_OPS
