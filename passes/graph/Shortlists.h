//===- Shortlists.h - Gathers of dequantised constants -----------------------===//
#ifndef KILN_PASSES_GRAPH_SHORTLISTS_H
#define KILN_PASSES_GRAPH_SHORTLISTS_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// gather(dequantize(constant)) -> dequantize(gather(constant)): the constant stays as small as it is in the file, and only what is picked is dequantised.
llvm::LogicalResult gatherIntegers(nn::GatherOp op, mlir::PatternRewriter &rewriter);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_SHORTLISTS_H
