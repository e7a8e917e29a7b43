//===- SizeSet.h - The sizes that an equation allows ------------------------===//
#ifndef KILN_COMPILER_EMIT_SIZESET_H
#define KILN_COMPILER_EMIT_SIZESET_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/BitVector.h"
#include <optional>
#include <string>

namespace kiln {

/// A set of sizes that repeats from some size on: which of the small ones are in it, and of the others those with certain remainders.
class SizeSet {
public:
  SizeSet(llvm::BitVector small, llvm::BitVector remainders) : small(std::move(small)), remainders(std::move(remainders)) { reduce(); }
  static std::optional<SizeSet> combine(const SizeSet &a, const SizeSet &b, bool isUnion);

  bool contains(int64_t size) const {
    return size < int64_t(small.size()) ? small[unsigned(size)] : remainders[unsigned(size % int64_t(remainders.size()))];
  }
  /// Of the sizes from `least` to `most`: "must be a multiple of 32", and "h % 32 == 0" for a symbol called h; empty if that takes too much to say, or
  /// if all of them are in the set.
  struct Words {
    std::string demand, text;
  };
  Words describe(llvm::StringRef name, int64_t least, int64_t most) const;
  /// The largest size in the set; nullopt if it has no end.
  std::optional<int64_t> getLargest() const;
  /// The smallest number all of whose multiples are in the set, from `least` to `most`; 0 if there is none, or if all large sizes are in the set.
  int64_t getMultiple(int64_t least, int64_t most) const;

private:
  void reduce();

  llvm::BitVector small, remainders;
};

/// The sizes for which an expression of one symbol is zero, or not negative; nullopt if that is not known.
std::optional<SizeSet> solveZero(mlir::AffineExpr expr);
std::optional<SizeSet> solveNotNegative(mlir::AffineExpr expr);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SIZESET_H
