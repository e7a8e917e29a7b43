//===- Tensor.cpp - A tensor in memory -------------------------------------===//
#include "compiler/run/Tensor.h"
#include "kiln/runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>

namespace kiln {

namespace {

struct TypeRow {
  ElementType type;
  const char *name;
  unsigned byteSize;
};

constexpr TypeRow typeRows[] = {
    {KILN_ELEMENT_F32, "f32", 4},    {KILN_ELEMENT_U8, "u8", 1},           {KILN_ELEMENT_I8, "i8", 1},
    {KILN_ELEMENT_U16, "u16", 2},    {KILN_ELEMENT_I16, "i16", 2},         {KILN_ELEMENT_I32, "i32", 4},
    {KILN_ELEMENT_I64, "i64", 8},    {KILN_ELEMENT_STRING, "string", sizeof(kiln_string)},   {KILN_ELEMENT_BOOL, "bool", 1},
    {KILN_ELEMENT_F16, "f16", 2},    {KILN_ELEMENT_F64, "f64", 8},         {KILN_ELEMENT_U32, "u32", 4},
    {KILN_ELEMENT_U64, "u64", 8},    {KILN_ELEMENT_COMPLEX64, "c64", 0},   {KILN_ELEMENT_COMPLEX128, "c128", 0},
    {KILN_ELEMENT_BF16, "bf16", 2},
};

constexpr size_t guardSize = KILN_ALIGNMENT;
constexpr char guardByte = char(0xA5);

const TypeRow *findRow(ElementType type) {
  const TypeRow *row = llvm::find_if(typeRows, [&](const TypeRow &row) { return row.type == type; });
  return row == std::end(typeRows) ? nullptr : row;
}

float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = (bits >> 10) & 31, mantissa = bits & 0x3FF;
  if (exponent == 31)
    return llvm::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  float magnitude = exponent ? std::ldexp(float(mantissa | 0x400), int(exponent) - 25) : std::ldexp(float(mantissa), -24);
  return sign ? -magnitude : magnitude;
}

// Rounds to nearest, ties to even, in one step from double.
uint16_t doubleToHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7E00;
  double magnitude = std::fabs(value);
  if (magnitude >= 65520.0)
    return sign | 0x7C00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  int quantum = std::max(exponent - 11, -24);
  uint32_t steps = uint32_t(std::nearbyint(std::ldexp(magnitude, -quantum)));
  // A normal number has steps in [1024, 2048]; 2048 carries into the exponent by itself.
  return sign | uint16_t(steps < 1024 ? steps : (uint32_t(quantum + 24) << 10) + steps);
}

