//===- Tensor.h - A tensor in memory ---------------------------------------===//
#ifndef KILN_COMPILER_RUN_TENSOR_H
#define KILN_COMPILER_RUN_TENSOR_H

#include "kiln/abi.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <deque>
#include <memory>
#include <string>

namespace kiln {

using ElementType = kiln_element_type;

/// Bytes of an element; 0 for types that the runner cannot hold (packed and 8-bit floating-point types).
unsigned getByteSize(ElementType type);

/// "f32", "bool", ...; "type 17" for those without a name.
std::string getTypeName(ElementType type);

bool isFloat(ElementType type);

/// A dense row-major tensor. Its bytes are aligned to KILN_ALIGNMENT and followed by a guard that must not change.
class Tensor {
public:
  Tensor() = default;

  /// Creates a tensor of zeros. Fails if the type is not supported, a dimension is negative, or the bytes do not fit into memory.
  static llvm::Expected<Tensor> create(ElementType type, llvm::ArrayRef<int64_t> dims);

  /// The numbers of elements and bytes, without the bytes of strings. Fails if create() would, except for lack of memory.
  struct Size {
    int64_t elements, bytes;
  };
  static llvm::Expected<Size> measure(ElementType type, llvm::ArrayRef<int64_t> dims);

  /// Another tensor with the same bytes.
  llvm::Expected<Tensor> copy() const;

  ElementType getType() const { return type; }
  llvm::ArrayRef<int64_t> getDims() const { return dims; }
  int64_t getNumElements() const { return numElements; }
  size_t getByteSize() const { return size_t(numElements) * kiln::getByteSize(type); }
  char *getData() { return bytes.get(); }
  const char *getData() const { return bytes.get(); }
  template <typename T> T *as() { return reinterpret_cast<T *>(bytes.get()); }
  template <typename T> const T *as() const { return reinterpret_cast<const T *>(bytes.get()); }

  /// The element as a double; 64-bit integers may round.
  double getValue(int64_t index) const;
  /// Stores `value` rounded to the element type; integers saturate, a bool is `value != 0`.
  void setValue(int64_t index, double value);

  /// An element of a tensor of strings.
  llvm::StringRef getText(int64_t index) const;
  /// Stores a copy that the tensor owns.
  void setText(int64_t index, llvm::StringRef text);

  /// Changes every nonzero byte of a tensor of bools to 1, as kernels expect. Leaves other tensors unchanged.
  void normalizeBools();

  /// Changes the dimensions to others with the same number of elements.
  void reshape(llvm::ArrayRef<int64_t> newDims);

  /// False if something was written beyond the last element.
  bool isGuardIntact() const;

  /// "f32[1,3,224,224]".
  std::string getSignature() const;

private:
  struct Free {
    Free() : size(0) {}
    explicit Free(size_t size) : size(size) {}
    void operator()(char *pointer) const;
    size_t size;
  };

  ElementType type = KILN_ELEMENT_UNDEFINED;
  llvm::SmallVector<int64_t, 6> dims;
  int64_t numElements = 0;
  std::unique_ptr<char, Free> bytes;
  /// The bytes of the stored strings. A deque does not move its elements.
  std::deque<std::string> texts;
};

/// "f32[1,batch,3]" of a type and texts of dimensions.
std::string formatSignature(ElementType type, llvm::ArrayRef<std::string> dims);

/// The type with this number in a file, or KILN_ELEMENT_UNDEFINED.
ElementType toElementType(int64_t number);

/// "f32[2,3]".
std::string formatSignature(ElementType type, llvm::ArrayRef<int64_t> dims);

/// An llvm::Error with this message.
llvm::Error makeError(const llvm::Twine &message);

} // namespace kiln

#endif // KILN_COMPILER_RUN_TENSOR_H
