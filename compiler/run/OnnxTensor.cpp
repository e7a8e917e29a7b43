//===- OnnxTensor.cpp - ONNX's recorded tensors ----------------------------===//
#include "compiler/run/OnnxTensor.h"
#include "compiler/import/onnx.pb.h"
#include <cstring>

using llvm::Twine;

namespace kiln {

/// Stores the values of a typed field; halves stand in it as their bits.
template <typename Field> static llvm::Error copyField(const Field &field, Tensor &tensor) {
  if (field.size() != tensor.getNumElements())
    return makeError("the tensor has " + Twine(field.size()) + " values, but " + tensor.getSignature() + " needs " + Twine(tensor.getNumElements()));
  unsigned width = getByteSize(tensor.getType());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    auto value = field.Get(int(i));
    std::memcpy(tensor.getData() + i * width, &value, width); // little-endian: the low bytes are the narrower integer
  }
  return llvm::Error::success();
}

static llvm::Error copyTypedData(const onnx::TensorProto &proto, Tensor &tensor) {
  switch (tensor.getType()) {
  case KILN_ELEMENT_F32:
    return copyField(proto.float_data(), tensor);
  case KILN_ELEMENT_F64:
    return copyField(proto.double_data(), tensor);
  case KILN_ELEMENT_I64:
    return copyField(proto.int64_data(), tensor);
  case KILN_ELEMENT_U32:
  case KILN_ELEMENT_U64:
    return copyField(proto.uint64_data(), tensor);
  default:
    return copyField(proto.int32_data(), tensor);
  }
}

llvm::Expected<Tensor> readOnnxTensor(llvm::StringRef bytes) {
  onnx::TensorProto proto;
  if (bytes.size() > size_t(INT32_MAX) || !proto.ParseFromArray(bytes.data(), int(bytes.size())))
    return makeError("not an ONNX TensorProto");
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return makeError("the tensor's data lie in another file, which is not supported here");
  llvm::SmallVector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  // Before any memory is taken: each element needs at least a byte of the file.
  int64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || (dim > 0 && count > int64_t(bytes.size()) / dim) || (count *= dim) < 0)
      return makeError("the tensor's dimensions do not fit its data");
  llvm::Expected<Tensor> tensor = Tensor::create(ElementType(proto.data_type()), dims);
  if (!tensor)
    return tensor;
  if (!proto.has_raw_data()) {
    if (llvm::Error error = copyTypedData(proto, *tensor))
      return std::move(error);
    return tensor;
  }
  if (proto.raw_data().size() != tensor->getByteSize())
    return makeError("the tensor has " + Twine(proto.raw_data().size()) + " bytes of data, but " + tensor->getSignature() + " needs " +
                     Twine(tensor->getByteSize()));
  std::memcpy(tensor->getData(), proto.raw_data().data(), tensor->getByteSize());
  return tensor;
}

} // namespace kiln
