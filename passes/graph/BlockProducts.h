//===- BlockProducts.h - Products with weights that are dequantised by blocks ===//
#ifndef KILN_PASSES_GRAPH_BLOCKPRODUCTS_H
#define KILN_PASSES_GRAPH_BLOCKPRODUCTS_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace kiln {

/// Numbers of a matrix [K, N], or [N, K], that repeat along K.
struct PerBlock {
  /// How often each repeats.
  int64_t block;
  /// [blocks, N], whatever the order of the matrix.
  llvm::SmallVector<double> numbers;
};

/// Constant numbers that import spread over the blocks of dimension `axis` of a matrix, or that are the same along all of it; nullopt when a value is
/// something else. With a gather, they must be picked as it picks from its matrix; the numbers are then those that are picked from.
std::optional<PerBlock> readPerBlock(mlir::Value value, unsigned axis, nn::GatherOp like = {});

/// Whether a whole number is one of four bits.
bool fitsFourBits(bool isUnsigned, int64_t number);

/// matmul(x, dequantize(constant, scales of columns, or of blocks along the sum)) -> nn.block_quantized_matmul: the weights stay as small as they
/// are in the file.
llvm::LogicalResult raiseBlockMatmul(nn::MatmulOp op, mlir::PatternRewriter &rewriter);

/// The same for columns that a gather picks, matmul(x, dequantize(gather(constant))): the gather then picks packed columns.
llvm::LogicalResult raiseBlockShortlist(nn::MatmulOp op, mlir::PatternRewriter &rewriter);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_BLOCKPRODUCTS_H
