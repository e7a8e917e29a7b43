//===- Quantization.h - The numbers of a quantised model -------------------===//
#ifndef KILN_COMPILER_QUANTIZE_QUANTIZATION_H
#define KILN_COMPILER_QUANTIZE_QUANTIZATION_H

#include "compiler/quantize/ErrorFeedback.h"
#include "compiler/quantize/Layers.h"
#include <map>

namespace kiln::quantize {

struct QuantizeOptions {
  /// Activations stay in f32.
  bool onlyWeights = false;
  WeightScheme weights;
  ActivationType activations = ActivationType::U8;
  bool isSymmetric = false;
  Calibration calibration = Calibration::MinMax;
  double percent = 99.99;

  /// The operator set that the written model needs: 13 has scales along an axis, 21 blocks and integers of 4 bits.
  int64_t getOpset() const { return weights.bits == 4 || weights.block ? 21 : 13; }
};

/// A value's 8-bit form, and the samples that it comes from.
struct ValueScale {
  Parameters parameters;
  Range seen;
  /// The share of the samples that saturate.
  double clipped = 0;
};

/// A node's weights in integers.
struct LayerWeights {
  WeightPlace place;
  std::vector<int64_t> dims;
  /// With the axis and the scheme that apply: a convolution's weights have no blocks.
  WeightScheme scheme;
  QuantizedRows rows;
  /// The bias as integers, with a scale for each; empty if it stays in f32.
  std::vector<int32_t> bias;
  std::vector<float> biasScales;
  /// rms of the rounding, relative to that of the weights.
  double error = 0;
  /// The weights as the integers say, in the order of the tensor.
  std::vector<float> dequantize() const;
};

/// The numbers for all layers of a model.
struct Quantization {
  QuantizeOptions options;
  /// By the value that Layers::getParameterRoot() names.
  std::map<std::string, ValueScale> values;
  /// By the index of the node.
  std::map<int, LayerWeights> weights;
};

ValueScale chooseScale(const Histogram &histogram, const QuantizeOptions &options);

/// The weights of a node in integers. `inputScale`: that of the 8-bit input, which decides the scale of the bias; 0 if the input stays in f32. `products`:
/// those of the inputs, for error feedback; null: rounding to the nearest.
llvm::Expected<LayerWeights> quantizeWeights(const ModelGraph &model, int node, const WeightPlace &place, const QuantizeOptions &options, float inputScale,
                                             const InputProducts *products);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_QUANTIZATION_H
