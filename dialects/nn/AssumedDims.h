//===- AssumedDims.h - Sizes that a version of a model assumes to be equal ----===//
#ifndef KILN_DIALECTS_NN_ASSUMEDDIMS_H
#define KILN_DIALECTS_NN_ASSUMEDDIMS_H

#include "llvm/ADT/StringRef.h"

namespace kiln::nn {

/// The module attribute with an affine map of the symbols. Its results are zero if sizes that broadcast with each other are equal, which the model
/// probably intends but does not state. They are also in `nn.constraints`: the module is a version for runs in which they hold.
inline constexpr llvm::StringLiteral assumedAttrName = "nn.assumed";

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_ASSUMEDDIMS_H
