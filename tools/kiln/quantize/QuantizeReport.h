//===- QuantizeReport.h - What was quantised, layer by layer ---------------===//
#ifndef KILN_TOOLS_KILN_QUANTIZE_QUANTIZEREPORT_H
#define KILN_TOOLS_KILN_QUANTIZE_QUANTIZEREPORT_H

#include "compiler/quantize/Quality.h"
#include "compiler/quantize/Quantization.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace kiln {

/// Everything that a report says, after the model is written.
struct QuantizeReport {
  const quantize::ModelGraph &model;
  const quantize::Layers &layers;
  const quantize::Quantization &numbers;
  /// The layers, which of them stay in f32 and why, and how far each moves the outputs by itself, if that was measured.
  std::vector<int> candidates;
  std::vector<bool> left;
  std::vector<std::string> reasons;
  std::vector<quantize::Quality> alone;
  /// Of the written model, if there are samples; for each output.
  std::optional<quantize::QualityMeter> quality;
  std::vector<std::string> outputs;
  size_t samples = 0, measured = 0;
  uint64_t bytesBefore = 0, bytesAfter = 0;
  std::string file;
};

void printTable(const QuantizeReport &report);
llvm::json::Object toJson(const QuantizeReport &report);

} // namespace kiln

#endif // KILN_TOOLS_KILN_QUANTIZE_QUANTIZEREPORT_H
