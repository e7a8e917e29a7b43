//===- TensorMessage.h - Tensors in requests and answers ---------------------===//
#ifndef KILN_COMPILER_RUN_TENSORMESSAGE_H
#define KILN_COMPILER_RUN_TENSORMESSAGE_H

#include "compiler/run/Program.h"
#include "compiler/run/Tensor.h"

namespace kiln {

/// The number of bytes, or of elements where they are strings, and then these. The other side knows the type and the shape.
void addTensor(RequestWriter &request, const Tensor &tensor);
void takeTensor(AnswerReader &reader, Tensor &tensor);

/// A tensor with its type and its shape.
void addWholeTensor(RequestWriter &request, const Tensor &tensor);
llvm::Expected<Tensor> takeWholeTensor(AnswerReader &reader);

void addText(RequestWriter &request, llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_RUN_TENSORMESSAGE_H