uint16_t floatToBfloat(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

/// A number as text: what fills a tensor of strings.
std::string formatText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

template <typename T> T saturate(double value) {
  if (std::isnan(value))
    return 0;
  if (value <= double(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (value >= double(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return T(value);
}

} // namespace

unsigned getByteSize(ElementType type) {
  const TypeRow *row = findRow(type);
  return row ? row->byteSize : 0;
}

std::string getTypeName(ElementType type) {
  const TypeRow *row = findRow(type);
  return row ? row->name : "type " + std::to_string(int(type));
}

ElementType toElementType(int64_t number) {
  return number > KILN_ELEMENT_UNDEFINED && number <= KILN_ELEMENT_F8E8M0 ? ElementType(number) : KILN_ELEMENT_UNDEFINED;
}

bool isFloat(ElementType type) {
  return type == KILN_ELEMENT_F32 || type == KILN_ELEMENT_F64 || type == KILN_ELEMENT_F16 || type == KILN_ELEMENT_BF16;
}

void Tensor::Free::operator()(char *pointer) const { kiln_workspace_destroy(pointer, size); }

llvm::Expected<Tensor::Size> Tensor::measure(ElementType type, llvm::ArrayRef<int64_t> dims) {
  unsigned width = kiln::getByteSize(type);
  if (!width)
    return makeError("tensors of " + getTypeName(type) + " are not supported here");
  // As many as NumPy has; more would not fit into the header of a .npy file, either.
  constexpr size_t mostDims = 64;
  if (dims.size() > mostDims)
    return makeError("a tensor cannot have " + llvm::Twine(dims.size()) + " dimensions: the limit is " + llvm::Twine(mostDims));
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < 0)
      return makeError("a tensor cannot have the dimension " + llvm::Twine(dim));
    if (llvm::MulOverflow(count, dim, count))
      return makeError("a tensor of that many elements does not fit into memory");
  }
  int64_t total;
  if (llvm::MulOverflow(count, int64_t(width), total) || total > int64_t(1) << 46)
    return makeError("a tensor of that many elements does not fit into memory");
  return Size{count, total};
}

llvm::Expected<Tensor> Tensor::create(ElementType type, llvm::ArrayRef<int64_t> dims) {
  llvm::Expected<Size> size = measure(type, dims);
  if (!size)
    return size.takeError();
  Tensor tensor;
  tensor.type = type;
  tensor.dims.assign(dims.begin(), dims.end());
  tensor.numElements = size->elements;
  int64_t total = size->bytes;
  size_t allocated = size_t(total) + guardSize;
  void *memory;
  if (kiln_workspace_create(allocated, &memory) != KILN_STATUS_OK)
    return makeError("out of memory: a tensor needs " + llvm::Twine(total) + " bytes");
  tensor.bytes = std::unique_ptr<char, Free>(static_cast<char *>(memory), Free(allocated));
  std::memset(tensor.bytes.get(), 0, size_t(total));
  std::memset(tensor.bytes.get() + total, guardByte, guardSize);
  return std::move(tensor);
}

llvm::Expected<Tensor> Tensor::copy() const {
  llvm::Expected<Tensor> result = create(type, dims);
  if (result && type != KILN_ELEMENT_STRING)
    std::memcpy(result->getData(), getData(), getByteSize());
  for (int64_t i = 0; result && type == KILN_ELEMENT_STRING && i < numElements; ++i)
    result->setText(i, getText(i));
  return result;
}

llvm::StringRef Tensor::getText(int64_t index) const {
  const kiln_string &text = as<kiln_string>()[index];
  return text.size > 0 ? llvm::StringRef(text.data, size_t(text.size)) : llvm::StringRef();
}

void Tensor::setText(int64_t index, llvm::StringRef text) {
  texts.push_back(text.str());
  as<kiln_string>()[index] = {texts.back().data(), int64_t(text.size())};
}

double Tensor::getValue(int64_t index) const {
  switch (type) {
  case KILN_ELEMENT_F32: return as<float>()[index];
  case KILN_ELEMENT_F64: return as<double>()[index];
  case KILN_ELEMENT_F16: return halfToFloat(as<uint16_t>()[index]);
  case KILN_ELEMENT_BF16: return llvm::bit_cast<float>(uint32_t(as<uint16_t>()[index]) << 16);
  case KILN_ELEMENT_I8: return as<int8_t>()[index];
  case KILN_ELEMENT_I16: return as<int16_t>()[index];
  case KILN_ELEMENT_I32: return as<int32_t>()[index];
  case KILN_ELEMENT_I64: return double(as<int64_t>()[index]);
  case KILN_ELEMENT_U16: return as<uint16_t>()[index];
  case KILN_ELEMENT_U32: return as<uint32_t>()[index];
  case KILN_ELEMENT_U64: return double(as<uint64_t>()[index]);
  case KILN_ELEMENT_STRING: return double(as<kiln_string>()[index].size);
  default: return as<uint8_t>()[index];
  }
}

void Tensor::setValue(int64_t index, double value) {
  switch (type) {
  case KILN_ELEMENT_F32: as<float>()[index] = float(value); return;
  case KILN_ELEMENT_F64: as<double>()[index] = value; return;
  case KILN_ELEMENT_F16: as<uint16_t>()[index] = doubleToHalf(value); return;
  case KILN_ELEMENT_BF16: as<uint16_t>()[index] = floatToBfloat(float(value)); return;
  case KILN_ELEMENT_I8: as<int8_t>()[index] = saturate<int8_t>(value); return;
  case KILN_ELEMENT_I16: as<int16_t>()[index] = saturate<int16_t>(value); return;
  case KILN_ELEMENT_I32: as<int32_t>()[index] = saturate<int32_t>(value); return;
  case KILN_ELEMENT_I64: as<int64_t>()[index] = saturate<int64_t>(value); return;
  case KILN_ELEMENT_U8: as<uint8_t>()[index] = saturate<uint8_t>(value); return;
  case KILN_ELEMENT_U16: as<uint16_t>()[index] = saturate<uint16_t>(value); return;
  case KILN_ELEMENT_U32: as<uint32_t>()[index] = saturate<uint32_t>(value); return;
  case KILN_ELEMENT_U64: as<uint64_t>()[index] = saturate<uint64_t>(value); return;
  case KILN_ELEMENT_STRING: setText(index, formatText(value)); return;
  default: as<uint8_t>()[index] = value != 0; return;
  }
}

void Tensor::normalizeBools() {
  for (int64_t i = 0; type == KILN_ELEMENT_BOOL && i < numElements; ++i)
    bytes.get()[i] = bytes.get()[i] != 0;
}

void Tensor::reshape(llvm::ArrayRef<int64_t> newDims) { dims.assign(newDims.begin(), newDims.end()); }

bool Tensor::isGuardIntact() const {
  const char *guard = bytes.get() + getByteSize();
  return std::all_of(guard, guard + guardSize, [](char byte) { return byte == guardByte; });
}

std::string formatSignature(ElementType type, llvm::ArrayRef<int64_t> dims) {
  std::vector<std::string> texts;
  for (int64_t dim : dims)
    texts.push_back(std::to_string(dim));
  return formatSignature(type, texts);
}

std::string Tensor::getSignature() const { return formatSignature(type, dims); }

std::string formatSignature(ElementType type, llvm::ArrayRef<std::string> dims) {
  return getTypeName(type) + "[" + llvm::join(dims, ",") + "]";
}

llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(std::errc::invalid_argument, "%s", message.str().c_str());
}

} // namespace kiln
