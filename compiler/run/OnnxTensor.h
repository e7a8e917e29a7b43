//===- OnnxTensor.h - ONNX's recorded tensors ------------------------------===//
#ifndef KILN_COMPILER_RUN_ONNXTENSOR_H
#define KILN_COMPILER_RUN_ONNXTENSOR_H

#include "compiler/run/Tensor.h"

namespace kiln {

/// Reads a TensorProto, as the `input_0.pb` of ONNX test data hold it.
llvm::Expected<Tensor> readOnnxTensor(llvm::StringRef bytes);

} // namespace kiln

#endif // KILN_COMPILER_RUN_ONNXTENSOR_H
