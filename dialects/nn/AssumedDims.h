//===- AssumedDims.h - Sizes that a version of a model takes to be equal ----===//
#ifndef KILN_DIALECTS_NN_ASSUMEDDIMS_H
#define KILN_DIALECTS_NN_ASSUMEDDIMS_H

#include "llvm/ADT/StringRef.h"

namespace kiln::nn {

/// The module attribute with an affine map of the symbols that is zero where sizes that broadcast with each other are equal, which the model may have
/// meant but does not say. `nn.constraints` has its expressions, too; the module is a version for runs in which they hold.
inline constexpr llvm::StringLiteral assumedAttrName = "nn.assumed";

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_ASSUMEDDIMS_H
