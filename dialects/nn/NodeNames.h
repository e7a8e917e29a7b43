//===- NodeNames.h - The ONNX nodes that operations come from --------------===//
#ifndef KILN_DIALECTS_NN_NODENAMES_H
#define KILN_DIALECTS_NN_NODENAMES_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SetVector.h"

namespace kiln::nn {

/// The ONNX nodes in a location, as `name(Operator)`, without repetition.
llvm::SetVector<llvm::StringRef> listNodes(mlir::Location location);

/// Whether the location has the ONNX node, which is given as `name` or `name(Operator)`.
bool isOfNode(mlir::Location location, llvm::StringRef node);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_NODENAMES_H
