//===- NodeNames.cpp - The ONNX nodes that operations come from ------------===//
#include "dialects/nn/NodeNames.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace kiln::nn {

llvm::SetVector<StringRef> listNodes(Location location) {
  llvm::SetVector<StringRef> nodes;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      nodes.insert(name.getName().getValue());
    return WalkResult::advance();
  });
  return nodes;
}

bool isOfNode(Location location, StringRef node) {
  return llvm::any_of(listNodes(location), [&](StringRef name) { return name == node || name.rsplit('(').first == node; });
}

} // namespace kiln::nn
