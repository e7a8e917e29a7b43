//===- OnnxTensor.cpp - ONNX's recorded tensors ----------------------------===//
#include "compiler/run/OnnxTensor.h"
#include "compiler/import/SilentProtobuf.h"
#include "compiler/import/onnx.pb.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <optional>
#include <type_traits>

using llvm::Twine;

namespace kiln {

/// Calls `visit` with the field that holds values of this type, when they are not raw.
template <typename Visit> static auto visitField(const onnx::TensorProto &proto, ElementType type, Visit visit) {
  switch (type) {
  case KILN_ELEMENT_F32:
    return visit(proto.float_data());
  case KILN_ELEMENT_F64:
    return visit(proto.double_data());
  case KILN_ELEMENT_I64:
    return visit(proto.int64_data());
  case KILN_ELEMENT_U32:
  case KILN_ELEMENT_U64:
    return visit(proto.uint64_data());
  default:
    return visit(proto.int32_data());
  }
}

/// Whether the tensor holds as many values as its type and dimensions say.
static llvm::Error checkData(const onnx::TensorProto &proto, ElementType type, llvm::ArrayRef<int64_t> dims) {
  llvm::Expected<Tensor::Size> size = Tensor::measure(type, dims);
  if (!size)
    return size.takeError();
  bool isText = type == KILN_ELEMENT_STRING, isRaw = !isText && proto.has_raw_data();
  int64_t wanted = isRaw ? size->bytes : size->elements;
  int64_t found = isText  ? proto.string_data_size()
                  : isRaw ? int64_t(proto.raw_data().size())
                          : visitField(proto, type, [](const auto &field) { return int64_t(field.size()); });
  if (found == wanted)
    return llvm::Error::success();
  return makeError("the tensor has " + Twine(found) + (isText ? " strings" : isRaw ? " bytes of data" : " values") + ", but " +
                   formatSignature(type, dims) + " needs " + Twine(wanted));
}

/// Stores the values of a typed field. It contains f16 and bf16 as bits.
template <typename Field> static llvm::Error copyField(const Field &field, Tensor &tensor) {
  unsigned width = getByteSize(tensor.getType());
  bool isSigned = tensor.getType() == KILN_ELEMENT_I8 || tensor.getType() == KILN_ELEMENT_I16 || tensor.getType() == KILN_ELEMENT_I32;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    auto value = field.Get(int(i));
    if constexpr (std::is_integral_v<decltype(value)>)
      if (width < sizeof(value) && !(isSigned ? llvm::isIntN(8 * width, int64_t(value)) : llvm::isUIntN(8 * width, uint64_t(value))))
        return makeError("the value " + Twine(value) + " at " + Twine(i) + " is not a value of " + tensor.getSignature());
    std::memcpy(tensor.getData() + i * width, &value, width); // little-endian: the low bytes are the narrower integer
  }
  return llvm::Error::success();
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
static llvm::Expected<Tensor> unpack(const onnx::TensorProto &proto, Packing packing, llvm::ArrayRef<int64_t> dims, int64_t count) {
  std::string bytes = proto.raw_data();
  for (int32_t byte : proto.int32_data())
    bytes.push_back(static_cast<char>(byte));
  int perByte = 8 / packing.bits, mask = (1 << packing.bits) - 1;
  if (static_cast<int64_t>(bytes.size()) != llvm::divideCeilSigned(count, perByte))
    return makeError("the tensor has " + Twine(bytes.size()) + " bytes of data, but its " + Twine(count) + " elements need " +
                     Twine(llvm::divideCeilSigned(count, perByte)));
  llvm::Expected<Tensor> tensor = Tensor::create(packing.isSigned ? KILN_ELEMENT_I8 : KILN_ELEMENT_U8, dims);
  for (int64_t i = 0; tensor && i < count; ++i) {
    int value = (static_cast<unsigned char>(bytes[i / perByte]) >> (i % perByte * packing.bits)) & mask;
    tensor->getData()[i] = static_cast<char>(packing.isSigned && value > mask / 2 ? value - mask - 1 : value);
  }
  return tensor;
}

/// The number of elements, or nullopt if a file of this many bytes cannot contain them.
static std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> dims, int64_t most) {
  int64_t count = llvm::is_contained(dims, 0) ? 0 : 1;
  for (int64_t dim : dims)
    if (dim < 0 || (count > 0 && count > most / dim))
      return std::nullopt;
    else
      count *= dim;
  return count;
}

static llvm::Expected<Tensor> readProto(const onnx::TensorProto &proto, size_t bytes) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return makeError("the tensor's data lie in another file, which is not supported here");
  llvm::SmallVector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  std::optional<Packing> packing = findPacking(proto.data_type());
  // All of it is checked before any memory is taken.
  std::optional<int64_t> count = countElements(dims, int64_t(bytes) * (packing ? 8 / packing->bits : 1));
  if (!count)
    return makeError("the tensor's dimensions do not fit its data");
  if (packing)
    return unpack(proto, *packing, dims, *count);
  ElementType type = toElementType(proto.data_type());
  if (llvm::Error error = checkData(proto, type, dims))
    return std::move(error);
  llvm::Expected<Tensor> tensor = Tensor::create(type, dims);
  if (!tensor)
    return tensor;
  if (type == KILN_ELEMENT_STRING) {
    for (int64_t i = 0; i < *count; ++i)
      tensor->setText(i, proto.string_data(int(i)));
    return tensor;
  }
  if (proto.has_raw_data())
    std::memcpy(tensor->getData(), proto.raw_data().data(), tensor->getByteSize());
  else if (llvm::Error error = visitField(proto, type, [&](const auto &field) { return copyField(field, *tensor); }))
    return std::move(error);
  tensor->normalizeBools();
  return tensor;
}

template <typename Proto> static bool parse(Proto &proto, llvm::StringRef bytes) {
  SilentProtobuf silence;
  return bytes.size() <= size_t(INT32_MAX) && proto.ParseFromArray(bytes.data(), int(bytes.size()));
}

llvm::Expected<Tensor> readOnnxTensor(llvm::StringRef bytes) {
  onnx::TensorProto proto;
  if (!parse(proto, bytes))
    return makeError("not an ONNX TensorProto");
  return readProto(proto, bytes.size());
}

std::string writeOnnxStrings(const Tensor &tensor) {
  onnx::TensorProto proto;
  proto.set_data_type(onnx::TensorProto::STRING);
  for (int64_t dim : tensor.getDims())
    proto.add_dims(dim);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    proto.add_string_data(tensor.getText(i).str());
  return proto.SerializeAsString();
}

static llvm::Expected<std::vector<Tensor>> readSequence(const onnx::SequenceProto &proto, size_t bytes) {
  constexpr int sequenceOfTensors = 1;
  if (proto.elem_type() > sequenceOfTensors)
    return makeError("a sequence of something other than tensors");
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
                                 tensor.int64_data_size() > 0 || tensor.double_data_size() > 0 || tensor.uint64_data_size() > 0 ||
                                 tensor.string_data_size() > 0))
      return present(listOf(readProto(tensor, bytes.size())));
  }
  if (isOptional)
    return std::optional<std::vector<Tensor>>();
  return makeError(list.is_sequence ? "not an ONNX SequenceProto" : "not an ONNX OptionalProto");
}

} // namespace kiln
