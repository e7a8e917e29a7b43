//===- TensorMessage.cpp - Tensors in requests and answers -------------------===//
#include "compiler/run/TensorMessage.h"

#include <cstring>

using namespace llvm;

namespace kiln {

void addText(RequestWriter &request, StringRef text) {
  request.addNumber(int64_t(text.size()));
  request.addBytes(text.data(), text.size());
}

void addTensor(RequestWriter &request, const Tensor &tensor) {
  bool isText = tensor.getType() == KILN_ELEMENT_STRING;
  request.addNumber(isText ? tensor.getNumElements() : int64_t(tensor.getByteSize()));
  if (!isText)
    request.addBytes(tensor.getData(), tensor.getByteSize());
  for (int64_t i = 0; isText && i < tensor.getNumElements(); ++i)
    addText(request, tensor.getText(i));
}

void takeTensor(AnswerReader &reader, Tensor &tensor) {
  if (tensor.getType() != KILN_ELEMENT_STRING) {
    StringRef bytes = reader.takeBytes(tensor.getByteSize());
    if (!bytes.empty())
      std::memcpy(tensor.getData(), bytes.data(), bytes.size());
    return;
  }
  for (int64_t i = 0; i < tensor.getNumElements() && !reader.isBroken(); ++i)
    tensor.setText(i, reader.takeText().value_or(""));
}

void addWholeTensor(RequestWriter &request, const Tensor &tensor) {
  request.addNumber(tensor.getType());
  request.addNumber(int64_t(tensor.getDims().size()));
  for (int64_t dim : tensor.getDims())
    request.addNumber(dim);
  addTensor(request, tensor);
}

Expected<Tensor> takeWholeTensor(AnswerReader &reader) {
  constexpr int64_t highestRank = 1024;
  ElementType type = toElementType(reader.takeNumber());
  SmallVector<int64_t> dims(size_t(std::clamp<int64_t>(reader.takeNumber(), 0, highestRank)));
  for (int64_t &dim : dims)
    dim = reader.takeNumber();
  Expected<Tensor> tensor = Tensor::create(type, dims);
  if (!tensor)
    return tensor;
  reader.takeNumber(); // which follows from the shape
  takeTensor(reader, *tensor);
  return tensor;
}

} // namespace kiln
