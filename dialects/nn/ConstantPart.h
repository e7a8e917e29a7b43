//===- ConstantPart.h - A part of a constant --------------------------------===//
#ifndef KILN_DIALECTS_NN_CONSTANTPART_H
#define KILN_DIALECTS_NN_CONSTANTPART_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <atomic>
#include <memory>
#include <mutex>

namespace kiln::nn {

/// A box of another constant, as a constant of its own. Where its rows are apart in the other one, it takes memory only while a ConstantData reads it, so that
/// the parts of a model that is larger than the memory pass through a compile one at a time.
class ConstantPart {
public:
  ConstantPart(mlir::ElementsAttr source, llvm::ArrayRef<int64_t> starts, mlir::RankedTensorType type, llvm::ArrayRef<int> cut);
  ~ConstantPart();
  ConstantPart(const ConstantPart &) = delete;
  ConstantPart &operator=(const ConstantPart &) = delete;

  mlir::ElementsAttr getSource() const { return source; }
  /// A constant with another type is a reshape of the part.
  mlir::RankedTensorType getType() const { return type; }
  /// What the maker of the part has said of it.
  llvm::ArrayRef<int> getCut() const { return cut; }
  /// Whether its elements are those of the source, where they lie.
  bool isInSource() const { return isView; }
  /// Whether anybody has looked at its elements.
  bool wasRead() const { return isRead; }

  /// What a ConstantData does before and after it reads: the elements are in memory in between.
  void hold();
  void release();

private:
  friend mlir::ElementsAttr makePart(mlir::ElementsAttr, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int>);
  friend void holdAllParts();
  /// The elements one behind the other where they are in the source; null if they are not.
  const char *findInSource() const;
  void copyTo(char *target) const;
  void fill();
  bool reserve();

  mlir::ElementsAttr source;
  llvm::SmallVector<int64_t> starts;
  mlir::RankedTensorType type;
  llvm::SmallVector<int> cut;
  /// A part may live a little longer than the types of its context.
  size_t bytes;
  bool isView = false;
  std::atomic<bool> isRead = false;
  /// Pages that are filled while somebody holds them; null if the bytes are elsewhere.
  char *pages = nullptr;
  unsigned holders = 0;
  std::mutex mutex;
};

/// The elements of `source` from `starts` on, as many as `shape` says. `cut` is kept for the caller. The part of a splat is a splat.
mlir::ElementsAttr makePart(mlir::ElementsAttr source, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> cut);

/// What a constant, or a reshape of it, is a part of; null for all others.
std::shared_ptr<ConstantPart> findPart(mlir::ElementsAttr attr);

/// The constant that a part is of, or the constant itself. What holds for all of its elements holds on every rank, so that ranks can share their code.
mlir::ElementsAttr getWhole(mlir::ElementsAttr attr);

/// From now on all parts are in memory, also those that are made later, for what reads resources itself, as MLIR's printer does.
void holdAllParts();

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_CONSTANTPART_H
