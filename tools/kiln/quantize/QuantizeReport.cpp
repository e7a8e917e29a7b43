//===- QuantizeReport.cpp - What was quantised, layer by layer -------------===//
#include "tools/kiln/quantize/QuantizeReport.h"
#include "compiler/files/Printable.h"
#include "tools/kiln/Reporting.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

using namespace quantize;

static size_t countWeights(const LayerWeights &weights) { return weights.rows.values.size(); }

static std::string describeScheme(const QuantizeReport &report, int node) {
  auto weights = report.numbers.weights.find(node);
  if (weights == report.numbers.weights.end())
    return "8-bit values";
  const WeightScheme &scheme = weights->second.scheme;
  std::string text = "int" + std::to_string(scheme.bits);
  if (scheme.isPerTensor)
    return text + " per tensor";
  return text + (scheme.block ? " blocks of " + std::to_string(scheme.block) : " per channel");
}

/// "[-1.5, 2] step 0.0137 zero 110": the range, the scale and the zero point of what a node reads.
static std::string describeValue(const ValueScale &value) {
  Range range = value.parameters.getRange();
  std::string text;
  raw_string_ostream(text) << format("[%.4g, %.4g] step %.4g zero %d", range.low, range.high, double(value.parameters.scale), value.parameters.zeroPoint);
  return text;
}

void printTable(const QuantizeReport &report) {
  raw_ostream &os = outs();
  for (auto [i, node] : enumerate(report.candidates)) {
    std::string line;
    raw_string_ostream text(line);
    bool isLeft = report.left[i];
    text << (isLeft ? "f32   " : "int   ") << describeNode(report.model.node(node));
    if (auto weights = report.numbers.weights.find(node); weights != report.numbers.weights.end())
      text << ": " << countWeights(weights->second) << " weights " << describeScheme(report, node)
           << format(", error %.3g", weights->second.error);
    for (int input : report.layers.getQuantizedInputs(node)) {
      const std::string &name = report.model.node(node).input(input);
      const ValueScale &value = report.numbers.values.at(report.layers.getParameterRoot(name).str());
      text << "; " << name << " " << describeValue(value) << format(" clips %.3g %%", value.clipped * 100);
    }
    if (!report.alone.empty())
      text << format("; alone moves the outputs by %.3g", report.alone[i].error);
    if (isLeft)
      text << "; " << report.reasons[i];
    if (verbosity() > 0)
      printLine(os, line);
  }
  size_t left = size_t(count(report.left, true));
  std::string line;
  raw_string_ostream text(line);
  text << report.file << ": " << report.candidates.size() - left << " of " << report.candidates.size() << " layers quantised, "
       << format("%.2f MB, was %.2f MB", double(report.bytesAfter) * 1e-6, double(report.bytesBefore) * 1e-6);
  if (verbosity() > 0)
    printLine(os, line);
  for (size_t i = 0; report.quality && i < report.quality->getNumOutputs() && verbosity() > 0; ++i) {
    Quality quality = report.quality->getOutput(i);
    std::string numbers;
    raw_string_ostream(numbers) << format("error %.4g, agreement %.4g", quality.error, quality.agreement);
    printLine(os, "output " + report.outputs[i] + ": " + numbers + " (" + Twine(report.measured) + " of " + Twine(report.samples) + " samples)");
  }
}

static json::Object toJson(const ValueScale &value, StringRef name) {
  return json::Object{{"value", jsonText(name)},
                      {"min", value.seen.low},
                      {"max", value.seen.high},
                      {"low", value.parameters.getRange().low},
                      {"high", value.parameters.getRange().high},
                      {"scale", value.parameters.scale},
                      {"zero_point", value.parameters.zeroPoint},
                      {"clipped", value.clipped}};
}

static json::Object layerToJson(const QuantizeReport &report, size_t i) {
  int node = report.candidates[i];
  json::Object row{{"node", jsonText(nodeName(report.model.node(node)))},
                   {"operator", jsonText(report.model.node(node).op_type())},
                   {"quantized", !report.left[i]},
                   {"reason", jsonText(report.reasons[i])}};
  if (auto weights = report.numbers.weights.find(node); weights != report.numbers.weights.end()) {
    row["weights"] = int64_t(countWeights(weights->second));
    row["scheme"] = describeScheme(report, node);
    row["weight_error"] = weights->second.error;
    row["bias_quantized"] = !weights->second.bias.empty();
  }
  json::Array inputs;
  for (int input : report.layers.getQuantizedInputs(node)) {
    const std::string &name = report.model.node(node).input(input);
    inputs.push_back(toJson(report.numbers.values.at(report.layers.getParameterRoot(name).str()), name));
  }
  row["inputs"] = std::move(inputs);
  if (!report.alone.empty()) {
    row["error_alone"] = report.alone[i].error;
    row["agreement_alone"] = report.alone[i].agreement;
  }
  return row;
}

json::Object toJson(const QuantizeReport &report) {
  json::Array layers, outputs;
  for (size_t i = 0; i < report.candidates.size(); ++i)
    layers.push_back(layerToJson(report, i));
  for (size_t i = 0; report.quality && i < report.quality->getNumOutputs(); ++i) {
    Quality quality = report.quality->getOutput(i);
    outputs.push_back(json::Object{{"name", jsonText(report.outputs[i])}, {"error", quality.error}, {"agreement", quality.agreement}});
  }
  return json::Object{{"file", jsonText(report.file)},
                      {"samples", int64_t(report.samples)},
                      {"measured", int64_t(report.measured)},
                      {"bytes_before", int64_t(report.bytesBefore)},
                      {"bytes_after", int64_t(report.bytesAfter)},
                      {"quantized_layers", int64_t(count(report.left, false))},
                      {"outputs", std::move(outputs)},
                      {"layers", std::move(layers)}};
}

} // namespace kiln
