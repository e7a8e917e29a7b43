//===- Sequences.h - Sequences and optionals in a model's signature -----------===//
//
// A sequence that enters or leaves a model is as many tensors. The module attribute nn.sequences says which arguments and results of @main they
// are:  nn.sequences = [{name = "x", kind = "sequence", first = 0, count = 3}, {name = "y", kind = "optional", output, first = 1, count = -1}]
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_SEQUENCES_H
#define KILN_DIALECTS_NN_SEQUENCES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace kiln::nn {

/// An input or output of the ONNX model that is no plain tensor.
struct SequenceInfo {
  /// The count of an optional without a value.
  static constexpr int64_t absent = -1;
  std::string name;
  bool isSequence = false;
  bool isOptional = false;
  bool isOutput = false;
  /// No output of the ONNX model: bytes that strings of the outputs point into.
  bool isBytes = false;
  /// The position of its first tensor among the arguments or results; with none, that of the tensor behind it.
  unsigned first = 0;
  /// Its tensors, or `absent`.
  int64_t count = 0;
};

/// In the order of the model: inputs, then outputs. What is malformed is left out.
std::vector<SequenceInfo> getSequences(mlir::ModuleOp module);
/// Writes nothing when there are none.
void setSequences(mlir::ModuleOp module, llvm::ArrayRef<SequenceInfo> sequences);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_SEQUENCES_H
