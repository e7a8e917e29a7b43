//===- ShapePrinter.h - Element counts and shapes, as C ---------------------===//
#ifndef KILN_COMPILER_EMIT_SHAPEPRINTER_H
#define KILN_COMPILER_EMIT_SHAPEPRINTER_H

#include "compiler/emit/Identifiers.h"
#include "compiler/emit/Signature.h"

namespace kiln {

/// For every tensor of dynamic size, NAME_TENSOR_count and NAME_TENSOR_shape as inline functions of the header. `names` has what the header calls so far.
std::string printShapeFunctions(const Signature &signature, NameScope &names);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SHAPEPRINTER_H
