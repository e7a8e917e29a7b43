//===- Observe.h - Values inside a model as outputs ------------------------===//
#ifndef KILN_COMPILER_OBSERVE_H
#define KILN_COMPILER_OBSERVE_H

#include "compiler/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Keeps of the results of @main the model's own, the first `outputs`, and those that the observation names. With `cut`, uses of an observed
/// value read a new argument behind the model's inputs instead. Fails when the value to falsify is not there or cannot be.
mlir::LogicalResult observeValues(mlir::ModuleOp module, unsigned outputs, const Observation &observation, std::vector<std::string> &errors);

/// A value that a compile can show.
struct ObservableValue {
  /// Its ONNX name, behind the names of the functions it is in.
  std::string name;
  /// "conv_3(Conv)".
  std::string node;
  bool isOutput;
};

/// The values that the results of @main show, in the order of the results. `outputs` is the number of the model's own.
std::vector<ObservableValue> listValues(mlir::ModuleOp module, unsigned outputs);

} // namespace kiln

#endif // KILN_COMPILER_OBSERVE_H
