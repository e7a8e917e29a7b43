//===- RaiseOpset.h - A model in a later operator set -----------------------===//
#ifndef KILN_COMPILER_QUANTIZE_RAISEOPSET_H
#define KILN_COMPILER_QUANTIZE_RAISEOPSET_H

#include "compiler/quantize/ModelGraph.h"

namespace kiln::quantize {

/// Expresses the model in the default operator set of version `least`, if it uses an older one. `ranks` are those that are known of values; a Softmax of a
/// value of unknown rank becomes several nodes. Fails with the node whose meaning cannot be kept.
llvm::Error raiseOpset(ModelGraph &model, int64_t least, const llvm::StringMap<int64_t> &ranks);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_RAISEOPSET_H
