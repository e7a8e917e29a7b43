//===- AlignDims.h - Shapes that have to be equal ----------------------------===//
#ifndef KILN_COMPILER_IMPORT_ALIGNDIMS_H
#define KILN_COMPILER_IMPORT_ALIGNDIMS_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// `x` in the shape that it has to have: an error that begins with `mismatch` when it cannot have it, checked at run time when that is not known.
Value alignDims(Node &node, Value x, llvm::ArrayRef<AffineExpr> wanted, const llvm::Twine &mismatch);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_ALIGNDIMS_H
