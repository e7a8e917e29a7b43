//===- TensorData.cpp - Tensors of the file as constants --------------------===//
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using Tensor = kiln::onnx::TensorProto;

namespace kiln::import {

namespace {
/// One row for each data type: its name, and how a tensor of it is stored.
struct DataType {
  const char *name;
  /// Bits of an element in raw bytes; 0: not supported.
  int bits;
  Type (*type)(Builder &);
  /// Its bytes are codes, on which no operator computes.
  bool isCode = false;
};
} // namespace

static const DataType &getDataType(int id) {
  static const DataType types[] = {
      {"undefined", 0, nullptr},
      {"float", 32, [](Builder &b) -> Type { return b.getF32Type(); }},
      {"uint8", 8, [](Builder &b) -> Type { return b.getIntegerType(8, false); }},
      {"int8", 8, [](Builder &b) -> Type { return b.getIntegerType(8); }},
      {"uint16", 16, [](Builder &b) -> Type { return b.getIntegerType(16, false); }},
      {"int16", 16, [](Builder &b) -> Type { return b.getIntegerType(16); }},
      {"int32", 32, [](Builder &b) -> Type { return b.getI32Type(); }},
      {"int64", 64, [](Builder &b) -> Type { return b.getI64Type(); }},
      {"string", 128, [](Builder &b) -> Type { return b.getIntegerType(128); }},
      {"bool", 8, [](Builder &b) -> Type { return b.getI1Type(); }},
      {"float16", 16, [](Builder &b) -> Type { return b.getF16Type(); }},
      {"double", 64, [](Builder &b) -> Type { return b.getF64Type(); }},
      {"uint32", 32, [](Builder &b) -> Type { return b.getIntegerType(32, false); }},
      {"uint64", 64, [](Builder &b) -> Type { return b.getIntegerType(64, false); }},
      {"complex64", 0, nullptr},
      {"complex128", 0, nullptr},
      {"bfloat16", 16, [](Builder &b) -> Type { return b.getBF16Type(); }},
      {"float8e4m3fn", 8, [](Builder &b) -> Type { return b.getIntegerType(8, false); }, true},
      {"float8e4m3fnuz", 8, [](Builder &b) -> Type { return b.getIntegerType(8, false); }, true},
      {"float8e5m2", 8, [](Builder &b) -> Type { return b.getIntegerType(8, false); }, true},
      {"float8e5m2fnuz", 8, [](Builder &b) -> Type { return b.getIntegerType(8, false); }, true},
      {"uint4", 4, [](Builder &b) -> Type { return b.getIntegerType(8, false); }},
      {"int4", 4, [](Builder &b) -> Type { return b.getIntegerType(8); }},
      {"float4e2m1", 4, [](Builder &b) -> Type { return b.getIntegerType(8, false); }, true},
      {"float8e8m0", 8, [](Builder &b) -> Type { return b.getIntegerType(8, false); }, true},
      {"uint2", 2, [](Builder &b) -> Type { return b.getIntegerType(8, false); }},
      {"int2", 2, [](Builder &b) -> Type { return b.getIntegerType(8); }},
      {"float6e2m3", 6, [](Builder &b) -> Type { return b.getIntegerType(8, false); }, true},
      {"float6e3m2", 6, [](Builder &b) -> Type { return b.getIntegerType(8, false); }, true},
  };
  return id >= 0 && id < static_cast<int>(std::size(types)) ? types[id] : types[0];
}

Type getElementType(int dataType, MLIRContext *context) {
  Builder builder(context);
  const DataType &type = getDataType(dataType);
  return type.bits && type.bits <= 64 && !type.isCode ? type.type(builder) : Type();
}

Type getStorageType(int dataType, MLIRContext *context) {
  Builder builder(context);
  const DataType &type = getDataType(dataType);
  return type.bits ? type.type(builder) : Type();
}

std::string getDataTypeName(int dataType) {
  const DataType &type = getDataType(dataType);
  return dataType != 0 && &type == &getDataType(0) ? "type number " + std::to_string(dataType) : type.name;
}

int64_t getDataTypeBits(int dataType) { return getDataType(dataType).bits; }

/// The static type of the tensor, after its shape has been checked.
static RankedTensorType readType(ArrayRef<int64_t> dims, int dataType, const Limits &limits, MLIRContext *context, std::string &reason) {
  Type element = getStorageType(dataType, context);
  if (!element || nn::isString(element))
    reason = "element type " + getDataTypeName(dataType) + " is not supported";
  else if (static_cast<int64_t>(dims.size()) > limits.rank)
    reason = "rank " + std::to_string(dims.size()) + " is over the limit of " + std::to_string(limits.rank) + " dimensions";
  if (!reason.empty())
    return {};
  int64_t bytes = nn::elementBytes(element);
  for (int64_t dim : dims) {
    if (dim < 0) {
      reason = "negative dimension " + std::to_string(dim);
      return {};
    }
    if (llvm::MulOverflow(bytes, dim, bytes) || bytes > limits.tensorBytes) {
      reason = "the shape is too large: its data overflow the size limit of " + std::to_string(limits.tensorBytes) + " bytes";
      return {};
    }
  }
  return RankedTensorType::get(dims, element);
}

/// Bytes of narrow elements, which follow each other without gaps, the first in the lowest bits.
static std::vector<char> unpack(ArrayRef<char> packed, int bits, bool isSigned, int64_t count) {
  std::vector<char> values;
  values.reserve(count);
  int mask = (1 << bits) - 1;
  auto byte = [&](int64_t at) { return at < static_cast<int64_t>(packed.size()) ? static_cast<unsigned char>(packed[at]) : 0; };
  for (int64_t i = 0; i < count; ++i) {
    int64_t first = i * bits;
    int value = ((byte(first / 8) | byte(first / 8 + 1) << 8) >> (first % 8)) & mask;
    values.push_back(static_cast<char>(isSigned && value > mask / 2 ? value - mask - 1 : value));
  }
  return values;
}

static ElementsAttr readRaw(RankedTensorType type, ArrayRef<char> bytes, const Tensor &tensor, std::string &reason, bool isMapped = false) {
  int bits = getDataType(tensor.data_type()).bits;
  int64_t count = type.getNumElements(), expected = bits >= 8 ? count * (bits / 8) : (count * bits + 7) / 8;
  if (static_cast<int64_t>(bytes.size()) != expected) {
    reason = "data has " + std::to_string(bytes.size()) + " bytes, but its " + std::to_string(count) + " elements take " + std::to_string(expected);
    return {};
  }
  if (bits < 8)
    return nn::makeConstant(type, unpack(bytes, bits, tensor.data_type() == Tensor::INT4 || tensor.data_type() == Tensor::INT2, count));
  if (tensor.data_type() == Tensor::BOOL && llvm::any_of(bytes, [](char c) { return c != 0 && c != 1; })) {
    std::vector<char> values;
    for (char c : bytes)
      values.push_back(c != 0);
    return nn::makeConstant(type, std::move(values));
  }
  std::string name = printable(tensor.name(), 64);
  return isMapped ? nn::makeMappedConstant(type, bytes, name) : nn::makeBorrowedConstant(type, bytes, name);
}

/// Copies a repeated field whose elements have the tensor's own type.
template <typename Field> static ElementsAttr readField(RankedTensorType type, const Field &field, const Tensor &tensor, std::string &reason) {
  auto *data = reinterpret_cast<const char *>(field.data());
  return readRaw(type, {data, static_cast<size_t>(field.size()) * sizeof(*field.data())}, tensor, reason);
}

/// Elements of six bits share bytes as raw data, and have a value each in a field.
static constexpr int bitsInOwnBytes = 6;

static ElementsAttr readCodes(RankedTensorType type, std::vector<char> codes, int bits, std::string &reason) {
  if (llvm::any_of(codes, [&](char code) { return static_cast<unsigned char>(code) >> bits; })) {
    reason = "a value is outside of the range of " + std::to_string(bits) + " bits";
    return {};
  }
  return nn::makeConstant(type, std::move(codes));
}

/// Copies a repeated field of wider elements into the low bytes of which the tensor's elements are stored.
template <typename Field> static ElementsAttr narrowField(RankedTensorType type, const Field &field, const Tensor &tensor, std::string &reason) {
  int bits = getDataType(tensor.data_type()).bits;
  int64_t bytes = std::max(bits / 8, 1);
  std::vector<char> data;
  data.reserve(field.size() * bytes);
  for (auto value : field) {
    auto low = static_cast<uint64_t>(value) & llvm::maskTrailingOnes<uint64_t>(8 * bytes);
    int64_t back = llvm::SignExtend64(low, 8 * bytes);
    if (back != static_cast<int64_t>(value) && low != static_cast<uint64_t>(value)) {
      reason = "value " + std::to_string(value) + " is outside the range of " + getDataTypeName(tensor.data_type());
      return {};
    }
    data.insert(data.end(), reinterpret_cast<char *>(&low), reinterpret_cast<char *>(&low) + bytes);
  }
  if (bits == bitsInOwnBytes)
    return readCodes(type, std::move(data), bits, reason);
  ElementsAttr borrowed = readRaw(type, data, tensor, reason);
  // A large constant would refer to `data`, whose lifetime ends here.
  return borrowed && isa<DenseResourceElementsAttr>(borrowed) && bits >= 8 ? nn::makeConstant(type, std::move(data)) : borrowed;
}

static ElementsAttr readTyped(RankedTensorType type, const Tensor &tensor, std::string &reason) {
  switch (tensor.data_type()) {
  case Tensor::FLOAT:
    return readField(type, tensor.float_data(), tensor, reason);
  case Tensor::DOUBLE:
    return readField(type, tensor.double_data(), tensor, reason);
  case Tensor::INT64:
    return readField(type, tensor.int64_data(), tensor, reason);
  case Tensor::UINT64:
    return readField(type, tensor.uint64_data(), tensor, reason);
  case Tensor::UINT32:
    return narrowField(type, tensor.uint64_data(), tensor, reason);
  default:
    return narrowField(type, tensor.int32_data(), tensor, reason);
  }
}

/// The bytes of a tensor that lie in a file of their own. If no length is given, the file may go on after the `size` bytes that its elements take.
static std::optional<ArrayRef<char>> readExternal(const Tensor &tensor, int64_t size, ModelFile &file, std::string &reason) {
  auto bytes = file.externalBytes(tensor, reason);
  bool hasLength = llvm::any_of(tensor.external_data(), [](const onnx::KeyValue &entry) { return entry.key() == "length"; });
  return bytes && !hasLength ? bytes->take_front(size) : bytes;
}

ElementsAttr readTensor(const Tensor &tensor, ModelFile &file, const Limits &limits, MLIRContext *context, std::string &reason) {
  SmallVector<int64_t> dims;
  if (tensor.dims_size() <= limits.rank)
    dims.assign(tensor.dims().begin(), tensor.dims().end());
  else
    dims.resize(tensor.dims_size());
  RankedTensorType type = readType(dims, tensor.data_type(), limits, context, reason);
  if (!type)
    return {};
  if (tensor.data_location() == Tensor::EXTERNAL) {
    int64_t bits = type.getNumElements() * getDataType(tensor.data_type()).bits;
    auto bytes = readExternal(tensor, llvm::divideCeilSigned(bits, 8), file, reason);
    return bytes ? readRaw(type, *bytes, tensor, reason, /*isMapped=*/true) : ElementsAttr();
  }
  if (tensor.has_raw_data())
    return readRaw(type, {tensor.raw_data().data(), tensor.raw_data().size()}, tensor, reason);
  return readTyped(type, tensor, reason);
}

//===- Checks --------------------------------------------------------------===//

/// How many values the field for a data type has, and how many of those an element takes in a field of its own: two for complex numbers.
static std::pair<int64_t, int64_t> countTyped(const Tensor &tensor) {
  switch (tensor.data_type()) {
  case Tensor::FLOAT:
    return {tensor.float_data_size(), 1};
  case Tensor::COMPLEX64:
    return {tensor.float_data_size(), 2};
  case Tensor::DOUBLE:
    return {tensor.double_data_size(), 1};
  case Tensor::COMPLEX128:
    return {tensor.double_data_size(), 2};
  case Tensor::INT64:
    return {tensor.int64_data_size(), 1};
  case Tensor::UINT32:
  case Tensor::UINT64:
    return {tensor.uint64_data_size(), 1};
  case Tensor::STRING:
    return {tensor.string_data_size(), 1};
  default:
    return {tensor.int32_data_size(), 1};
  }
}

/// The number of fields in which a tensor has data.
static int countFields(const Tensor &tensor) {
  return (tensor.float_data_size() > 0) + (tensor.int32_data_size() > 0) + (tensor.int64_data_size() > 0) + (tensor.double_data_size() > 0) +
         (tensor.uint64_data_size() > 0) + (tensor.string_data_size() > 0) + tensor.has_raw_data() + (tensor.data_location() == Tensor::EXTERNAL);
}

static bool refuse(std::string &reason, const Twine &why) {
  reason = why.str();
  return false;
}

/// The number of elements; nullopt, with the reason set, if the shape is not valid.
static std::optional<int64_t> countElements(const google::protobuf::RepeatedField<google::protobuf::int64> &dims, std::string &reason) {
  int64_t count = 1;
  bool isEmpty = llvm::is_contained(dims, 0);
  for (int64_t dim : dims)
    if (dim < 0 || (!isEmpty && llvm::MulOverflow(count, dim, count))) {
      reason = dim < 0 ? "negative dimension " + std::to_string(dim) : "the shape is too large: its number of elements overflows";
      return std::nullopt;
    }
  return isEmpty ? 0 : count;
}

/// The bytes that so many elements of the tensor take; nullopt, with the reason set, if they are no number.
static std::optional<int64_t> countBytes(const Tensor &tensor, int64_t count, std::string &reason) {
  int64_t bits = tensor.data_type() == Tensor::COMPLEX64 ? 64 : tensor.data_type() == Tensor::COMPLEX128 ? 128 : getDataType(tensor.data_type()).bits;
  if (!llvm::MulOverflow(count, bits, bits))
    return bits / 8 + (bits % 8 != 0);
  reason = "the shape is too large: its data overflow the size limit";
  return std::nullopt;
}

bool checkTensor(const Tensor &tensor, ModelFile &file, std::string &reason) {
  if (tensor.has_segment())
    return refuse(reason, "is a segment of a larger tensor, which is not supported");
  if (tensor.data_type() < 1 || tensor.data_type() > Tensor::FLOAT6E3M2)
    return refuse(reason, "element type " + getDataTypeName(tensor.data_type()) + " is not supported");
  auto count = countElements(tensor.dims(), reason);
  if (!count)
    return false;
  if (countFields(tensor) > 1)
    return refuse(reason, "has data in several fields at once");
  if (tensor.data_location() != Tensor::DEFAULT && tensor.data_location() != Tensor::EXTERNAL)
    return refuse(reason, "has the unknown data location " + Twine(tensor.data_location()));
  bool isText = tensor.data_type() == Tensor::STRING, isExternal = tensor.data_location() == Tensor::EXTERNAL;
  if (!isExternal && tensor.external_data_size() > 0)
    return refuse(reason, "has entries for external data, but does not say that its data are external");
  auto [have, each] = countTyped(tensor);
  std::optional<int64_t> bytes = countBytes(tensor, *count, reason);
  if (!bytes)
    return false;
  if (isExternal || tensor.has_raw_data()) {
    if (isText)
      return refuse(reason, "has strings as raw or external data");
    auto external = isExternal ? readExternal(tensor, *bytes, file, reason) : ArrayRef<char>();
    if (!external)
      return false;
    auto size = static_cast<int64_t>(isExternal ? external->size() : tensor.raw_data().size());
    if (size != *bytes)
      return refuse(reason, "data has " + Twine(size) + " bytes, but its " + Twine(*count) + " elements take " + Twine(*bytes));
    return true;
  }
  // Narrow integers share the values of their field as they share bytes.
  int64_t bits = getDataType(tensor.data_type()).bits;
  int64_t expected = bits > 0 && bits < 8 && bits != bitsInOwnBytes ? *bytes : *count * each;
  if (have != expected && isText)
    return refuse(reason, "its dimensions do not fit its " + Twine(have) + " strings");
  if (have != expected)
    return refuse(reason, "data has " + Twine(have) + " values in the field of its type, but its " + Twine(*count) + " elements take " + Twine(expected));
  return true;
}

bool embedExternal(Tensor &tensor, ModelFile &file, std::string &reason) {
  if (tensor.data_location() != Tensor::EXTERNAL)
    return true;
  auto count = countElements(tensor.dims(), reason);
  auto size = count ? countBytes(tensor, *count, reason) : std::nullopt;
  auto bytes = size ? readExternal(tensor, *size, file, reason) : std::nullopt;
  if (!bytes)
    return false;
  tensor.set_raw_data(bytes->data(), bytes->size());
  tensor.clear_external_data();
  tensor.clear_data_location();
  return true;
}

bool checkSparseTensor(const onnx::SparseTensorProto &sparse, ModelFile &file, std::string &reason) {
  const Tensor &values = sparse.values(), &indices = sparse.indices();
  std::string why;
  bool isRight = checkTensor(values, file, why) && checkTensor(indices, file, why);
  auto size = isRight ? countElements(sparse.dims(), why) : std::nullopt;
  if (!size)
    return refuse(reason, "sparse tensor: " + why);
  if (sparse.dims_size() == 0)
    return refuse(reason, "sparse tensor: it has no dimensions");
  if (values.dims_size() != 1 || indices.data_type() != Tensor::INT64)
    return refuse(reason, "sparse tensor: its values have rank " + Twine(values.dims_size()) + " and its indices element type " +
                              getDataTypeName(indices.data_type()) + ", expected 1 and int64");
  bool isFlat = indices.dims_size() == 1 && indices.dims(0) == values.dims(0);
  bool isPlaces = indices.dims_size() == 2 && indices.dims(0) == values.dims(0) && indices.dims(1) == sparse.dims_size();
  if (!isFlat && !isPlaces)
    return refuse(reason, "sparse tensor: its indices do not fit its values, or it is too large to fill up");
  return true;
}

//===- Sparse tensors ------------------------------------------------------===//

ElementsAttr readSparseTensor(const onnx::SparseTensorProto &sparse, ModelFile &file, const Limits &limits, MLIRContext *context,
                              std::string &reason) {
  ElementsAttr values = readTensor(sparse.values(), file, limits, context, reason);
  ElementsAttr indices = values ? readTensor(sparse.indices(), file, limits, context, reason) : ElementsAttr();
  SmallVector<int64_t> dims(sparse.dims().begin(), sparse.dims().begin() + std::min<int64_t>(sparse.dims_size(), limits.rank + 1));
  RankedTensorType type = indices ? readType(dims, sparse.values().data_type(), limits, context, reason) : RankedTensorType();
  if (!type) {
    reason = "sparse tensor: " + reason;
    return {};
  }
  int64_t count = values.getNumElements(), rank = dims.size(), width = nn::elementBytes(type.getElementType());
  int64_t size = type.getNumElements(), perIndex = indices.getShapedType().getRank() == 2 ? rank : 1;
  nn::ConstantData places(indices), data(values);
  if (!indices.getElementType().isInteger(64) || places.numElements() != count * perIndex || size * width > (int64_t(1) << 30)) {
    reason = "sparse tensor: its indices do not fit its values, or it is too large to fill up";
    return {};
  }
  std::vector<char> bytes(size * width);
  int64_t previous = -1;
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = perIndex == 1 ? places.asInt(i) : 0;
    for (int64_t d = 0; perIndex != 1 && d < rank; ++d) {
      int64_t coordinate = places.asInt(i * rank + d);
      if (coordinate < 0 || coordinate >= dims[d])
        place = -1;
      place = place < 0 ? place : place * dims[d] + coordinate;
    }
    if (place <= previous || place >= size) {
      reason = "sparse tensor: index " + std::to_string(i) + " is out of range or not in ascending order";
      return {};
    }
    std::memcpy(&bytes[place * width], data.bytes().data() + i * width, width);
    previous = place;
  }
  return nn::makeConstant(type, std::move(bytes));
}

} // namespace kiln::import
