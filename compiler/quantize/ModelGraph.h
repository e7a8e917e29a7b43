//===- ModelGraph.h - An ONNX graph that is rewritten ----------------------===//
#ifndef KILN_COMPILER_QUANTIZE_MODELGRAPH_H
#define KILN_COMPILER_QUANTIZE_MODELGRAPH_H

#include "compiler/import/ModelFile.h"
#include "compiler/import/onnx.pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <vector>

namespace kiln::quantize {

/// A model's protobuf, which can be changed, with the producers and consumers of its values. Tensors with external data are read from their files when they
/// are asked for.
class ModelGraph {
public:
  /// The consumer of a value that a graph output or a nested graph uses.
  static constexpr int elsewhere = -1;

  static llvm::Expected<std::unique_ptr<ModelGraph>> read(llvm::StringRef path);
  /// A copy to change, on the same files.
  std::unique_ptr<ModelGraph> clone() const;

  onnx::ModelProto proto;
  onnx::GraphProto &graph() { return *proto.mutable_graph(); }
  const onnx::GraphProto &graph() const { return proto.graph(); }
  const onnx::NodeProto &node(int index) const { return proto.graph().node(index); }

  /// Finds producers, consumers and constants anew, after changes.
  void index();

  /// The node that computes a value; -1 for inputs and constants.
  int producer(llvm::StringRef value) const;
  llvm::ArrayRef<int> consumers(llvm::StringRef value) const;
  /// The initializer of this name; null if there is none.
  const onnx::TensorProto *constant(llvm::StringRef value) const;
  bool isConstant(llvm::StringRef value) const { return constant(value) != nullptr; }
  /// A constant of f32; null otherwise.
  const onnx::TensorProto *floatConstant(llvm::StringRef value) const;
  /// The elements of an f32 tensor.
  llvm::Expected<std::vector<float>> floats(const onnx::TensorProto &tensor) const;

  /// A name that no value and no node has: the stem, with a number if needed.
  std::string uniqueName(const llvm::Twine &stem);
  std::string addFloats(const llvm::Twine &stem, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values);
  std::string addBytes(const llvm::Twine &stem, int dataType, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes);

  /// The version of the default operator set.
  int64_t opset() const;

  /// Removes what no node uses any more: initializers, their inputs, and the recorded types of values that are gone.
  void removeUnused();
  /// Replaces external data by the bytes themselves.
  llvm::Error embedData();
  /// The model's bytes, the same for the same model. Fails if it exceeds the format's 2 GiB.
  llvm::Expected<std::string> serialize();

private:
  ModelGraph() = default;
  void collectUses(const onnx::GraphProto &nested);
  llvm::Expected<llvm::ArrayRef<char>> externalBytes(const onnx::TensorProto &tensor) const;

  std::shared_ptr<import::ModelFile> file;
  llvm::StringMap<int> producers;
  llvm::StringMap<llvm::SmallVector<int, 2>> users;
  llvm::StringMap<const onnx::TensorProto *> constants;
  llvm::StringSet<> names;
};

/// @name Attributes of a node, or the given value
/// @{
const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node, llvm::StringRef name);
int64_t getInt(const onnx::NodeProto &node, llvm::StringRef name, int64_t otherwise);
float getFloat(const onnx::NodeProto &node, llvm::StringRef name, float otherwise);
std::string getString(const onnx::NodeProto &node, llvm::StringRef name, llvm::StringRef otherwise);
void setInt(onnx::NodeProto &node, llvm::StringRef name, int64_t value);
void removeAttribute(onnx::NodeProto &node, llvm::StringRef name);
/// @}

/// `name (Operator)`, as messages call a node.
std::string describeNode(const onnx::NodeProto &node);
/// The node's name, or that of its first output.
std::string nodeName(const onnx::NodeProto &node);
bool isDefaultDomain(const onnx::NodeProto &node);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_MODELGRAPH_H
