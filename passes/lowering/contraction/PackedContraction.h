//===- PackedContraction.h - Products whose right side is packed by the kernel ===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_PACKEDCONTRACTION_H
#define KILN_PASSES_LOWERING_CONTRACTION_PACKEDCONTRACTION_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// Writes a contraction whose right side is computed: each task packs its columns before it multiplies.
LaunchInfo lowerPackedContraction(KernelBuilder &k, const Contraction &contraction);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_PACKEDCONTRACTION_H
