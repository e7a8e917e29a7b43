//===- BlockResults.h - Copies of what a block must own ---------------------===//
#ifndef KILN_PASSES_TARGET_GROUPS_BLOCKRESULTS_H
#define KILN_PASSES_TARGET_GROUPS_BLOCKRESULTS_H

#include "dialects/nn/NN.h"

namespace kiln {

/// Adds groups that copy, to a block whose operations are in groups: results of the block and what choices and loops hold are then each computed by a group
/// of their own, into a buffer of their own.
void copyBlockResults(mlir::Block &block);

} // namespace kiln

#endif // KILN_PASSES_TARGET_GROUPS_BLOCKRESULTS_H
