//===- Scope.h - The names visible to a node --------------------------------===//
#ifndef KILN_COMPILER_IMPORT_SCOPE_H
#define KILN_COMPILER_IMPORT_SCOPE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace kiln::onnx {
class AttributeProto;
class SparseTensorProto;
class TensorProto;
class TypeProto;
} // namespace kiln::onnx

namespace kiln::import {

/// The names visible to the nodes of a graph or function body.
struct Scope {
  /// The graph around a branch, whose values it may use; null for the main graph and for functions.
  Scope *parent = nullptr;
  /// Values by name; null: the value of a node that is not supported.
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringMap<const onnx::SparseTensorProto *> sparseInitializers;
  llvm::StringMap<const onnx::TypeProto *> declared;
  /// The data types of values whose bytes need one to be understood (NarrowTypes.h); those of others may be there, too.
  llvm::StringMap<int64_t> narrow;
  /// Optionals, which only some operators take, among inputs and what Optional makes; and what operators on tensors have computed.
  llvm::StringSet<> optionals, tensors;
  /// Inside a function: the attributes of the call.
  llvm::StringMap<const onnx::AttributeProto *> attributes;
  bool isFunction = false;
  /// Inside a function: its inputs that the call leaves out. A node that takes one has none in its place.
  llvm::StringSet<> absent;
  llvm::StringMap<int64_t> opsets;
  int64_t depth = 0;
  /// What stands before the names of nodes: the calls around them.
  std::string prefix;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_SCOPE_H
