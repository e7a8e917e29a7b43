//===- CopiedValues.h - Values that must lie in buffers of their own -------===//
#ifndef KILN_PASSES_TARGET_GROUPS_COPIEDVALUES_H
#define KILN_PASSES_TARGET_GROUPS_COPIEDVALUES_H

#include "dialects/nn/NN.h"
#include "mlir/IR/Block.h"

namespace kiln {

/// Both branches of a choice write into its buffer, and what a loop carries begins in the buffer of its result.
void copyHeldValues(mlir::Block &block);

/// Results that a group does not compute (arguments, constants, one value returned twice) get a group that copies.
void copyReturnedValues(mlir::Block &block);

/// A step ends with copies to where the next one finds what it carries, when nobody looks at that any more, and to the places of the rows.
void copyStepResults(nn::LoopOp loop);

} // namespace kiln

#endif // KILN_PASSES_TARGET_GROUPS_COPIEDVALUES_H
