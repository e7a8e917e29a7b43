//===- RolledLoops.h - Loops whose number of steps only run time knows -----===//
#ifndef KILN_COMPILER_IMPORT_ROLLEDLOOPS_H
#define KILN_COMPILER_IMPORT_ROLLEDLOOPS_H

#include "compiler/import/Node.h"

namespace kiln::onnx {
class GraphProto;
} // namespace kiln::onnx

namespace kiln::import {

/// What Scan's attributes say: axes and directions of the scanned inputs, and of the outputs.
struct ScanAxes {
  llvm::SmallVector<int64_t> axes, backwards, outAxes, outBackwards;
};

/// A Loop, or a Scan of so many steps, as an nn.loop.
mlir::LogicalResult rollLoop(Node &node, const onnx::GraphProto &graph);
mlir::LogicalResult rollScan(Node &node, const onnx::GraphProto &graph, const ScanAxes &scan, AffineExpr steps);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_ROLLEDLOOPS_H
