//===- Quantization.cpp - The numbers of a quantised model -----------------===//
#include "compiler/quantize/Quantization.h"
#include "compiler/run/Tensor.h"
#include <cmath>

using namespace llvm;

namespace kiln::quantize {

std::vector<float> LayerWeights::dequantize() const {
  WeightRows real = rows.dequantize(scheme);
  return fromRows<float>(real.values, dims, place.axis);
}

ValueScale chooseScale(const Histogram &histogram, const QuantizeOptions &options) {
  ValueScale scale;
  scale.seen = {histogram.getMin(), histogram.getMax()};
  Range range = chooseRange(histogram, options.calibration, options.percent);
  scale.parameters = chooseParameters(range, options.activations, options.isSymmetric);
  // Values within half a step of the ends round to them.
  Range covered = scale.parameters.getRange();
  double half = double(scale.parameters.scale) / 2;
  scale.clipped = histogram.getShareOutside({covered.low - half, covered.high + half});
  return scale;
}

/// Finds the least scales of the rows for which the bias fits into 32 bits with room for the sum.
static std::vector<float> boundScales(ArrayRef<float> bias, float inputScale) {
  std::vector<float> least;
  for (float value : bias)
    least.push_back(float(std::fabs(double(value)) / (double(inputScale) * 0x1p30)));
  return least;
}

static void quantizeBias(ArrayRef<float> bias, float inputScale, LayerWeights &result) {
  for (size_t i = 0; i < bias.size(); ++i) {
    float scale = result.rows.getScale(result.scheme, i, 0) * inputScale;
    double stored = std::nearbyint(double(bias[i]) / scale);
    result.biasScales.push_back(scale);
    result.bias.push_back(int32_t(std::clamp(stored, double(INT32_MIN), double(INT32_MAX))));
  }
}

Expected<LayerWeights> quantizeWeights(const ModelGraph &model, int index, const WeightPlace &place, const QuantizeOptions &options, float inputScale,
                                       const InputProducts *products) {
  const onnx::NodeProto &node = model.node(index);
  const onnx::TensorProto &tensor = *model.constant(node.input(place.weights));
  Expected<std::vector<float>> values = model.floats(tensor);
  if (!values)
    return values.takeError();
  if (!all_of(*values, [](float value) { return std::isfinite(value); }))
    return makeError("node " + describeNode(node) + ": its weights '" + tensor.name() + "' are not all finite");
  LayerWeights result;
  result.place = place;
  result.dims.assign(tensor.dims().begin(), tensor.dims().end());
  result.scheme = options.weights;
  if (result.dims.size() != 2)
    result.scheme.block = 0;
  WeightRows rows = toRows(*values, result.dims, place.axis);
  std::vector<float> bias;
  if (place.bias >= 0 && inputScale > 0) {
    Expected<std::vector<float>> read = model.floats(*model.constant(node.input(place.bias)));
    if (!read)
      return read.takeError();
    if (read->size() == rows.rows)
      bias = std::move(*read);
  }
  std::vector<float> least = boundScales(bias, inputScale);
  result.rows = products ? quantizeWithFeedback(rows, result.scheme, *products, least) : quantizeRows(rows, result.scheme, least);
  quantizeBias(bias, inputScale, result);
  result.error = getRelativeError(rows.values, result.rows.dequantize(result.scheme).values);
  return result;
}

} // namespace kiln::quantize
