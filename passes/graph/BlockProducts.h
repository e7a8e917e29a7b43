//===- BlockProducts.h - Products with weights that are dequantised by blocks ===//
#ifndef KILN_PASSES_GRAPH_BLOCKPRODUCTS_H
#define KILN_PASSES_GRAPH_BLOCKPRODUCTS_H

#include "dialects/nn/NN.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// matmul(x, dequantize(constant, scales of blocks along the sum)) -> nn.block_quantized_matmul: the weights stay as small as they are in the file.
llvm::LogicalResult raiseBlockMatmul(nn::MatmulOp op, mlir::PatternRewriter &rewriter);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_BLOCKPRODUCTS_H
