//===- GatheredRows.h - Rows of quantised tables ----------------------------===//
#ifndef KILN_PASSES_GRAPH_GATHEREDROWS_H
#define KILN_PASSES_GRAPH_GATHEREDROWS_H

#include "dialects/nn/NN.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// gather(dequantize(constant table)) -> dequantize(gather(table)): the table stays as small as it is in the file.
llvm::LogicalResult raiseGather(nn::GatherOp op, mlir::PatternRewriter &rewriter);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_GATHEREDROWS_H
