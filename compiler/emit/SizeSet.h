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
  /// The sizes for which an expression of one symbol is zero; nullopt if that takes too much to say.
  static std::optional<SizeSet> solve(mlir::AffineExpr expr);
  static std::optional<SizeSet> combine(const SizeSet &a, const SizeSet &b, bool isUnion);

  bool contains(int64_t size) const {
    return size < int64_t(small.size()) ? small[unsigned(size)] : remainders[unsigned(size % int64_t(remainders.size()))];
  }
  /// Of the sizes from `least` to `most`: "must be a multiple of 32", and "h % 32 == 0" for a symbol called h; empty if that takes too much to say.
  struct Words {
    std::string demand, text;
  };
  Words describe(llvm::StringRef name, int64_t least, int64_t most) const;
  /// The smallest number all of whose multiples are in the set, from `least` to `most`; 0 if there is none, or if all sizes are in the set.
  int64_t getMultiple(int64_t least, int64_t most) const;

private:
  SizeSet(llvm::BitVector small, llvm::BitVector remainders) : small(std::move(small)), remainders(std::move(remainders)) { reduce(); }
  void reduce();

  llvm::BitVector small, remainders;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SIZESET_H
