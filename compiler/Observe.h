//===- Observe.h - Values inside a model as outputs ------------------------===//
#ifndef KILN_COMPILER_OBSERVE_H
#define KILN_COMPILER_OBSERVE_H

#include "compiler/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Keeps the first `outputs` results of @main, which are the model's, and those that the observation names. With `cut`, the uses of an observed value
/// read a new argument after the model's inputs instead. Fails if the value to falsify does not exist or cannot be changed.
mlir::LogicalResult observeValues(mlir::ModuleOp module, unsigned outputs, const Observation &observation, std::vector<std::string> &errors);

/// A value that a compile can expose.
struct ObservableValue {
  /// Its ONNX name, preceded by the names of the enclosing functions.
  std::string name;
  /// "conv_3(Conv)".
  std::string node;
  bool isOutput;
};

/// The values of the results of @main, in order. `outputs` is the number of the model's own.
std::vector<ObservableValue> listValues(mlir::ModuleOp module, unsigned outputs);

} // namespace kiln

#endif // KILN_COMPILER_OBSERVE_H
