//===- SizeProposal.h - Sizes with which a model runs -------------------------===//
#ifndef KILN_TOOLS_KILN_SIZEPROPOSAL_H
#define KILN_TOOLS_KILN_SIZEPROPOSAL_H

#include "compiler/run/LoadedModel.h"

namespace kiln {

/// Sizes for all dynamic dimensions that `known` lacks, which meet everything that the model demands of them: one picture or sentence at a time, and sizes
/// of pictures and sentences that models are often meant for. Empty if none is found.
NamedSizes proposeSizes(const LoadedModel &model, const NamedSizes &known);

/// Whether these dimensions are all batches of the model, of one each.
bool areSingleBatches(const LoadedModel &model, const NamedSizes &sizes);

} // namespace kiln

#endif // KILN_TOOLS_KILN_SIZEPROPOSAL_H
