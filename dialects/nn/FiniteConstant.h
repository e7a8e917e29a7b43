//===- FiniteConstant.h - Whether zeros times a constant are zeros ---------===//
#ifndef KILN_DIALECTS_NN_FINITECONSTANT_H
#define KILN_DIALECTS_NN_FINITECONSTANT_H

#include "mlir/IR/BuiltinAttributes.h"

namespace kiln::nn {

/// Whether all numbers of a constant are known, and finite: zero times another one is NaN.
bool isFinite(mlir::ElementsAttr attr);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_FINITECONSTANT_H
