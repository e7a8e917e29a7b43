//===- TileShape.h - The register tile of a matrix product ----------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_TILESHAPE_H
#define KILN_PASSES_TARGET_CHOICE_TILESHAPE_H

namespace kiln {

/// Accumulators held in registers: `rows` times `vectors` vectors of `lanes` elements.
struct TileShape {
  unsigned rows = 1;
  unsigned vectors = 1;
  unsigned lanes = 1;
  unsigned columns() const { return vectors * lanes; }
};

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_TILESHAPE_H
