//===- Gather.h - Gathering that other operators do, too ---------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_GATHER_H
#define KILN_COMPILER_IMPORT_OPS_GATHER_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// The slices of `x` along `axis` at int32 or int64 `indices`, whose dimensions take the axis' place. Known indices are checked here, others in each
/// run. Some value after an error.
Value buildGather(Node &node, Value x, Value indices, int64_t axis);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_GATHER_H
