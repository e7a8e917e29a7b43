//===- Sizes.h - Arithmetic of sizes in definitions -------------------------===//
#ifndef KILN_COMPILER_DEFINITIONS_SIZES_H
#define KILN_COMPILER_DEFINITIONS_SIZES_H

#include "compiler/definitions/Definition.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln::definitions {

/// A sum of indices, each times a factor, and of what contains no index.
struct AffineIndex {
  struct Term {
    std::string index;
    IndexExpr factor;
    /// A factor that is no number has to be positive.
    bool isNegative() const { return factor.kind == IndexExpr::Kind::Number && factor.number < 0; }
  };
  std::vector<Term> terms;
  IndexExpr rest;

  const Term *find(llvm::StringRef index) const;
};

/// The expression as such a sum; nullopt if it divides, or takes a minimum or maximum of, an index.
std::optional<AffineIndex> asAffine(const IndexExpr &expr);

/// The same value with terms of equal sizes and attributes taken together, so that `dim(x, 0) - 1 + 1` is `dim(x, 0)`.
IndexExpr simplify(const IndexExpr &expr);
/// Whether both are known to be the same.
bool isSame(const IndexExpr &a, const IndexExpr &b);

inline IndexExpr operator+(IndexExpr a, IndexExpr b) { return IndexExpr::make(IndexExpr::Kind::Add, std::move(a), std::move(b)); }
inline IndexExpr operator-(IndexExpr a, IndexExpr b) { return IndexExpr::make(IndexExpr::Kind::Sub, std::move(a), std::move(b)); }
inline IndexExpr operator*(IndexExpr a, IndexExpr b) { return IndexExpr::make(IndexExpr::Kind::Mul, std::move(a), std::move(b)); }
inline IndexExpr floorDivide(IndexExpr a, IndexExpr b) { return IndexExpr::make(IndexExpr::Kind::FloorDiv, std::move(a), std::move(b)); }
inline IndexExpr number(int64_t value) { return IndexExpr::constant(value); }

/// An upper bound of the magnitude of an expression and of all of its parts, where `leaf` gives that of names and dimensions.
double boundMagnitude(const IndexExpr &expr, llvm::function_ref<double(const IndexExpr &)> leaf);
/// The largest bound with which sums of a few sizes and indices do not pass 64 bits.
inline constexpr double mostMagnitude = 0x1p60;

/// As it would be written, for messages.
std::string print(const IndexExpr &expr);

} // namespace kiln::definitions

#endif // KILN_COMPILER_DEFINITIONS_SIZES_H
