//===- BatchedScan.h - Scan of opset 8 ----------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_BATCHEDSCAN_H
#define KILN_COMPILER_IMPORT_BATCHEDSCAN_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// A Scan whose states and inputs have a batch in front, and perhaps a length for each of its entries.
mlir::LogicalResult unrollBatchedScan(Node &node, const onnx::GraphProto &graph);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_BATCHEDSCAN_H
