//===- ConstantData.h - The bytes of a constant ----------------------------===//
#ifndef KILN_DIALECTS_NN_CONSTANTDATA_H
#define KILN_DIALECTS_NN_CONSTANTDATA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kiln::nn {

class ConstantPart;

/// The elements of a constant as raw bytes in row-major order and host byte order; bool takes one byte per element. The bytes of a
/// resource are borrowed; those of a dense attribute are copied if it stores them in another form. Must not outlive the attribute.
/// The pages of a mapped file that a large constant lies in are given back to the system at the end; they are read again when they are needed.
class ConstantData {
public:
  explicit ConstantData(mlir::ElementsAttr attr);
  ~ConstantData();
  ConstantData(ConstantData &&other)
      : element(other.element), elements(other.elements), view(other.view), storage(std::move(other.storage)), part(std::move(other.part)),
        isMapped(std::exchange(other.isMapped, false)) {}
  ConstantData &operator=(ConstantData &&) = delete;

  llvm::ArrayRef<char> bytes() const { return view; }
  /// Gives back the pages of a mapped file of the bytes [first, last), which nobody needs soon.
  void releasePages(size_t first, size_t last) const;
  int64_t numElements() const { return elements; }
  mlir::Type elementType() const { return element; }

  template <typename T> llvm::ArrayRef<T> as() const {
    return {reinterpret_cast<const T *>(view.data()), view.size() / sizeof(T)};
  }
  /// Element `i` converted to a wider type, whatever the element type is.
  double asDouble(int64_t i) const;
  int64_t asInt(int64_t i) const;
  /// Calls visit(asDouble(i)) for the elements [first, first + count), with fast paths for f32 and bytes, because weights are large.
  template <typename Visit> void forEachDouble(int64_t first, int64_t count, Visit visit) const {
    if (element.isF32())
      for (float number : as<float>().slice(first, count))
        visit(static_cast<double>(number));
    else if (element.isUnsignedInteger(8))
      for (uint8_t number : as<uint8_t>().slice(first, count))
        visit(static_cast<double>(number));
    else if (element.isSignlessInteger(8))
      for (int8_t number : as<int8_t>().slice(first, count))
        visit(static_cast<double>(number));
    else
      for (int64_t i = first; i < first + count; ++i)
        visit(asDouble(i));
  }

private:
  mlir::Type element;
  int64_t elements;
  llvm::ArrayRef<char> view;
  std::vector<char> storage;
  std::shared_ptr<ConstantPart> part;
  bool isMapped = false;
};

/// Bytes that one element takes in memory (bool: 1).
int64_t elementBytes(mlir::Type elementType);

/// The bytes of a constant without a look at them; of a resource as many as it has, whatever its type says.
int64_t countConstantBytes(mlir::ElementsAttr attr);

/// A constant of this static type over bytes: a dense attribute when small, a resource that owns the bytes otherwise.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, std::vector<char> bytes);

template <typename T> mlir::ElementsAttr makeConstantOf(mlir::RankedTensorType type, llvm::ArrayRef<T> values) {
  auto *begin = reinterpret_cast<const char *>(values.data());
  return makeConstant(type, std::vector<char>(begin, begin + values.size() * sizeof(T)));
}

/// A constant over bytes that the caller keeps alive as long as the context. Small ones are copied.
mlir::ElementsAttr makeBorrowedConstant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes, llvm::StringRef name);

/// The same over bytes of a file that is mapped read-only, whose pages ConstantData may give back to the system.
mlir::ElementsAttr makeMappedConstant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes, llvm::StringRef name);

/// The constant that a value holds: an nn.constant, or a small nn.splat or broadcast of one; null otherwise.
mlir::ElementsAttr getConstant(mlir::Value value);

/// Whether all numbers of a constant are known and finite, so that zeros times them are zeros.
bool isFinite(mlir::ElementsAttr attr);

/// The number that fills the whole value (nn.splat, a constant with one element or a splat attribute, broadcasts and reshapes of those).
std::optional<double> getSplatNumber(mlir::Value value);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_CONSTANTDATA_H
