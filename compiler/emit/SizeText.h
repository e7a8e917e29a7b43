//===- SizeText.h - Sizes as people write them ------------------------------===//
#ifndef KILN_COMPILER_EMIT_SIZETEXT_H
#define KILN_COMPILER_EMIT_SIZETEXT_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace kiln {

using NameOfSymbol = llvm::function_ref<std::string(unsigned)>;

/// A size for a reader: `ceil_to(h, 32)` for h rounded up to a multiple of 32, `ceil_div(h, 4)` for a quotient rounded up, `h / 4` for one rounded down,
/// `broadcast(h, w)` for w where h is 1, else h.
std::string sizeText(mlir::AffineExpr expr, NameOfSymbol nameOf);
/// The same as C, with the functions of kiln/explain.h, which also divide numbers that are negative or by zero.
std::string sizeCode(mlir::AffineExpr expr, NameOfSymbol nameOf);

/// Both sides of an equation or inequation, each without negative terms: a - b + 1 gives "a + 1" and "b".
std::pair<mlir::AffineExpr, mlir::AffineExpr> splitBySign(mlir::AffineExpr expr);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SIZETEXT_H
