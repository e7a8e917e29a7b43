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

/// The slice of a scanned input that a step takes, without the axis.
Value sliceStep(Node &node, Value scanned, int64_t axis, AffineExpr step);

/// A Loop, or a Scan of so many steps, as an nn.loop.
mlir::LogicalResult rollLoop(Node &node, const onnx::GraphProto &graph);
mlir::LogicalResult rollScan(Node &node, const onnx::GraphProto &graph, const ScanAxes &scan, AffineExpr steps);

/// What an operator's own loop does in a step: from the number of the step and what is carried to what is carried next, and behind it a row of each result.
using LoopBody = llvm::function_ref<mlir::FailureOr<llvm::SmallVector<Value>>(AffineExpr step, llvm::ArrayRef<Value> carried)>;

/// An nn.loop of so many steps: what is carried after the last one, and the steps' rows along a new first axis, the first one last where `backwards` is 1. No
/// results where the node is not supported. With a `condition`, a bool that says whether there is a first step, the body gives one for the next step first.
mlir::LogicalResult buildLoop(Node &node, AffineExpr steps, llvm::ArrayRef<Value> carried, llvm::ArrayRef<int64_t> backwards, LoopBody body,
                              llvm::SmallVectorImpl<Value> &results, Value condition = {});

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_ROLLEDLOOPS_H
