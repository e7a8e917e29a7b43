//===- Layers.h - Which nodes can work on 8-bit values ---------------------===//
#ifndef KILN_COMPILER_QUANTIZE_LAYERS_H
#define KILN_COMPILER_QUANTIZE_LAYERS_H

#include "compiler/quantize/ModelGraph.h"
#include <optional>

namespace kiln::quantize {

/// What a node is to quantisation.
enum class Role {
  /// Stays in f32.
  Other,
  /// A product or convolution with constant weights.
  Weighted,
  /// A product of two computed values.
  Product,
  /// Computes from several 8-bit values: Add, Mul, Concat.
  Joining,
  /// Computes from one 8-bit value and constants, element by element; a chain of such nodes is one table of 256 values.
  Chained,
  /// A clamp or a bias after a product or sum, computed before its result is rounded.
  Fused,
  /// Computes other values from an 8-bit one: pooling, interpolation.
  Pooling,
  /// Only moves values, so its result has the parameters of its input.
  Moving
};

/// Where the weights and the bias of a node are.
struct WeightPlace {
  int weights = 1, bias = -1;
  /// The axis of the output channels.
  size_t axis = 0;
};

/// True for each node that works on 8-bit values.
using Selection = std::vector<bool>;

/// The roles of a graph's nodes, and what follows from them when some nodes stay in f32.
class Layers {
public:
  /// With `onlyWeights` activations stay in f32.
  Layers(const ModelGraph &model, bool onlyWeights);

  Role getRole(int node) const { return roles[size_t(node)]; }
  /// The inputs of a node that are read as 8-bit values.
  llvm::ArrayRef<int> getQuantizedInputs(int node) const { return inputs[size_t(node)]; }
  std::optional<WeightPlace> getWeights(int node) const;
  /// The value whose range decides the parameters of this one.
  llvm::StringRef getParameterRoot(llvm::StringRef value) const;

  /// The nodes that work on 8-bit values when those of `left` stay in f32. A node other than a product does only if all that use its result do, and what it
  /// computes from does.
  Selection select(const std::vector<bool> &left) const;
  /// The nodes whose rounding can change the result, of a selection.
  std::vector<int> listLayers(const Selection &selection) const;
  /// The values that have 8-bit forms, in the order in which nodes use them.
  std::vector<std::string> listValues(const Selection &selection) const;

private:
  Role findRole(int index);
  std::optional<WeightPlace> findWeights(const onnx::NodeProto &node) const;
  Role findElementwiseRole(int index);
  bool isFusedBehind(int index) const;
  llvm::StringRef getRoot(llvm::StringRef value) const;
  bool hasEightBits(llvm::StringRef value, const Selection &selection) const;
  bool keepsPlace(int index, const Selection &selection) const;

  const ModelGraph &model;
  bool onlyWeights;
  std::vector<Role> roles;
  std::vector<llvm::SmallVector<int, 2>> inputs;
  /// Of results of chained nodes: the 8-bit value that they depend on.
  llvm::StringMap<std::string> roots;
  Selection all;
};

/// Fails if the model has quantised nodes already, or none that can be quantised.
llvm::Error checkQuantizable(const ModelGraph &model, const Layers &layers);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_LAYERS_H
