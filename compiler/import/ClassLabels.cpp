//===- ClassLabels.cpp - Labels that the outputs of classifiers stand for ------===//
//
//   TreeEnsembleClassifier -> label, scores -> Normalizer -> ZipMap -> probabilities      label: its elements are labels; probabilities: one for each column
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ClassLabels.h"
#include "compiler/import/SignatureReader.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/SignatureAttributeNames.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace kiln::import {

/// Whether a node's result has the columns of its first input.
static bool keepsColumns(const onnx::NodeProto &node) {
  return llvm::StringSwitch<bool>(node.op_type())
      .Cases({"Cast", "Identity", "Normalizer", "Softmax", "Sigmoid", "Scaler", "Clip"}, true)
      .Default(false);
}

/// The labels of a classifier (scores are the second output) or of ZipMap; nullopt for other nodes.
static std::optional<nn::ClassLabels> labelsOf(const onnx::NodeProto &node, bool isFirst) {
  bool isMap = node.op_type() == "ZipMap";
  if (node.domain() != "ai.onnx.ml" || (!isMap && !StringRef(node.op_type()).ends_with("Classifier")))
    return std::nullopt;
  nn::ClassLabels labels;
  labels.axis = isMap || !isFirst ? 1 : -1;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (!StringRef(attribute.name()).starts_with("classlabels_"))
      continue;
    labels.integers.insert(labels.integers.end(), attribute.ints().begin(), attribute.ints().end());
    labels.strings.insert(labels.strings.end(), attribute.strings().begin(), attribute.strings().end());
  }
  return labels;
}

void SignatureReader::noteLabels() {
  llvm::StringMap<std::pair<const onnx::NodeProto *, int>> makers;
  for (const onnx::NodeProto &node : graph.node())
    for (int i = 0; i < node.output_size(); ++i)
      makers.try_emplace(node.output(i), &node, i);
  for (auto [i, output] : llvm::enumerate(outputNames)) {
    std::string name = output;
    std::optional<nn::ClassLabels> labels;
    // Graphs may be deep, but each node is passed at most once: they have no cycles.
    for (auto maker = makers.find(name); maker != makers.end(); maker = makers.find(name)) {
      auto [node, position] = maker->second;
      labels = labelsOf(*node, position == 0);
      if (labels || !keepsColumns(*node) || node->input_size() == 0)
        break;
      name = node->input(0);
    }
    auto type = cast<RankedTensorType>(function.getResultTypes()[i]);
    if (!labels || labels->size() == 0)
      continue;
    bool hasColumns = type.getRank() == 2 && (type.isDynamicDim(1) || type.getDimSize(1) == static_cast<int64_t>(labels->size()));
    // A cast turns a label into another number.
    bool isLabel = nn::isString(type.getElementType()) ? !labels->strings.empty() : type.getElementType().isSignlessInteger(64) && labels->strings.empty();
    if (labels->axis == 1 ? hasColumns : isLabel)
      function.setResultAttr(i, nn::labelsAttrName, labels->toAttribute(&context));
  }
}

} // namespace kiln::import
