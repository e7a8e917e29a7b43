//===- RowFusion.h - What is computed while rows are in the cache ----------===//
#ifndef KILN_PASSES_TARGET_GROUPS_ROWFUSION_H
#define KILN_PASSES_TARGET_GROUPS_ROWFUSION_H

#include "dialects/kernel/Kernel.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace kiln {

/// The softmax or log-softmax along the columns of this product (a matrix product or a convolution) that one kernel can compute with it, what lies
/// between them included; null when there is none, or when two kernels are faster. Looks at operations that are in no group yet.
mlir::Operation *findSoftmaxOfProduct(mlir::Operation *product, kernel::TargetAttr target);

/// Why a kernel of its own computes each product of the block, or the softmax behind it, in a few words, if that is what becomes of it.
llvm::DenseMap<mlir::Operation *, std::string> listSoftmaxRefusals(mlir::Block &block, kernel::TargetAttr target);

/// The arg_reduce or top_k along the rows of this softmax that one kernel can compute with it; null when there is none.
mlir::Operation *findScanOfSoftmax(mlir::Operation *softmax, kernel::TargetAttr target);

/// The product with constant weights that reads the rows which this gather picks where they lie; null when there is none, or when a copy of them is
/// faster.
mlir::Operation *findProductOfGather(mlir::Operation *gather, kernel::TargetAttr target);

/// The product whose columns this gather picks, behind element-wise operations and transposes; null when there is none.
mlir::Operation *findPickedProduct(nn::GatherOp gather);

/// The product with few rows whose right side this gather picks from a constant table, behind element-wise operations and transposes; null when there is
/// none, or when a copy of the columns is faster.
mlir::Operation *findProductOfColumns(mlir::Operation *gather, kernel::TargetAttr target);

/// Whether these are the maximum and the minimum of one tensor along the same dimensions, which one walk computes.
bool areExtremes(mlir::Operation *first, mlir::Operation *second);

} // namespace kiln

#endif // KILN_PASSES_TARGET_GROUPS_ROWFUSION_H
