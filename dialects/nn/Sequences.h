//===- Sequences.h - Sequences and optionals in a model's signature -----------===//
//
// A sequence in a model's signature is one tensor per element. The module attribute nn.sequences lists the arguments and results of @main that
// belong to it:  nn.sequences = [{name = "x", kind = "sequence", first = 0, count = 3}, {name = "y", kind = "optional", output, first = 1, count = -1}]
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_SEQUENCES_H
#define KILN_DIALECTS_NN_SEQUENCES_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln::nn {

/// An input or output of the ONNX model that is not a plain tensor.
struct SequenceInfo {
  /// The count of an optional without a value.
  static constexpr int64_t absent = -1;
  std::string name;
  bool isSequence = false;
  bool isOptional = false;
  bool isOutput = false;
  /// Not an output of the ONNX model: the bytes that strings of other outputs point into.
  bool isBytes = false;
  /// The position of its first tensor among the arguments or results; without tensors, that of the next tensor.
  unsigned first = 0;
  /// The number of its tensors, or `absent`.
  int64_t count = 0;
};

/// An entry of nn.sequences; nullopt if it is malformed.
std::optional<SequenceInfo> readSequence(mlir::Attribute entry);
/// In the order of the model: inputs, then outputs.
std::vector<SequenceInfo> getSequences(mlir::ModuleOp module);
/// Sets no attribute if there are none.
void setSequences(mlir::ModuleOp module, llvm::ArrayRef<SequenceInfo> sequences);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_SEQUENCES_H
