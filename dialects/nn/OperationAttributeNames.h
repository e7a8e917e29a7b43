//===- OperationAttributeNames.h - Attributes of operations ---------------===//
//
// Attributes by which one pass tells another something of an operation, and of the module where they hold for all of its operations.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_OPERATIONATTRIBUTENAMES_H
#define KILN_DIALECTS_NN_OPERATIONATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::nn {

/// The accuracy that the user asked for: `strict` or `fast`.
inline constexpr llvm::StringLiteral accuracyAttrName = "nn.accuracy";
/// A unit: the user asked that kernels take subnormal numbers for zero.
inline constexpr llvm::StringLiteral flushSubnormalsAttrName = "nn.flush_subnormals";
/// Of a composite that is kept whole, and of the parts of one that is not: the decision and the reason.
inline constexpr llvm::StringLiteral formAttrName = "nn.form";
/// Of the module: lines that say what is rounded on request. Of products, convolutions and weights: what became of them, or why nothing did (Rounding.h).
inline constexpr llvm::StringLiteral roundingAttrName = "nn.rounding";
/// The range of the results, for tests and inspection.
inline constexpr llvm::StringLiteral valueRangeAttrName = "nn.value_range";

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_OPERATIONATTRIBUTENAMES_H
