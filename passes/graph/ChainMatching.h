//===- ChainMatching.h - What recognisers ask of chains of operations ------===//
#ifndef KILN_PASSES_GRAPH_CHAINMATCHING_H
#define KILN_PASSES_GRAPH_CHAINMATCHING_H

#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// Equal up to the digits that exporters write.
bool isClose(std::optional<double> have, double want);

/// The value before its broadcast, or the value itself.
mlir::Value skipBroadcast(mlir::Value value);

/// The other operand when `value` is a sum or product (OpTy) with one operand that is `number` everywhere.
template <typename OpTy> mlir::Value stripNumber(mlir::Value value, double number) {
  auto op = value.getDefiningOp<OpTy>();
  if (!op)
    return nullptr;
  if (isClose(nn::getSplatNumber(op.getY()), number))
    return op.getX();
  return isClose(nn::getSplatNumber(op.getX()), number) ? op.getX() == op.getY() ? nullptr : op.getY() : mlir::Value();
}

/// A tree of products as one constant factor and the other factors; products with other users are not opened.
struct Product {
  double number = 1.0;
  llvm::SmallVector<mlir::Value> factors;

  /// Whether the product is this number times these factors, in any order.
  bool isExactly(double wantedNumber, llvm::ArrayRef<mlir::Value> wanted) const;
};
Product flattenProduct(mlir::Value root);

/// The locations of all operations from the values `inputs` to `root`, fused.
mlir::Location chainLocation(mlir::Operation *root, mlir::ValueRange inputs);

void populateActivationPatterns(mlir::RewritePatternSet &patterns);
void populateAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateNormalizationPatterns(mlir::RewritePatternSet &patterns);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_CHAINMATCHING_H
