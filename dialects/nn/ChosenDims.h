//===- ChosenDims.h - Sizes that are one of two ----------------------------===//
#ifndef KILN_DIALECTS_NN_CHOSENDIMS_H
#define KILN_DIALECTS_NN_CHOSENDIMS_H

#include "dialects/nn/Dims.h"

namespace kiln::nn {

/// `then` where `condition`, which is 0 or 1, is 1: `otherwise + (then - otherwise) * condition`.
mlir::AffineExpr choose(mlir::AffineExpr condition, mlir::AffineExpr then, mlir::AffineExpr otherwise);

/// The number that a product has where its other factor, a condition, is 1. Conditions are that a number is not positive (1 - sign) or that it is 1.
mlir::AffineExpr matchChosen(mlir::AffineExpr expr);

/// The size that `from` becomes in `to` where it is 1, if `to` is getBroadcastSize of it and that size; else null.
mlir::AffineExpr matchBroadcastOf(mlir::AffineExpr to, mlir::AffineExpr from);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_CHOSENDIMS_H
