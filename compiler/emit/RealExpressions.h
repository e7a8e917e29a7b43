//===- RealExpressions.h - Expressions of dimensions in double, as C++ ------===//
#ifndef KILN_COMPILER_EMIT_REALEXPRESSIONS_H
#define KILN_COMPILER_EMIT_REALEXPRESSIONS_H

#include "mlir/IR/AffineExpr.h"
#include <string>

namespace kiln {

/// An expression of symbols as C++ text in double, which no sizes overflow: where a count that is close is good enough. `symbols`: their texts. It
/// calls functions of kiln/entry.h.
std::string printReal(mlir::AffineExpr expr, llvm::ArrayRef<std::string> symbols);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_REALEXPRESSIONS_H
