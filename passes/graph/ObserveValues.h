//===- ObserveValues.h - Values inside a model as outputs ------------------===//
#ifndef KILN_PASSES_GRAPH_OBSERVEVALUES_H
#define KILN_PASSES_GRAPH_OBSERVEVALUES_H

#include "dialects/nn/TensorQuantization.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace kiln {

/// A value that a compile can expose.
struct ObservableValue {
  /// Its ONNX name, preceded by the names of the enclosing functions.
  std::string name;
  /// "conv_3(Conv)".
  std::string node;
  bool isOutput;
  /// The steps in which its numbers differ, if it is quantised, or dequantised, with constants.
  std::optional<nn::TensorQuantization> quantization = std::nullopt;
};

/// The values of the results of @main, in order. `outputs` is the number of the model's own.
std::vector<ObservableValue> listValues(mlir::ModuleOp module, unsigned outputs);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_OBSERVEVALUES_H
