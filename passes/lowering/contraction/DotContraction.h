//===- DotContraction.h - Products along contiguous rows -------------------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_DOTCONTRACTION_H
#define KILN_PASSES_LOWERING_CONTRACTION_DOTCONTRACTION_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// Writes a contraction whose operands are both contiguous along the reduction, with one column or few rows.
LaunchInfo lowerDotContraction(KernelBuilder &k, const Contraction &contraction);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_DOTCONTRACTION_H
