//===- OnnxTensor.h - ONNX's recorded tensors ------------------------------===//
#ifndef KILN_COMPILER_RUN_ONNXTENSOR_H
#define KILN_COMPILER_RUN_ONNXTENSOR_H

#include "compiler/run/Tensor.h"
#include <optional>
#include <vector>

namespace kiln {

/// Reads a TensorProto, as the `input_0.pb` of ONNX test data hold it.
llvm::Expected<Tensor> readOnnxTensor(llvm::StringRef bytes);

/// A TensorProto with these strings.
std::string writeOnnxStrings(const Tensor &tensor);

/// Reads what test data hold for a sequence (SequenceProto) or an optional (OptionalProto, or its value's own message): its tensors, nullopt for
/// an optional without a value. The messages do not tell which they are, the model does.
llvm::Expected<std::optional<std::vector<Tensor>>> readOnnxList(llvm::StringRef bytes, const kiln_sequence_info &list);

} // namespace kiln

#endif // KILN_COMPILER_RUN_ONNXTENSOR_H
