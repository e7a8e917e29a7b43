//===- Maps.h - Vectors of what maps have -------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_MAPS_H
#define KILN_COMPILER_IMPORT_OPS_MAPS_H

#include "compiler/import/Node.h"

namespace kiln::import {

mlir::LogicalResult castMap(Node &node);
mlir::LogicalResult dictVectorizer(Node &node);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_MAPS_H
