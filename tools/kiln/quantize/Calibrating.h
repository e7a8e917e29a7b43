//===- Calibrating.h - The numbers of a quantised model from samples -------===//
#ifndef KILN_TOOLS_KILN_QUANTIZE_CALIBRATING_H
#define KILN_TOOLS_KILN_QUANTIZE_CALIBRATING_H

#include "compiler/quantize/Quantization.h"
#include "tools/kiln/quantize/SampleRuns.h"

namespace kiln {

/// What the import finds out about the values of a model, by their names.
struct ValueTypes {
  llvm::StringMap<int64_t> ranks;
  /// Of their elements. Dimensions that only a run knows count as 256.
  llvm::StringMap<int64_t> bytes;
};

/// Imports the model without compiling it. Reports errors and returns the exit status.
int findValueTypes(const CompileOptions &options, ValueTypes &types);

/// A model whose numbers are being found.
struct CalibrationRequest {
  quantize::ModelGraph &model;
  const quantize::Layers &layers;
  const ValueTypes &types;
  /// Null: without samples, for weights alone.
  const SampleRuns *samples;
  /// Round weights with regard to their inputs.
  bool withFeedback;
};

/// Runs the f32 model on all samples and finds the ranges of the values that get 8-bit forms, or what the inputs of products are like, and rounds the weights.
/// Values are looked at in groups of about a gibibyte, and none is kept from one run to the next. Reports errors and returns the exit status.
int calibrate(const CalibrationRequest &request, quantize::Quantization &numbers);

} // namespace kiln

#endif // KILN_TOOLS_KILN_QUANTIZE_CALIBRATING_H
