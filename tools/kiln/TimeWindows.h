//===- TimeWindows.h - How a model cuts time into windows -------------------===//
#ifndef KILN_TOOLS_KILN_TIMEWINDOWS_H
#define KILN_TOOLS_KILN_TIMEWINDOWS_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace kiln {

/// Of a convolution over one dimension that has strides of at most its window and no padding of its own, as the first layer of a network for sound: its stride,
/// and how many samples behind the last window that fits are in none.
struct TimeWindows {
  int64_t stride, unread;
};

/// The first one of an imported model whose sizes are static there.
std::optional<TimeWindows> findTimeWindows(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_TOOLS_KILN_TIMEWINDOWS_H
