//===- RealExpressions.h - Expressions of dimensions in double, as C++ ------===//
#ifndef KILN_COMPILER_EMIT_REALEXPRESSIONS_H
#define KILN_COMPILER_EMIT_REALEXPRESSIONS_H

#include "mlir/IR/AffineExpr.h"
#include <string>

namespace kiln {

/// An expression of symbols as C++ text in double, which does not overflow, for counts that need not be exact. `symbols` has the texts of the symbols.
/// The text calls functions of kiln/entry.h.
std::string printReal(mlir::AffineExpr expr, llvm::ArrayRef<std::string> symbols);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_REALEXPRESSIONS_H
