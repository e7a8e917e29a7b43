//===- OnnxTensor.cpp - ONNX's recorded tensors ----------------------------===//
#include "compiler/run/OnnxTensor.h"
#include "compiler/import/onnx.pb.h"
#include <cstring>
#include <optional>

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

namespace {
/// An element type of at most 8 bits of which a model takes one byte an element: the number, or the code of a float.
struct Packing {
  int bits;
  bool isSigned;
};
} // namespace

static std::optional<Packing> findPacking(int dataType) {
  switch (dataType) {
  case KILN_ELEMENT_F8E4M3FN:
  case KILN_ELEMENT_F8E4M3FNUZ:
  case KILN_ELEMENT_F8E5M2:
  case KILN_ELEMENT_F8E5M2FNUZ:
  case KILN_ELEMENT_F8E8M0:
    return Packing{8, false};
  case KILN_ELEMENT_U4:
  case KILN_ELEMENT_F4E2M1:
    return Packing{4, false};
  case KILN_ELEMENT_I4:
    return Packing{4, true};
  case 25: // uint2 and int2, which no model has in its signature
    return Packing{2, false};
  case 26:
    return Packing{2, true};
  }
  return std::nullopt;
}

/// Elements in the low bits first, in raw bytes or in a field of one byte each.
static llvm::Expected<Tensor> unpack(const onnx::TensorProto &proto, Packing packing, llvm::ArrayRef<int64_t> dims) {
  std::string bytes = proto.raw_data();
  for (int32_t byte : proto.int32_data())
    bytes.push_back(static_cast<char>(byte));
  int perByte = 8 / packing.bits, mask = (1 << packing.bits) - 1;
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  if (static_cast<int64_t>(bytes.size()) != (count + perByte - 1) / perByte)
    return makeError("the tensor has " + Twine(bytes.size()) + " bytes of data, but its " + Twine(count) + " elements need " +
                     Twine((count + perByte - 1) / perByte));
  llvm::Expected<Tensor> tensor = Tensor::create(packing.isSigned ? KILN_ELEMENT_I8 : KILN_ELEMENT_U8, dims);
  for (int64_t i = 0; tensor && i < count; ++i) {
    int value = (static_cast<unsigned char>(bytes[i / perByte]) >> (i % perByte * packing.bits)) & mask;
    tensor->getData()[i] = static_cast<char>(packing.isSigned && value > mask / 2 ? value - mask - 1 : value);
  }
  return tensor;
}

static llvm::Expected<Tensor> readProto(const onnx::TensorProto &proto, size_t bytes) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return makeError("the tensor's data lie in another file, which is not supported here");
  llvm::SmallVector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  std::optional<Packing> packing = findPacking(proto.data_type());
  // Before any memory is taken: a byte of the file holds so many elements at most.
  // A dimension of 0 may follow large ones, which then hold nothing.
  int64_t count = llvm::is_contained(dims, 0) ? 0 : 1, most = int64_t(bytes) * (packing ? 8 / packing->bits : 1);
  for (int64_t dim : dims)
    if (dim < 0 || (dim > 0 && count > most / dim) || (count *= dim) < 0)
      return makeError("the tensor's dimensions do not fit its data");
  if (packing)
    return unpack(proto, *packing, dims);
  llvm::Expected<Tensor> tensor = Tensor::create(ElementType(proto.data_type()), dims);
  if (!tensor)
    return tensor;
  if (tensor->getType() == KILN_ELEMENT_STRING) {
    if (proto.string_data_size() != tensor->getNumElements())
      return makeError("the tensor has " + Twine(proto.string_data_size()) + " strings, but " + tensor->getSignature() + " needs " +
                       Twine(tensor->getNumElements()));
    for (int64_t i = 0; i < tensor->getNumElements(); ++i)
      tensor->setText(i, proto.string_data(int(i)));
    return tensor;
  }
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

template <typename Proto> static bool parse(Proto &proto, llvm::StringRef bytes) {
  return bytes.size() <= size_t(INT32_MAX) && proto.ParseFromArray(bytes.data(), int(bytes.size()));
}

llvm::Expected<Tensor> readOnnxTensor(llvm::StringRef bytes) {
  onnx::TensorProto proto;
  if (!parse(proto, bytes))
    return makeError("not an ONNX TensorProto");
  return readProto(proto, bytes.size());
}

static llvm::Expected<std::vector<Tensor>> readSequence(const onnx::SequenceProto &proto, size_t bytes) {
  constexpr int sequenceOfTensors = 1;
  if (proto.elem_type() > sequenceOfTensors)
    return makeError("a sequence of something else than tensors");
  std::vector<Tensor> tensors;
  for (const onnx::TensorProto &element : proto.tensor_values()) {
    llvm::Expected<Tensor> tensor = readProto(element, bytes);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

static llvm::Expected<std::vector<Tensor>> listOf(llvm::Expected<Tensor> tensor) {
  std::vector<Tensor> tensors;
  if (!tensor)
    return tensor.takeError();
  tensors.push_back(std::move(*tensor));
  return tensors;
}

static llvm::Expected<std::optional<std::vector<Tensor>>> present(llvm::Expected<std::vector<Tensor>> tensors) {
  if (!tensors)
    return tensors.takeError();
  return std::optional(std::move(*tensors));
}

llvm::Expected<std::optional<std::vector<Tensor>>> readOnnxList(llvm::StringRef bytes, const kiln_sequence_info &list) {
  onnx::OptionalProto optional;
  onnx::SequenceProto sequence;
  onnx::TensorProto tensor;
  bool isOptional = list.is_optional && parse(optional, bytes);
  if (list.is_sequence) {
    if (isOptional && optional.has_sequence_value())
      return present(readSequence(optional.sequence_value(), bytes.size()));
    if (parse(sequence, bytes) && (!list.is_optional || sequence.tensor_values_size() > 0))
      return present(readSequence(sequence, bytes.size()));
  } else {
    if (isOptional && optional.has_tensor_value())
      return present(listOf(readProto(optional.tensor_value(), bytes.size())));
    // An optional without a value has none of the fields with data.
    if (parse(tensor, bytes) && (tensor.has_raw_data() || tensor.dims_size() > 0 || tensor.float_data_size() > 0 || tensor.int32_data_size() > 0 ||
                                 tensor.int64_data_size() > 0 || tensor.double_data_size() > 0))
      return present(listOf(readProto(tensor, bytes.size())));
  }
  if (isOptional)
    return std::optional<std::vector<Tensor>>();
  return makeError(list.is_sequence ? "not an ONNX SequenceProto" : "not an ONNX OptionalProto");
}

} // namespace kiln
